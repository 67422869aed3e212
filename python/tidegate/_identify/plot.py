"""The picture of a limit: sequence numbers over time with the losses, and the law under them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.text import rate
from tidegate._draw.drawing import Drawing, Panel
from tidegate._draw.labels import Label
from tidegate._draw.style import suffix_of
from tidegate._draw.thin import last, thin
from tidegate._draw.tokens import ACCENT, INK, MID, SOFT
from tidegate._draw.write import write_picture
from tidegate._identify.crossings import leaving
from tidegate._identify.law import tokens
from tidegate._identify.sent import LOST
from tidegate._identify.share import crossings
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    import os

    from tidegate._identify.crossings import Crossings
    from tidegate._identify.found import Direction, Law, Limit

#: Inches.
_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM, _GAP = 9.2, 0.75, 1.6, 0.55, 0.62, 0.22
_HEIGHTS = (2.3, 1.6, 1.6)
#: Points are rounded to so many places across and up: those that would lie on each other are one.
_ACROSS, _UP = 1000, 250
#: So many connections are named.
_NAMED = 6
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
    return write_picture(_drawing(directions, limit, streams), place)


def _drawing(directions: list[Direction], limit: Limit, streams: list[Any]) -> Drawing:
    begin = min(float(streams[at].sent.time_ns[0]) for at in limit.members)
    end = max(float(streams[at].sent.time_ns[-1]) for at in limit.members)
    packets, trip = crossings([streams[at].sent for at in limit.members])
    waits = limit.law.standing_delay_s is not None
    heights = _HEIGHTS[: 2 + waits]
    high = _TOP + sum(heights) + _GAP * (len(heights) - 1) + _BOTTOM
    title = _title(limit.law)
    drawing = Drawing(_WIDTH, high, title)
    at = high - _TOP
    for height in heights:
        at -= height
        panel = drawing.panel(_LEFT, at, _WIDTH - _LEFT - _RIGHT, height)
        panel.x.span(0, max((end - begin) / 1e9, 1e-3))
        panel.x.labelled = False
        at -= _GAP
    _sequence(drawing.panels[0], directions, limit, streams, begin)
    _law(drawing.panels[1], limit.law, packets, trip)
    if waits:
        _waits(drawing.panels[2], limit.law, packets, trip)
    drawing.panels[0].title, drawing.panels[0].title_size = title, 11
    drawing.panels[-1].x.labelled = True
    drawing.panels[-1].x_label = "time, s"
    return drawing


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
    rates = {
        "varying": f"between {rate(law.rate_bps.interval[0])} and {rate(law.rate_bps.interval[1])}",
        "steps": ", ".join(rate(each.value) for _, each in law.pieces),
        "two rates": f"{rate(value)}, and {rate(peak)} at first",
        "policer": rate(value) if law.peak_bps is None else f"{rate(value)} and {rate(peak)}",
    }.get(law.kind, rate(value))
    return f"{words}: {rates}"


def _dots(panel: Panel, x: Any, y: Any, colour: str) -> None:
    """Draw points, those that would lie on each other once."""
    across = np.round(_ACROSS * np.asarray(x) / panel.x.high)
    up = np.round(_UP * np.asarray(y) / panel.y.high)
    _, kept = np.unique(np.stack([across, up]), axis=1, return_index=True)
    panel.points(np.asarray(x)[kept], np.asarray(y)[kept], "circle", colour, 1.3)


def _losses(panel: Panel, x: Any, y: Any) -> None:
    small = len(x) >= _MANY
    panel.points(x, y, "cross", ACCENT, 1.5 if small else 4.5, width=1.0, over=True, order=3.0)


def _sequence(
    panel: Panel, directions: list[Direction], limit: Limit, streams: list[Any], begin: float
) -> None:
    panel.y_label = "sequence number, MB"
    sents = [streams[at].sent for at in limit.members]
    panel.y.span(0, 1.05 * max(float(each.start.max()) / 1e6 for each in sents))
    labels = []
    for number, (at, sent) in enumerate(zip(limit.members, sents, strict=True)):
        colour = (INK, MID, SOFT)[number % 3]
        data = sent.payload > 0
        time, start = (sent.time_ns[data] - begin) / 1e9, sent.start[data] / 1e6
        _dots(panel, time, start, colour)
        lost = sent.fate[data] == LOST
        _losses(panel, time[lost], start[lost])
        if number < _NAMED:
            labels.append(Label(float(start[-1]), f"connection {directions[at].connection}", colour))
    if any((sent.fate == LOST).any() for sent in sents):
        labels.append(Label(0.0, "\u00d7 lost", ACCENT))
    panel.beside(labels)


def _law(panel: Panel, law: Law, packets: Crossings, trip: Any) -> None:
    if law.ahead_bps is not None:
        left = leaving(packets, trip)
        packets = replace(packets, time_s=left - left[0])
    lost = packets.judged & ~packets.passed
    if law.kind == "policer" and law.burst_bytes is not None and not law.pieces:
        level = (law.burst_bytes.value - tokens(packets, law)) / 1e3
        panel.y_label = "tokens, kB"
        panel.y.span(min(0.0, 1.05 * float(level.min())), 1.05 * max(float(level.max()), 1.0))
        panel.line(*thin(packets.time_s, level), SOFT, 0.6, steps=False)
        panel.level(0, MID, 0.7)
        _losses(panel, packets.time_s[lost], level[lost])
        some = [Label(0.0, "\u00d7 lost", ACCENT)] if lost.any() else []
        panel.beside([Label(last(level), "tokens in\nthe bucket", MID), *some])
        return
    window = max(float(packets.time_s[-1]) * _WINDOW, 1e-3)
    size = np.where(packets.passed, packets.size, 0.0)
    arrived = 8e-6 * np.bincount((packets.time_s / window).astype(int), weights=size) / window
    panel.y_label = "Mbit/s"
    panel.line((np.arange(len(arrived)) + 0.5) * window, arrived, INK, 0.8, steps=False)
    labels = [Label(float(arrived[-1]), "sent and\narrived", INK), *_rates(panel, law)]
    panel.y.span(0, 1.08 * panel.top(otherwise=1.0))
    panel.beside(labels)


def _rates(panel: Panel, law: Law) -> list[Label]:
    """Draw the rates of a law over time."""
    end = panel.x.high
    if law.trace:
        start, each = np.array(law.trace).T
        panel.line(np.append(start, end), np.append(each, each[-1]) / 1e6, ACCENT, 1.2)
        return [Label(float(each[-1]) / 1e6, "rate of packets\nthat waited", ACCENT)]
    pieces = law.pieces or ([(0.0, law.rate_bps)] if law.rate_bps is not None else [])
    if not pieces:
        return []
    values = [value.value / 1e6 for _, value in pieces]
    panel.line([*(start for start, _ in pieces), end], [*values, values[-1]], ACCENT, 1.4)
    labels = [Label(values[-1], "the law's rate", ACCENT)]
    if law.peak_bps is not None:
        panel.level(law.peak_bps.value / 1e6, ACCENT, 1.0, (5, 1.6))
        labels.append(Label(law.peak_bps.value / 1e6, "its peak", ACCENT))
    return labels


def _waits(panel: Panel, law: Law, packets: Crossings, trip: Any) -> None:
    """Draw how long packets waited, how long before losses, and how long a full queue takes."""
    known = np.flatnonzero(trip > 0)
    time, wait = packets.time_s[known], 1e3 * (trip[known] - trip[known].min())
    panel.y_label = "wait, ms"
    panel.y.span(0, 1.08 * max(float(wait.max()), 1.0))
    _dots(panel, time, wait, INK)
    labels = [Label(last(wait), "wait", INK)]
    lost = np.flatnonzero(packets.judged & ~packets.passed)
    if len(lost):
        _losses(panel, packets.time_s[lost], np.interp(packets.time_s[lost], time, wait))
        labels.append(Label(0.0, "\u00d7 lost", ACCENT))
    if law.kind in ("constant", "token bucket") and law.queue_bytes is not None and law.rate_bps is not None:
        full = 8e3 * law.queue_bytes.value / law.rate_bps.value
        if full < panel.y.high:
            panel.level(full, MID, 0.9)
            labels.append(Label(full, "a full queue's", MID))
    panel.beside(labels)
