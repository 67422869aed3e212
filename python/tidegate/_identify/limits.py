"""What held a sender back over time: the words of docs/design/limited-by.md.

Time is cut where its packets leave the link, as far as round trips tell; each gap has the cause of the later
one. As far as a capture tells,
that is, in this order: the application, where nothing was in flight; the limit of the link, where the packet
waited; the application or the receiver's window, where they kept it from sending (`held`); the policer, from
the repair of a loss that it made on, because it made the window small; and else the sender's congestion
window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.crossings import fullness
from tidegate._identify.held import without_growth
from tidegate._identify.sent import LOST
from tidegate._identify.share import crossings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.found import Law
    from tidegate._identify.sent import Sent
    from tidegate._identify.streams import Stream

#: A round trip so far above the base holds a wait: so many packets' time at the law's rate, between these
#: bounds.
_PACKETS, _LEAST_NS, _WAITED_NS = 2, 500_000, 3_000_000
#: Laws whose backlog at their rate says which packets waited.
_STEADY = ("constant", "token bucket")
_OPEN = "AQM or full queue"
_CAUSES = ("congestion window", "policer", "receiver window", "application", "rate", "AQM", _OPEN)


def limited_by(stream: Stream, law: Law, waited: Any) -> dict[str, float]:
    """Return shares of the time from the first data to the last, by cause; `waited` as `waits` returns it."""
    sent, kept = stream.sent, stream.held
    gap = np.diff(_left(sent))
    if kept is None or gap.sum() <= 0:
        return {}
    time = sent.time_ns[sent.payload > 0]
    cause = np.zeros(len(kept.gap_ns), dtype=np.int8)
    lost_at = time[sent.fate[sent.payload > 0] == LOST]
    if law.kind == "policer" and len(lost_at):
        # A repair begins a round trip after the loss; whatever else drops there, a capture does not tell.
        cause[time[1:] > lost_at[0] + sent.base_round_trip_ns] = _CAUSES.index("policer")
    if law.kind == "none" and without_growth(kept, stream.acks, sent):
        cause[:] = _CAUSES.index("application")
    cause[kept.window] = _CAUSES.index("receiver window")
    cause[kept.application] = _CAUSES.index("application")
    cause[waited[1:]] = _CAUSES.index(_queue(law))
    cause[kept.idle] = _CAUSES.index("application")
    spent = np.bincount(cause, weights=gap, minlength=len(_CAUSES)) / gap.sum()
    seen = np.bincount(cause, minlength=len(_CAUSES)) > 0
    return {
        name: float(spent[at])
        for at, name in sorted(enumerate(_CAUSES), key=lambda each: each[1])
        if seen[at]
    }


def _queue(law: Law) -> str:
    """Return the name of the queue's limit, as far as the law tells it."""
    if law.drops != "early":
        return "rate"
    told = law.aqm is not None or law.marks is not None or law.fair
    return "AQM" if told else _OPEN


def waits(streams: Sequence[Sent], law: Law) -> list[Any]:
    """Return of each stream that met this law which packets with data waited at it.

    A queue of one rate says so itself, by its backlog: then both ends of a link tell the same. Else a packet
    waited whose round trip, or the one before where it has none, is well above the base.
    """
    if law.kind not in (*_STEADY, "two rates", "steps", "varying") and law.drops != "queue full":
        return [np.zeros(each.data_packets, dtype=bool) for each in streams]
    above = float(_WAITED_NS)
    if law.rate_bps is not None and law.kind in _STEADY:
        packet = max(float(each.ip_bytes.max()) for each in streams)
        above = min(above, max(_LEAST_NS, _PACKETS * 8e9 * packet / law.rate_bps.value))
    found = [_by_round_trip(each, above) for each in streams]
    if law.kind not in _STEADY or law.rate_bps is None or law.fair:
        return found
    packets, _ = crossings(streams)
    burst = 0.0 if law.burst_bytes is None else law.burst_bytes.value
    backlog = fullness(packets.counting(law.header_bytes), law.rate_bps.value) > burst
    return [
        longer | backlog[packets.owner == at][each.payload > 0]
        for at, (each, longer) in enumerate(zip(streams, found, strict=True))
    ]


def _left(stream: Sent) -> Any:
    """Return when each packet with data left the link: later than it was sent by what it waited."""
    data = stream.payload > 0
    time, trip = stream.time_ns[data].astype(float), stream.round_trip_ns[data]
    known = np.flatnonzero(trip >= 0)
    if not len(known):
        return time
    wait = np.interp(np.arange(len(time)), known, trip[known] - stream.base_round_trip_ns)
    return np.maximum.accumulate(time + np.maximum(0, wait))


def _by_round_trip(stream: Sent, above_ns: float) -> Any:
    trip = stream.round_trip_ns[stream.payload > 0]
    known = np.maximum.accumulate(np.where(trip >= 0, np.arange(len(trip)), 0))
    return trip[known] > stream.base_round_trip_ns + above_ns
