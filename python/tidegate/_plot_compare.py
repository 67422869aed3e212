"""The picture of a comparison: one row per variant, and its figures beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tidegate import _text
from tidegate._numbers import figures_of
from tidegate._plot_history import History, history
from tidegate._plot_marks import above, steps, thin
from tidegate._plot_style import ACCENT, FILL, INK, MID, SOFT, STYLE, fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tidegate._variants import Variants

#: More variants than this show their figures only.
_WITH_HISTORY = 12
_BINS = 150


def comparison_figure(comparison: Variants) -> Figure:
    """Draw rate with goodput and queue of each variant, and one column per figure.

    Columns share their scale, so that a glance down a column compares.
    """
    variants = comparison.variants
    count = len(variants)
    recorded = all(v.run.has("flows") and v.run.has("gates") for v in variants)
    detailed = recorded and count <= _WITH_HISTORY
    row_height = 0.82 if detailed else 0.36
    height = 1.75 + row_height * count
    width = 12.2 if detailed else 8.6
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), dpi=100)
        ratios = [3.6, 2.5] if detailed else []
        left = 1.5 / width
        grid = figure.add_gridspec(
            count,
            len(ratios) + 1,
            width_ratios=[*ratios, 4.7],
            left=left,
            right=0.985,
            top=1 - 1.15 / height,
            bottom=0.58 / height,
            wspace=0.13,
            hspace=0.28,
        )
        if detailed:
            data = [history(v.run, comparison.gate, bins=_BINS) for v in variants]
            _speed_column(figure, grid, data)
            _queue_column(figure, grid, data)
        boxes = [grid[place, 0].get_position(figure) for place in range(count)]
        centres = [(box.y0 + box.y1) / 2 for box in boxes]
        _figure_columns(figure, grid[:, len(ratios)], comparison, centres)
        _row_names(figure, comparison, centres)
        _titles(figure, comparison, width, height)
    return figure


def _speed_column(figure: Figure, grid: Any, data: list[History]) -> None:
    limit = max(one.top_bps for one in data)
    factor, unit = _text.rate_scale(limit)
    first: Axes | None = None
    for place, one in enumerate(data):
        axes = figure.add_subplot(grid[place, 0], sharex=first, sharey=first)
        first = first or axes
        known = ~np.isnan(one.rate_binned)
        if np.any(known):
            rate = np.nan_to_num(one.rate_binned) / factor
            axes.stairs(rate, one.edges, fill=True, color=FILL, lw=0)
            steps(axes, one.edges, rate, color=SOFT, lw=0.6)
        if one.through:
            steps(axes, one.edges, one.total_goodput / factor, color=ACCENT, lw=1.0)
        axes.set_ylim(0, limit / factor)
        if one.through:
            above(axes, one.edges, one.total_goodput / factor, ACCENT)
        _small(axes, place, len(data), one)
        if place == 0:
            axes.set_title(f"Goodput (line), rate in force (shaded), {unit}", fontsize=8.5)


def _queue_column(figure: Figure, grid: Any, data: list[History]) -> None:
    top = max([1.0, *(float(np.nanmax(one.queue)) for one in data if len(one.queue))])
    first: Axes | None = None
    for place, one in enumerate(data):
        axes = figure.add_subplot(grid[place, 1], sharex=first, sharey=first)
        first = first or axes
        if len(one.queue):
            time, queue = thin(one.gate_time, one.queue, 600)
            axes.fill_between(time, queue, color=FILL, lw=0, step="post")
            axes.plot(time, queue, color=INK, lw=0.6, drawstyle="steps-post")
        seen = np.unique(np.round(one.drops / one.duration * 300)) / 300 * one.duration
        axes.plot(seen, np.full(len(seen), 1.06 * top), ls="", marker="|", ms=4, mew=0.7, color=ACCENT)
        _small(axes, place, len(data), one)
        if place == 0:
            axes.set_title(f"Queue, {one.queue_unit} (ticks: drops)", fontsize=8.5)
            axes.set_ylim(0, 1.14 * top)


def _small(axes: Axes, place: int, count: int, one: History) -> None:
    axes.set_xlim(0, one.duration)
    if one.begin > 0:
        axes.axvspan(0, one.begin, facecolor="none", edgecolor=SOFT, hatch="////", lw=0, zorder=0)
    axes.yaxis.set_major_locator(MaxNLocator(2, integer=True, steps=[1, 2, 5, 10]))
    axes.tick_params(labelsize=7.5, labelbottom=place == count - 1)
    if place == count - 1:
        axes.set_xlabel("time, s", fontsize=8)


def _figure_columns(figure: Figure, place: Any, comparison: Variants, centres: list[float]) -> None:
    rows = [figures_of(v.run.summary, comparison.gate) for v in comparison.variants]
    factor, unit = _text.rate_scale(max([1.0, *(row["goodput_bps"] for row in rows)]))
    grid = place.subgridspec(1, 4, wspace=0.16, width_ratios=[1, 1.75, 1, 1])
    columns = [_bare(figure.add_subplot(grid[i]), centres) for i in range(4)]
    _bars(columns[0], [row["goodput_bps"] / factor for row in rows], f"Goodput\n{unit}")
    _delays(columns[1], rows)
    _bars(columns[2], [_percent(row["loss"]) for row in rows], "Loss\n%", digits=2)
    _bars(columns[3], [_percent(row["utilisation"]) for row in rows], "Utilisation\n%", top=100.0)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


@dataclass(frozen=True)
class _Column:
    """Axes without ticks, and the heights at which its rows lie, level with the histories."""

    axes: Axes
    at: list[float]

    def number(self, row: int, text: str) -> None:
        self.axes.annotate(
            text,
            (0, self.at[row]),
            xytext=(3, 5),
            textcoords="offset points",
            fontsize=8.5,
            va="bottom",
            color=INK,
        )


def _bare(axes: Axes, centres: list[float]) -> _Column:
    box = axes.get_position()
    at = [(centre - box.y0) / (box.y1 - box.y0) for centre in centres]
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.set_xticks([])
    axes.grid(visible=False)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.axvline(0, color=MID, lw=0.7)
    return _Column(axes, at)


def _bars(
    column: _Column, values: list[float | None], title: str, *, digits: int = 3, top: float | None = None
) -> None:
    """Draw one bar per variant under its number."""
    column.axes.set_title(title, fontsize=8, pad=7)
    known = [value for value in values if value is not None]
    limit = top or max(known, default=0.0) or 1.0
    column.axes.set_xlim(0, limit * 1.02)
    for row, value in enumerate(values):
        column.number(row, _text.number(value, digits))
        if value is not None:
            column.axes.plot([0, value], [column.at[row]] * 2, color=MID, lw=5, solid_capstyle="butt")


def _delays(column: _Column, rows: list[dict[str, Any]]) -> None:
    """Draw the median as a filled and the 99th percentile as an open dot, on one line."""
    axes = column.axes
    axes.set_title("Queueing delay, ms\n● p50   ○ p99", fontsize=8, pad=7)
    limit = max([*(row["queue_delay_p99_ms"] or 0.0 for row in rows), 1e-9])
    axes.set_xlim(0, limit * 1.06)
    for place, row in enumerate(rows):
        low, high, at = row["queue_delay_p50_ms"], row["queue_delay_p99_ms"], column.at[place]
        if low is not None and high is not None:
            axes.plot([low, high], [at, at], color=SOFT, lw=2, solid_capstyle="butt", zorder=1)
        if low is not None:
            axes.plot(low, at, marker="o", ms=5.5, color=INK, ls="", clip_on=False)
        if high is not None:
            axes.plot(high, at, marker="o", ms=5.5, mfc="white", mec=INK, ls="", clip_on=False)
        column.number(place, f"{_text.number(low)}  ·  {_text.number(high)}")


def _row_names(figure: Figure, comparison: Variants, centres: list[float]) -> None:
    for centre, variant in zip(centres, comparison.variants, strict=True):
        words = [variant.changes[key] for key in comparison.axes]
        figure.text(
            0.012,
            centre,
            "\n".join(fit(word, 20) for word in words),
            fontsize=9,
            weight="bold",
            va="center",
            ha="left",
            color=INK,
            linespacing=1.3,
        )


def _titles(figure: Figure, comparison: Variants, width: float, height: float) -> None:
    x = 0.012
    first = comparison.variants[0].run.summary
    gate = f"gate {comparison.gate}" if comparison.gate else "no gate in common"
    facts = [
        f"varied: {', '.join(comparison.axes)}",
        comparison.seeds,
        gate,
        f"counted from {first['measured_from_s']:g} s to {first['duration_s']:g} s",
    ]
    letters = int(width * 9)
    figure.text(
        x,
        1 - 0.12 / height,
        fit(comparison.title, letters),
        fontsize=12.5,
        weight="bold",
        color=INK,
        va="top",
    )
    figure.text(
        x, 1 - 0.41 / height, fit("  ·  ".join(facts), int(letters * 1.5)), fontsize=8.5, color=MID, va="top"
    )
    figure.text(x, 0.08 / height, _text.HEADERS_SHORT, fontsize=7, color=MID, va="bottom")
