"""The picture of a comparison: a row per variant with its histories, and its figures beside them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from tidegate._base.nearest import nearest
from tidegate._base.text import HEADERS_SHORT, rate_scale
from tidegate._compare.plot_figures import figure_columns
from tidegate._draw.drawing import Drawing
from tidegate._draw.parts import Words
from tidegate._draw.thin import thin
from tidegate._draw.tokens import ACCENT, FILL, INK, MID, SOFT, fit
from tidegate._run.completion import begin_words, lengths, until_words
from tidegate._run.history import History, history
from tidegate._run.summary import short_keys
from tidegate._run.words import PANELS, value_words
from tidegate.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidegate._compare.variants import Variants
    from tidegate._draw.drawing import Panel

#: More variants than this show their figures only, unless panels are asked for.
_WITH_HISTORY = 12
_BINS = 150
#: Inches.
_TOP, _BOTTOM, _PANEL, _GAP, _LETTER = 1.0, 0.62, 2.75, 0.5, 0.083
#: Panels of a row when nothing is said.
_DEFAULT_SHOW = ("goodput", "delay", "queue")


def comparison_drawing(comparison: Variants, show: Sequence[str] | None = None) -> Drawing:
    """Draw histories of each variant, and one column per figure.

    ``show``: panels (:data:`tidegate._run.words.PANELS` without responses, buffer and bitrate); left out,
    goodput, delay and queue, or none where there are more than 12 variants.

    Columns share their scale, so that a glance down a column compares.

    Raises:
        UnknownNameError: there is no such panel.
        ArgumentError: a panel was asked for that nothing was recorded for.
    """
    variants = comparison.variants
    count = len(variants)
    recorded = all(v.run.has("flows") and v.run.has("gates") for v in variants)
    if show is not None and not recorded:
        raise ArgumentError("show: these runs kept only their summaries; compare again with --record")
    default = _DEFAULT_SHOW if count <= _WITH_HISTORY else ()
    data = []
    if recorded and (show or default):
        data = [history(v.run, comparison.gate_of(v), bins=_BINS) for v in variants]
    panels = _panels(data, default if show is None else show, asked=show is not None)
    row = (0.82 if count <= 6 else 0.66) if panels else 0.36
    names = _names(comparison, lines=bool(panels))
    left = min(_LETTER * max(len(line) for name in names for line in name) + 0.2, 2.6 if panels else 4.5)
    figures_width = figure_columns.width(comparison)
    width = left + len(panels) * (_PANEL + _GAP) + figures_width + 0.15
    width = max(width, 8.0)
    facts = _facts(comparison, data, width, left_out=recorded and not panels)
    top = _TOP + 0.15 * len(facts)
    height = top + row * count + _BOTTOM
    drawing = Drawing(width, height, comparison.title, foot=HEADERS_SHORT)
    centres = [height - top - row * (n + 0.5) for n in range(count)]
    for place, name in enumerate(panels):
        x = left + place * (_PANEL + _GAP) + 0.3
        _COLUMNS[name]([drawing.panel(x, at - 0.4 * row, _PANEL, 0.8 * row) for at in centres], data)
    x = left + len(panels) * (_PANEL + _GAP) + 0.1
    shares = [(at - _BOTTOM) / (row * count) for at in centres]
    figure_columns(drawing, x, _BOTTOM, row * count, comparison, shares)
    for at, lines in zip(centres, names, strict=True):
        label = "\n".join(fit(line, 30 if panels else 54) for line in lines)
        drawing.words.append(Words(0.1, at, label, bold=True, spacing=1.3))
    _titles(drawing, comparison.title, facts)
    return drawing


def _panels(data: Sequence[History], wanted: Sequence[str], *, asked: bool) -> list[str]:
    """Return the panels that there is something for, in their order."""
    there = {
        "cwnd": any(one.names for one in data),
        "goodput": any(one.through or len(one.carried) for one in data),
        "delay": any(one.rtt or len(one.wait) for one in data),
        "queue": any(len(one.queue) and (asked or np.nanmax(one.queue) > 0) for one in data),
        "tokens": any(len(one.tokens) for one in data),
    }
    for name in wanted:
        if name not in there:
            raise UnknownNameError(nearest("panel", name, there))
        if asked and not there[name]:
            raise ArgumentError(f"{name}: these runs have nothing to draw in that panel")
    chosen = [name for name in PANELS if name in wanted and there[name]]
    # A bucket is what its gate is about.
    if not asked and chosen and there["tokens"]:
        chosen.append("tokens")
    return chosen


def _names(comparison: Variants, *, lines: bool) -> list[list[str]]:
    """Return each variant's label, key=value; ``lines``: a line for each key."""
    short = short_keys(comparison.axes)
    names = [
        [
            f"{name}={value_words(str(v.changes[key]), 30)}"
            for name, key in zip(short, comparison.axes, strict=True)
        ]
        for v in comparison.variants
    ]
    return names if lines else [[", ".join(name)] for name in names]


