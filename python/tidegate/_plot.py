"""The picture of a run: windows, rate with goodput, queue and losses on one time axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tidegate import _text
from tidegate._plot_history import history
from tidegate._plot_marks import Label, above, label_right, steps, thin
from tidegate._plot_style import ACCENT, FILL, INK, MID, SOFT, STYLE, fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tidegate._plot_history import History
    from tidegate._run_record import Recorded

    Floats = NDArray[np.float64]

#: Flows drawn one by one; more become a median and a band.
_SINGLE = 4
#: (colour, line style) of the flows drawn one by one; told apart without colour, too.
FLOW_STYLES: tuple[tuple[str, Any], ...] = (
    (ACCENT, "-"),
    (INK, (0, (5, 1.6))),
    (MID, "-"),
    (INK, (0, (1, 1.2))),
)
_LEFT = 0.082


def run_figure(run: Recorded, *, gate: str | None = None) -> Figure:
    """Draw the picture of a run: windows, rate with goodput, queue, losses, on one time axis.

    Where there are requests, their response times too.

    Raises:
        NotRecordedError: the run kept only its summary.
        UnknownNameError: there is no gate of this name.
    """
    from tidegate import _plot_requests

    data = history(run, gate)
    asks = _plot_requests.has_requests(run)
    heights = [3, 3, 2.6, 3.1] if asks else [3, 3, 3.1]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.2, 10.4 if asks else 8.2), dpi=100)
        grid = figure.add_gridspec(
            len(heights), 1, height_ratios=heights, left=_LEFT, right=0.86, top=0.872 + 0.022 * asks,
            bottom=0.082 - 0.016 * asks, hspace=0.26,
        )  # fmt: skip
        lowest = grid[-1].subgridspec(2, 1, height_ratios=[2.4, 0.8], hspace=0.1)
        window = figure.add_subplot(grid[0])
        speed = figure.add_subplot(grid[1], sharex=window)
        queue = figure.add_subplot(lowest[0], sharex=window)
        events = figure.add_subplot(lowest[1], sharex=window)
        window.set_xlim(0, data.duration)
        for axes in (window, speed, queue, events):
            _warmup(axes, data.begin)
        _window_panel(window, data)
        _speed_panel(speed, data)
        _queue_panel(queue, data)
        _events_panel(events, data)
        if asks:
            response = figure.add_subplot(grid[2], sharex=window)
            _warmup(response, data.begin)
            _plot_requests.response_panel(response, run)
            response.tick_params(labelbottom=False)
        for axes in (window, speed, queue):
            axes.tick_params(labelbottom=False)
        events.set_xlabel("time, s")
        _titles(figure, run, data)
        if data.begin > 0:
            window.annotate(
                "warm-up, not counted", (0, 1), xycoords=("data", "axes fraction"),
                xytext=(3, -3), textcoords="offset points", va="top", fontsize=7, color=MID,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
            )  # fmt: skip
    return figure


def _warmup(axes: Axes, begin: float) -> None:
    if begin > 0:
        axes.axvspan(0, begin, facecolor="none", edgecolor=SOFT, hatch="////", lw=0, zorder=0)


def _window_panel(axes: Axes, data: History) -> None:
    axes.set_title("Congestion window")
    axes.set_ylabel("segments")
    labels: list[Label] = []
    tops: list[float] = []
    if len(data.names) <= _SINGLE:
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
                labels.append(Label(_last(cwnd), "cwnd" if alone else name, colour))
            if alone and np.any(~np.isnan(ssthresh)):
                labels.append(Label(_last(ssthresh), "ssthresh\n(dashed)", INK))
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
            Label(_last(high), "90% below", MID),
            Label(_last(middle), "median", ACCENT),
            Label(_last(low), "10% below", MID),
        ]
        tops.append(float(np.nanmax(high)))
    # An initial ssthresh far above every window would flatten what there is to see.
    axes.set_ylim(0, 1.08 * max(tops, default=1.0) or 1.0)
    label_right(axes, labels)


def _last(values: Floats) -> float:
    good = values[~np.isnan(values)]
    return float(good[-1]) if len(good) else 0.0


def _speed_panel(axes: Axes, data: History) -> None:
    known = data.rate_binned[~np.isnan(data.rate_binned)]
    limit = data.top_bps
    factor, unit = _text.rate_scale(limit)
    axes.set_ylim(0, limit / factor)
    labels: list[Label] = []
    title = "Goodput"
    if len(known):
        filled = np.nan_to_num(data.rate_binned) / factor
        axes.stairs(filled, data.edges, fill=True, color=FILL, lw=0)
        steps(axes, data.edges, filled, color=SOFT, lw=0.9)
        labels.append(Label(float(filled[-1]), "rate in force\n(shaded)", MID))
        title = f"Rate in force at gate {data.gate}, and goodput"
    if data.through and 1 < len(data.names) <= _SINGLE:
        for (colour, style), name in zip(FLOW_STYLES, data.names, strict=False):
            if name in data.through:
                value = data.goodput[name] / factor
                steps(axes, data.edges, value, color=colour, ls=style, lw=1.1)
                above(axes, data.edges, value, colour)
                labels.append(Label(float(value[-1]), name, colour))
    elif data.through:
        total = data.total_goodput / factor
        steps(axes, data.edges, total, color=ACCENT, lw=1.3)
        above(axes, data.edges, total, ACCENT)
        word = "goodput"
        if len(data.through) > 1:
            word = f"goodput,\n{len(data.through)} flows"
        labels.append(Label(float(total[-1]), word, ACCENT))
    axes.set_title(title)
    axes.set_ylabel(unit)
    label_right(axes, labels)


def _queue_panel(axes: Axes, data: History) -> None:
    axes.set_title("Queue" if data.gate is None else f"Queue at gate {data.gate}")
    axes.set_ylabel(data.queue_unit)
    if len(data.queue):
        time, queue = thin(data.gate_time, data.queue)
        axes.fill_between(time, queue, color=FILL, lw=0, step="post")
        axes.plot(time, queue, color=INK, lw=0.8, drawstyle="steps-post")
        high = float(np.nanmax(queue))
        axes.set_ylim(0, 1.1 * high if high > 0 else 1)
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))


def _events_panel(axes: Axes, data: History) -> None:
    rows = (
        ("drop", data.drops, INK),
        ("fast retransmit", data.fast, MID),
        ("timeout", data.timeouts, ACCENT),
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
        if word == "timeout":
            axes.plot(seen, np.full(len(seen), place), ls="", marker="x", ms=5, mew=1.4, color=colour)
        elif word == "fast retransmit":
            axes.plot(seen, np.full(len(seen), place), ls="", marker="v", ms=4, mew=0, color=colour)
        else:
            axes.vlines(seen, place - 0.36, place + 0.36, color=colour, lw=0.7)
        plural = "" if len(times) == 1 else "s"
        labels.append(Label(float(place), f"{len(times)} {word}{plural}", colour))
    label_right(axes, labels, size=7.5)


def _titles(figure: Figure, run: Recorded, data: History) -> None:
    # Distances from the top stay the same in a taller picture.
    shrink = 8.2 / figure.get_figheight()
    figure.text(
        _LEFT, 1 - 0.028 * shrink, fit(run.title, 88), fontsize=12.5, weight="bold", color=INK, va="top"
    )
    kinds = sorted({str(row["cc"]) for row in run.flows})
    facts = [
        f"seed {run.seed}",
        f"{len(run.flows)} flow{'s' if len(run.flows) != 1 else ''} ({', '.join(kinds)})",
        f"engine {run.summary['engine']}",
        f"counted from {data.begin:g} s to {data.duration:g} s",
    ]
    figure.text(_LEFT, 1 - 0.057 * shrink, "  ·  ".join(facts), fontsize=8.5, color=MID, va="top")
    figure.text(_LEFT, 1 - 0.080 * shrink, _result_line(run, data.gate), fontsize=8.5, color=INK, va="top")
    figure.text(
        _LEFT,
        0.012,
        f"{_text.HEADERS_SHORT} It counts once in order: a repaired hole is a spike (▲: above the scale).",
        fontsize=7,
        color=MID,
        va="bottom",
    )


def _result_line(run: Recorded, gate: str | None) -> str:
    goodput = sum(float(row["goodput_bps"]) for row in run.flows)
    words = [f"goodput {_text.rate(goodput)}"]
    if gate is not None:
        row = run.gates.row(gate).summary
        if row.get("utilisation") is not None:
            words.append(f"utilisation {_text.percent(row['utilisation'])}%")
        words.append(
            f"queueing delay p50 {_text.number(row.get('queue_delay_p50_ms'))} ms, "
            f"p99 {_text.number(row.get('queue_delay_p99_ms'))} ms"
        )
        words.append(f"loss {_text.percent(_text.loss(row), 2)}%")
    return "  ·  ".join(words)
