"""One number of a study against another, such as goodput against delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import LogLocator, MaxNLocator

from tidegate._base.quantity import quantities
from tidegate._draw.places import words_beside
from tidegate._run.words import key_words, metric_label, scale_of, value_words
from tidegate._study.layout import layout as layout_of
from tidegate._study.layout import told
from tidegate._study.plot import fixed_words, interval_words, whose
from tidegate._study.plot_panels import panels_figure, style_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from tidegate._draw.figure import Figure
    from tidegate._study.numbers import StudyNumbers
    from tidegate._study.plot_panels import Curves
    from tidegate._study.point import Point


def against_figure(
    study: StudyNumbers,
    x: str,
    y: str,
    axis: str | None = None,
    facet: str | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
) -> Figure:
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

    marks: list[tuple[Axes, str, float, float, str]] = []

    def draw(axes: Axes, curves: Curves) -> dict[tuple[str, ...], Artist]:
        handles: dict[tuple[str, ...], Artist] = {}
        drawn: dict[bytes, Artist] = {}
        for line, points in curves.items():
            ranked = sorted(points, key=lambda point: order[point.values[key]])
            kept, table = _means(study, ranked, (x, y))
            if table.tobytes() in drawn:
                handles[line] = drawn[table.tobytes()]
                continue
            colour, dash, marker = style_of(placed, line)
            for mean_x, half_x, mean_y, half_y in table:
                axes.plot([mean_x - half_x, mean_x + half_x], [mean_y] * 2, color=colour, lw=0.9)
                axes.plot([mean_x] * 2, [mean_y - half_y, mean_y + half_y], color=colour, lw=0.9)
            (handle,) = axes.plot(
                table[:, 0], table[:, 2], color=colour, ls=dash if numbers else "", lw=0.9, marker=marker,
                ms=5, mec=colour, mfc="white" if len(drawn) % 2 else colour, zorder=2.6,
                label=told(placed.lines, line) or "_all",
            )  # fmt: skip
            for point, (mean_x, _, mean_y, _) in zip(kept, table, strict=True):
                value = f"{order[point.values[key]]:g}" if numbers else point.values[key]
                marks.append((axes, value, float(mean_x), float(mean_y), colour))
            handles[line] = drawn[table.tobytes()] = handle
        return handles

    notes = [
        interval_words(study, y, placed.points),
        f"beside each point: {key_words(key)}{f', {numbers[1]}' if numbers and numbers[1] else ''}",
        *whose(study),
        *fixed_words(placed),
    ]
    figure = panels_figure(
        study, placed, draw, metric_label(x, study.gate), metric_label(y, study.gate), notes
    )
    _scales(figure, study, placed.points, (x, y))
    _label(marks)
    return figure


def _label(marks: Sequence[tuple[Axes, str, float, float, str]]) -> None:
    """Write values beside points, once where points of one value lie together."""
    panels: dict[int, tuple[Axes, list[tuple[str, float, float, str]]]] = {}
    written: list[tuple[Axes, str, float, float]] = []
    for axes, value, x, y, colour in marks:
        across, up = axes.transAxes.inverted().transform(axes.transData.transform((x, y)))
        near = (
            where is axes and word == value and abs(across - a) < 0.12 and abs(up - u) < 0.12
            for where, word, a, u in written
        )  # fmt: skip
        if any(near):
            continue
        written.append((axes, value, across, up))
        panels.setdefault(id(axes), (axes, []))[1].append((value_words(value, 24), x, y, colour))
    for axes, words in panels.values():
        words_beside(axes, words, size=7)


def _means(
    study: StudyNumbers, points: Sequence[Point], metrics: tuple[str, str]
) -> tuple[list[Point], np.ndarray]:
    """Return the points that have both numbers, and rows of mean and half width of each."""
    kept, rows = [], []
    for point in points:
        row: list[float] = []
        for metric in metrics:
            found, (factor, _) = study.estimate(metric, point.number), scale_of(metric)
            if found.mean is not None:
                row += [found.mean / factor, (found.half_width or 0.0) / factor]
        if len(row) == 4:
            kept.append(point)
            rows.append(row)
    return kept, np.array(rows, dtype=float).reshape(-1, 4)


def _scales(figure: Figure, study: StudyNumbers, points: Sequence[Point], metrics: tuple[str, str]) -> None:
    _, table = _means(study, points, metrics)
    if not len(table):
        return
    axes = figure.axes[0]
    x = table[:, 0]
    if x.min() > 0 and x.max() > 20 * x.min():
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.minorticks_off()
        axes.set_xlim(x.min() / 1.3, x.max() * 1.6)
    else:
        low, high = (table[:, 0] - table[:, 1]).min(), (table[:, 0] + table[:, 1]).max()
        axes.set_xlim(0 if 0 <= low < 0.5 * high else low - 0.08 * (high - low), high + 0.12 * (high - low))
        axes.xaxis.set_major_locator(MaxNLocator(6))
    low, high = (table[:, 2] - table[:, 3]).min(), (table[:, 2] + table[:, 3]).max()
    room = 0.1 * (high - low) or 0.1 * abs(high) or 1.0
    axes.set_ylim(0 if 0 <= low < 0.45 * high else low - room, high + room)
    axes.yaxis.set_major_locator(MaxNLocator(6))
