"""What held a sender back over time, from what it had in flight: the words of docs/design/limited-by.md.

Time is cut at the packets that it sent; each gap has the cause of the later one. As far as a capture tells,
that is, in this order: the application, where nothing was in flight; the limit of the link, where the packet
waited; the receiver's window, where the data in flight filled it; the policer, from the repair of a loss that
it made on, because it made the window small; and else the sender's congestion window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._identify.sent import LOST

if TYPE_CHECKING:
    from tidegate._identify.acks import Acks
    from tidegate._identify.found import Law
    from tidegate._identify.sent import Sent

#: Data in flight of this share of the window fill it: a whole segment may not fit in the rest.
_FULL = 0.9
_WAITED_NS = 3_000_000
_CAUSES = ("congestion window", "policer", "rate", "AQM", "receiver window", "application")


def limited_by(acks: Acks, stream: Sent, law: Law) -> dict[str, float]:
    """Return shares of the time from the first data to the last, by cause."""
    data = np.flatnonzero(stream.payload > 0)
    if len(data) < 2:
        return {}
    time = stream.time_ns[data]
    top = np.maximum.accumulate(stream.start[data] + stream.payload[data])
    gap = np.diff(time).astype(float)
    if not len(acks.ack) or gap.sum() <= 0:
        return {}
    # What had been acknowledged just before the later packet of each gap.
    last = np.searchsorted(acks.time_ns, time[1:], side="left") - 1
    acked = np.where(last >= 0, acks.ack[np.maximum(last, 0)], stream.start[data[0]])
    window = np.where(last >= 0, acks.window[np.maximum(last, 0)], _NEVER)
    flight = np.maximum(0, top[:-1] - acked)
    # Of a packet without a round trip of its own, as a resent one, the one measured before it tells.
    trip = stream.round_trip_ns[data]
    known = np.maximum.accumulate(np.where(trip >= 0, np.arange(len(trip)), 0))
    waited = trip[known][1:] > stream.base_round_trip_ns + _WAITED_NS
    idle = (flight == 0) & (gap > 0.5 * stream.base_round_trip_ns)
    filled = flight + int(stream.payload[data].max()) > _FULL * window
    queued = law.kind in ("constant", "token bucket", "steps", "varying") or law.drops == "queue full"
    cause = np.zeros(len(gap), dtype=np.int8)
    lost_at = time[stream.fate[data] == LOST]
    if law.kind == "policer" and len(lost_at):
        # A repair begins a round trip after the loss; whatever else drops there, a capture does not tell.
        cause[time[1:] > lost_at[0] + stream.base_round_trip_ns] = _CAUSES.index("policer")
    cause[filled] = _CAUSES.index("receiver window")
    if queued:
        cause[waited] = _CAUSES.index("rate" if law.drops != "early" else "AQM")
    cause[idle] = _CAUSES.index("application")
    spent = np.bincount(cause, weights=gap, minlength=len(_CAUSES)) / gap.sum()
    seen = np.bincount(cause, minlength=len(_CAUSES)) > 0
    return {
        name: float(spent[at])
        for at, name in sorted(enumerate(_CAUSES), key=lambda each: each[1])
        if seen[at]
    }


_NEVER = np.iinfo(np.int64).max
