"""Pictures of a run, for screen and for black-and-white print.

Greys and one accent, line styles, labels beside the lines. Figures are made without any
global state of matplotlib, so they can be drawn in threads and without a display.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tidegate import _text
from tidegate._errors import ArgumentError, UnknownNameError, nearest
from tidegate._numbers import main_gate
from tidegate._run import flows_through

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tidegate._run import Run

    Floats = NDArray[np.float64]

INK = "#1a1a1a"
MID = "#707070"
SOFT = "#b4b4b4"
FILL = "#e4e4e4"
ACCENT = "#0b5fa5"

#: Flows drawn one by one; more become a median and a band.
_SINGLE = 4
#: (colour, line style) of the flows drawn one by one; told apart without colour, too.
FLOW_STYLES: tuple[tuple[str, Any], ...] = (
    (ACCENT, "-"),
    (INK, (0, (5, 1.6))),
    (MID, "-"),
    (INK, (0, (1, 1.2))),
)
_BINS = 240
_POINTS = 4000
_LEFT = 0.082

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": MID,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": False,
    "grid.color": "#ececec",
    "grid.linewidth": 0.6,
    "xtick.color": MID,
    "ytick.color": MID,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "hatch.linewidth": 0.4,
    "svg.hashsalt": "tidegate",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "path.simplify": True,
    "savefig.dpi": 160,
}

#: Nothing of the day or the machine goes into a picture: the same run, the same file.
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": "tidegate"},
    "pdf": {"CreationDate": None, "Creator": "tidegate", "Producer": "tidegate"},
}


def suffix_of(path: Path) -> str:
    """Tell the picture's format.

    Raises:
        ArgumentError: the suffix is none of .png, .svg, .pdf.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in METADATA:
        read = f'ends in "{path.suffix}"' if path.suffix else "has no suffix"
        raise ArgumentError(f"{path}: a picture is .png, .svg or .pdf; this name {read}")
    return kind


def write(figure: Figure, path: Path) -> Path:
    """Write a figure; the suffix says how.

    Raises:
        ArgumentError: the suffix is none of .png, .svg, .pdf.
        OSError: the file cannot be written.
    """
    kind = suffix_of(path)
    with mpl.rc_context(STYLE):
        figure.savefig(path, format=kind, metadata=METADATA[kind])
    return path


@dataclass(frozen=True)
class Label:
    """A word beside the end of a line."""

    y: float
    text: str
    colour: str


def label_right(axes: Axes, labels: Sequence[Label], size: float = 8, *, log: bool = False) -> None:
    """Write labels right of the axes at their heights, moved apart where they would touch.

    ``log``: the axes are logarithmic, and heights are given as powers of ten.
    """
    if not labels:
        return
    low, high = np.log10(axes.get_ylim()) if log else axes.get_ylim()
    span = (high - low) or 1.0
    height = axes.get_window_extent().height or 1.0
    figure = axes.get_figure()
    dpi = figure.dpi if isinstance(figure, Figure) else 100.0
    lines = [1 + label.text.count("\n") for label in labels]
    line = size * 1.25 * dpi / 72 / height
    order = sorted(range(len(labels)), key=lambda i: labels[i].y)
    places = [min(max((labels[i].y - low) / span, 0.0), 1.0) for i in order]
    for k in range(1, len(order)):
        gap = line * (lines[order[k]] + lines[order[k - 1]]) / 2
        places[k] = max(places[k], places[k - 1] + gap)
    over = places[-1] - 1.0
    if over > 0:
        places[-1] -= over
        for k in range(len(order) - 2, -1, -1):
            gap = line * (lines[order[k]] + lines[order[k + 1]]) / 2
            places[k] = min(places[k], places[k + 1] - gap)
    for place, i in zip(places, order, strict=True):
        axes.text(
            1.012,
            place,
            labels[i].text,
            transform=axes.transAxes,
            va="center",
            ha="left",
            fontsize=size,
            color=labels[i].colour,
            linespacing=1.15,
        )


