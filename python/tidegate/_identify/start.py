"""The call: from captures to what they tell of the link."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tidegate._base.lazy import Lazy
from tidegate._base.limits import MOST_PACKETS
from tidegate._identify.found import Direction, Law, Number
from tidegate._identify.value import Identification

if TYPE_CHECKING:
    import numpy as np

    from tidegate._identify.sent import Sent
    from tidegate._identify.streams import Stream
else:
    np = Lazy("numpy")

#: Shares of the progress at which the capture is read, and the packets' fates are told.
_READ, _STREAMS = 0.3, 0.5


def identify(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    progress: Callable[[float], object] | None = None,
    most_packets: int = MOST_PACKETS,
) -> Identification:
    """Tell from captures what limited the connections in them, and by which law.

    Numbers have 95% intervals; each law has its evidence in sentences. Where the capture does not tell, the
    law is "cannot tell", with the reason.

    Args:
        paths: one capture (pcap or pcapng, plain or packed), or several.
        progress: called now and then with the share that is done, from 0 to 1.
        most_packets: packets of TCP that are looked at; of a capture with more, the first ones.

    Raises:
        CaptureError: a file is no capture; the message names it.
        OSError: a file cannot be read.
    """
    from tidegate._capture.start import read_capture
    from tidegate._identify.doubts import tried
    from tidegate._identify.laws import limits_of
    from tidegate._identify.limits import waits
    from tidegate._identify.predicted import predict, with_likely_rate
    from tidegate._identify.scenario import assumed_queue
    from tidegate._identify.streams import streams_of

    def tell(begin: float, end: float) -> Callable[[float], object]:
        return lambda share: None if progress is None else progress(begin + (end - begin) * share)

    capture = read_capture(paths, tell(0, _READ), most_packets)
    notes = list(capture.notes)
    streams = streams_of(capture.connections, notes, tell(_READ, _STREAMS))
    found = limits_of(streams, tell(_STREAMS, 1))
    start = _first(streams)
    directions = []
    waited: dict[int, Any] = {}
    for limit in found:
        delays = waits([streams[at].sent for at in limit.members], limit.law)
        waited.update(zip(limit.members, delays, strict=True))
    for at, stream in enumerate(streams):
        number, law = next((limit.number, limit.law) for limit in found if at in limit.members)
        directions.append(_direction(stream, number, law, start, waited[at]))
    if not directions:
        notes.append(_nothing(capture))
    found = with_likely_rate(directions, found, streams)
    predicted, assumed = predict(directions, found, streams)
    # Of the law that is predicted, which may be withdrawn.
    queue = assumed_queue(directions, found, streams)
    found = tried(found, directions, predicted)
    start_s = None if capture.start_ns is None else capture.start_ns / 1e9
    return Identification(
        tuple(capture.files), directions, found, notes, predicted, assumed, queue, start_s, streams
    )


def _nothing(capture: Any) -> str:
    if not capture.connections:
        if capture.traffic:
            count = sum(each.packets for each in capture.traffic)
            return (
                f"No TCP connection in the capture, only UDP ({count} packets): what was lost of UDP "
                "cannot be seen at one end, so no law can be told."
            )
        return "No TCP connection in the capture: nothing to identify."
    packets = sum(each.packets.rows for each in capture.connections)
    return (
        f"Cannot tell: the capture's TCP connections ({len(capture.connections)}, {packets} packets) carry "
        "no transfer of data with its ACKs. Capture both directions of a longer transfer."
    )


def _first(streams: list[Stream]) -> int:
    return min((int(stream.sent.time_ns[0]) for stream in streams if len(stream.sent.time_ns)), default=0)


def _direction(stream: Stream, limit: int, law: Law, start: int, waited: Any) -> Direction:
    from tidegate._identify.congestion import congestion, hidden
    from tidegate._identify.limits import limited_by
    from tidegate._identify.sent import LOST

    sent, connection = stream.sent, stream.connection
    data = sent.payload > 0
    missed = stream.missed
    bytes_ = int(sent.payload[data & (sent.fate != LOST)].sum()) + missed.absent_bytes
    span = float(sent.time_ns[data][-1] - sent.time_ns[data][0]) / 1e9
    ends = (connection.client, connection.server)
    sender, receiver = ends if stream.from_client else ends[::-1]
    return Direction(
        connection=connection.number,
        sender=sender,
        receiver=receiver,
        from_client=stream.from_client,
        seen_at=stream.seen_at,
        data_packets=sent.data_packets - missed.filled,
        data_bytes=bytes_,
        uncaptured_packets=missed.packets,
        lost=sent.lost,
        spurious=sent.spurious,
        base_round_trip_s=_base(sent),
        goodput_bps=8 * bytes_ / span if span > 0 else 0.0,
        limited_by={} if missed.hides else limited_by(stream, law, waited),
        limit=limit,
        policed=law.kind == "policer" and sent.lost > 0,
        congestion=hidden() if missed.hides else congestion(stream.acks, sent, seen_at=stream.seen_at),
        clocks=stream.clocks,
        losses_s=[float(each - start) / 1e9 for each in sent.time_ns[sent.fate == LOST]],
    )


def _base(sent: Sent) -> Number | None:
    """Return the shortest round trip; the interval reaches down as far as its neighbours are spread."""
    trips = np.sort(sent.round_trip_ns[sent.round_trip_ns > 0])
    if not len(trips):
        return (
            Number(sent.base_round_trip_ns / 1e9, (0.0, sent.base_round_trip_ns / 1e9))
            if sent.base_round_trip_ns > 1
            else None
        )
    least = int(trips[0])
    # Above a least value, n values with an exponential tail leave a gap of mean s/n: 3 s/n holds 95%.
    tail = trips[: max(2, len(trips) // 10)]
    reach = 3 * float(tail.mean() - least) / len(tail)
    # A coarse clock cuts up to a tick off each of two times.
    tick = sent.tick_ns
    return Number(least / 1e9, (max(0.0, (least - reach - tick) / 1e9), (least + tick) / 1e9))
