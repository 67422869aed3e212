"""The picture of a run: windows, rate with goodput, queue and losses on one time axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tidegate._base import text
from tidegate._base.errors import ArgumentError, UnknownNameError, nearest
from tidegate._draw.marks import FLOW_STYLES, SINGLE, Label, above, label_right, last, steps, thin
from tidegate._draw.style import ACCENT, FILL, INK, MID, SOFT, STYLE, fit
from tidegate._run.history import history
from tidegate._run.numbers import figures_of
from tidegate._run.plot_delay import delay_panel, has_delays, tokens_panel
from tidegate._run.plot_flows import bars_panel
from tidegate._run.plot_headline import flows_line, gate_line, spikes_note
from tidegate._run.plot_requests import has_requests, response_panel
from tidegate._run.words import PANELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from tidegate._run.history import History
    from tidegate._run.record import Recorded

_LEFT, _RIGHT = 0.75, 1.3
_WIDTH = 9.2
_TOP, _BOTTOM, _GAP = 1.2, 0.62, 0.42
#: Heights of panels, inches.
_HEIGHTS = {"cwnd": 1.75, "goodput": 1.9, "delay": 1.7, "responses": 1.7, "queue": 1.55, "tokens": 1.2}
_EVENTS, _BARS = 0.62, 1.3


def run_figure(run: Recorded, *, gate: str | None = None, show: Sequence[str] | None = None) -> Figure:
    """Draw the picture of a run on one time axis, and bars of its flows where there are several.

    ``show``: panels (:data:`tidegate._run.words.PANELS`); left out, those that say something of
    this run. Drops, fast retransmits and time-outs always stand below them.

    Raises:
        NotRecordedError: the run kept only its summary.
        UnknownNameError: there is no gate of this name.
        ArgumentError: a panel was asked for that this run has nothing for.
    """
    data = history(run, gate)
    names = _chosen(run, data, show)
    bars = len(run.flows) > 1 and show is None
    heights = [*(_HEIGHTS[name] for name in names), _EVENTS]
    height = _TOP + sum(heights) + _GAP * (len(heights) - 1) - 0.28 + _BOTTOM + (_BARS + 0.75) * bars
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, height), dpi=100)
        at = height - _TOP
        first: Axes | None = None
        for number, name in enumerate([*names, "events"]):
            at -= heights[number]
            place = (_LEFT / _WIDTH, at / height, 1 - (_LEFT + _RIGHT) / _WIDTH, heights[number] / height)
            axes = figure.add_axes(place, sharex=first)
            first = first or axes
            axes.set_xlim(0, data.duration)
            _warmup(axes, data.begin)
            _panel(axes, name, run, data)
            axes.tick_params(labelbottom=name == "events")
            # The events stand close to the panel above: its time axis is theirs.
            at -= _GAP if number < len(names) - 1 else 0.14
        axes.set_xlabel("time, s")
        if bars:
            _flow_bars(figure, run, height)
        _titles(figure, run, data, height)
        if data.begin > 0 and first is not None:
            first.annotate(
                "hatched: warm-up, not counted", (1, 1), xycoords="axes fraction", ha="right",
                xytext=(0, 4), textcoords="offset points", va="bottom", fontsize=7, color=MID,
            )  # fmt: skip
    return figure


def _chosen(run: Recorded, data: History, show: Sequence[str] | None) -> list[str]:
    """Return the panels to draw, in their order."""
    there = {
        "cwnd": bool(data.names),
        "goodput": bool(data.names) or data.gate is not None,
        "delay": has_delays(data),
        "responses": has_requests(run),
        "queue": len(data.queue) > 0 and (show is not None or bool(np.nanmax(data.queue) > 0)),
        "tokens": len(data.tokens) > 0,
    }
    if show is None:
        return [name for name in PANELS if there[name]]
    for name in show:
        if name not in PANELS:
            raise UnknownNameError(nearest("panel", name, PANELS))
        if not there[name]:
            raise ArgumentError(f"{name}: this run has nothing to draw in that panel")
    return [name for name in PANELS if name in show]


def _panel(axes: Axes, name: str, run: Recorded, data: History) -> None:
    if name == "responses":
        response_panel(axes, run)
        return
    panels = {
        "cwnd": _window_panel,
        "goodput": _speed_panel,
        "delay": delay_panel,
        "queue": _queue_panel,
        "tokens": tokens_panel,
        "events": _events_panel,
    }
    panels[name](axes, data)


def _flow_bars(figure: Figure, run: Recorded, height: float) -> None:
    """Draw goodput of each flow and, of finite transfers, how long each took."""
    flows = run.summary["flows"]
    done = any(row["completion_s"] is not None for row in flows)
    whole = 1 - (_LEFT + _RIGHT) / _WIDTH
    fair = figures_of(run.summary, None)["fairness"]
    unit = text.rate_scale(max(row["goodput_bps"] for row in flows))[1]
    told = (
        "" if fair is None or run.summary.get("requests") else f" (Jain's fairness index {text.number(fair)})"
    )
    wide = whole / 2 - 0.045 if done else whole
    bottom = (_BOTTOM - 0.05) / height
    axes = figure.add_axes((_LEFT / _WIDTH, bottom, wide, _BARS / height))
    bars_panel(axes, flows, "goodput_bps", f"Goodput of each flow{told}", unit)
    if done:
        left = _LEFT / _WIDTH + whole / 2 + 0.045
        axes = figure.add_axes((left, bottom, wide, _BARS / height))
        bars_panel(axes, flows, "completion_s", "Time until each transfer was done", "s")


def _warmup(axes: Axes, begin: float) -> None:
    if begin > 0:
        axes.axvspan(0, begin, facecolor="none", edgecolor=SOFT, hatch="////", lw=0, zorder=0)


def _window_panel(axes: Axes, data: History) -> None:
    axes.set_title("Congestion window")
    axes.set_ylabel("segments")
    labels: list[Label] = []
    tops: list[float] = []
    if len(data.names) <= SINGLE:
        for (colour, style), name in zip(FLOW_STYLES, data.names, strict=False):
            time, cwnd = thin(data.time[name], data.cwnd[name])
            axes.plot(time, cwnd, color=colour, ls=style, lw=1.25, drawstyle="steps-post")
            t2, ssthresh = thin(data.time[name], data.ssthresh[name])
            alone = len(data.names) == 1
            axes.plot(
                t2, ssthresh, color=INK if alone else colour, lw=0.9, ls=(0, (3, 2)) if alone else ":",
                drawstyle="steps-post", zorder=1.9,
            )  # fmt: skip
            if np.any(~np.isnan(cwnd)):
                tops.append(float(np.nanmax(cwnd)))
                labels.append(Label(last(cwnd), "cwnd" if alone else name, colour))
            if alone and np.any(~np.isnan(ssthresh)):
                labels.append(Label(last(ssthresh), "ssthresh\n(dashed)", INK))
        if len(data.names) > 1:
            axes.set_title("Congestion window (dotted: ssthresh)")
    else:
        base = data.time[max(data.names, key=lambda n: len(data.time[n]))]
        grid = np.linspace(0, data.duration, min(len(base), 1200))
        every = np.array([np.interp(grid, data.time[n], data.cwnd[n], left=np.nan) for n in data.names])
        low, middle, high = np.nanpercentile(every, [10, 50, 90], axis=0)
        axes.fill_between(grid, low, high, color=FILL, lw=0)
        axes.plot(grid, high, color=MID, lw=0.6)
        axes.plot(grid, low, color=MID, lw=0.6)
        axes.plot(grid, middle, color=ACCENT, lw=1.3)
        axes.set_title(f"Congestion window of {len(data.names)} flows")
        labels += [
            Label(last(high), "90% below", MID),
            Label(last(middle), "median", ACCENT),
            Label(last(low), "10% below", MID),
        ]
        tops.append(float(np.nanmax(high)))
    # An initial ssthresh far above every window would flatten what there is to see.
    axes.set_ylim(0, 1.08 * max(tops, default=1.0) or 1.0)
    label_right(axes, labels)


def _speed_panel(axes: Axes, data: History) -> None:
    known = data.rate_binned[~np.isnan(data.rate_binned)]
    limit = data.top_bps
    factor, unit = text.rate_scale(limit)
    axes.set_ylim(0, limit / factor)
    labels: list[Label] = []
    of = "" if data.gate is None else f" at gate {data.gate}"
    title = [] if data.through else ["No flow's data passes the gate"] if data.names else []
    # A link that never fills would be a grey wall: what a policer allows says more.
    if len(known) and not data.contract:
        filled = np.nan_to_num(data.rate_binned) / factor
        axes.stairs(filled, data.edges, fill=True, color=FILL, lw=0)
        steps(axes, data.edges, filled, color=SOFT, lw=0.9)
        word = "token rate" if data.bucket else "rate in force"
        labels.append(Label(float(filled[-1]), f"{word}\n(shaded)", MID))
        title.append(f"{word}{of} (shaded)")
    labels += _rate_lines(axes, data, factor)
    if data.contract:
        title.append(f"contract{of} (dashed)")
    if not data.through and len(data.carried):
        steps(axes, data.edges, data.carried / factor, color=ACCENT, lw=1.3)
        above(axes, data.edges, data.carried / factor, ACCENT)
        labels.append(Label(float(data.carried[-1] / factor), "carried by\nthe gate", ACCENT))
        title.append(f"what gate {data.gate} carried")
    elif 1 < len(data.names) <= SINGLE:
        for (colour, style), name in zip(FLOW_STYLES, data.names, strict=False):
            if name in data.through:
                value = data.goodput[name] / factor
                steps(axes, data.edges, value, color=colour, ls=style, lw=1.1)
                above(axes, data.edges, value, colour)
                labels.append(Label(float(value[-1]), name, colour))
        every = len(data.through) == len(data.names)
        title.insert(0, "goodput of each flow" if every else f"goodput of {' and '.join(data.through)}")
    elif data.through:
        total = data.total_goodput / factor
        steps(axes, data.edges, total, color=ACCENT, lw=1.3)
        above(axes, data.edges, total, ACCENT)
        several = len(data.through) > 1
        of_some = f" of {data.through[0]}" if len(data.names) > 1 else ""
        labels.append(
            Label(float(total[-1]), f"goodput,\n{len(data.through)} flows" if several else "goodput", ACCENT)
        )
        title.insert(0, f"goodput of {len(data.through)} flows together" if several else f"goodput{of_some}")
    words = "; ".join(title) or "goodput"
    axes.set_title(words[0].upper() + words[1:])
    axes.set_ylabel(unit)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    label_right(axes, labels)


def _rate_lines(axes: Axes, data: History, factor: float) -> list[Label]:
    """Draw what a bucket's peak and a policer's contract allow, where it is inside the axes."""
    lines = [
        ("contract", data.contract.get("rate_bps"), (0, (6, 2))),
        ("peak", data.contract.get("peak_bps") or data.bucket.get("peak_bps"), (0, (2, 2))),
    ]
    labels = []
    for word, bps, dash in lines:
        if bps is not None and bps / factor <= axes.get_ylim()[1]:
            axes.axhline(bps / factor, color=INK, lw=0.9, ls=dash)
            labels.append(Label(bps / factor, f"{word}\n{text.rate(bps)}", INK))
    return labels


def _queue_panel(axes: Axes, data: History) -> None:
    axes.set_title("Queue" if data.gate is None else f"Queue at gate {data.gate}")
    factor, unit = 1.0, data.queue_unit
    high = float(np.nanmax(data.queue)) if np.any(~np.isnan(data.queue)) else 0.0
    if unit == "bytes" and high >= 1e4:
        factor, unit = 1e3, "kB"
    axes.set_ylabel(unit)
    time, queue = thin(data.gate_time, data.queue / factor)
    axes.fill_between(time, queue, color=FILL, lw=0, step="post")
    axes.plot(time, queue, color=INK, lw=0.8, drawstyle="steps-post")
    top = 1.1 * high / factor or 1.0
    limit = None if data.queue_limit is None else data.queue_limit / factor
    told = limit is not None and f"limit {text.number(limit if limit % 1 else int(limit))}"
    if limit is not None and limit <= 2.5 * top:
        top = max(top, 1.1 * limit)
        axes.axhline(limit, color=ACCENT, lw=0.9, ls=(0, (4, 2)))
        axes.set_ylim(0, top)
        label_right(axes, [Label(limit, str(told), ACCENT)])
    else:
        axes.set_ylim(0, top)
        word = f"{told} {unit},\nfar above" if limit is not None else "no limit" if data.has_law else ""
        label_right(axes, [Label(top, word, MID)] if word else [])
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=factor == 1.0))


def _events_panel(axes: Axes, data: History) -> None:
    rows = (
        ("drop", data.all_drops, INK),
        ("fast retransmit", data.fast, MID),
        ("time-out", data.timeouts, ACCENT),
    )
    axes.grid(axis="y", visible=False)
    axes.set_ylim(-0.6, 2.6)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    labels = []
    for place, (word, times, colour) in enumerate(reversed(rows)):
        axes.axhline(place, color="#ececec", lw=0.6, zorder=0)
        # A mark per pixel is enough.
        seen = np.unique(np.round(times / data.duration * 1600)) / 1600 * data.duration
        if word == "time-out":
            axes.plot(seen, np.full(len(seen), place), ls="", marker="x", ms=5, mew=1.4, color=colour)
        elif word == "fast retransmit":
            axes.plot(seen, np.full(len(seen), place), ls="", marker="v", ms=4, mew=0, color=colour)
        else:
            axes.vlines(seen, place - 0.36, place + 0.36, color=colour, lw=0.7)
        plural = "" if len(times) == 1 else "s"
        where = _where(data) if word == "drop" else ""
        labels.append(Label(float(place), f"{len(times)} {word}{plural}{where}", colour))
    label_right(axes, labels, size=7.5)


def _where(data: History) -> str:
    """Say at which gates packets were dropped, in few letters."""
    some = {gate: len(times) for gate, times in data.drops.items() if len(times)}
    if not some:
        return ""
    if len(some) == 1:
        return f"\nat {fit(next(iter(some)), 16)}"
    if len(some) == 2:
        return "\n" + ", ".join(f"{count} {fit(gate, 9)}" for gate, count in some.items())
    return f"\nat {len(some)} gates"


def _titles(figure: Figure, run: Recorded, data: History, height: float) -> None:
    kinds = sorted({str(row["cc"]) for row in run.flows})
    flows = f"{len(run.flows)} flow{'s' if len(run.flows) != 1 else ''}"
    facts = [
        f"seed {run.seed}",
        f"{flows} ({', '.join(kinds)})" if kinds else flows,
        f"engine {run.summary['engine']}",
        f"counted from {data.begin:g} s to {data.duration:g} s",
    ]
    x = _LEFT / _WIDTH
    lines = [(0.2, fit(run.title, 88), 12.5, INK), (0.47, "  ·  ".join(facts), 8.5, MID)]
    told = [line for line in (flows_line(run), gate_line(run, data)) if line]
    lines += [(0.66 + 0.19 * n, fit(line, 150), 8.5, INK) for n, line in enumerate(told)]
    for down, line, size, colour in lines:
        figure.text(
            x, 1 - (down - 0.1) / height, line, fontsize=size, color=colour, va="top",
            weight="bold" if size > 10 else "normal",
        )  # fmt: skip
    figure.text(
        x, 0.1 / height, f"{text.HEADERS_SHORT} {spikes_note(run)}", fontsize=7, color=MID, va="bottom"
    )
