"""How a number spreads over the runs of a study: cumulative distributions, and boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._base.quantity import quantities
from tidegate._draw.letters import width as letters
from tidegate._draw.parts import Entry, Line, Points
from tidegate._draw.tokens import FILL
from tidegate._run.words import key_words, metric_label, scale_of, value_words
from tidegate._study.layout import key_values
from tidegate._study.layout import layout as layout_of
from tidegate._study.plot import fixed_words, lacking, whose
from tidegate._study.plot_panels import panels_drawing, reach_of_x, style_of
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate._draw.drawing import Drawing, Panel
    from tidegate._draw.tokens import Shape
    from tidegate._study.layout import Layout
    from tidegate._study.numbers import StudyNumbers
    from tidegate._study.plot_panels import Curves
    from tidegate._study.points import Point


#: A curve has so many steps at most; more cannot be told apart.
_STEPS = 2000
#: So many runs are drawn as dots beside a box.
_DOTS = 400


def cdf_drawing(
    study: StudyNumbers,
    metric: str,
    facet: str | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
) -> Drawing:
    """Draw for each point the share of its runs in which a number is at most x.

    A run that lacks the number counts, so a curve ends at the share of the runs that have it.
    Of a number that each copy of a flow has (``flow.page.completion_s``), and of ``completion_s`` of all
    flows, it is the share of the flows of all runs.

    Raises:
        ArgumentError: nothing is varied, or there is more to draw than can be read.
        UnknownNameError: there is no such number, axis or value.
    """
    placed = layout_of(study.axes, study.points, facet=facet, only=only, along=False)
    each = _each_flow(study, metric)
    counts = study.counts()

    def draw(panel: Panel, curves: Curves) -> dict[tuple[str, ...], Entry]:
        entries: dict[tuple[str, ...], Entry] = {}
        drawn: dict[tuple[bytes, int], Entry] = {}
        for line, points in curves.items():
            if each is None:
                values, all_of_them = _values(study, metric, points), sum(counts[p.number] for p in points)
            else:
                values, all_of_them = _of_flows(study, each, metric, points)
            same = values.tobytes(), all_of_them
            if same in drawn:
                entries[line] = drawn[same]
                continue
            colour, dash, _ = style_of(placed, line)
            ranks = _ranks(len(values), _STEPS)
            share = (ranks + 1) / max(1, all_of_them)
            x, y = np.concatenate((values[:1], values[ranks])), np.concatenate(([0.0][: len(values)], share))
            panel.line(x, y, colour, 1.3, dash, name=key_values(placed.lines, line) or "_all")
            entries[line] = drawn[same] = Entry(colour, 1.3, dash)
        panel.y.span(0, 1.02)
        return entries

    x, y = metric_label(metric, study.gate), "share of the runs at or below"
    if each is None:
        notes = _notes(study, metric, placed)
    else:
        x, y = x.replace(", slowest", ""), "share of the flows at or below"
        notes = [_flows_note(study, each), *whose(study), *fixed_words(placed)]
    drawing = panels_drawing(study, placed, draw, x, y, notes)
    reach_of_x(drawing)
    return drawing


def box_drawing(
    study: StudyNumbers,
    metric: str,
    axis: str | None = None,
    facet: str | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
) -> Drawing:
    """Draw for each point a box from the first to the third quartile of its runs, and every run.

    Raises:
        ArgumentError: nothing is varied, or there is more to draw than can be read.
        UnknownNameError: there is no such number, axis or value.
    """
    placed = layout_of(study.axes, study.points, axis=axis, facet=facet, only=only)
    key = placed.along[0]
    values = placed.values(key)
    every = list(dict.fromkeys(tuple(p.values[k] for k in placed.lines) for p in placed.points))
    width = 0.72 / len(every)
    numbers = quantities(values)

    def draw(panel: Panel, curves: Curves) -> dict[tuple[str, ...], Entry]:
        entries: dict[tuple[str, ...], Entry] = {}
        for line, points in curves.items():
            colour, _, marker = style_of(placed, line)
            for point in points:
                place = values.index(point.values[key]) + (every.index(line) - (len(every) - 1) / 2) * width
                entries[line] = _box(
                    panel, place, 0.8 * width, _values(study, metric, [point]), colour, marker
                )
        names = (
            [f"{number:g}" for number in numbers[0]]
            if numbers
            else [value_words(value, 20) for value in values]
        )
        panel.x.named = list(enumerate(names))
        panel.x.span(-0.55, len(values) - 0.45)
        panel.x.grid = False
        room = 72 * panel.width / (len(values) + 0.1)
        panel.x.slanted = any(letters(name, panel.x.size) + 4 > room for name in names)
        return entries

    counts = study.counts()
    some = max(counts[point.number] for point in placed.points) > _DOTS
    dots = f"{_DOTS} runs, evenly chosen by rank" if some else "runs"
    notes = [
        f"box: the middle half of the runs, its line the median; whiskers: least and most; dots: {dots}",
        *_notes(study, metric, placed),
    ]
    label = key_words(key) + (f", {numbers[1]}" if numbers and numbers[1] else "")
    drawing = panels_drawing(study, placed, draw, label, metric_label(metric, study.gate), notes)
    _reach_of_y(drawing)
    return drawing


def _reach_of_y(drawing: Drawing) -> None:
    """Give all panels one scale upwards: from 0 where the least value is far below the largest."""
    marks = [mark for panel in drawing.panels for mark in panel.marks]
    every = np.concatenate([np.zeros(0), *(mark.y for mark in marks if isinstance(mark, Line | Points))])
    low, high = (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)
    room = 0.05 * (high - low) or 0.05 * abs(high) or 0.5
    low = 0.0 if 0 <= low - room < 0.5 * (high + room) or 0 <= low < room else low - room
    for panel in drawing.panels:
        panel.y.span(low, high + room)


def _box(panel: Panel, at: float, width: float, values: np.ndarray, colour: str, marker: Shape) -> Entry:
    if len(values):
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        panel.bars([at], [high - low], width, FILL, low, edge=colour)
        ends = [at - width / 2, at + width / 2]
        panel.line(ends, [middle] * 2, colour, 1.6, steps=False, order=2.3)
        for end, edge in ((values.min(), low), (values.max(), high)):
            panel.line([at, at], [edge, end], colour, 0.9, steps=False)
    # Runs lie side by side so that equal ones are seen.
    values = values[_ranks(len(values), _DOTS)]
    aside = np.linspace(-0.3, 0.3, len(values)) * width if len(values) > 1 else np.zeros(len(values))
    panel.points(at + aside, values, marker, colour, 2.6, opacity=0.75, order=2.6)
    return Entry(colour, shape=marker, size=2.6)


def _ranks(count: int, most: int) -> np.ndarray:
    """Return the ranks of the values that are drawn: all, or so many evenly, with both ends."""
    if count <= most:
        return np.arange(count)
    return np.round(np.linspace(0, count - 1, most)).astype(int)


def _values(study: StudyNumbers, metric: str, points: Sequence[Point]) -> np.ndarray:
    """Return the number in every run that has it, increasing, in the unit that is shown."""
    factor, _ = scale_of(metric)
    found = [v for point in points for v in study.values(metric, point.number) if v is not None]
    return np.sort(np.array(found, dtype=float)) / factor


def _each_flow(study: StudyNumbers, metric: str) -> tuple[str, list[str]] | None:
    """Return the column of ``flows`` and the flows whose values a metric stands for; None: a value per run.

    ``flow.page.completion_s`` is that of each copy of page, ``completion_s`` of each flow that has one.
    """
    if not study.has("flows"):
        return None
    import polars as pl

    names = study.scan("flows").select(pl.col("name").cast(pl.String).unique(maintain_order=True)).collect()
    flows = names["name"].to_list()
    if metric == "completion_s":
        return (metric, flows) if len(flows) > 1 else None
    kind, _, rest = metric.partition(".")
    name, _, column = rest.partition(".")
    copies = [flow for flow in flows if flow.startswith(f"{name}.")]
    known = study.scan("flows").collect_schema().names()
    return (column, copies) if kind == "flow" and copies and column in known else None


def _of_flows(
    study: StudyNumbers, each: tuple[str, list[str]], metric: str, points: Sequence[Point]
) -> tuple[np.ndarray, int]:
    """Return the number of every flow in every run that has it, increasing, in the unit that is shown.

    And of how many these are: a transfer that is not done counts, so the share stays below 1.
    """
    import polars as pl

    column, flows = each
    numbers = [point.number for point in points]
    rows = study.scan("flows").filter(
        pl.col("point").is_in(numbers), pl.col("name").cast(pl.String).is_in(flows)
    )
    known = rows.collect_schema().names()
    begun = pl.col("start_s" if column == "completion_s" and "start_s" in known else column)
    found = rows.filter(begun.is_not_null()).select(pl.col(column).cast(pl.Float64)).collect()[column]
    return np.sort(found.drop_nulls().to_numpy()) / scale_of(metric)[0], len(found)


def _flows_note(study: StudyNumbers, each: tuple[str, list[str]]) -> str:
    runs = sorted(set(study.counts()))
    count = str(runs[0]) if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    return f"a distribution over {len(each[1])} flows in each of {count} runs per point"


def _notes(study: StudyNumbers, metric: str, placed: Layout) -> list[str]:
    counts = study.counts()
    runs = sorted({counts[point.number] for point in placed.points})
    if runs[-1] < 2 or not any(point.varies for point in placed.points):
        raise ArgumentError(
            f"{metric}: one value per point has no distribution; it takes several runs (--runs) of a "
            "scenario in which something is random"
        )
    count = str(runs[0]) if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    return [
        f"a distribution over {count} runs per point, each with one value",
        *lacking(study, [metric], placed.points),
        *whose(study),
        *fixed_words(placed),
    ]
