"""The picture of a limit: sequence numbers over time with the losses, and the law under them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from tidegate._base.errors import ArgumentError
from tidegate._base.text import rate
from tidegate._draw.figure import Figure
from tidegate._draw.style import STYLE, suffix_of, write
from tidegate._draw.tokens import ACCENT, INK, MID, SOFT
from tidegate._identify.crossings import leaving
from tidegate._identify.law import tokens
from tidegate._identify.sent import LOST
from tidegate._identify.share import crossings

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes

    from tidegate._identify.found import Direction, Law, Limit

_WIDTH, _HEIGHT = 7.2, 5.0
#: More points than this are thinned: a picture has fewer pixels.
_POINTS = 20_000
#: From so many losses on, their marks are small.
_MANY = 1000
#: Window over which the rate of arrival is drawn, as a share of the time.
_WINDOW = 1 / 100


def picture(
    directions: list[Direction], limits: list[Limit], streams: list[Any], path: str | os.PathLike[str]
) -> Path:
    """Draw the limit that most packets met.

    Raises:
        ArgumentError: the suffix is none of .png, .svg, .pdf, or there is no direction.
        OSError: the file cannot be written.
    """
    place = Path(path)
    suffix_of(place)
    if not limits:
        raise ArgumentError(f"{place}: nothing to draw: the capture has no transfer of data")
    limit = max(limits, key=lambda each: sum(directions[at].data_packets for at in each.members))
    begin = min(float(streams[at].sent.time_ns[0]) for at in limit.members)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, _HEIGHT), dpi=100)
        waits = limit.law.standing_delay_s is not None
        if waits:
            figure.set_figheight(_HEIGHT * 1.35)
        panels = figure.subplots(2 + waits, 1, sharex=True, height_ratios=(3, 2, 2)[: 2 + waits])
        _sequence(panels[0], directions, limit, streams, begin)
        _law(panels[1], limit, streams)
        if waits:
            _waits(panels[2], limit, streams)
        panels[0].set_title(_title(limit.law))
        panels[-1].set_xlabel("time, s")
        figure.align_ylabels()
        figure.tight_layout()
        return write(figure, place)


def _title(law: Law) -> str:
    words = {
        "policer": "A policer",
        "constant": "A link of one rate with a queue",
        "token bucket": "A shaper with a bucket",
        "two rates": "A shaper with a peak rate",
        "steps": "A link whose rate changes in steps",
        "varying": "A link whose rate varies",
        "none": "No rate limit found",
    }.get(law.kind, "Cannot tell the law")
    if law.fair:
        words = "A link that serves connections in turn"
    if law.rate_bps is None:
        return words
    value = law.rate_bps.value
    peak = value if law.peak_bps is None else law.peak_bps.value
    told = {
        "varying": f"between {rate(law.rate_bps.interval[0])} and {rate(law.rate_bps.interval[1])}",
        "steps": ", ".join(rate(each.value) for _, each in law.pieces),
        "two rates": f"{rate(value)}, and {rate(peak)} at first",
        "policer": rate(value) if law.peak_bps is None else f"{rate(value)} and {rate(peak)}",
    }.get(law.kind, rate(value))
    return f"{words}: {told}"


def _sequence(
    axes: Axes, directions: list[Direction], limit: Limit, streams: list[Any], begin: float
) -> None:
    shades = (INK, MID, SOFT)
    for number, at in enumerate(limit.members):
        sent = streams[at].sent
        data = sent.payload > 0
        time, start = (sent.time_ns[data] - begin) / 1e9, sent.start[data] / 1e6
        lost = sent.fate[data] == LOST
        thin = max(1, len(time) // _POINTS)
        axes.plot(
            time[::thin], start[::thin], ".", markersize=1.2, color=shades[number % 3],
            label=f"connection {directions[at].connection}", rasterized=True,
        )  # fmt: skip
        axes.plot(
            time[lost], start[lost], "x", color=ACCENT, markeredgewidth=0.7,
            markersize=3 if lost.sum() < _MANY else 1.2,
            label="lost" if number == len(limit.members) - 1 else None, rasterized=True,
        )  # fmt: skip
    axes.set_ylabel("sequence number, MB")
    _legend(axes)


def _law(axes: Axes, limit: Limit, streams: list[Any]) -> None:
    law = limit.law
    packets, trip = crossings([streams[at].sent for at in limit.members])
    if law.ahead_bps is not None:
        left = leaving(packets, trip)
        packets = replace(packets, time_s=left - left[0])
    lost = packets.judged & ~packets.passed
    if law.kind == "policer" and law.burst_bytes is not None and not law.pieces:
        level = (law.burst_bytes.value - tokens(packets, law)) / 1e3
        axes.plot(
            packets.time_s, level, color=INK, linewidth=0.6, label="tokens in the bucket", rasterized=True
        )
        axes.plot(
            packets.time_s[lost],
            level[lost],
            "x",
            markersize=3 if lost.sum() < _MANY else 1.2,
            color=ACCENT,
            markeredgewidth=0.7,
            label="lost",
        )
        axes.axhline(0, color=MID, linewidth=0.7)
        axes.set_ylabel("tokens, kB")
    else:
        window = max(float(packets.time_s[-1]) * _WINDOW, 1e-3)
        sums = np.bincount(
            (packets.time_s / window).astype(int), weights=np.where(packets.passed, packets.size, 0.0)
        )
        time = (np.arange(len(sums)) + 0.5) * window
        axes.plot(time, 8 * sums / window / 1e6, color=INK, linewidth=0.8, label="sent and arrived")
        _rates(axes, law, float(packets.time_s[-1]))
        axes.set_ylabel("Mbit/s")
        axes.set_ylim(bottom=0)
    _legend(axes)


def _rates(axes: Axes, law: Law, end: float) -> None:
    """Draw the rates of a law over time."""
    if law.trace:
        start, each = np.array(law.trace).T
        axes.plot(
            np.append(start, end), np.append(each, each[-1]) / 1e6, color=ACCENT, linewidth=1.2,
            drawstyle="steps-post", label="rate of packets that waited",
        )  # fmt: skip
        return
    pieces = law.pieces or ([(0.0, law.rate_bps)] if law.rate_bps is not None else [])
    ends = [*(start for start, _ in pieces[1:]), end][: len(pieces)]
    for number, ((start, value), stop) in enumerate(zip(pieces, ends, strict=True)):
        label = "_" if number else "the law's rate"
        axes.hlines(value.value / 1e6, start, stop, color=ACCENT, linewidth=1.4, label=label)
    if law.peak_bps is not None:
        axes.hlines(
            law.peak_bps.value / 1e6, 0, end, color=ACCENT, linewidth=1.0, linestyle="--", label="its peak"
        )


def _waits(axes: Axes, limit: Limit, streams: list[Any]) -> None:
    """Draw how long packets waited, how long before losses, and how long a full queue takes."""
    law = limit.law
    packets, trip = crossings([streams[at].sent for at in limit.members])
    known = np.flatnonzero(trip > 0)
    wait = 1e3 * (trip[known] - trip[known].min())
    thin = max(1, len(known) // _POINTS)
    axes.plot(
        packets.time_s[known][::thin],
        wait[::thin],
        ".",
        markersize=1.2,
        color=INK,
        label="wait",
        rasterized=True,
    )
    lost = np.flatnonzero(packets.judged & ~packets.passed)
    if len(lost):
        axes.plot(
            packets.time_s[lost], np.interp(packets.time_s[lost], packets.time_s[known], wait), "x",
            markersize=3 if len(lost) < _MANY else 1.2, color=ACCENT, markeredgewidth=0.7, label="lost",
            rasterized=True,
        )  # fmt: skip
    if law.kind in ("constant", "token bucket") and law.queue_bytes is not None and law.rate_bps is not None:
        full = 8e3 * law.queue_bytes.value / law.rate_bps.value
        axes.axhline(full, color=MID, linewidth=0.9, label="a full queue's")
    axes.set_ylabel("wait, ms")
    axes.set_ylim(0, 1.08 * max(float(wait.max()), 1.0))
    _legend(axes)


def _legend(axes: Axes) -> None:
    """Write what is what right of the axes, where it covers nothing."""
    axes.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False, markerscale=2,
        handlelength=1.4, fontsize=8,
    )  # fmt: skip
