"""How long packets were under way, up to a constant, as their sender's timestamps tell it (RFC 7323 §5.4)."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Ticks of timestamp clocks in use: 1, 4 and 10 ms (RFC 7323 §5.4 allows more).
TICKS_NS = (1_000_000, 4_000_000, 10_000_000)
#: A tick that fits leaves less drift than this over the capture, as a share.
_DRIFT = 0.01
#: Fewer packets tell nothing.
_FEWEST = 20
#: Packets waited if of this share of them the delays are spread over more than this, a tick included.
_MOST, _WAITED_NS = 0.9, 4_000_000


def transit(packets: Any, mine: Any, time: Any) -> Any:
    """Return one-way delays above the shortest in nanoseconds; -1 where stamps do not give them.

    ``mine``: places of the packets; ``time``: when each came to the capture.
    """
    none = np.full(len(mine), -1, dtype=np.int64)
    if len(mine) < _FEWEST or not packets.has_ts[mine].all():
        return none
    stamp = packets.ts_value[mine].astype(np.int64)
    passed = int(stamp[-1] - stamp[0])
    span = int(time[-1] - time[0])
    if passed <= 0 or span <= 0:
        return none
    for tick in TICKS_NS:
        delay = time - stamp * tick
        if (
            abs(passed * tick - span) < _DRIFT * span + float(np.ptp(delay))
            and abs(passed * tick / span - 1) < 0.2
        ):
            return delay - delay.min()
    return none


def echoed_ns(packets: Any, *, from_client: bool) -> int | None:
    """Return the shortest time from an ACK to data that echo its timestamp; None where stamps do not give it.

    Near the receiver this is a round trip: the ACK goes to the sender, and what it lets go comes back (RFC
    7323 §4.1). Of several ACKs with one stamp any may have let it go; the time counts from the first, so that
    it is never too short.
    """
    data = np.flatnonzero((packets.from_client == from_client) & (packets.payload > 0) & packets.has_ts)
    acks = np.flatnonzero((packets.from_client != from_client) & packets.has_ack & packets.has_ts)
    if not len(data) or not len(acks):
        return None
    stamps, times = packets.ts_value[acks].astype(np.int64), packets.time_ns[acks]
    echo = packets.ts_echo[data].astype(np.int64)
    # Stamps do not fall.
    first = np.minimum(np.searchsorted(np.maximum.accumulate(stamps), echo), len(acks) - 1)
    known = stamps[first] == echo
    trips = packets.time_ns[data][known] - times[first[known]]
    trips = trips[trips > 0]
    return int(trips.min()) if len(trips) else None


def waited(delays: Any) -> bool:
    """Tell whether packets waited, by their one-way delays."""
    return bool(len(delays)) and bool(np.quantile(delays, _MOST) > _WAITED_NS)