def _speeds(column: list[Panel], data: Sequence[History]) -> None:
    limit = max(one.top_bps for one in data)
    factor, unit = rate_scale(limit)
    for panel, one in zip(column, data, strict=True):
        panel.y.span(0, limit / factor)
        rate = one.contract.get("rate_bps")
        if np.any(~np.isnan(one.rate_binned)) and not one.contract:
            filled = np.nan_to_num(one.rate_binned) / factor
            panel.filled_bins(one.edges, filled, FILL)
            panel.bins(one.edges, filled, SOFT, 0.6)
        if rate:
            panel.level(rate / factor, INK, 0.8, (5, 2))
        if one.through or not one.names:
            value = (one.total_goodput if one.through else one.carried) / factor
            if len(value):
                panel.bins(one.edges, value, ACCENT, 1.0)
                panel.above(one.edges, value, ACCENT)
    contract = any(one.contract for one in data)
    law = "contract (dashed)" if contract else "rate (shaded)"
    line = "Goodput" if any(one.through for one in data) else "Carried"
    _small(column, data, f"{line} (line), {law}, {unit}")


def _windows(column: list[Panel], data: Sequence[History]) -> None:
    most = 1.0
    for panel, one in zip(column, data, strict=True):
        # The first in the accent; all of them where they are few, else as a faint bundle.
        few = len(one.names) <= 4
        for number, name in enumerate(one.names):
            time, cwnd = thin(one.time[name], one.cwnd[name], 600)
            colour = (ACCENT, INK, MID, SOFT)[number % 4] if few else MID
            panel.line(time, cwnd, colour, 0.9 if few else 0.3)
            if np.any(~np.isnan(cwnd)):
                most = max(most, float(np.nanmax(cwnd)))
    for panel in column:
        panel.y.span(0, 1.06 * most)
    _small(column, data, "Congestion window of each flow, segments")


def _delays(column: list[Panel], data: Sequence[History]) -> None:
    most = 1e-9
    for panel, one in zip(column, data, strict=True):
        grid = np.linspace(0, one.duration, 400)
        for values, colour, width in ((one.one_way, INK, 0.7), (one.rtt, ACCENT, 0.9)):
            rows = [np.interp(grid, one.time[name], value) for name, value in values.items() if len(value)]
            if not rows:
                continue
            with np.errstate(all="ignore"):
                found = np.array(rows)
                found[:, np.all(np.isnan(found), axis=0)] = np.nan
                middle = found[0] if len(rows) == 1 else _median(found)
            panel.line(grid, middle, colour, width, steps=False)
            if np.any(~np.isnan(middle)):
                most = max(most, float(np.nanmax(middle)))
        if not one.rtt and len(one.wait):
            time, wait = thin(one.gate_time, one.wait, 600)
            panel.line(time, wait, ACCENT, 0.8)
            if np.any(~np.isnan(wait)):
                most = max(most, float(np.nanmax(wait)))
    for panel in column:
        panel.y.span(0, 1.06 * most)
    several = any(len(one.names) > 1 for one in data)
    words = "ound trip in TCP (blue), one way (black), ms"
    words = f"Median r{words}" if several else f"R{words}"
    _small(column, data, words if any(one.rtt for one in data) else "Queueing delay, ms")


def _median(rows: np.ndarray) -> np.ndarray:
    """Return the median of what is there at each instant; NaN where nothing is."""
    there = np.any(~np.isnan(rows), axis=0)
    middle = np.full(rows.shape[1], np.nan)
    middle[there] = np.nanmedian(rows[:, there], axis=0)
    return middle


#: Queues whose peaks differ by more have scales of their own: a queue of 50 is flat on a scale of 1,000.
_OWN_SCALES = 5.0


