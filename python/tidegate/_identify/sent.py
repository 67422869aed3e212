"""What became of each packet that a sender sent, as a capture near the sender tells it.

A resent range of bytes has several packets; which of them arrived is told, in this order, by

- SACK and cumulative ACKs: a packet cannot have arrived when its report came less than a round trip after
  it left (RFC 2018 §3, RFC 6675 §4);
- timestamps: the echo in the ACK is the one of the packet that arrived (RFC 7323 §4.3; the Eifel test of
  RFC 3522 §3.2);
- duplicate SACKs: each reports one more copy that arrived (RFC 2883 §4), so a resend without need is no loss.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tidegate._capture.uncaptured import made_of
from tidegate._identify.marks import UNMARKED, echoed
from tidegate._identify.reports import NEVER as _NEVER
from tidegate._identify.reports import Reports, reports_of
from tidegate._identify.transit import TICKS_NS, transit, waited

#: A report this share of the base round trip after a packet cannot be a report of it.
_TOO_SOON = 0.9

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
        report_ns: when its range was first reported, or near the receiver when it came to the capture; the
            largest number where it never was.
        spurious: resends whose first copy had arrived.
        base_round_trip_ns: the shortest round trip; 0 where none was seen.
        coarse_ns: how exact the times are, on each side.
        begun: whether the capture has the beginning of the connection, before which it filled no bucket.
        arrival_ns: when each came to the receiver, by the clock of `time_ns` up to a constant, where a
            capture there or the ACKs' timestamps tell it.
        marked: what the capture shows of their marks (ECN; `marks`); None where that was not looked at.
        stamped: `arrival_ns` is as coarse as timestamps are.
        back: near the receiver, where ACKs waited on their way: times, and the wait then, in nanoseconds.
        received: whether it was captured near the receiver, where arrivals are seen.
        tick_ns: the tick of the capture's clock, where it is coarse; else 0.
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
    begun: bool = True
    arrival_ns: Any = None
    stamped: bool = False
    marked: Any = None
    back: tuple[Any, Any] | None = None
    received: bool = False
    tick_ns: int = 0

    def between(self, begin_ns: int, end_ns: int) -> Sent:
        """Return the packets that left in a time, both ends included."""
        inside = (self.time_ns >= begin_ns) & (self.time_ns <= end_ns)
        columns = ("time_ns", "ip_bytes", "payload", "start", "fate", "round_trip_ns", "report_ns")
        return replace(
            self,
            **{name: getattr(self, name)[inside] for name in columns},
            arrival_ns=None if self.arrival_ns is None else self.arrival_ns[inside],
            marked=None if self.marked is None else self.marked[inside],
        )

    def answered_ns(self, left_ns: Any) -> Any:
        """Return when data that ACKs let go come by, near the receiver: a round trip after the ACKs."""
        waits = 0 if self.back is None else np.interp(left_ns, *self.back).astype(np.int64)
        return left_ns + self.base_round_trip_ns + waits

    @property
    def lost(self) -> int:
        """Packets lost."""
        return int(np.count_nonzero(self.fate == LOST))

    @property
    def data_packets(self) -> int:
        """Packets that carry data, resent ones included."""
        return int(np.count_nonzero(self.payload))


def sent(packets: Any, *, from_client: bool) -> Sent:
    """Return the packets that the client, or the server, sent and what became of each."""
    mine = np.flatnonzero(packets.from_client == from_client)
    start = packets.seq[mine].astype(np.int64)
    payload = packets.payload[mine].astype(np.int32)
    time = packets.time_ns[mine]
    data = np.flatnonzero(payload > 0)
    fate = np.full(len(mine), ARRIVED, dtype=np.int8)
    report = np.full(len(mine), _NEVER)
    trip = np.full(len(mine), -1)
    base = spurious = coarse = 0
    arrival = None
    marked = np.full(len(mine), UNMARKED, dtype=np.int8)
    if len(data):
        first, stamp = start[data], packets.ts_value[mine[data]].astype(np.int64)
        reports = reports_of(packets, from_client, first, first + payload[data])
        report[data] = reports.when
        copies = Copies.of(first)
        once = copies.once & (reports.when < _NEVER) & _last_of_report(reports.when)
        # When a packet that the capture missed left is not known well enough.
        once &= ~made_of(packets, mine[data])
        trip[data] = np.where(once, reports.when - time[data], -1)
        marked[data] = echoed(packets, from_client, reports.when)
        back = _back(packets, from_client, reports.when)
        if back is not None:
            trip[data] = np.where(once, np.maximum(1, trip[data] - back), -1)
            arrival = report.copy()
            arrival[data] -= np.where(report[data] < _NEVER, back, 0)
            coarse = TICKS_NS[0] // 2
        positive = trip[trip > 0]
        base = int(positive.min()) if len(positive) else 0
        stamp[~packets.has_ts[mine[data]]] = -1
        fate[data] = fates(copies, time[data], reports, stamp, int(_TOO_SOON * base))
        spurious = unneeded(copies, fate, data, time[data], reports.duplicates, int(_TOO_SOON * base))
    return Sent(
        time, packets.ip_bytes[mine].astype(np.int32), payload, start, fate, trip, report, spurious, base,
        coarse_ns=coarse, arrival_ns=arrival, stamped=arrival is not None,
        marked=marked,
    )  # fmt: skip


def _back(packets: Any, from_client: bool, when: Any) -> Any:
    """Return how long the ACK that came at each of these times waited; None where ACKs did not wait.

    ACKs that wait lengthen round trips and gather reports, which is not the doing of the way of the data. The
    receiver's timestamps tell it, as its clock gives the ACK's departure (RFC 7323 §5.4).
    """
    acks = np.flatnonzero((packets.from_client != from_client) & packets.has_ack)
    time = packets.time_ns[acks]
    delays = transit(packets, acks, time)
    if not waited(delays):
        return None
    at = np.searchsorted(time, when)
    return np.where(at < len(acks), delays[np.minimum(at, len(acks) - 1)], 0)


def _last_of_report(report: Any) -> Any:
    """Return which packets are the last that their ACK reports: the others' round trips hold its delay.

    A receiver that delays ACKs (RFC 1122 §4.2.3.2) answers every second packet, at once.
    """
    order = np.argsort(report, kind="stable")
    last = np.zeros(len(report), dtype=bool)
    last[order[:-1]] = np.diff(report[order]) > 0
    last[order[-1]] = True
    return last


@dataclass(frozen=True)
class Copies:
    """Packets by the range that they begin: the packets of one range are copies of one another.

    Args:
        start: first byte of each packet.
        order: places of the packets, range by range, the copies of each in their order.
        cuts: where each range begins in `order`, and the end.
        once: of each packet, whether it has no copy.
    """

    start: Any
    order: Any
    cuts: Any
    once: Any

    @staticmethod
    def of(start: Any) -> Copies:
        """Put packets together that begin at the same byte."""
        order = np.argsort(start, kind="stable")
        cuts = np.concatenate([[0], np.flatnonzero(np.diff(start[order])) + 1, [len(order)]])
        once = np.zeros(len(start), dtype=bool)
        once[order[cuts[:-1][np.diff(cuts) == 1]]] = True
        return Copies(start, order, cuts, once)

    def several(self) -> tuple[Any, Any]:
        """Return the places of packets with copies, range by range, and where each range begins there."""
        count = np.diff(self.cuts)
        many = count > 1
        return self.order[np.repeat(many, count)], np.concatenate([[0], np.cumsum(count[many])])


def fates(copies: Copies, time: Any, reports: Reports, stamp: Any, soon: int) -> Any:
    """Return what became of each packet with data; `soon`: no report comes sooner, in nanoseconds."""
    fate = np.full(len(time), ARRIVED, dtype=np.int8)
    fate[reports.when == _NEVER] = UNKNOWN
    places, cuts = copies.several()
    if not len(places):
        return fate
    fate[places] = LOST
    first, count = cuts[:-1], np.diff(cuts)
    row = np.arange(len(places))
    when = np.repeat(reports.when[places[first]], count)
    # Of a range that was never reported, the last copy may be on its way.
    open_end = reports.when[places[first]] == _NEVER
    fate[places[cuts[1:][open_end] - 1]] = UNKNOWN
    could = time[places] <= when - soon
    could[first[~np.logical_or.reduceat(could, first)]] = True
    last = np.maximum.reduceat(np.where(could, row, -1), first)
    # The nearest stamp, and the later of two that are as near.
    echo = reports.echo[places[last]]
    stamps = np.where(could, stamp[places], _NEVER)
    stamped = (echo >= 0) & (np.minimum.reduceat(stamps, first) >= 0)
    away = np.where(could, np.abs(stamp[places] - np.repeat(echo, count)), _NEVER)
    nearest = could & (away == np.repeat(np.minimum.reduceat(away, first), count))
    chosen = np.where(stamped, np.maximum.reduceat(np.where(nearest, row, -1), first), last)
    fate[places[chosen[~open_end]]] = ARRIVED
    return fate


def unneeded(
    copies: Copies, fate: Any, data: Any, time: Any, duplicates: list[tuple[int, int]], soon: int
) -> int:
    """Mark copies that arrived besides, as duplicate SACKs report them, and return how many.

    ``duplicates``: when each was reported, and the first byte of its range; ``data``: where packets with data
    stand in `fate`.
    """
    if not duplicates:
        return 0
    places, cuts = copies.several()
    known = {start: at for at, start in enumerate(copies.start[places[cuts[:-1]]].tolist())}
    found = 0
    for now, begin in duplicates:
        at = known.get(begin)
        if at is None:
            continue
        again = places[cuts[at] : cuts[at + 1]]
        could = again[(fate[data[again]] == LOST) & (time[again] + soon <= now)]
        if len(could):
            fate[data[could[-1]]] = ARRIVED
            found += 1
    return found
