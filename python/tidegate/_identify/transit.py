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
#: The least wait of ACKs is taken over times of this length, and so many of them on each side.
_BIN_NS, _AROUND = 100_000_000, 5
_NEVER = np.iinfo(np.int64).max


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
    _, trips, _ = _echoes(packets, from_client)
    trips = trips[trips > 0]
    return int(trips.min()) if len(trips) else None


def back_ns(packets: Any, base_ns: int, *, from_client: bool) -> tuple[Any, Any] | None:
    """Return how long ACKs waited on their way back: times, and the wait in nanoseconds at each.

    Near the receiver, where stamps give both: the time from an ACK to the data that it let go, less the base
    round trip and what the data waited. Data that echo the last ACK of all may have waited for their
    application, and do not count. None where no ACK waited for long, or where that is not known.
    """
    data, trips, clocked = _echoes(packets, from_client)
    delays = transit(packets, data, packets.time_ns[data])
    known = (trips > 0) & (delays >= 0) & clocked
    if not known.any():
        return None
    time, wait = packets.time_ns[data][known], (trips - base_ns - delays)[known]
    bins, place = np.unique(time // _BIN_NS, return_inverse=True)
    least = np.full(len(bins), _NEVER)
    np.minimum.at(least, place, wait)
    # What one time lacks a neighbour has: an ACK that came late is not one that waited.
    low, high = np.searchsorted(bins, bins - _AROUND), np.searchsorted(bins, bins + _AROUND, side="right")
    least = np.array([least[one:two].min() for one, two in zip(low, high, strict=True)])
    if np.all(least <= _WAITED_NS):
        return None
    return bins * _BIN_NS + _BIN_NS // 2, np.where(least > _WAITED_NS, least, 0)


def _echoes(packets: Any, from_client: bool) -> tuple[Any, Any, Any]:
    """Return the data, the time from the ACK that each echoes (or -1), and whether a later ACK had left."""
    data = np.flatnonzero((packets.from_client == from_client) & (packets.payload > 0))
    acks = np.flatnonzero((packets.from_client != from_client) & packets.has_ack & packets.has_ts)
    if not len(data) or not len(acks):
        return data, np.full(len(data), -1, dtype=np.int64), np.zeros(len(data), dtype=bool)
    stamps, times = packets.ts_value[acks].astype(np.int64), packets.time_ns[acks]
    # Stamps do not fall.
    stamps = np.maximum.accumulate(stamps)
    echo = packets.ts_echo[data].astype(np.int64)
    first = np.minimum(np.searchsorted(stamps, echo), len(acks) - 1)
    known = packets.has_ts[data] & (stamps[first] == echo)
    latest = np.searchsorted(times, packets.time_ns[data], side="right") - 1
    return data, np.where(known, packets.time_ns[data] - times[first], -1), stamps[latest] > echo


def waited(delays: Any) -> bool:
    """Tell whether packets waited, by their one-way delays."""
    return bool(len(delays)) and bool(np.quantile(delays, _MOST) > _WAITED_NS)
