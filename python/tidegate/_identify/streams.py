"""The directions of a capture's connections that carry data, and what became of their packets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from tidegate._capture.ends import Pair, paired
from tidegate._capture.place import near_client
from tidegate._capture.uncaptured import Uncaptured, handshake_ns, missed_words, uncaptured
from tidegate._identify.acks import Acks, acks_of
from tidegate._identify.beside import answers
from tidegate._identify.both import both
from tidegate._identify.clocks import Clocks
from tidegate._identify.copies import once
from tidegate._identify.held import Held, held
from tidegate._identify.placed import placed
from tidegate._identify.received import received
from tidegate._identify.segments import apart
from tidegate._identify.sent import Sent, sent
from tidegate._identify.ticks import Ticks, with_tick
from tidegate._identify.transit import echoed_ns

#: A direction of fewer bytes is a request, not a transfer: it shares the link, but has no law of its own.
_REQUEST_BYTES = 3000


@dataclass(frozen=True)
class Stream:
    """One direction of one connection: its packets, and what became of them.

    Args:
        connection: where it was captured; at the sender, if at both ends.
        from_client: whether the client sends.
        seen_at: "sender", "receiver" or "both".
        sent: its packets.
        acks: what came back.
        missed: what the capture missed of them.
        clocks: how the clocks of two captures differ.
        answers: what its receiver sent back, and the capture near the receiver that has it; None where there
            is none, or where that carries data as well.
    """

    connection: Any
    from_client: bool
    seen_at: str
    sent: Sent
    acks: Acks
    missed: Uncaptured
    clocks: Clocks | None = None
    answers: tuple[Sent, str] | None = None

    @cached_property
    def held(self) -> Held | None:
        """What held its sender, but for the link; None where that cannot be told."""
        return held(self.acks, self.sent, reckoned=self.seen_at == "receiver")


def streams_of(connections: list[Any], notes: list[str], progress: Callable[[float], object]) -> list[Stream]:
    """Return every direction that carries data; what cannot be used is said in notes."""
    alone, pairs = paired(connections, notes)
    # Copies of packets count here: what remains without them is less.
    alone = [each for each in alone if max(_sent_bytes(each)) >= _REQUEST_BYTES]
    found: list[Stream] = []
    ticks = Ticks()
    # The files of a connection: two, where both ends were captured.
    files: dict[int, list[str]] = {}
    count = max(1, len(alone) + len(pairs))
    for done, one in enumerate([*pairs, *alone]):
        progress(done / count)
        if isinstance(one, Pair):
            ends = [_once(each, notes) for each in (one.client, one.server)]
            found += _of_pair(Pair(ends[0], ends[1], one.shift), notes)
        else:
            ends = [_once(one, notes)]
            found += _of_one(ends[0], notes)
        for each in ends:
            files[each.number] = [other.file for other in ends]
            ticks.note(each)
            each.packets.forget()
    found.sort(key=lambda each: (each.connection.number, not each.from_client))
    clocks = [
        files[each.connection.number] if each.seen_at == "both" else [each.connection.file] for each in found
    ]
    notes += ticks.words(file for both_ends in clocks for file in both_ends)
    return [_by_clock(each, ticks.of(of_it)) for each, of_it in zip(found, clocks, strict=True)]


def _by_clock(stream: Stream, tick: int) -> Stream:
    """Return a direction with the tick of its clock, in nanoseconds; 0: a fine one."""
    return replace(stream, sent=with_tick(stream.sent, tick)) if tick else stream


def _once(connection: Any, notes: list[str]) -> Any:
    """Return the connection without copies of packets, and say how many there were."""
    kept, copies = once(connection)
    if copies:
        notes.append(
            f"Connection {connection.name}: {copies} packets were captured twice, as on two interfaces or by "
            "a mirror port; the copies are left out."
        )
    return kept


def _of_pair(pair: Pair, notes: list[str]) -> list[Stream]:
    found = []
    names = f"Connections {pair.client.number} and {pair.server.number}"
    for from_client in (True, False):
        near, far = (pair.client, pair.server) if from_client else (pair.server, pair.client)
        if _data(near, from_client) < _REQUEST_BYTES:
            continue
        # The shift is from the server's capture to the client's.
        shift = pair.shift if from_client else (-pair.shift[0], -pair.shift[1])
        here, missed = filled(near, from_client)
        unseen = filled(far, from_client)[1]
        joined = both(here, _apart(far), (-shift[0], -shift[1]), unseen, from_client=from_client)
        if joined is None:
            notes.append(f"{names}: their packets are not the same, so each capture is told for itself.")
            return [*_of_one(pair.client, notes), *_of_one(pair.server, notes)]
        begun = replace(joined[0], begun=_end(near, from_client).opened)
        notes.extend(
            missed_words(each, from_client, by) for each, by in ((near, missed), (far, unseen)) if by.packets
        )
        acks = _acks(here, near, from_client)
        back = _answers(far, from_client)
        found.append(Stream(near, from_client, "both", begun, acks, missed, joined[1], back))
    if found:
        notes.append(
            f"{names} are one, captured at both ends ({pair.client.file} near {pair.client.client})."
        )
        notes.extend(
            _offload(each, from_client)
            for each in (pair.client, pair.server)
            for from_client in (True, False)
            if _end(each, from_client).super_segments
        )
    return found


def _of_one(connection: Any, notes: list[str]) -> list[Stream]:
    packets = connection.packets
    near = near_client(packets) if packets.rows else None
    found = []
    for from_client in (True, False):
        if _data(connection, from_client) < _REQUEST_BYTES:
            continue
        if not ((packets.from_client != from_client) & packets.has_ack).any():
            notes.append(
                f"Connection {connection.name}: only one direction was captured, so "
                "what arrived cannot be told from what was lost."
            )
            continue
        if _end(connection, from_client).super_segments:
            notes.append(_offload(connection, from_client))
        if _end(connection, not from_client).scale is None:
            notes.append(
                f"Connection {connection.name}: the handshake is not in the capture, so the scale of the "
                "windows is not known, and whether the receiver's window was the limit cannot be told."
            )
        if near is None:
            notes.append(f"Connection {connection.name}: taken for a capture near the sender; nothing tells.")
        whole, missed = filled(connection, from_client)
        acks = _acks(whole, connection, from_client)
        if missed.packets:
            notes.append(missed_words(connection, from_client, missed))
        if near is None or near == from_client:
            sending = sent(whole, from_client=from_client)
        else:
            base = _shortest(handshake_ns(packets), echoed_ns(packets, from_client=from_client))
            seen = partial(received, whole, from_client=from_client, base_ns=base, missed=missed)
            sending = placed(seen(), partial(seen, close=True))
        at = "sender" if near is None or near == from_client else "receiver"
        sending = replace(sending, begun=_end(connection, from_client).opened)
        back = _answers(connection, from_client) if at == "receiver" else None
        found.append(Stream(connection, from_client, at, sending, acks, missed, answers=back))
    return found


def _answers(connection: Any, from_client: bool) -> tuple[Sent, str] | None:
    """Return what came back, as a capture near the receiver has it; None where it carries data as well."""
    if _data(connection, not from_client) >= _REQUEST_BYTES:
        return None
    return answers(connection.packets, from_client=from_client), connection.file


def _shortest(handshake: int, echoed: int | None) -> int:
    """Return the round trip to start from; a handshake of 1 ns was not seen."""
    if echoed is None:
        return handshake
    return echoed if handshake <= 1 else min(handshake, echoed)


def _acks(packets: Any, connection: Any, from_client: bool) -> Acks:
    receiver = _end(connection, not from_client)
    return acks_of(packets, from_client=from_client, scaled=receiver.scale is not None)


def _sent_bytes(connection: Any) -> tuple[int, int]:
    return connection.client_host.payload_bytes, connection.server_host.payload_bytes


def _data(connection: Any, from_client: bool) -> int:
    """Return the bytes of user data that one end sent."""
    packets = connection.packets
    return int(packets.payload[packets.from_client == from_client].sum())


def _end(connection: Any, from_client: bool) -> Any:
    return connection.client_host if from_client else connection.server_host


def _offload(connection: Any, from_client: bool) -> str:
    return (
        f"Connection {connection.name}: {_end(connection, from_client).super_segments} packets are larger "
        "than the link's segments (segmentation offload at the capture); they are taken apart into segments."
    )


def filled(connection: Any, from_client: bool) -> tuple[Any, Uncaptured]:
    """Return the packets as they crossed the link, those that the capture missed too, and what it missed."""
    base = handshake_ns(connection.packets)
    return uncaptured(_apart(connection), from_client=from_client, base_ns=base)


def _apart(connection: Any) -> Any:
    """Return the packets with super-segments taken apart, as they crossed the link."""
    ends = (connection.client_host, connection.server_host)
    if not any(each.super_segments for each in ends):
        return connection.packets
    return apart(connection.packets, tuple(each.mss for each in ends[::-1]))