def thin(time: Floats, value: Floats, points: int = _POINTS) -> tuple[Floats, Floats]:
    """Return fewer points that look the same: the least and the largest of every stretch."""
    if len(time) <= points:
        return time, value
    size = -(-len(time) // (points // 2))
    keep: list[int] = []
    for begin in range(0, len(time), size):
        part = value[begin : begin + size]
        if np.all(np.isnan(part)):
            keep.append(begin)
            continue
        keep.extend(sorted({begin + int(np.nanargmin(part)), begin + int(np.nanargmax(part))}))
    return time[keep], value[keep]


def numbers(column: pl.Series) -> Floats:
    """Return a column as floats; null becomes NaN, a gap in a line."""
    import polars as pl

    result: Floats = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return result


def edges_for(duration: float, time: Floats, bins: int = _BINS) -> Floats:
    """Return edges of equal bins over the run, never finer than the samples."""
    step = duration / bins
    if len(time) > 1:
        step = max(step, 2 * float(np.median(np.diff(time))))
    count = max(1, round(duration / step))
    return np.linspace(0.0, duration, count + 1)


def binned_rate(time: Floats, total_bytes: Floats, edges: Floats) -> Floats:
    """Return bit/s in each bin, from a running count of bytes."""
    if not len(time):
        return np.zeros(len(edges) - 1)
    at = np.interp(edges, np.concatenate(([0.0], time)), np.concatenate(([0.0], total_bytes)))
    # The last sample lies before the end: the last bin covers only what was seen of it.
    seen = np.diff(np.minimum(edges, time[-1]))
    result: Floats = np.diff(at) * 8 / np.where(seen > 0, seen, np.inf)
    return result


def binned_mean(time: Floats, value: Floats, edges: Floats) -> Floats:
    """Return the mean of the samples in each bin; NaN where there is none."""
    place = np.clip(np.searchsorted(edges, time, side="right") - 1, 0, len(edges) - 2)
    good = ~np.isnan(value)
    total = np.bincount(place[good], value[good], minlength=len(edges) - 1)
    count = np.bincount(place[good], minlength=len(edges) - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = total / count
    return result


def steps(axes: Axes, edges: Floats, value: Floats, **style: Any) -> None:
    """Draw a line that keeps its height over each bin."""
    axes.stairs(value, edges, baseline=None, **style)


def above(axes: Axes, edges: Floats, value: Floats, colour: str) -> None:
    """Mark the bins whose value lies above the axes."""
    top = axes.get_ylim()[1]
    out = value > top
    middle = (edges[:-1] + edges[1:])[out] / 2
    axes.plot(middle, np.full(len(middle), top), ls="", marker="^", ms=4, mew=0, color=colour, clip_on=False)


@dataclass(frozen=True)
class History:
    """What a picture needs of a run, in arrays; taken once."""

    duration: float
    begin: float
    names: list[str]
    through: list[str]
    edges: Floats
    time: dict[str, Floats]
    cwnd: dict[str, Floats]
    ssthresh: dict[str, Floats]
    goodput: dict[str, Floats]
    gate: str | None
    gate_time: Floats
    rate: Floats
    rate_binned: Floats
    carried: Floats
    queue: Floats
    queue_unit: str
    drops: Floats
    timeouts: Floats
    fast: Floats

    @property
    def total_goodput(self) -> Floats:
        """Flows whose data passes the gate together, bit/s in each bin."""
        total: Floats = np.sum([self.goodput[name] for name in self.through], axis=0)
        return total

    @property
    def top_bps(self) -> float:
        """The end of a scale for rates and goodput.

        A repaired hole delivers seconds of data at once; such a spike must not set the scale,
        so it ends a little above what the gate could deliver or did.
        """
        known = [value[~np.isnan(value)] for value in (self.rate_binned, self.carried)]
        able = max((float(np.max(value)) for value in known if len(value)), default=0.0)
        most = max([1.0, *self.total_goodput.tolist()]) if self.through else 1.0
        return min(1.06 * most, 1.25 * able) if able > 0 and most > 1.18 * able else 1.06 * max(most, able)


def history(run: Run, gate: str | None, bins: int = _BINS) -> History:
    """Read a run's columns.

    Raises:
        NotRecordedError: the run kept only its summary.
        UnknownNameError: there is no gate of this name.
    """
    import polars as pl

    if gate is not None and gate not in run.gates:
        raise UnknownNameError(nearest("gate", gate, run.gates.names))
    shown = gate or main_gate(run.summary)
    duration = float(run.summary["duration_s"])
    flows = run.table("flows")
    parts = {
        str(key[0]): part
        for key, part in flows.with_columns(pl.col("flow").cast(pl.String))
        .partition_by("flow", as_dict=True)
        .items()
    }
    names = [name for name in run.flows.names if name in parts]
    time = {name: numbers(parts[name]["time_s"]) for name in names}
    none = np.zeros(0)
    gate_time, rate, queue, wire = none, none, none, none
    queue_unit = "packets"
    if shown is not None:
        part = run.gates.row(shown).columns()
        gate_time = numbers(part["time_s"])
        rate = numbers(part["rate_bps"])
        if _text.counts_cells(run.gates.row(shown).summary):
            queue_unit = "cells"
        queue = numbers(part[f"queue_{queue_unit}"])
        wire = numbers(part["delivered_bytes"])
    longest = max(time.values(), key=len, default=gate_time)
    edges = edges_for(duration, longest, bins)

    def times(table: str, **where: str) -> Floats:
        if not run.has(table):
            return none
        rows = run.table(table)
        for column, word in where.items():
            rows = rows.filter(pl.col(column).cast(pl.String) == word)
        return numbers(rows["time_s"])

    return History(
        duration=duration,
        begin=float(run.summary["measured_from_s"]),
        names=names,
        through=names if shown is None else [n for n in flows_through(run, shown) if n in parts],
        edges=edges,
        time=time,
        cwnd={n: numbers(parts[n]["cwnd_segments"]) for n in names},
        ssthresh={n: numbers(parts[n]["ssthresh_segments"]) for n in names},
        goodput={n: binned_rate(time[n], numbers(parts[n]["delivered_bytes"]), edges) for n in names},
        gate=shown,
        gate_time=gate_time,
        rate=rate,
        rate_binned=binned_mean(gate_time, rate, edges) if len(gate_time) else none,
        carried=binned_rate(gate_time, wire, edges),
        queue=queue,
        queue_unit=queue_unit,
        drops=times("drops", gate=shown) if shown is not None else none,
        timeouts=times("marks", kind="timeout"),
        fast=times("marks", kind="fast retransmit"),
    )


def run_figure(run: Run, *, gate: str | None = None) -> Figure:
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


def _titles(figure: Figure, run: Run, data: History) -> None:
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


def _result_line(run: Run, gate: str | None) -> str:
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


def fit(text: str, limit: int) -> str:
    """Return the text, cut to so many letters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
