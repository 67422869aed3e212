"""The picture of a limit: sequence numbers over time with the losses, and the law under them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from tidegate._base.errors import ArgumentError
from tidegate._base.text import rate
from tidegate._draw.figure import Figure
from tidegate._draw.style import ACCENT, INK, MID, SOFT, STYLE, suffix_of, write
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
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        _sequence(above, directions, limit, streams, begin)
        _law(below, limit, streams)
        above.set_title(_title(limit.law))
        below.set_xlabel("time, s")
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
    return words if law.rate_bps is None else f"{words}: {rate(law.rate_bps.value)}"


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
    axes.legend(loc="upper left", frameon=False, markerscale=2)


def _law(axes: Axes, limit: Limit, streams: list[Any]) -> None:
    law = limit.law
    packets, _ = crossings([streams[at].sent for at in limit.members])
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
        pieces = law.pieces or ([(0.0, law.rate_bps)] if law.rate_bps is not None else [])
        ends = [start for start, _ in pieces[1:]] + [float(packets.time_s[-1])]
        for number, ((start, each), end) in enumerate(zip(pieces, ends, strict=True)):
            axes.hlines(
                each.value / 1e6,
                start,
                end,
                color=ACCENT,
                linewidth=1.4,
                label="_" if number else "the law's rate",
            )
        axes.set_ylabel("Mbit/s")
        axes.set_ylim(bottom=0)
    axes.legend(loc="upper right", frameon=True, edgecolor="none", framealpha=0.8)
