"""Pictures of a study's means: a number against an axis, or one number against another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._base.quantity import is_geometric, quantities
from tidegate._base.text import of_runs
from tidegate._draw.letters import width
from tidegate._draw.parts import Entry
from tidegate._draw.together import mark_together
from tidegate._run.words import key_words, metric_label, metric_words, scale_of, value_words
from tidegate._study.layout import key_values
from tidegate._study.layout import layout as layout_of
from tidegate._study.plot_panels import panels_drawing, style_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate._draw.drawing import Drawing, Panel
    from tidegate._study.layout import Layout
    from tidegate._study.numbers import StudyNumbers
    from tidegate._study.plot_panels import Curves
    from tidegate._study.points import Point

#: Bars of different curves stand so far from each other, in points (1/72 inch); markers do not move.
_ASIDE = 1.6
#: So many points are named at which some runs lack a number.
_NAMED = 4


def study_drawing(
    study: StudyNumbers,
    metric: str,
    axis: str | None,
    facet: str | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
) -> Drawing:
    """Draw the means of a number, with intervals, against one of the axes.

    Every marker stands at its x. Only the bars of the intervals are moved aside, by a constant on
    the screen.

    Raises:
        ArgumentError: nothing is varied, or there is more to draw than can be read.
        UnknownNameError: there is no such metric, axis or value.
    """
    placed = layout_of(study.axes, study.points, axis=axis, facet=facet, only=only)
    key = placed.along[0]
    values = placed.values(key)
    numbers = quantities(values)
    places = dict(zip(values, numbers[0] if numbers else range(len(values)), strict=True))
    factor, _ = scale_of(metric)

    together: list[tuple[Panel, list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]]] = []

    def draw(panel: Panel, curves: Curves) -> dict[tuple[str, ...], Entry]:
        found = {line: _curve(study, metric, points, key, places, factor) for line, points in curves.items()}
        entries: dict[tuple[str, ...], Entry] = {}
        drawn: list[tuple[tuple[float, ...], ...]] = []
        together.append((panel, list(found.values())))
        for line, curve in found.items():
            same = tuple(map(tuple, curve))
            if same in drawn:
                # Equal numbers are one curve, not two that lie side by side.
                entries[line] = entries[list(found)[_first(found, same)]]
                continue
            drawn.append(same)
            entries[line] = _draw_curve(panel, placed, line, *curve, joined=numbers is not None)
        _x_axis(panel, values, numbers)
        return entries

    unit = f", {numbers[1]}" if numbers and numbers[1] else ""
    drawing = panels_drawing(
        study,
        placed,
        draw,
        f"{key_words(key)}{unit}{_moving(placed)}",
        metric_label(metric, study.gate),
        _notes(study, metric, placed),
    )
    _y_axis(drawing, study, metric, placed)
    for panel, each in together:
        mark_together(panel, each)
    return drawing


def _first(
    found: Mapping[tuple[str, ...], tuple[np.ndarray, ...]], same: tuple[tuple[float, ...], ...]
) -> int:
    return next(n for n, curve in enumerate(found.values()) if tuple(map(tuple, curve)) == same)


def _curve(
    study: StudyNumbers,
    metric: str,
    points: Sequence[Point],
    key: str,
    places: Mapping[str, float],
    factor: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return x, mean and ends of the interval of a curve's points that have the number, in order of x."""
    found = [(places[point.values[key]], study.estimate(metric, point.number)) for point in points]
    kept = sorted(
        (
            (x, e.mean / factor, (e.mean - e.arms[0]) / factor, (e.mean + e.arms[1]) / factor)
            for x, e in found
            if e.mean is not None
        ),
        key=lambda each: each[0],
    )
    table = np.array(kept, dtype=float).reshape(-1, 4)
    return table[:, 0], table[:, 1], table[:, 2], table[:, 3]


def _draw_curve(
    panel: Panel, placed: Layout, line: tuple[str, ...], x: np.ndarray, y: np.ndarray,
    low: np.ndarray, high: np.ndarray, *, joined: bool,
) -> Entry:  # fmt: skip
    """Draw a curve; names are not ``joined``: nothing lies between two of them."""
    colour, dash, marker = style_of(placed, line)
    every = list(dict.fromkeys(tuple(p.values[key] for key in placed.lines) for p in placed.points))
    index, count = every.index(line), len(every)
    aside = (index - (count - 1) / 2) * _ASIDE
    there = high > low
    low, high = low[there], high[there]
    panel.uprights(x[there], low, high, colour, 0.9, aside=aside, order=2.2)
    for end in (low, high):
        panel.points(x[there], end, "level", colour, 4, width=0.9, aside=aside, order=2.2)
    name, hollow = key_values(placed.lines, line) or "_all", bool(index % 2)
    if joined:
        panel.line(x, y, colour, 1.2, dash, steps=False, order=2.5, name=name)
    panel.points(
        x, y, marker, colour, 4.4, over=True, width=1.0, hollow=hollow, order=2.6,
        name="" if joined else name,
    )  # fmt: skip
    return Entry(colour, 1.2 if joined else 0.0, dash, marker, hollow)


