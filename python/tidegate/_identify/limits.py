"""What held a sender back over time, from what it had in flight.

Time is cut at the packets that it sent. Of each gap the cause is, in this order: the receiver's window,
where the data in flight filled it; the application, where nothing was in flight; the limit of the link, for
a round trip after a loss, or while packets waited; and else the sender's own window.
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
_CAUSES = ("sender's window", "policer", "rate", "random loss", "AQM", "receiver window", "application")


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
    cause = np.zeros(len(gap), dtype=np.int8)
    if law.kind == "policer" or law.drops != "none":
        cause[recent] = _CAUSES.index(
            name if law.kind == "policer" or law.drops != "random" else "random loss"
        )
    if queued:
        cause[waited] = _CAUSES.index("rate" if law.drops != "early" else "AQM")
    cause[filled & ~idle] = _CAUSES.index("receiver window")
    cause[idle] = _CAUSES.index("application")
    spent = np.bincount(cause, weights=gap, minlength=len(_CAUSES)) / gap.sum()
    seen = np.bincount(cause, minlength=len(_CAUSES)) > 0
    return {
        name: float(spent[at])
        for at, name in sorted(enumerate(_CAUSES), key=lambda each: each[1])
        if seen[at]
    }


_NEVER = np.iinfo(np.int64).max
