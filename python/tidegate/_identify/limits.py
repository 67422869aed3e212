"""What held a sender back over time, from what it had in flight.

Time is cut at the packets that it sent. Of each gap the cause is, in this order: the receiver's window,
where the data in flight filled it; the application, where nothing was in flight; the limit of the link, for
a round trip after a loss, or while packets waited; and else the sender's own window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.sent import LOST

if TYPE_CHECKING:
    from tidegate._identify.found import Law
    from tidegate._identify.sent import Sent

#: Data in flight of this share of the window fill it: a whole segment may not fit in the rest.
_FULL = 0.9
_WAITED_NS = 3_000_000


def limited_by(packets: Any, stream: Sent, law: Law, *, from_client: bool) -> dict[str, float]:
    """Return shares of the time from the first data to the last, by cause."""
    data = np.flatnonzero(stream.payload > 0)
    if len(data) < 2:
        return {}
    time = stream.time_ns[data]
    top = np.maximum.accumulate(stream.start[data] + stream.payload[data])
    acks = np.flatnonzero((packets.from_client != from_client) & packets.has_ack)
    gap = np.diff(time).astype(float)
    if not len(acks) or gap.sum() <= 0:
        return {}
    ack = np.maximum.accumulate(packets.ack[acks].astype(np.int64))
    # What had been acknowledged just before the later packet of each gap.
    last = np.searchsorted(packets.time_ns[acks], time[1:], side="left") - 1
    acked = np.where(last >= 0, ack[np.maximum(last, 0)], stream.start[data[0]])
    window = np.where(last >= 0, packets.window[acks][np.maximum(last, 0)].astype(np.int64), _NEVER)
    flight = np.maximum(0, top[:-1] - acked)
    lost_at = time[stream.fate[data] == LOST]
    since = np.searchsorted(lost_at, time[1:], side="right") - 1
    recent = np.zeros(len(gap), dtype=bool)
    if len(lost_at):
        recent = (since >= 0) & (
            time[1:] - lost_at[np.maximum(since, 0)] < 2 * max(stream.base_round_trip_ns, 1)
        )
    waited = stream.round_trip_ns[data][1:] > stream.base_round_trip_ns + _WAITED_NS
    idle = (flight == 0) & (gap > 0.5 * stream.base_round_trip_ns)
    filled = flight + int(stream.payload[data].max()) > _FULL * window
    queued = law.kind in ("constant", "token bucket", "steps", "varying") or law.drops == "queue full"
    name = {"policer": "policer"}.get(law.kind, "rate" if queued else "random loss")
    if law.drops == "early":
        name = "AQM"
    cause = np.full(len(gap), "sender's window", dtype=object)
    if law.kind == "policer" or law.drops != "none":
        cause[recent] = name if law.kind == "policer" or law.drops != "random" else "random loss"
    if queued:
        cause[waited] = "rate" if law.drops != "early" else "AQM"
    cause[filled & ~idle] = "receiver window"
    cause[idle] = "application"
    total = gap.sum()
    return {str(each): float(gap[cause == each].sum() / total) for each in sorted(set(cause.tolist()))}


_NEVER = np.iinfo(np.int64).max
