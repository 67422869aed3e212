"""What a link delivered of a connection's data, packet by packet, and how long each had waited.

Two places are known. At the receiver, packets arrive; their timestamps say when they were sent. At the
sender, ACKs and SACK blocks say what has arrived, and packets say when they were sent. Waiting is what a
round trip, or a one-way delay, is longer than the shortest of the connection.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tidegate._capture.value import Connection

    Column = np.ndarray[Any, Any]

#: Clocks of timestamps that systems have, in ticks a second (RFC 7323 §5.4 allows 1 ms to 1 s; Linux has
#: microseconds too).
CLOCKS_HZ = (10, 100, 250, 1000, 1_000_000)
#: A measured clock may be off by this share.
CLOCK_ERROR = 0.05


@dataclass(frozen=True)
class Deliveries:
    """What arrived, in order of time.

    Attributes:
        at: where the capture was taken: ``"sender"`` or ``"receiver"``.
        time_s: seconds since the capture's first packet.
        ip_bytes: bytes of IP packets that were delivered then.
        waited_s: how long what was delivered last had waited; NaN where it cannot be told.
        least_s: the shortest round trip, at the sender; 0 at the receiver, where only differences are known.
        grain_s: how exact the waiting times are.
        sent_s: when data was sent, as far as the place shows it.
        outstanding: bytes sent and not yet delivered at each of ``sent_s``; None at the receiver.
        window: the receive window at each of ``sent_s``; None at the receiver.
        segment: the most user data in one packet, in bytes.
    """

    at: str
    time_s: Column
    ip_bytes: Column
    waited_s: Column
    least_s: float
    grain_s: float
    sent_s: Column
    outstanding: Column | None
    window: Column | None
    segment: int


def place_of(connection: Connection) -> str:
    """Tell where a capture was taken: ``"sender"`` or ``"receiver"`` of the larger part of the data.

    The end near by answers at once: between a packet and the answer of the far end lies a round trip.
    """
    packets = connection.packets
    from_sender = packets.from_client == (connection.sender == connection.client_host)
    time = packets.time_ns / 1e9
    syns = np.flatnonzero(packets.flags & 2)
    if connection.client_host.opened and connection.server_host.opened and len(syns) >= 2:
        answer = syns[packets.has_ack[syns]]
        asked = syns[~packets.has_ack[syns]]
        third = np.flatnonzero(packets.from_client & packets.has_ack & ((packets.flags & 2) == 0))
        if len(answer) and len(asked) and len(third):
            far = time[answer[0]] - time[asked[asked < answer[0]][-1]] if (asked < answer[0]).any() else 0.0
            near = time[third[0]] - time[answer[0]]
            client_here = far > near
            sender_is_client = connection.sender == connection.client_host
            return "sender" if client_here == sender_is_client else "receiver"
    # Without a handshake: an ACK follows the data at once, or data follow an ACK at once.
    change = np.flatnonzero(from_sender[1:] != from_sender[:-1])
    gaps = time[change + 1] - time[change]
    to_ack = gaps[from_sender[change]]
    to_data = gaps[~from_sender[change]]
    if not len(to_ack) or not len(to_data):
        return "sender" if from_sender.all() else "receiver"
    return "receiver" if np.median(to_ack) < np.median(to_data) else "sender"


def deliveries(connection: Connection, at: str | None = None) -> Deliveries:
    """Read the deliveries of the direction with more data, at the place where the capture was taken."""
    place = at or place_of(connection)
    return _at_receiver(connection) if place == "receiver" else _at_sender(connection)


def _data_rows(connection: Connection) -> tuple[Column, Column]:
    packets = connection.packets
    from_sender = packets.from_client == (connection.sender == connection.client_host)
    return np.flatnonzero(from_sender & (packets.payload > 0)), np.flatnonzero(
        ~from_sender & packets.has_ack & ((packets.flags & 4) == 0)
    )


def _on_the_link(connection: Connection, rows: Column) -> Column:
    """Return bytes of IP packets on the link: of a super-segment, with the headers of all its segments."""
    packets = connection.packets
    payload, headers = packets.payload[rows], packets.ip_bytes[rows] - packets.payload[rows]
    receiver = (
        connection.server_host if connection.sender == connection.client_host else connection.client_host
    )
    mss = receiver.mss
    if mss is None:
        return packets.ip_bytes[rows].astype(np.int64)
    # What a SYN announces leaves no room for options (RFC 6691); timestamps take 12 bytes of it.
    segment = max(1, mss - 12 if packets.has_ts[rows].any() else mss)
    segments = np.maximum(1, -(-payload.astype(np.int64) // segment))
    weight: Column = payload + segments * headers.astype(np.int64)
    return weight


def _at_receiver(connection: Connection) -> Deliveries:
    packets = connection.packets
    data, _ = _data_rows(connection)
    time = packets.time_ns[data] / 1e9
    waited = np.full(len(data), np.nan)
    grain = 0.0
    if len(data) > 1 and packets.has_ts[data].all():
        value = packets.ts_value[data].astype(np.int64)
        # The clock may wrap at 2³².
        step = np.diff(value, prepend=value[0])
        value = np.cumsum((step + 2**31 & 0xFFFFFFFF) - 2**31)
        clock = _clock(time, value)
        if clock is not None:
            delay = time - value / clock
            waited = delay - delay.min()
            grain = 1 / clock
    return Deliveries(
        "receiver",
        time,
        _on_the_link(connection, data),
        waited,
        0.0,
        grain,
        time,
        None,
        None,
        connection.sender.largest_payload_bytes,
    )


def _clock(time: Column, value: Column) -> float | None:
    """Return the ticks a second of a timestamp clock; None where it is none that is known."""
    span = time[-1] - time[0]
    if span <= 0:
        return None
    measured = (value[-1] - value[0]) / span
    near = min(CLOCKS_HZ, key=lambda clock: abs(clock - measured))
    return float(near) if abs(near - measured) <= CLOCK_ERROR * near + 2 / span else None


def _at_sender(connection: Connection) -> Deliveries:
    packets = connection.packets
    data, acks = _data_rows(connection)
    left = packets.seq[data].astype(np.int64)
    weight = _on_the_link(connection, data) / np.maximum(1, packets.payload[data])
    per_byte = float(weight.mean()) if len(weight) else 1.0
    time = packets.time_ns / 1e9
    sent = _Sent()
    arrived = _Arrived()
    rows: list[tuple[float, int, float]] = []
    flight: list[int] = []
    window: list[int] = []
    limit = 0
    is_data = np.zeros(packets.rows, bool)
    is_data[data] = True
    is_ack = np.zeros(packets.rows, bool)
    is_ack[acks] = True
    seq, end = packets.seq.astype(np.int64), (packets.seq + packets.payload).astype(np.int64)
    ack, windows = packets.ack.astype(np.int64), packets.window.astype(np.int64)
    blocks, lefts, rights = packets.sack_first, packets.sack_left, packets.sack_right
    if len(left):
        arrived.upto = int(left.min())
    for row in np.flatnonzero(is_data | is_ack):
        now = float(time[row])
        if is_data[row]:
            sent.send(int(seq[row]), int(end[row]), now)
            flight.append(sent.top - arrived.upto - arrived.beyond)
            window.append(limit)
            continue
        limit = int(windows[row]) - (arrived.upto - int(ack[row]) if arrived.upto > ack[row] else 0)
        reported = [(int(lefts[k]), int(rights[k])) for k in range(int(blocks[row]), int(blocks[row + 1]))]
        # A block at or below the ACK reports a copy (RFC 2883 §4).
        new, highest = arrived.hear(min(int(ack[row]), sent.top), [b for b in reported if b[0] >= ack[row]])
        if new > 0:
            rows.append((now, new, sent.waited(highest, now)))
    when, bytes_, trip = (
        (np.array(each, float) for each in zip(*rows, strict=True))
        if rows
        else (
            np.array([]),
            np.array([]),
            np.array([]),
        )
    )
    known = trip[~np.isnan(trip)]
    least = float(known.min()) if len(known) else 0.0
    return Deliveries(
        at="sender",
        time_s=when,
        ip_bytes=bytes_ * per_byte,
        waited_s=trip - least,
        least_s=least,
        grain_s=0.0,
        sent_s=time[data],
        outstanding=np.array(flight),
        window=np.array(window),
        segment=connection.sender.largest_payload_bytes,
    )


class _Sent:
    """When each piece of data left for the first time, and what left again."""

    def __init__(self) -> None:
        self.top = 0
        self._ends: list[int] = []
        self._times: list[float] = []
        self._again: set[int] = set()

    def send(self, left: int, right: int, now: float) -> None:
        if right > self.top:
            self._ends.append(right)
            self._times.append(now)
            if left < self.top:
                self._again.add(right)
            self.top = right
        else:
            place = bisect_left(self._ends, right)
            self._again.add(self._ends[place])

    def waited(self, highest: int, now: float) -> float:
        """Return the round trip of the data that ends at ``highest``; NaN where it left twice (Karn)."""
        place = bisect_left(self._ends, highest)
        if place == len(self._ends) or self._ends[place] in self._again:
            return float("nan")
        return now - self._times[place]


class _Arrived:
    """What ACKs and blocks have told: everything below a number, and pieces above it."""

    def __init__(self) -> None:
        self.upto = 0
        self.beyond = 0
        self._left: list[int] = []
        self._right: list[int] = []

    def hear(self, ack: int, blocks: list[tuple[int, int]]) -> tuple[int, int]:
        """Take what an ACK tells; return how many bytes are new, and the highest of them."""
        new, highest = 0, 0
        if ack > self.upto:
            known, highest = self._forget(ack)
            new = ack - self.upto - known
            self.upto = ack
        for left, right in blocks:
            left = max(left, self.upto)
            if right > left:
                more = self._add(left, right)
                if more:
                    new += more
                    highest = max(highest, right)
        return new, highest

    def _forget(self, ack: int) -> tuple[int, int]:
        """Drop pieces below an ACK; return how many of its bytes were known, and its last new byte's end."""
        known, highest, place = 0, 0, self.upto
        while self._left and self._left[0] < ack:
            left, right = self._left[0], self._right[0]
            highest = left if left > place else highest
            place = min(right, ack)
            known += place - left
            if right > ack:
                self._left[0] = ack
                break
            del self._left[0], self._right[0]
        self.beyond -= known
        return known, ack if ack > place else highest

    def _add(self, left: int, right: int) -> int:
        first = bisect_left(self._right, left)
        last = bisect_right(self._left, right)
        inside = sum(self._right[k] - self._left[k] for k in range(first, last))
        if first < last:
            left, right = min(left, self._left[first]), max(right, self._right[last - 1])
        self._left[first:last] = [left]
        self._right[first:last] = [right]
        new = right - left - inside
        self.beyond += new
        return new
