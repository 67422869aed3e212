"""What became of each packet that a sender sent, as a capture near the sender tells it.

A resent range of bytes has several packets; which of them arrived is told, in this order, by

- SACK and cumulative ACKs: a packet cannot have arrived when its report came less than a round trip after
  it left (RFC 2018 §3, RFC 6675 §4);
- timestamps: the echo in the ACK is the one of the packet that arrived (RFC 7323 §4.3; the Eifel test of
  RFC 3522 §3.2);
- duplicate SACKs: each reports one more copy that arrived (RFC 2883 §4), so a resend without need is no loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: A report this share of the base round trip after a packet cannot be a report of it.
_TOO_SOON = 0.9
_NEVER = np.iinfo(np.int64).max

ARRIVED, LOST, UNKNOWN = 1, 0, -1


@dataclass(frozen=True)
class Sent:
    """The packets of one direction of one connection, one entry a packet, in order of time.

    Args:
        time_ns: when each left, at the capture.
        ip_bytes: bytes of the IP packet.
        payload: bytes of data; 0 for ACKs, which use the link as well.
        start: first byte of its range, as an offset in the stream.
        fate: arrived (1), lost (0), or not known (-1).
        round_trip_ns: to the first report of it, where it was sent once and is its last; else -1.
        report_ns: when its range was first reported; the largest number where it never was.
        spurious: resends whose first copy had arrived.
        base_round_trip_ns: the shortest round trip; 0 where none was seen.
        coarse_ns: how exact the times are, on each side.
    """

    time_ns: Any
    ip_bytes: Any
    payload: Any
    start: Any
    fate: Any
    round_trip_ns: Any
    report_ns: Any
    spurious: int
    base_round_trip_ns: int
    coarse_ns: int = 0

    @property
    def lost(self) -> int:
        """Packets lost."""
        return int(np.count_nonzero(self.fate == LOST))

    @property
    def data_packets(self) -> int:
        """Packets that carry data, resent ones included."""
        return int(np.count_nonzero(self.payload))


@dataclass(frozen=True)
class _Reports:
    """When each range between two edges was first reported, by which timestamp echo, and the duplicates."""

    edges: Any
    when: Any
    echo: Any
    duplicates: list[tuple[int, int]]


def sent(packets: Any, *, from_client: bool) -> Sent:
    """Return the packets that the client, or the server, sent and what became of each."""
    mine = np.flatnonzero(packets.from_client == from_client)
    start = packets.seq[mine].astype(np.int64)
    payload = packets.payload[mine].astype(np.int64)
    time = packets.time_ns[mine]
    data = np.flatnonzero(payload > 0)
    fate = np.full(len(mine), ARRIVED, dtype=np.int8)
    report = np.full(len(mine), _NEVER)
    trip = np.full(len(mine), -1)
    base = spurious = 0
    if len(data):
        reports = _reports(packets, from_client, start[data], start[data] + payload[data])
        report[data], echo = _reports_of(reports, start[data], payload[data])
        _, first, count = np.unique(start[data], return_index=True, return_counts=True)
        once = np.zeros(len(data), dtype=bool)
        once[first[count == 1]] = True
        seen = once & (report[data] < _NEVER)
        trip[data] = np.where(seen & _last_of_report(report[data]), report[data] - time[data], -1)
        positive = trip[trip > 0]
        base = int(positive.min()) if len(positive) else 0
        stamps = packets.ts_value[mine][data].astype(np.int64)
        fate[data], spurious = _fates(
            start[data], time[data], report[data], np.where(packets.has_ts[mine][data], stamps, -1),
            echo, reports.duplicates, base,
        )  # fmt: skip
    return Sent(time, _ip_bytes(packets, mine), payload, start, fate, trip, report, spurious, base)


def _last_of_report(report: Any) -> Any:
    """Return which packets are the last that their ACK reports: the others' round trips hold its delay.

    A receiver that delays ACKs (RFC 1122 §4.2.3.2) answers every second packet, at once.
    """
    last = np.zeros(len(report), dtype=bool)
    # Of equal values, `unique` returns the first; backwards that is the last.
    _, first = np.unique(report[::-1], return_index=True)
    last[len(report) - 1 - first] = True
    return last


def _ip_bytes(packets: Any, mine: Any) -> Any:
    return packets.ip_bytes[mine].astype(np.int64)


def _reports(packets: Any, from_client: bool, left: Any, right: Any) -> _Reports:
    edges = np.unique(np.concatenate([left, right]))
    acks = np.flatnonzero((packets.from_client != from_client) & packets.has_ack)
    if not len(acks):
        return _Reports(edges, np.full(len(edges), _NEVER), np.full(len(edges), -1), [])
    # The first cumulative ACK beyond each edge, and the first SACK that holds it.
    first = np.searchsorted(np.maximum.accumulate(packets.ack[acks].astype(np.int64)), edges, side="right")
    known = first < len(acks)
    by = acks[np.minimum(first, len(acks) - 1)]
    when = np.where(known, packets.time_ns[by], _NEVER)
    echo = np.where(known & packets.has_ts[by], packets.ts_echo[by].astype(np.int64), -1)
    sacked, duplicates = _sacked(packets, acks, edges)
    echo = np.where(when <= sacked, echo, -1)
    return _Reports(edges, np.minimum(when, sacked), echo, duplicates)


def _sacked(packets: Any, acks: Any, edges: Any) -> tuple[Any, list[tuple[int, int]]]:
    """Return when each edge was first in a SACK block, and the duplicates that were reported."""
    when = np.full(len(edges), _NEVER)
    duplicates: list[tuple[int, int]] = []
    first = packets.sack_first
    for at in acks[np.diff(first)[acks] > 0]:
        now, ack = int(packets.time_ns[at]), int(packets.ack[at])
        low, high = int(first[at]), int(first[at + 1])
        for block in range(low, high):
            begin, end = int(packets.sack_left[block]), int(packets.sack_right[block])
            inside_next = (
                high - low > 1
                and begin >= int(packets.sack_left[low + 1])
                and end <= int(packets.sack_right[low + 1])
            )
            # RFC 2883 §4: the first block reports a duplicate when it lies below the ACK or inside the
            # second.
            if block == low and (end <= ack or inside_next):
                duplicates.append((now, begin))
                continue
            one, two = np.searchsorted(edges, (begin, end))
            part = when[one:two]
            part[part == _NEVER] = now
    return when, duplicates


def _reports_of(reports: _Reports, left: Any, payload: Any) -> tuple[Any, Any]:
    """Return when the whole of each packet's range was reported, and the echo of that report."""
    one = np.searchsorted(reports.edges, left)
    two = np.searchsorted(reports.edges, left + payload)
    when, echo = reports.when[one].copy(), reports.echo[one].copy()
    for at in np.flatnonzero(two - one > 1):
        part = reports.when[one[at] : two[at]]
        last = int(np.argmax(part))
        when[at], echo[at] = part[last], reports.echo[one[at] + last]
    return when, echo


