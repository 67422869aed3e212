"""Conversations in which the endpoint receives: data in order, with holes, overlapping and repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.script import Conversation, Step

if TYPE_CHECKING:
    import random

#: Packets of 1500 B: how wide the kernel's window gets depends on how well packets fill its buffers.
FULL = 1460
KINDS = {
    "receiver": "the endpoint receives: in order, with holes, repeated, overlapping",
    "delayed": "the endpoint receives in order, at odd times and in odd sizes",
    "reading": "the endpoint receives in order, and its application reads now and then",
}


def draw(kind: str, title: str, rng: random.Random) -> Conversation:
    """Draw what the peer sends, and when."""
    talk = Conversation(
        title, "linux", role=rng.choice(("active", "passive")), rtt_ms=rng.choice((10.0, 40.0, 150.0))
    )
    talk.tcp["mss"] = f"{FULL} B"
    if kind == "receiver" and rng.random() < 0.3:
        talk.tcp |= {"timestamps": True, "mss": f"{FULL - 12} B"}
    full = int(talk.tcp["mss"].removesuffix(" B"))
    if kind == "reading":
        return _reading(talk, rng)
    pieces = _stream(rng, rng.randint(5, 40), full, even=kind == "receiver" or rng.random() < 0.6)
    if kind == "receiver":
        pieces = _disorder(rng, pieces)
    at = 0.0
    for start, end in pieces:
        of = {"data": [start, end], "ack": 1}
        talk.steps.append(Step(at, at, "<", of, ""))
        at += rng.choice(
            (0.0, 0.5, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0) if rng.random() < 0.93 else (60.0, 150.0, 300.0)
        )
    talk.newest_ms = at + 60
    talk.steps.append(Step(talk.newest_ms, talk.newest_ms, "quiet", {}, ""))
    return talk


def _reading(talk: Conversation, rng: random.Random) -> Conversation:
    """Segments come in bursts, and what is read are whole segments as a rule."""
    talk.reads = True
    at, end, waiting = 0.0, 1, 0
    for _ in range(rng.randint(4, 16)):
        for _ in range(rng.choice((1, 2, 3, 5, 8))):
            talk.steps.append(Step(at, at, "<", {"data": [end, end + FULL], "ack": 1}, ""))
            end, waiting = end + FULL, waiting + FULL
        at += rng.choice((1.0, 5.0, 13.0, 25.0, 60.0))
        if waiting and rng.random() < 0.5:
            size = min(waiting, FULL * rng.choice((1, 1, 2, 4, 10, 40)))
            talk.steps.append(Step(at, at, "read", {"bytes": size}, ""))
            waiting -= size
            at += rng.choice((1.0, 5.0, 13.0))
    talk.newest_ms = at + 60
    talk.steps.append(Step(talk.newest_ms, talk.newest_ms, "quiet", {}, ""))
    return talk


def _stream(rng: random.Random, count: int, full: int, *, even: bool) -> list[tuple[int, int]]:
    at, found = 1, []
    for _ in range(count):
        size = full if even else rng.choice((1, 100, 400, 536, 700, full, full))
        found.append((at, at + size))
        at += size
    return found


def _disorder(rng: random.Random, pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    late, twice, over = rng.choice((0.05, 0.15, 0.3)), rng.choice((0.0, 0.1)), rng.choice((0.0, 0.0, 0.1))
    keyed: list[tuple[float, tuple[int, int]]] = []
    for index, (start, end) in enumerate(pieces):
        keyed.append((index + (rng.choice((1.5, 3.5, 8.5)) if rng.random() < late else 0), (start, end)))
        if rng.random() < twice:
            keyed.append((index + rng.choice((0.6, 2.6, 6.6)), (start, end)))
        if rng.random() < over:
            left = max(1, start + rng.choice((-1500, -1000, -500, 0, 300)))
            keyed.append((index + rng.choice((-2.4, 0.6, 2.6)), (left, left + rng.choice((500, 1000)))))
    return [piece for _, piece in sorted(keyed, key=lambda each: each[0])]
