"""What became of each packet where a connection was captured at both ends.

A packet that left the first capture and did not come to the second was lost between them: losses are seen,
not concluded. The time from one capture to the other is the wait, without the delay of ACKs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._capture.uncaptured import made_of
from tidegate._identify.clocks import Clocks, clocks
from tidegate._identify.marks import UNMARKED, carried
from tidegate._identify.sent import ARRIVED, LOST, UNKNOWN, Sent, sent

if TYPE_CHECKING:
    from tidegate._capture.uncaptured import Uncaptured

#: Fewer packets in both captures are no pair.
_LEAST = 10
#: IP's identification is compared if so many packets, as a share, have the same one in both captures.
_SAME_ID = 0.98
#: A packet behind which so many came is lost, and not on its way (RFC 5681 §3.2).
_OVERTAKEN = 3
_NEVER = np.iinfo(np.int64).max


def both(
    here: Any, there: Any, shift: tuple[int, int], unseen: Uncaptured, *, from_client: bool
) -> tuple[Sent, Clocks] | None:
    """Return the packets that the client, or the server, sent; None where the captures do not fit together.

    Args:
        here: packets captured near the sender.
        there: packets captured near the receiver.
        shift: what to add to the numbers of `there` for the client's data and for the server's.
        unseen: what the capture near the receiver missed.
        from_client: whether the client is the sender.
    """
    ours, theirs = _matched(here, there, shift, from_client=from_client)
    back, returned = _matched(here, there, shift, from_client=not from_client)
    arrived = theirs >= 0
    if np.count_nonzero(arrived) < _LEAST:
        return None
    found = clocks(
        here.time_ns[ours[arrived]],
        there.time_ns[theirs[arrived]],
        there.time_ns[returned[returned >= 0]],
        here.time_ns[back[returned >= 0]],
    )
    if found is None:
        return None
    stream = sent(here, from_client=from_client)
    arrival = np.full(len(ours), _NEVER)
    arrival[arrived] = found.to_first(there.time_ns[theirs[arrived]])
    away = arrival - stream.time_ns
    # Of packets with data: others are sent in less time.
    data = arrived & (stream.payload > 0)
    wait = np.where(arrived, np.maximum(away - away[data if data.any() else arrived].min(), 0), 0)
    # Beyond the ends of the other capture nothing is known; packets on their way at its end may wait as long
    # as any did, if none that left behind them came.
    ends = found.to_first(np.array([there.time_ns.min(), there.time_ns.max()])) - away[arrived].min()
    overtaken = np.cumsum(arrived[::-1])[::-1] >= _OVERTAKEN
    outside = (stream.time_ns < ends[0]) | ((stream.time_ns > ends[1] - wait.max()) & ~overtaken)
    fate = np.where(arrived, ARRIVED, np.where(outside, UNKNOWN, LOST)).astype(np.int8)
    fate[(stream.payload == 0) & ~arrived] = ARRIVED
    # What one of the captures missed had left, and had come.
    far = stream.start - (shift[0] if from_client else shift[1])
    missed = made_of(here, ours) | (unseen.holds(far, far + stream.payload) & (stream.payload > 0))
    fate[missed & ~arrived] = ARRIVED
    arrival[missed & ~arrived] = (stream.time_ns + away[arrived].min())[missed & ~arrived]
    base = stream.base_round_trip_ns or 1
    marked = np.full(len(ours), UNMARKED, dtype=np.int8)
    marked[arrived] = carried(there, theirs[arrived])
    return (
        replace(
            stream,
            fate=fate,
            round_trip_ns=np.where(data, base + wait, -1),
            arrival_ns=arrival,
            stamped=False,
            marked=marked,
            coarse_ns=0,
            spurious=int(np.count_nonzero(data) - len(np.unique(stream.start[data]))),
            base_round_trip_ns=base,
        ),
        found,
    )


def _matched(here: Any, there: Any, shift: tuple[int, int], *, from_client: bool) -> tuple[Any, Any]:
    """Return places of one side's packets at the near capture, and of the same at the other one, or -1."""
    near = np.flatnonzero(here.from_client == from_client)
    far = np.flatnonzero(there.from_client == from_client)
    mine, other = shift if from_client else shift[::-1]
    plain = [_key(here, near, 0, 0), _key(there, far, mine, other)]
    by_id = [
        key ^ _mixed(side.ip_id[at], 5)
        for key, side, at in zip(plain, (here, there), (near, far), strict=True)
    ]
    found = _same(*plain)
    exact = _same(*by_id)
    if np.count_nonzero(exact >= 0) >= _SAME_ID * np.count_nonzero(found >= 0):
        found = exact
    return near, np.where(found >= 0, far[np.maximum(found, 0)] if len(far) else -1, -1)


def _key(packets: Any, at: Any, mine: int, other: int) -> Any:
    """Return a number for each packet that all its fields have made."""
    ack = np.where(packets.has_ack[at], packets.ack[at].astype(np.int64) + other, 0)
    return (
        _mixed(packets.seq[at].astype(np.int64) + mine, 1)
        ^ _mixed(packets.payload[at], 2)
        ^ _mixed(ack, 3)
        ^ _mixed(packets.ts_value[at], 4)
    )


def _mixed(values: Any, which: int) -> Any:
    """Return values as well-mixed numbers of 64 bits (the finaliser of SplitMix64)."""
    mixed = values.astype(np.int64).view(np.uint64) + np.uint64(which * 0x9E3779B97F4A7C15 % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _same(near: Any, far: Any) -> Any:
    """Return of each near packet the place of the same far one, or -1.

    Of copies that nothing tells apart the later ones arrived: a copy is sent because the first was missed.
    """
    one, two = np.argsort(near, kind="stable"), np.argsort(far, kind="stable")
    found = np.full(len(near), -1)
    # Counted from the last of equal keys.
    rank_near, rank_far = _rank_from_end(near[one]), _rank_from_end(far[two])
    begin = np.searchsorted(far[two], near[one], side="right") - 1 - rank_near
    there = begin >= 0
    there[there] &= (far[two][begin[there]] == near[one][there]) & (
        rank_far[begin[there]] == rank_near[there]
    )
    found[one[there]] = two[begin[there]]
    return found


def _rank_from_end(ordered: Any) -> Any:
    """Return how many equal values follow each one in an ordered array."""
    return np.searchsorted(ordered, ordered, side="right") - 1 - np.arange(len(ordered))