def _fates(
    start: Any, time: Any, report: Any, stamp: Any, echo: Any, duplicates: list[tuple[int, int]], base: int
) -> tuple[Any, int]:
    fate = np.full(len(start), ARRIVED, dtype=np.int8)
    fate[report == _NEVER] = UNKNOWN
    order = np.argsort(start, kind="stable")
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(start[order])) + 1, [len(order)]])
    several = np.flatnonzero(np.diff(cuts) > 1)
    copies_of: dict[int, Any] = {}
    soon = int(_TOO_SOON * base)
    for place in several:
        copies = order[cuts[place] : cuts[place + 1]]
        copies_of[int(start[copies[0]])] = copies
        fate[copies] = LOST
        if report[copies[0]] == _NEVER:
            fate[copies[-1]] = UNKNOWN
            continue
        could = copies[time[copies] + soon <= report[copies[0]]]
        if not len(could):
            could = copies[:1]
        chosen = could[-1]
        if len(could) > 1 and echo[chosen] >= 0 and (stamp[could] >= 0).all():
            # The nearest stamp, and the later of two that are as near.
            away = np.abs(stamp[could] - echo[chosen])
            chosen = could[len(could) - 1 - int(np.argmin(away[::-1]))]
        fate[chosen] = ARRIVED
    spurious = 0
    for now, begin in duplicates:
        again = copies_of.get(begin)
        if again is None:
            continue
        could = again[(fate[again] == LOST) & (time[again] + soon <= now)]
        if len(could):
            fate[could[-1]] = ARRIVED
            spurious += 1
    return fate, spurious
