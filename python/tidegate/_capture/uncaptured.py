"""Packets with data that the capture missed: the recorder lost them, or a filter took them away.

A byte that lies under a cumulative ACK arrived. Where no packet of the capture has it, and no SACK block or
duplicate ACK told of a hole there, it was not lost on the way either: the capture missed its packet. Small
gaps are filled with the packets that must have been there, evenly between their neighbours, so that they
count for rates, buckets and what was in flight. Large ones are not: the cost grows with the packets of the
capture, never with the bytes that it lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from tidegate._base.text import counted, percent

#: As many packets are put in as there are with data, times this, at most.
_MOST_FILLED = 0.5
#: Bytes that stay missing beyond this share of all make laws and limits untellable.
_FEW_ABSENT = 0.01
#: So many packets before a pause tell how close a flight's packets are.
_FLIGHT = 16
_FIN, _SYN, _RST, _ACK = 1, 2, 4, 16


@dataclass(frozen=True)
class Uncaptured:
    """What the capture missed of one direction.

    Args:
        left: first byte of each range, in order.
        right: its end.
        packets: how many packets the ranges were, about.
        filled: how many of them were put in.
        absent: the ranges that were not, as two arrays.
        share: of the bytes that the capture should have, those that it missed.
    """

    left: Any
    right: Any
    packets: int = 0
    filled: int = 0
    absent: tuple[Any, Any] = (np.zeros(0, np.int64), np.zeros(0, np.int64))
    share: float = 0.0

    @property
    def bytes(self) -> int:
        """User data in them."""
        return int((self.right - self.left).sum())

    @property
    def share_words(self) -> str:
        """The share in words; it is never all, as some packet was captured."""
        shown = percent(self.share)
        return "more than 99.9%" if shown == "100" else f"{shown}%"

    @property
    def absent_bytes(self) -> int:
        """User data in the ranges that were not filled."""
        return int((self.absent[1] - self.absent[0]).sum())

    @property
    def hides(self) -> bool:
        """Whether so much stays missing that neither law nor limits can be told."""
        whole = self.bytes / self.share if self.share else 0.0
        return self.absent_bytes > _FEW_ABSENT * whole

    def within(self, begin: Any, end: Any) -> Any:
        """Return how many bytes of the ranges that were not filled lie in each of these."""
        return _inside(*self.absent, begin, end)

    def holds(self, begin: Any, end: Any) -> Any:
        """Tell of each of these ranges whether the capture missed all of it."""
        return _inside(self.left, self.right, begin, end) >= end - begin


def uncaptured(packets: Any, *, from_client: bool, base_ns: int) -> tuple[Any, Uncaptured]:
    """Return the packets with small gaps of one direction filled, and what was missed.

    ``base_ns``: a round trip, for telling the end of a flight.
    """
    data = np.flatnonzero((packets.from_client == from_client) & (packets.payload > 0))
    acks = np.flatnonzero(
        (packets.from_client != from_client) & packets.has_ack & ((packets.flags & _RST) == 0)
    )
    nothing = Uncaptured(np.zeros(0, np.int64), np.zeros(0, np.int64))
    if not len(data) or not len(acks):
        return packets, nothing
    left, right = _missed(packets, data, acks, from_client)
    if not len(left):
        return packets, nothing
    segment = int(packets.payload[data].max())
    count = -(-(right - left) // segment)
    # The smallest gaps first, as long as there is room.
    order = np.argsort(count, kind="stable")
    fits = np.zeros(len(count), dtype=bool)
    fits[order] = np.cumsum(count[order]) <= max(1, int(_MOST_FILLED * len(data)))
    whole = int(max(packets.ack[acks].max(), (packets.seq[data] + packets.payload[data]).max()))
    whole -= min(int(left[0]), int(packets.seq[data].min()))
    found = Uncaptured(
        left,
        right,
        packets=int(count.sum()),
        filled=int(count[fits].sum()),
        absent=(left[~fits], right[~fits]),
        share=int((right - left).sum()) / max(whole, 1),
    )
    if not fits.any():
        return packets, found
    return _filled(packets, data, (left[fits], count[fits], right[fits]), segment, base_ns), found


def handshake_ns(packets: Any) -> int:
    """Return the time of the handshake as the capture saw it, in nanoseconds: about a round trip."""
    syn = np.flatnonzero((packets.flags & _SYN) > 0)
    if not len(syn):
        return 1
    later = np.flatnonzero(
        packets.from_client & packets.has_ack & (packets.time_ns >= packets.time_ns[syn[-1]])
    )
    return int(packets.time_ns[later[0]] - packets.time_ns[syn[0]]) if len(later) else 1


def missed_words(connection: Any, from_client: bool, missed: Uncaptured) -> str:
    """Say what the capture missed of one direction."""
    ends = (connection.client, connection.server)
    what = (
        f"Connection {connection.name}: not all packets were captured. {counted(missed.packets, 'packet')} "
        f"with data of {ends[0] if from_client else ends[1]} ({missed.share_words} of its bytes) never "
        "show up, but their bytes are acknowledged, and neither a SACK nor a duplicate ACK misses them"
    )
    if missed.hides:
        return f"{what}; with so many missing, law and limits cannot be told."
    return f"{what}; they are no losses, and are put in evenly between the others."


def _missed(packets: Any, data: Any, acks: Any, from_client: bool) -> tuple[Any, Any]:
    """Return the ranges that were acknowledged, never seen, and that no report called missing."""
    start = packets.seq[data].astype(np.int64)
    end = start + packets.payload[data]
    order = np.argsort(start, kind="stable")
    top = np.maximum.accumulate(end[order])
    acked = int(packets.ack[acks].max())
    opened = bool((((packets.flags & _SYN) > 0) & (packets.from_client == from_client)).any())
    # The SYN has the number 0. A FIN takes one number behind the data.
    first = 1 if opened else int(start.min())
    left = np.concatenate([[first], top])
    right = np.minimum(np.concatenate([start[order], [acked]]), acked)
    fin = (right == acked) & (right - left == 1)
    there = (right > left) & ~fin
    return _minus((left[there], right[there]), _holes(packets, data, acks, end))


def _holes(packets: Any, data: Any, acks: Any, end: Any) -> tuple[Any, Any]:
    """Return the ranges that the receiver lacked when it reported what lies behind them."""
    first = packets.sack_first.astype(np.int64)
    count = np.diff(first)[acks]
    if count.any():
        rows = acks[count > 0]
        count = count[count > 0]
        before = packets.ack[rows].astype(np.int64)
        place = np.arange(int(count.max()))
        at = np.minimum(first[rows][:, None] + place, len(packets.sack_left) - 1)
        there = place < count[:, None]
        low = np.where(there, packets.sack_left.astype(np.int64)[at], before[:, None])
        high = np.where(there, packets.sack_right.astype(np.int64)[at], before[:, None])
        order = np.argsort(low, axis=1, kind="stable")
        low, high = np.take_along_axis(low, order, 1), np.take_along_axis(high, order, 1)
        reached = np.maximum.accumulate(np.concatenate([before[:, None], high], axis=1), axis=1)[:, :-1]
        inside = low > reached
        return reached[inside], low[inside]
    # Without SACK a second ACK of the same byte, while later ones are on their way, tells of its segment.
    plain = acks[(packets.payload[acks] == 0) & ((packets.flags[acks] & (_SYN | _FIN)) == 0)]
    ack, window = packets.ack[plain].astype(np.int64), packets.window[plain]
    again = np.flatnonzero((np.diff(ack) == 0) & (np.diff(window.astype(np.int64)) == 0)) + 1
    seen = np.searchsorted(data, plain[again])
    ahead = np.maximum.accumulate(end)[np.maximum(seen - 1, 0)]
    lacking = ack[again][(seen > 0) & (ahead > ack[again])]
    return lacking, lacking + int(packets.payload[data].max())


def _filled(packets: Any, data: Any, gaps: tuple[Any, Any, Any], segment: int, base_ns: int) -> Any:
    """Return the packets with those of the gaps put in: first byte, count and end of each gap."""
    left, count, right = gaps
    start = packets.seq[data].astype(np.int64)
    top = np.maximum.accumulate(start + packets.payload[data])
    fresh = np.diff(top, prepend=-1) > 0
    before = np.maximum.accumulate(np.where(fresh, np.arange(len(data)), 0))
    after = np.searchsorted(top, left, side="right")
    last = np.where(after > 0, before[np.maximum(after - 1, 0)], 0)
    ends = after >= len(data)
    following = np.minimum(after, len(data) - 1)
    time = packets.time_ns[data].astype(np.int64)
    gap = np.where(ends | (after == 0), 0, time[following] - time[last])
    hole = np.maximum(start[following] - top[last], 1)
    step = np.where(ends, 0, gap * segment // (hole + segment))
    # The place of the first packet of the gap among those of a hole that may be wider than the gap.
    ahead = np.where(ends | (after == 0), 0, (left - top[last]) // segment)
    for at in np.flatnonzero((gap > base_ns // 2) & (last > 0)):
        flight = time[max(0, int(last[at]) - _FLIGHT) : int(last[at]) + 1]
        step[at] = min(int(step[at]), max(0, int(np.diff(flight).min())))
    own = np.repeat(np.arange(len(left)), count)
    part = np.arange(len(own)) - np.repeat(np.cumsum(count) - count, count)
    when = time[last][own] + step[own] * (ahead[own] + part + 1)
    source = data[last][own]
    low, high = (
        np.where(after > 0, data[last] + 1, data[0]),
        np.where(ends, len(packets.seq), data[following]),
    )
    place = np.searchsorted(np.maximum.accumulate(packets.time_ns), when)
    place = np.maximum.accumulate(np.clip(place, low[own], high[own]))
    begin = left[own] + part * segment
    payload = np.minimum(begin + segment, right[own]) - begin
    header = packets.ip_bytes[source].astype(np.int64) - packets.payload[source]
    put = {"time_ns": when, "seq": begin, "payload": payload, "ip_bytes": payload + header}
    put |= {"ip_id": 0, "ecn": 0, "flags": _ACK, "made": True}
    made = SimpleNamespace()
    for name in _PLAIN:
        whole = np.asarray(_made(packets) if name == "made" else getattr(packets, name))
        kind = np.int64 if name in ("seq", "payload", "ip_bytes", "time_ns") else whole.dtype
        value = put[name] if name in put else whole[source]
        setattr(made, name, np.insert(whole.astype(kind), place, value))
    blocks = np.insert(np.diff(packets.sack_first.astype(np.int64)), place, 0)
    made.sack_first = np.concatenate([[0], np.cumsum(blocks)])
    made.sack_left, made.sack_right = packets.sack_left, packets.sack_right
    made.rows = len(made.seq)
    return made


def _made(packets: Any) -> Any:
    return made_of(packets, np.arange(len(packets.seq)))


def made_of(packets: Any, rows: Any) -> Any:
    """Tell of these packets which were put in."""
    made = getattr(packets, "made", None) if isinstance(packets, SimpleNamespace) else None
    return np.zeros(len(rows), dtype=bool) if made is None else made[rows]


def _minus(ranges: tuple[Any, Any], holes: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return what is left of the ranges without the holes."""
    if not len(ranges[0]) or not len(holes[0]):
        return ranges
    edges = np.concatenate([ranges[0], ranges[1], holes[0], holes[1]])
    sizes = (len(ranges[0]), len(holes[0]))
    one, two = np.repeat((1, -1, 0, 0), np.repeat(sizes, 2)), np.repeat((0, 0, 1, -1), np.repeat(sizes, 2))
    order = np.argsort(edges, kind="stable")
    edges, inside, lacking = edges[order], np.cumsum(one[order]), np.cumsum(two[order])
    kept = (inside[:-1] > 0) & (lacking[:-1] == 0) & (np.diff(edges) > 0)
    return edges[:-1][kept], edges[1:][kept]


def _inside(left: Any, right: Any, begin: Any, end: Any) -> Any:
    """Return how many bytes of ranges in order lie in each stretch from begin to end."""
    if not len(left):
        return np.zeros(len(begin), dtype=np.int64)
    size = np.concatenate([[0], np.cumsum(right - left)])

    def until(edge: Any) -> Any:
        at = np.searchsorted(left, edge, side="right")
        return size[at] - np.where(at > 0, np.maximum(0, right[np.maximum(at - 1, 0)] - edge), 0)

    return until(np.asarray(end)) - until(np.asarray(begin))


_PLAIN = (
    "time_ns",
    "from_client",
    "seq",
    "ack",
    "has_ack",
    "payload",
    "ip_bytes",
    "ecn",
    "flags",
    "window",
    "ip_id",
    "has_ts",
    "ts_value",
    "ts_echo",
    "made",
)