def _queues(column: list[Panel], data: Sequence[History]) -> None:
    unit = data[0].queue_unit
    factor = 1e3 if unit == "bytes" else 1.0
    least = 1.0 if factor == 1.0 else 1e-3
    tops = [_queue_top(one, factor, least) for one in data]
    seen = [top for top, one in zip(tops, data, strict=True) if np.any(one.queue > 0)]
    own = bool(seen) and max(seen) > _OWN_SCALES * min(seen)
    for panel, one, peak in zip(column, data, tops, strict=True):
        top = peak if own else max(tops)
        if len(one.queue):
            time, queue = thin(one.gate_time, one.queue / factor, 600)
            panel.area(time, queue, FILL)
            panel.line(time, queue, INK, 0.6)
        if one.queue_limit is not None and one.queue_limit / factor <= 1.02 * top:
            panel.level(one.queue_limit / factor, ACCENT, 0.8, (4, 2))
        dropped = np.unique(np.round(one.all_drops / one.duration * 300)) / 300 * one.duration
        panel.points(dropped, 1.1 * top, "upright", ACCENT, 4, width=0.7)
        panel.y.span(0, 1.18 * top)
    shown = "kB" if factor == 1e3 else unit
    limits = any(one.queue_limit is not None for one in data)
    words = f"Queue{' and limit' if limits else ''}, {shown} (ticks: drops)"
    _small(column, data, f"{words}\neach row has a scale of its own" if own else words)


def _queue_top(one: History, factor: float, least: float) -> float:
    """Return the end of a queue's scale: its peak, or its limit where that is near."""
    there = np.any(~np.isnan(one.queue))
    top = max(least, float(np.nanmax(one.queue)) / factor if there else 0.0)
    limit = None if one.queue_limit is None else one.queue_limit / factor
    return limit if limit is not None and top < limit <= 1.5 * top else top


def _tokens(column: list[Panel], data: Sequence[History]) -> None:
    top = max([1.0, *(float(np.nanmax(one.tokens)) for one in data if len(one.tokens))])
    factor, unit = (1e3, "kB") if top >= 1e3 else (1.0, "bytes")
    for panel, one in zip(column, data, strict=True):
        if len(one.tokens):
            time, tokens = thin(one.gate_time, one.tokens / factor, 600)
            panel.area(time, tokens, FILL)
            panel.line(time, tokens, INK, 0.6)
        panel.y.span(0, 1.08 * top / factor)
    _small(column, data, f"Tokens in the bucket, {unit}")


_COLUMNS: dict[str, Callable[[list[Panel], Sequence[History]], None]] = {
    "cwnd": _windows,
    "goodput": _speeds,
    "delay": _delays,
    "queue": _queues,
    "tokens": _tokens,
}


def _small(column: list[Panel], data: Sequence[History], title: str) -> None:
    for panel, one in zip(column, data, strict=True):
        panel.x.span(0, max(each.duration for each in data))
        panel.x.most = 6
        if one.begin > 0:
            panel.hatch(0, one.begin)
        panel.y.most, panel.y.steps = 2, (1, 2, 5, 10)
        panel.x.size = panel.y.size = 7
        panel.x.labelled = panel is column[-1]
        panel.label_size = panel.title_size = 7.5
    column[-1].x_label = "time, s"
    column[0].title = title


def _facts(comparison: Variants, data: Sequence[History], width: float, *, left_out: bool) -> list[str]:
    """Return the lines below the title: what is varied, whose numbers these are, what is left out."""
    summaries = [variant.run.summary for variant in comparison.variants]
    has_gate = any(map(comparison.gate_of, comparison.variants))
    gate = f"queueing delay, loss and use: {comparison.place}" if has_gate else comparison.place
    facts = [
        f"varied: {', '.join(comparison.axes)}",
        *filter(None, [comparison.tcp]),
        comparison.seeds,
        gate,
        f"counted from {begin_words(summaries)} s to {until_words(*lengths(summaries))}",
    ]
    passing = {len(one.through) for one in data}
    flows = {len(summary["flows"]) for summary in summaries}
    if data and max(passing) and len(flows) == 1 and max(passing) < max(flows):
        facts.append(f"lines: the {max(passing)} of {max(flows)} flows that pass it")
    if left_out:
        facts.append(f"no histories: more than {_WITH_HISTORY} variants (--show goodput,queue draws them)")
    return textwrap.wrap("  ·  ".join(facts), int(width * 14.2))


def _titles(drawing: Drawing, title: str, facts: Sequence[str]) -> None:
    high, wide = drawing.height, drawing.width
    drawing.words += [
        Words(0.1, high - 0.12, fit(title, int(wide * 9)), 12.5, INK, up="top", bold=True),
        Words(0.1, high - 0.39, "\n".join(facts), 8.2, MID, up="top", spacing=1.3),
    ]
