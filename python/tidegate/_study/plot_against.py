"""One number of a study against another, such as goodput against delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._base.quantity import quantities
from tidegate._draw.parts import Entry
from tidegate._draw.places import words_beside
from tidegate._run.words import key_words, metric_label, scale_of, value_words
from tidegate._study.layout import key_values
from tidegate._study.layout import layout as layout_of
from tidegate._study.plot import fixed_words, interval_words, lacking, whose
from tidegate._study.plot_panels import panels_drawing, style_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate._draw.drawing import Drawing, Panel
    from tidegate._study.numbers import StudyNumbers
    from tidegate._study.plot_panels import Curves
    from tidegate._study.points import Point


def against_drawing(
    study: StudyNumbers,
    x: str,
    y: str,
    axis: str | None = None,
    facet: str | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
) -> Drawing:
    """Draw each point at its means of two numbers, with the 95% interval of both as a cross.

    Points that differ along one axis are joined, in the order of its values, and say its value.

    Raises:
        ArgumentError: nothing is varied, or there is more to draw than can be read.
        UnknownNameError: there is no such number, axis or value.
    """
    placed = layout_of(study.axes, study.points, axis=axis, facet=facet, only=only)
    key = placed.along[0]
    values = placed.values(key)
    numbers = quantities(values)
    order = dict(zip(values, numbers[0] if numbers else range(len(values)), strict=True))

    marks: list[tuple[Panel, str, float, float, str]] = []

    def draw(panel: Panel, curves: Curves) -> dict[tuple[str, ...], Entry]:
        entries: dict[tuple[str, ...], Entry] = {}
        drawn: dict[bytes, Entry] = {}
        for line, points in curves.items():
            ranked = sorted(points, key=lambda point: order[point.values[key]])
            kept, table = _means(study, ranked, (x, y))
            if table.tobytes() in drawn:
                entries[line] = drawn[table.tobytes()]
                continue
            colour, dash, marker = style_of(placed, line)
            for mean_x, left, right, mean_y, low, high in table:
                panel.line([left, right], [mean_y] * 2, colour, 0.9, steps=False)
                panel.line([mean_x] * 2, [low, high], colour, 0.9, steps=False)
            name, hollow = key_values(placed.lines, line) or "_all", bool(len(drawn) % 2)
            if numbers:
                panel.line(table[:, 0], table[:, 3], colour, 0.9, dash, steps=False, order=2.5, name=name)
            panel.points(
                table[:, 0], table[:, 3], marker, colour, 5, over=True, width=1.0, hollow=hollow, order=2.6,
                name="" if numbers else name,
            )  # fmt: skip
            for point, (mean_x, _, _, mean_y, _, _) in zip(kept, table, strict=True):
                value = f"{order[point.values[key]]:g}" if numbers else point.values[key]
                marks.append((panel, value, float(mean_x), float(mean_y), colour))
            entries[line] = drawn[table.tobytes()] = Entry(
                colour, 0.9 if numbers else 0.0, dash, marker, hollow, 5
            )
        return entries

    notes = [
        interval_words(study, y, placed.points),
        *lacking(study, [x, y], placed.points),
        f"beside each point: {key_words(key)}{f', {numbers[1]}' if numbers and numbers[1] else ''}",
        *whose(study),
        *fixed_words(placed),
    ]
    drawing = panels_drawing(
        study, placed, draw, metric_label(x, study.gate), metric_label(y, study.gate), notes
    )
    _scales(drawing, study, placed.points, (x, y))
    _label(marks)
    return drawing


def _label(marks: Sequence[tuple[Panel, str, float, float, str]]) -> None:
    """Write values beside points, once where points of one value lie together."""
    panels: dict[int, tuple[Panel, list[tuple[str, float, float, str]]]] = {}
    written: list[tuple[Panel, str, float, float]] = []
    for panel, value, x, y, colour in marks:
        across, up = panel.x.share(x), panel.y.share(y)
        near = (
            where is panel and word == value and abs(across - a) < 0.12 and abs(up - u) < 0.12
            for where, word, a, u in written
        )  # fmt: skip
        if any(near):
            continue
        written.append((panel, value, across, up))
        panels.setdefault(id(panel), (panel, []))[1].append((value_words(value, 24), x, y, colour))
    for panel, words in panels.values():
        words_beside(panel, words, size=7)


def _means(
    study: StudyNumbers, points: Sequence[Point], metrics: tuple[str, str]
) -> tuple[list[Point], np.ndarray]:
    """Return the points that have both numbers, and rows of mean and ends of the interval of each."""
    kept, rows = [], []
    for point in points:
        row: list[float] = []
        for metric in metrics:
            found, (factor, _) = study.estimate(metric, point.number), scale_of(metric)
            if found.mean is not None:
                below, above = found.arms
                row += [found.mean / factor, (found.mean - below) / factor, (found.mean + above) / factor]
        if len(row) == 6:
            kept.append(point)
            rows.append(row)
    return kept, np.array(rows, dtype=float).reshape(-1, 6)


def _scales(drawing: Drawing, study: StudyNumbers, points: Sequence[Point], metrics: tuple[str, str]) -> None:
    """Give all panels the same scales: from 0 where the least value is far below the largest."""
    _, table = _means(study, points, metrics)
    if not len(table):
        return
    x = table[:, 0]
    log = bool(x.min() > 0 and x.max() > 20 * x.min())
    low, high = table[:, 1].min(), table[:, 2].max()
    across = (0 if 0 <= low < 0.5 * high else low - 0.08 * (high - low), high + 0.12 * (high - low))
    if log:
        across = (x.min() / 1.3, x.max() * 1.6)
    low, high = table[:, 4].min(), table[:, 5].max()
    room = 0.1 * (high - low) or 0.1 * abs(high) or 1.0
    for panel in drawing.panels:
        panel.x.log = log
        panel.x.span(*across)
        panel.y.span(0 if 0 <= low < 0.45 * high else low - room, high + room)