def _x_axis(panel: Panel, values: Sequence[str], numbers: tuple[list[float], str] | None) -> None:
    if numbers is None:
        panel.x.named = [(place, value_words(value, 20)) for place, value in enumerate(values)]
        panel.x.span(-0.4, len(values) - 0.6)
        room = 72 * panel.width / (len(values) - 0.2)
        panel.x.slanted = any(width(word, panel.x.size) + 4 > room for _, word in panel.x.named)
        return
    places = sorted({*numbers[0]})
    first, last = places[0], places[-1]
    if is_geometric(places):
        room = (last / first) ** 0.05
        panel.x.log = True
        panel.x.span(first / room, last * room)
        panel.x.named = list(zip(places, _ticks(places), strict=True))
        return
    room = 0.05 * (last - first) or 0.05 * abs(last) or 0.5
    panel.x.span(first - room, last + room)
    if len(places) <= 6 and min(np.diff(places), default=1.0) > 0.09 * (last - first):
        panel.x.named = [(place, f"{place:g}") for place in places]


def _ticks(places: Sequence[float]) -> list[str]:
    """Return labels of ticks on a logarithmic axis, without those that would lie on the one before."""
    words = []
    span = np.log(places[-1] / places[0])
    last = -1.0
    for place in places:
        at = float(np.log(place / places[0]) / span)
        free = at - last > 0.075
        words.append(f"{place:g}" if free else "")
        last = at if free else last
    return words


def _y_axis(drawing: Drawing, study: StudyNumbers, metric: str, placed: Layout) -> None:
    """One scale for every panel: from 0 unless all numbers lie far above it."""
    factor, _ = scale_of(metric)
    found = [study.estimate(metric, point.number) for point in placed.points]
    ends = [
        end / factor
        for e in found
        if e.mean is not None
        for end in (e.mean if e.low is None else e.low, e.mean if e.high is None else e.high)
    ]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    room = 0.07 * (high - low) or 0.1 * abs(high) or 1.0
    bottom = 0.0 if 0 <= low < 0.45 * high or low == high == 0 else low - room
    for panel in drawing.panels:
        panel.y.span(bottom, high + room)


def _moving(placed: Layout) -> str:
    """Name the keys that move with the one along the bottom."""
    others = [key_words(key) for key in placed.along[1:]]
    return f" (with it: {', '.join(others)})" if others else ""


def _notes(study: StudyNumbers, metric: str, placed: Layout) -> list[str]:
    return [
        interval_words(study, metric, placed.points),
        *lacking(study, [metric], placed.points),
        *whose(study),
        *fixed_words(placed),
    ]


def whose(study: StudyNumbers) -> list[str]:
    """Return the TCPs that ran, unless there are none, and the seed, for the notes of a picture."""
    return [*filter(None, [study.manifest.get("tcp")]), f"seed {study.seed}"]


def interval_words(study: StudyNumbers, metric: str, points: Sequence[Point]) -> str:
    """Say how many runs a mean is of, and whether there are intervals."""
    counts = study.counts()
    runs = sorted({counts[point.number] for point in points})
    count = str(runs[0]) if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    found = [study.estimate(metric, point.number) for point in points]
    if all(not point.varies for point in points) or runs[-1] == 1:
        alike = f": the {count} runs of a point are equal" if runs[-1] > 1 else ""
        return f"one value per point, no interval{alike}"
    without = sum(
        1 for point, e in zip(points, found, strict=True) if not point.varies and e.mean is not None
    )
    some = f" ({without} of {len(points)} points have none: their runs are equal)" if without else ""
    return f"mean and 95% interval of {count} runs per point{some}"


def lacking(study: StudyNumbers, metrics: Sequence[str], points: Sequence[Point]) -> list[str]:
    """Say at which points how many of the runs have a number, where some lack it."""
    counts = study.counts()
    notes = []
    for metric in metrics:
        found = [
            (point, of_runs(study.estimate(metric, point.number).n, counts[point.number])) for point in points
        ]
        some = [f"{words} ({point.label()})" if study.axes else words for point, words in found if words]
        more = f" and {len(some) - _NAMED} more" if len(some) > _NAMED else ""
        notes += [f"{metric_words(metric)}: of {', '.join(some[:_NAMED])}{more}"] if some else []
    return notes


def fixed_words(placed: Layout) -> list[str]:
    """Name the varied keys that have one value in what is shown."""
    return [key_values(tuple(placed.fixed), tuple(placed.fixed.values()))] if placed.fixed else []
