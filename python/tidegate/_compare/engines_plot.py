"""The picture of a comparison of engines: histories on top, every quantity below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import MaxNLocator

from tidegate._base.text import HEADERS_SHORT, rate_scale
from tidegate._compare.agreement import AGREE, DIFFER, OPEN, UNJUDGED
from tidegate._draw.figure import Figure
from tidegate._draw.marks import above, steps
from tidegate._draw.style import STYLE
from tidegate._draw.thin import thin
from tidegate._draw.tokens import ACCENT, FILL, INK, MID, SOFT, fit
from tidegate._run.completion import lengths, until_words
from tidegate._run.history import History, history

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from tidegate._compare.agreement import Agreement, Row

_COLUMNS = 4
_ROW_HEIGHT = 1.02
_HISTORY_HEIGHT = 1.05
#: Marks told apart without colour, too.
_MARKS = {"theory": ("D", MID), "sim": ("o", INK), "live": ("s", ACCENT)}


def engines_figure(comparison: Agreement) -> Figure:
    """Draw goodput and queue over time of the engines that have them, then a panel per quantity."""
    timed = [each for each in comparison.engines if each.runs[0].has("flows") and each.runs[0].has("gates")]
    lines = -(-len(comparison.rows) // _COLUMNS)
    above = _HISTORY_HEIGHT * len(timed) + (0.5 if timed else 0.0)
    width, height = 11.0, 1.1 + above + _ROW_HEIGHT * lines + 0.65
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), dpi=100)
        if timed:
            grid = figure.add_gridspec(
                len(timed),
                2,
                left=0.115,
                right=0.985,
                top=1 - 1.0 / height,
                bottom=1 - (1.0 + _HISTORY_HEIGHT * len(timed) - 0.2) / height,
                wspace=0.12,
                hspace=0.22,
            )
            data = [history(each.runs[0], comparison.gate) for each in timed]
            _histories(figure, grid, data, [each.engine for each in timed])
        grid = figure.add_gridspec(
            lines,
            _COLUMNS,
            left=0.07,
            right=0.985,
            top=1 - (1.1 + above + 0.15) / height,
            bottom=0.72 / height,
            wspace=0.32,
            hspace=1.0,
        )
        for number, row in enumerate(comparison.rows):
            place = grid[number // _COLUMNS, number % _COLUMNS]
            _quantity(figure.add_subplot(place), comparison, row)
        _titles(figure, comparison, width, height)
    return figure


def _histories(figure: Figure, grid: Any, data: list[History], names: list[str]) -> None:
    limit = max(one.top_bps for one in data)
    factor, unit = rate_scale(limit)
    most = max([1.0, *(float(np.nanmax(one.queue)) for one in data if len(one.queue))])
    for place, (one, name) in enumerate(zip(data, names, strict=True)):
        left, right = figure.add_subplot(grid[place, 0]), figure.add_subplot(grid[place, 1])
        known = ~np.isnan(one.rate_binned)
        if np.any(known):
            left.stairs(np.nan_to_num(one.rate_binned) / factor, one.edges, fill=True, color=FILL, lw=0)
        if one.through:
            steps(left, one.edges, one.total_goodput / factor, color=ACCENT, lw=0.9)
        left.set_ylim(0, limit / factor)
        if one.through:
            above(left, one.edges, one.total_goodput / factor, ACCENT)
        if len(one.queue):
            time, queue = thin(one.gate_time, one.queue, 1200)
            right.fill_between(time, queue, color=FILL, lw=0, step="post")
            right.plot(time, queue, color=INK, lw=0.6, drawstyle="steps-post")
        seen = np.unique(np.round(one.all_drops / one.duration * 300)) / 300 * one.duration
        right.plot(seen, np.full(len(seen), 1.06 * most), ls="", marker="|", ms=4, mew=0.7, color=ACCENT)
        right.set_ylim(0, 1.14 * most)
        for axes in (left, right):
            axes.set_xlim(0, one.duration)
            axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
            axes.tick_params(labelsize=7.5, labelbottom=place == len(data) - 1)
            if one.begin > 0:
                axes.axvspan(0, one.begin, facecolor="none", edgecolor=SOFT, hatch="////", lw=0, zorder=0)
            if place == len(data) - 1:
                axes.set_xlabel("time, s", fontsize=8)
        if place == 0:
            left.set_title(f"Goodput (line), rate in force (shaded), {unit}", fontsize=8.5)
            right.set_title(f"Queue, {one.queue_unit} (ticks: drops on the path)", fontsize=8.5)
        left.annotate(
            name,
            (0, 0.5),
            xycoords="axes fraction",
            xytext=(-58, 0),
            textcoords="offset points",
            fontsize=9.5,
            weight="bold",
            va="center",
            ha="center",
            color=INK,
        )


#: What follows a quantity's name, by verdict.
_SIGNS = {AGREE: "✓", DIFFER: "≠", OPEN: "?", UNJUDGED: "–"}


def _quantity(axes: Axes, comparison: Agreement, row: Row) -> None:
    """Draw a dot and its 95% interval for each engine; the band is where engines agree."""
    scale = row.quantity.scale
    engines = [each.engine for each in comparison.engines if each.engine in row.values]
    base = row.values.get(comparison.reference)
    shown = []
    if base is not None and base.mean is not None:
        allowed = comparison.allowed(row.quantity, base.mean) / scale
        middle = base.mean / scale
        axes.axvspan(middle - allowed, middle + allowed, color=FILL, lw=0, zorder=0)
        shown += [middle - 1.6 * allowed, middle + 1.6 * allowed]
    for height, engine in enumerate(reversed(engines)):
        found = row.values[engine]
        mark, colour = _MARKS[engine]
        mean = (found.mean or 0.0) / scale
        ends = [mean - found.arms[0] / scale, mean + found.arms[1] / scale]
        axes.plot(ends, [height, height], color=colour, lw=1.6, solid_capstyle="butt")
        axes.plot(mean, height, marker=mark, ms=5, color=colour, ls="", clip_on=False)
        shown += ends
    axes.set_ylim(-0.6, len(engines) - 0.4)
    axes.set_yticks(range(len(engines)), list(reversed(engines)), fontsize=7.5)
    axes.set_xlim(*_limits(shown, [(found.mean or 0.0) / scale for found in row.values.values()]))
    counts = row.quantity.column == "timeouts"
    if counts:
        axes.set_xlim(right=max(1.1, axes.get_xlim()[1]))
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=counts, min_n_ticks=1))
    axes.ticklabel_format(axis="x", useOffset=False, style="plain")
    axes.tick_params(axis="x", labelsize=7.5, pad=2)
    axes.grid(visible=False, axis="y")
    verdicts = {difference.verdict for difference in row.differences.values()}
    # The worst of several verdicts is the one to look at.
    worst = next((verdict for verdict in (DIFFER, OPEN, UNJUDGED, AGREE) if verdict in verdicts), None)
    unit = f", {row.quantity.unit}" if row.quantity.unit else ""
    title = f"{_SIGNS[worst]}  {row.quantity.name}{unit}" if worst else f"{row.quantity.name}{unit}"
    axes.set_title(title, fontsize=7.8 if len(title) < 28 else 6.8, pad=3)


def _limits(shown: Sequence[float], means: Sequence[float]) -> tuple[float, float]:
    """Return the ends of a panel's scale: what is shown, and nothing below 0 that cannot be."""
    low, high = min(shown), max(shown)
    room = 0.08 * (high - low) or 0.5
    if min(means) >= 0 and low - room < 0:
        # None of these numbers can be negative, whatever their interval or the band says.
        return (0.0, high + room) if high + room > 0 else (0.0, 1.0)
    return low - room, high + room


