"""What arrived and what was missing, as a capture near the receiver tells it.

A packet that was lost before the capture is seen as a hole: a later packet came first. It would have passed
between the packets on both sides of the hole, and the packets of a hole evenly between them.

Where the sender's timestamps are fine enough, the time from a packet's stamp to its arrival is its one-way
delay, up to a constant (RFC 7323 §5.4: a clock of 1 ms to 1 s a tick). Then packets stand at their stamps'
times, at which they came to the limit, and not at their arrivals, at which the limit had spread them. Where
nothing waited, arrivals are the finer ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.marks import UNMARKED, carried
from tidegate._identify.sent import ARRIVED, LOST, Sent
from tidegate._identify.transit import TICKS_NS, back_ns, transit, waited

if TYPE_CHECKING:
    from tidegate._capture.uncaptured import Uncaptured

#: So many packets before a hole tell how close a flight's packets are.
_FLIGHT = 16
#: Of so many packets for each that came, losses are believed.
_MOST_LOST = 10
_NEVER = np.iinfo(np.int64).max


def received(
    packets: Any, *, from_client: bool, base_ns: int, missed: Uncaptured, close: bool = False
) -> Sent:
    """Return the packets of one direction as they arrived, with those that were missing put in.

    ``base_ns``: the round trip of the handshake, for want of a better one; ``missed``: what the capture lacks
    is no loss; ``close``: each missing packet followed the one before it as close as any of its flight.
    """
    mine = np.flatnonzero((packets.from_client == from_client) & (packets.payload > 0))
    start = packets.seq[mine].astype(np.int64)
    payload = packets.payload[mine].astype(np.int64)
    time = packets.time_ns[mine].astype(np.int64)
    size = packets.ip_bytes[mine].astype(np.int64)
    if not len(mine):
        empty = np.zeros(0, dtype=np.int64)
        return Sent(empty, empty, empty, empty, empty, empty, empty, 0, base_ns)
    top = np.maximum.accumulate(start + payload)
    gap = np.concatenate([[0], np.maximum(0, start[1:] - top[:-1])])
    largest = int(payload.max())
    missing = np.ceil((gap - missed.within(start - gap, start)) / largest).astype(int)
    # More losses than a sender can have had are no losses, and would cost by the byte.
    missing[np.cumsum(missing) > _MOST_LOST * len(mine) + _FLIGHT] = 0
    # Whatever filled a hole within half a base round trip was late, not lost.
    for at in np.flatnonzero(missing):
        soon = np.searchsorted(time, time[at] + base_ns // 2)
        begin = start[at] - gap[at]
        late = np.count_nonzero((start[at:soon] >= begin) & (start[at:soon] < start[at]))
        missing[at] = max(0, missing[at] - late)
    place = np.repeat(np.arange(len(mine)), missing)
    header = int(size[np.argmax(payload)] - largest)
    arrival_delay = transit(packets, mine, time)
    trip = np.where(arrival_delay >= 0, arrival_delay + max(base_ns, 1), -1)
    spread = waited(arrival_delay)
    left = np.maximum.accumulate(time - np.maximum(0, arrival_delay)) if spread else time
    passing = _passing(left, top, missing, 0 if close else base_ns)
    seen, again = np.unique(start, return_counts=True)
    passing_time = np.insert(left, place, passing)
    order = np.argsort(passing_time, kind="stable")

    def merged(values: Any, holes: Any) -> Any:
        return np.insert(values, place, holes)[order]

    return Sent(
        time_ns=passing_time[order],
        ip_bytes=merged(size, largest + header),
        payload=merged(payload, largest),
        start=merged(start, start[place] - gap[place]),
        fate=merged(np.full(len(mine), ARRIVED, dtype=np.int8), LOST),
        round_trip_ns=merged(trip, -1),
        report_ns=merged(time, _NEVER),
        spurious=int((again - 1).sum()) if len(seen) else 0,
        base_round_trip_ns=max(base_ns, 1),
        marked=merged(carried(packets, mine), UNMARKED),
        coarse_ns=_coarse(left, passing, place, spread=spread),
        back=back_ns(packets, base_ns, from_client=from_client),
        received=True,
    )


def _coarse(left: Any, passing: Any, place: Any, *, spread: bool) -> int:
    """Return how exact the times are: half a tick of stamps, half the usual hole around a missing packet."""
    hole = int(np.median(left[place] - passing)) if len(place) else 0
    return max(TICKS_NS[0] // 2 if spread else 0, hole // 2)


def _passing(time: Any, top: Any, missing: Any, base_ns: int) -> Any:
    """Return when the packets of each hole would have passed, in nanoseconds.

    Between the packets on both sides of the hole in the stream, evenly. A hole longer than half a round trip
    is the end of a flight, after which the sender waited: its packets followed the one before it, as close
    as the closest of the flight.
    """
    fresh = np.diff(top, prepend=0) > 0
    before = np.maximum.accumulate(np.where(fresh, np.arange(len(time)), 0))
    parts = []
    for at in np.flatnonzero(missing):
        last = int(before[at - 1])
        gap, count = int(time[at] - time[last]), int(missing[at])
        step = gap // (count + 1)
        if gap > base_ns // 2 and last > 0:
            step = min(step, int(np.diff(time[max(0, last - _FLIGHT) : last + 1]).min()))
        parts.append(time[last] + step * np.arange(1, count + 1))
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
