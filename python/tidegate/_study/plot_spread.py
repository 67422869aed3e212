"""How a number spreads over the runs of a study: cumulative distributions, and boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Rectangle

from tidegate._base.errors import ArgumentError
from tidegate._base.quantity import quantities
from tidegate._draw.tokens import FILL
from tidegate._run.words import key_words, metric_label, scale_of, value_words
from tidegate._study.layout import layout as layout_of
from tidegate._study.layout import told
from tidegate._study.plot import fixed_words, whose
from tidegate._study.plot_panels import panels_figure, style_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from tidegate._draw.figure import Figure
    from tidegate._study.layout import Layout
    from tidegate._study.numbers import StudyNumbers
    from tidegate._study.plot_panels import Curves
    from tidegate._study.point import Point


#: A curve has so many steps at most; more cannot be told apart.
_STEPS = 2000
#: So many runs are drawn as dots beside a box.
_DOTS = 400


def cdf_figure(
    study: StudyNumbers,
    metric: str,
    facet: str | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
) -> Figure:
    """Draw for each point the share of its runs in which a number is at most x.

    Of a number that each copy of a flow has (``flow.page.completion_s``), and of ``completion_s`` of all
    flows, it is the share of the flows of all runs.

    Raises:
        ArgumentError: nothing is varied, or there is more to draw than can be read.
        UnknownNameError: there is no such number, axis or value.
    """
    placed = layout_of(study.axes, study.points, facet=facet, only=only, along=False)
    each = _each_flow(study, metric)

    def draw(axes: Axes, curves: Curves) -> dict[tuple[str, ...], Artist]:
        handles: dict[tuple[str, ...], Artist] = {}
        drawn: dict[bytes, Artist] = {}
        for line, points in curves.items():
            values = _values(study, metric, points) if each is None else np.empty(0)
            all_of_them = len(values)
            if each is not None:
                values, all_of_them = _of_flows(study, each, metric, points)
            if values.tobytes() in drawn:
                handles[line] = drawn[values.tobytes()]
                continue
            colour, dash, _ = style_of(placed, line)
            ranks = _ranks(len(values), _STEPS)
            share = (ranks + 1) / max(1, all_of_them)
            (handle,) = axes.plot(
                np.concatenate((values[:1], values[ranks])), np.concatenate(([0.0], share)),
                color=colour, ls=dash, lw=1.3, drawstyle="steps-post",
                label=told(placed.lines, line) or "_all",
            )  # fmt: skip
            handles[line] = drawn[values.tobytes()] = handle
        axes.set_ylim(0, 1.02)
        return handles

    x = metric_label(metric, study.gate)
    if each is not None:
        return panels_figure(
            study, placed, draw, x.replace(", slowest", ""), "share of the flows at or below",
            [_flows_note(study, each), *whose(study), *fixed_words(placed)],
        )  # fmt: skip
    return panels_figure(
        study, placed, draw, x, "share of the runs at or below", _notes(study, metric, placed)
    )


def box_figure(
    study: StudyNumbers,
    metric: str,
    axis: str | None = None,
    facet: str | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
) -> Figure:
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

    def draw(axes: Axes, curves: Curves) -> dict[tuple[str, ...], Artist]:
        handles: dict[tuple[str, ...], Artist] = {}
        for line, points in curves.items():
            colour, _, marker = style_of(placed, line)
            for point in points:
                place = values.index(point.values[key]) + (every.index(line) - (len(every) - 1) / 2) * width
                handles[line] = _box(
                    axes, place, 0.8 * width, _values(study, metric, [point]), colour, marker
                )
        names = (
            [f"{number:g}" for number in numbers[0]]
            if numbers
            else [value_words(value, 20) for value in values]
        )
        axes.set_xticks(range(len(values)), names)
        axes.set_xlim(-0.55, len(values) - 0.45)
        axes.grid(visible=False, axis="x")
        return handles

    counts = study.counts()
    some = max(counts[point.number] for point in placed.points) > _DOTS
    dots = f"{_DOTS} runs, evenly chosen by rank" if some else "runs"
    notes = [
        f"box: the middle half of the runs, its line the median; whiskers: least and most; dots: {dots}",
        *_notes(study, metric, placed),
    ]
    label = key_words(key) + (f", {numbers[1]}" if numbers and numbers[1] else "")
    figure = panels_figure(study, placed, draw, label, metric_label(metric, study.gate), notes)
    low, high = figure.axes[0].get_ylim()
    if 0 <= low < 0.5 * high:
        figure.axes[0].set_ylim(bottom=0)
    return figure


def _box(axes: Axes, at: float, width: float, values: np.ndarray, colour: str, marker: str) -> Artist:
    if len(values):
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        axes.add_patch(
            Rectangle((at - width / 2, low), width, high - low, fc=FILL, ec=colour, lw=0.9, zorder=1.8)
        )
        axes.plot([at - width / 2, at + width / 2], [middle] * 2, color=colour, lw=1.6, zorder=2.3)
        for end, edge in ((values.min(), low), (values.max(), high)):
            axes.plot([at, at], [edge, end], color=colour, lw=0.9)
    # Runs lie side by side so that equal ones are seen.
    values = values[_ranks(len(values), _DOTS)]
    aside = np.linspace(-0.3, 0.3, len(values)) * width if len(values) > 1 else np.zeros(len(values))
    (dots,) = axes.plot(
        at + aside, values, ls="", marker=marker, ms=2.6, mew=0, color=colour, alpha=0.75, zorder=2.6
    )
    return dots


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
    return [f"a distribution over {count} runs per point, each with one value", *whose(study),
            *fixed_words(placed)]  # fmt: skip
