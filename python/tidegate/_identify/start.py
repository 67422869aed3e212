"""The call: from captures to what they tell of the link."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate._base.lazy import Lazy
from tidegate._identify.found import Direction, Law, Limit, Number
from tidegate._identify.value import Identification

if TYPE_CHECKING:
    import numpy as np

    from tidegate._identify.sent import Sent
else:
    np = Lazy("numpy")

#: A direction of fewer bytes is a request, not a transfer: it shares the link, but has no law of its own.
_REQUEST_BYTES = 3000


@dataclass(frozen=True)
class Stream:
    """One direction of one connection, as identified: its packets, and what became of them."""

    connection: Any
    from_client: bool
    seen_at: str
    sent: Sent


def identify(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    progress: Callable[[float], object] | None = None,
) -> Identification:
    """Tell from captures what limited the connections in them, and by which law.

    Numbers have 95% intervals; each law has its evidence in sentences. Where the capture does not tell, the
    law is "cannot tell", with the reason.

    Args:
        paths: one capture (pcap or pcapng, plain or packed), or several.
        progress: called now and then with the share that is done, from 0 to 1.

    Raises:
        CaptureError: a file is no capture; the message names it.
        OSError: a file cannot be read.
    """
    from tidegate._capture.start import read

    capture = read(paths, None if progress is None else lambda share: progress(share / 2))
    notes = list(capture.notes)
    streams = _streams(capture, notes)
    found = _limits(streams, progress)
    start = _first(streams)
    directions = []
    for at, stream in enumerate(streams):
        number, law = next((limit.number, limit.law) for limit in found if at in limit.members)
        directions.append(_direction(stream, number, law, start))
    if not directions:
        notes.append(_nothing(capture))
    return Identification(tuple(capture.files), directions, found, notes, streams)


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


def _streams(capture: Any, notes: list[str]) -> list[Stream]:
    from tidegate._identify.place import near_client
    from tidegate._identify.received import received
    from tidegate._identify.sent import sent

    found = []
    for connection in capture.connections:
        packets = connection.packets
        near = near_client(packets) if connection.packets.rows else None
        for from_client in (True, False):
            mine = packets.from_client == from_client
            data = int(packets.payload[mine].sum())
            if data < _REQUEST_BYTES:
                continue
            if not (~mine & packets.has_ack).any():
                notes.append(
                    f"Connection {connection.name}: only one direction was captured, so "
                    "what arrived cannot be told from what was lost."
                )
                continue
            end = connection.client_host if from_client else connection.server_host
            if end.super_segments:
                notes.append(
                    f"Connection {connection.name}: {end.super_segments} packets are larger than the link's "
                    "segments (segmentation offload at the capture); they are taken apart into segments."
                )
            if near is None:
                notes.append(
                    f"Connection {connection.name}: taken for a capture near the sender; nothing tells."
                )
            at_sender = near is None or near == from_client
            if at_sender:
                found.append(
                    Stream(
                        connection, from_client, "sender", sent(_apart(packets, end), from_client=from_client)
                    )
                )
            else:
                base = _handshake(packets)
                found.append(
                    Stream(
                        connection,
                        from_client,
                        "receiver",
                        received(_apart(packets, end), from_client=from_client, base_ns=base),
                    )
                )
    return found


def _apart(packets: Any, end: Any) -> Any:
    """Return the packets with super-segments taken apart, as they crossed the link."""
    if not end.super_segments:
        return packets
    from tidegate._identify.segments import apart

    return apart(packets, end.mss)


def _handshake(packets: Any) -> int:
    """Return the time of the handshake as the capture saw it, in nanoseconds: about a round trip."""
    syn = np.flatnonzero((packets.flags & 2) > 0)
    if not len(syn):
        return 1
    later = np.flatnonzero(
        packets.from_client & packets.has_ack & (packets.time_ns >= packets.time_ns[syn[-1]])
    )
    return int(packets.time_ns[later[0]] - packets.time_ns[syn[0]]) if len(later) else 1


def _limits(streams: list[Stream], progress: Callable[[float], object] | None) -> list[Limit]:
    """Return the limits, from those streams that left, or came to, the same end."""
    from tidegate._identify.law import law_of
    from tidegate._identify.share import groups

    sides: dict[tuple[str, bool], list[int]] = {}
    for at, stream in enumerate(streams):
        # All that was captured near its sender left from one place; all that came in, came to one.
        sides.setdefault((stream.seen_at, False), []).append(at)
    found: list[Limit] = []
    for members in sides.values():
        for group, bucket in groups([streams[at].sent for at in members]):
            if progress is not None:
                progress(0.5 + 0.5 * len(found) / max(1, len(streams)))
            inside = [members[each] for each in group]
            law = law_of([streams[at].sent for at in inside], bucket)
            found.append(Limit(len(found) + 1, law, inside))
    return found


def _first(streams: list[Stream]) -> int:
    return min((int(stream.sent.time_ns[0]) for stream in streams if len(stream.sent.time_ns)), default=0)


def _direction(stream: Stream, limit: int, law: Law, start: int) -> Direction:
    from tidegate._identify.congestion import congestion
    from tidegate._identify.limits import limited_by
    from tidegate._identify.sent import LOST

    sent, connection = stream.sent, stream.connection
    data = sent.payload > 0
    bytes_ = int(sent.payload[data & (sent.fate != LOST)].sum())
    span = float(sent.time_ns[data][-1] - sent.time_ns[data][0]) / 1e9
    ends = (connection.client, connection.server)
    sender, receiver = ends if stream.from_client else ends[::-1]
    return Direction(
        connection=connection.number,
        sender=sender,
        receiver=receiver,
        from_client=stream.from_client,
        seen_at=stream.seen_at,
        data_packets=sent.data_packets,
        data_bytes=bytes_,
        lost=sent.lost,
        spurious=sent.spurious,
        base_round_trip_s=_base(sent),
        goodput_bps=8 * bytes_ / span if span > 0 else 0.0,
        limited_by=limited_by(connection.packets, sent, law, from_client=stream.from_client),
        limit=limit,
        policed=law.kind == "policer" and sent.lost > 0,
        congestion=congestion(
            connection.packets, sent, from_client=stream.from_client, seen_at=stream.seen_at
        ),
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
    return Number(least / 1e9, (max(0.0, (least - reach) / 1e9), least / 1e9))
