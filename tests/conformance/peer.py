"""The peer of a drawn conversation: a receiver that acknowledges what was really sent, in ways of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.script import MSS

if TYPE_CHECKING:
    import random

    from conformance.judge import Said
    from conformance.ways import Ways

#: Windows are multiples of this (kernel.py's scale).
SCALED = 128


class Peer:
    """What has arrived at it, and what it owes."""

    def __init__(self, ways: Ways, rng: random.Random) -> None:
        self.ways, self.rng = ways, rng
        self.next = 1
        #: Ranges behind a hole, the newest first.
        self.held: list[tuple[int, int]] = []
        self.pending = 0
        self.owes_from: float | None = None
        self.echo: int | None = None
        self.echoes_marks = False
        self.window = ways.window[0]
        self.sack = ways.tcp.get("sack", True)
        #: The next number of its own stream, and whether that has ended.
        self.number = 1
        self.finished = False
        #: How much its application has read, and where the window ended that was announced last.
        self.read_to, self.edge = 1, 1 + ways.buffer

    def hear(self, at_ms: float, said: Said, number: int, marked: bool) -> list[dict[str, Any]]:
        """Take a segment; return the ACKs that it lets leave at once."""
        start, end = said.seq, said.end
        if self.ways.buffer and (start == end or end > self.edge):
            return [self.ack()]
        if "CWR" in said.flags:
            self.echoes_marks = False
        self.echoes_marks |= marked
        if start <= self.next < end and self.pending == 0:
            self.echo = number
        if end <= self.next or any(left <= start and end <= right for left, right in self.held):
            return [self.ack((start, end))]
        _, growth, most = self.ways.window
        self.window = max(self.window, min(self.window + growth, most))
        twice = self.twice(start, end)
        holes = bool(self.held)
        before = self.next
        self.merge(start, end)
        if self.next == before or holes or twice:
            return [self.ack(twice)]
        self.pending += 1
        if self.pending >= self.ways.every:
            if self.rng.random() < self.ways.split and said.payload > 1:
                part = self.ack() | {"ack": start + self.rng.randint(1, said.payload - 1)}
                return [part, self.ack()]
            return [self.ack()]
        if self.pending == 1:
            self.owes_from = at_ms
        return []

    def speak(self, size: int, *, last: bool) -> dict[str, Any] | None:
        """Return the next of its own stream; None: there is no more."""
        if self.finished:
            return None
        start, self.number, self.finished = self.number, self.number + size + last, last
        return {"data": [start, start + size]} | ({"flags": ["FIN"]} if last else {})

    def twice(self, start: int, end: int) -> tuple[int, int] | None:
        """The part of a segment that has arrived before (RFC 2883)."""
        if start < self.next:
            return (start, self.next)
        return next(((max(a, start), min(b, end)) for a, b in self.held if a < end and start < b), None)

    def merge(self, start: int, end: int) -> None:
        if start <= self.next:
            self.next = max(self.next, end)
        else:
            touching = [each for each in self.held if each[0] <= end and start <= each[1]]
            self.held = [each for each in self.held if each not in touching]
            left = min([start, *(each[0] for each in touching)])
            self.held.insert(0, (left, max([end, *(each[1] for each in touching)])))
        while any(left <= self.next for left, _ in self.held):
            self.next = max(self.next, *(right for left, right in self.held if left <= self.next))
            self.held = [each for each in self.held if each[0] > self.next]

    def room(self) -> int:
        """The window to announce: it never moves back, and is not silly (RFC 1122 4.2.3.3)."""
        free = self.ways.buffer - (self.next - self.read_to)
        free = 0 if free < min(self.ways.buffer // 2, MSS) else free
        return max(free // SCALED, -((self.next - self.edge) // SCALED), 0) * SCALED

    def read(self, size: int) -> list[dict[str, Any]]:
        """Let its application read; return the ACK that tells of a wider window, if that is worth one."""
        self.read_to = min(self.next, self.read_to + size)
        wider = self.next + self.room() - self.edge
        return [self.ack()] if wider >= min(self.ways.buffer // 2, 2 * MSS) else []

    def ack(self, twice: tuple[int, int] | None = None) -> dict[str, Any]:
        """Return an ACK of what has arrived."""
        self.pending, self.owes_from = 0, None
        of: dict[str, Any] = {"ack": self.next}
        # Timestamps take the room of the fourth (RFC 2018 §3).
        most = min(self.ways.blocks, 3 if self.ways.tcp.get("timestamps") else 4)
        blocks = [*([twice] if twice else []), *self.held][:most]
        if self.sack and blocks:
            of["sack"] = [list(block) for block in blocks]
        if self.ways.window[0]:
            of["win"] = self.window // 128 * 128
        if self.ways.buffer:
            of["win"] = self.room()
            self.edge = self.next + of["win"]
        if self.echoes_marks:
            of["flags"] = ["ECE"]
        if self.ways.tcp.get("timestamps") and self.echo is not None:
            of["echo"] = self.echo
        return of