def _titles(figure: Figure, comparison: Agreement, width: float, height: float) -> None:
    first = comparison.engines[0].runs[0].summary
    ends = lengths([run.summary for each in comparison.engines for run in each.runs])
    facts = [
        ", ".join(each.label for each in comparison.engines),
        f"gate {comparison.gate}" if comparison.gate else "no gate",
        f"counted from {first['measured_from_s']:g} s to {until_words(*ends)}",
    ]
    if comparison.seed is not None:
        facts.insert(1, f"seed {comparison.seed}")
    letters = int(width * 9)
    figure.text(
        0.012,
        1 - 0.12 / height,
        fit(comparison.title, letters),
        fontsize=12.5,
        weight="bold",
        color=INK,
        va="top",
    )
    figure.text(
        0.012,
        1 - 0.41 / height,
        fit("  ·  ".join(facts), int(letters * 1.5)),
        fontsize=8.5,
        color=MID,
        va="top",
    )
    note = (
        "Lines: 95% interval of the mean. Grey band: what counts as agreement, "
        f"{100 * comparison.tolerance:g}% of {comparison.reference} or, where that is less, the least "
        "difference that counts (within … in the table).\n"
        "✓ agree, ≠ differ, ? not decided by so many runs, – not judged (one run). "
        f"{HEADERS_SHORT}"
    )
    figure.text(0.012, 0.08 / height, note, fontsize=7, color=MID, va="bottom")
