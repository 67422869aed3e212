"""How the peer, the path and the application of a drawn conversation behave, kind by kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random


@dataclass
class Ways:
    """What one conversation's peer, path and application do; times in ms, probabilities of one segment."""

    tcp: dict[str, Any] = field(default_factory=dict)
    rtt: float = 40.0
    #: Time between two segments that the path carries, and how many may wait; 0: as fast as they come.
    spacing: float = 0.0
    queue: int = 1000
    #: The peer acknowledges every n-th segment in order, or after so long.
    every: int = 1
    patience: float = 25.0
    #: SACK blocks in an ACK at most.
    blocks: int = 3
    loss: float = 0.0
    burst_loss: float = 0.0
    late: float = 0.0
    late_by: float = 10.0
    twice: float = 0.0
    ack_loss: float = 0.0
    ack_late: float = 0.0
    ack_twice: float = 0.0
    #: ACKs arrive together, at multiples of this.
    gather: float = 0.0
    #: The round trip from a time on.
    jumps: list[tuple[float, float]] = field(default_factory=list)
    #: From, until: all data are lost; or all that the peer says.
    dark: list[tuple[float, float]] = field(default_factory=list)
    mute: list[tuple[float, float]] = field(default_factory=list)
    mark: float = 0.0
    #: The announced window: first, its growth with each segment, and at most; 0: the usual one.
    window: tuple[int, int, int] = (0, 0, 0)
    #: The peer's receive buffer, 0: it never fills; and when its application reads how much.
    buffer: int = 0
    reads: list[tuple[float, int]] = field(default_factory=list)
    #: Some ACKs end within a segment.
    split: float = 0.0
    writes: list[tuple[float, int]] = field(default_factory=lambda: [(0.0, 60_000)])
    #: What the application does at the end, and when: ``shutdown``, ``close``, ``abort``.
    ending: tuple[float, str] | None = None
    #: What the peer sends of its own: when, user bytes, and whether its stream ends behind them.
    speaks: list[tuple[float, int, bool]] = field(default_factory=list)
    #: The peer ends its stream so long after the endpoint's FIN has come.
    follows: float | None = None
    #: The peer resets: when, and how far from the number expected.
    resets: list[tuple[float, int]] = field(default_factory=list)
    #: The conversation ends after so many lines or so long.
    lines: int = 70
    until: float = 1200.0


@dataclass(frozen=True)
class Kind:
    """A named set of behaviours, by the functions below: all of ``always``, up to three of ``some``."""

    tells: str
    always: tuple[str, ...]
    some: tuple[str, ...] = ()
    tcp: tuple[tuple[str, Any], ...] = ()


def _stretch(rng: Random, ways: Ways) -> None:
    ways.every = rng.choice((2, 2, 3, 4, 8))
    ways.patience = rng.choice((1.0, 10.0, 25.0, 40.0))
    ways.ack_loss = rng.choice((0.0, 0.1, 0.3))
    ways.gather = rng.choice((0.0, 0.0, 5.0, 10.0))


def _bottleneck(rng: Random, ways: Ways) -> None:
    ways.spacing = rng.choice((0.5, 1.0, 2.0, 4.0, 8.0))
    ways.queue = rng.choice((5, 10, 20, 40))


def _loss(rng: Random, ways: Ways) -> None:
    ways.loss = rng.choice((0.02, 0.05, 0.1, 0.2))
    ways.burst_loss = rng.choice((0.0, 0.0, 0.3, 0.7))
    ways.blocks = rng.choice((1, 2, 3, 4))


def _reorder(rng: Random, ways: Ways) -> None:
    ways.late = rng.choice((0.02, 0.05, 0.2))
    ways.late_by = rng.choice((1.0, 4.0, 12.0, 40.0))
    ways.twice = rng.choice((0.0, 0.0, 0.05, 0.1))
    ways.blocks = rng.choice((1, 2, 3, 4))


def _acks(rng: Random, ways: Ways) -> None:
    ways.ack_late = rng.choice((0.05, 0.1, 0.3))
    ways.ack_loss = rng.choice((0.0, 0.1, 0.3))
    ways.ack_twice = rng.choice((0.0, 0.05, 0.1))


def _split(rng: Random, ways: Ways) -> None:
    ways.split = rng.choice((0.1, 0.3))


def _writes(rng: Random, ways: Ways) -> None:
    at, ways.writes = 0.0, []
    for _ in range(rng.randint(2, 12)):
        ways.writes.append((at, rng.choice((1, 100, 500, 999, 1000, 1001, 1500, 2000, 3333, 8000, 15_000))))
        at += rng.choice((0.0, 1.0, 5.0, 20.0, 50.0, 50.0, 100.0, 300.0))


def _pauses(rng: Random, ways: Ways) -> None:
    at, ways.writes = 0.0, []
    for _ in range(rng.randint(2, 5)):
        ways.writes.append((at, 1000 * rng.randint(5, 12)))
        at += rng.choice((80.0, 150.0, 230.0, 330.0, 500.0, 900.0))
    ways.until = 2000.0


def _long(rng: Random, ways: Ways) -> None:
    ways.writes = [(0.0, 1000 * rng.choice((80, 150)))]


def _jumps(rng: Random, ways: Ways) -> None:
    at = 0.0
    for _ in range(rng.randint(1, 3)):
        at += rng.choice((50.0, 100.0, 200.0))
        ways.jumps.append((at, rng.choice((5.0, 20.0, 40.0, 60.0, 100.0, 200.0, 400.0))))
    ways.until = 2000.0


def _blackout(rng: Random, ways: Ways) -> None:
    at = rng.choice((10.0, 50.0, 100.0, 200.0))
    gap = (at, at + rng.choice((30.0, 100.0, 300.0, 600.0)))
    (ways.dark if rng.random() < 0.5 else ways.mute).append(gap)
    ways.until = 2500.0


def _marks(rng: Random, ways: Ways) -> None:
    ways.mark = rng.choice((0.02, 0.1, 0.3))
    ways.tcp["ecn"] = "classic"


def _stamps(_rng: Random, ways: Ways) -> None:
    ways.tcp["timestamps"] = True


def _window(rng: Random, ways: Ways) -> None:
    first = rng.choice((2560, 4096, 5120, 8192, 16_384))
    ways.window = (first, rng.choice((0, 0, 512, 1024, 2048)), rng.choice((16_384, 65_536)))


def _closing(rng: Random, ways: Ways) -> None:
    ways.writes = [(0.0, rng.choice((1, 500, 1000, 1500, 3000, 5000, 5500, 9000, 10_000, 12_000, 20_000)))]
    ways.writes = ways.writes if rng.random() < 0.9 else []
    # At an instant of its own: which of two things at one instant comes first is not drawn.
    at = rng.choice((0.0, 0.0, 0.0, 0.25, 5.25, 30.25, 45.25, 100.25, 300.25))
    if rng.random() < 0.9:
        ways.ending = (at, rng.choice(("shutdown", "shutdown", "close", "close", "close", "abort")))
    speaks = rng.choice((0, 0, 1, 3))
    when = rng.choice((0.5, 10.5, 50.5, 120.5))
    for _ in range(speaks):
        ways.speaks.append((when, rng.choice((500, 1000, 1000)), False))
        when += rng.choice((0.5, 5.0, 50.0))
    if rng.random() < 0.5:
        ways.follows = rng.choice((0.0, 1.0, 30.0, 200.0))
    else:
        ways.speaks.append((when, rng.choice((0, 0, 300, 1000)), True))
    if rng.random() < 0.15:
        ways.resets.append(
            (rng.choice((5.75, 50.75, 200.75)), rng.choice((0, 0, -1, 1, 500, -500, 3_000_000)))
        )
    ways.until = 1500.0


def _answers(rng: Random, ways: Ways) -> None:
    ways.writes, at = [], 0.0
    for _ in range(rng.randint(2, 8)):
        for _ in range(rng.choice((1, 1, 2, 3))):
            ways.speaks.append((at, rng.choice((100, 500, 1000, 1000)), False))
            comes, at = at + ways.rtt / 2, at + rng.choice((0.5, 3.0, 12.0))
        if rng.random() < 0.8:
            # At an instant of its own, as in `_closing`.
            when = comes + rng.choice((0.25, 5.25, 15.25, 30.25, 55.25, 90.25))
            ways.writes.append((when, rng.choice((100, 1000, 1000, 3000, 10_000))))
        at += rng.choice((10.0, 30.0, 60.0, 150.0, 400.0))
    ways.until = 1500.0


def _zero(rng: Random, ways: Ways) -> None:
    ways.buffer = rng.choice((2560, 5120, 10_240, 16_384))
    at = 0.0
    for _ in range(rng.randint(2, 25)):
        at += rng.choice((5.0, 10.0, 20.0, 40.0, 100.0, 400.0, 900.0))
        ways.reads.append((at, rng.choice((300, 1000, 1500, 4000, 20_000))))
    ways.until = 3000.0


FUNCTIONS = {
    "stretch": _stretch, "bottleneck": _bottleneck, "loss": _loss, "reorder": _reorder, "acks": _acks,
    "split": _split, "writes": _writes, "pauses": _pauses, "jumps": _jumps, "blackout": _blackout,
    "marks": _marks, "stamps": _stamps, "window": _window, "long": _long,
    "closing": _closing, "zero": _zero, "answers": _answers,
}  # fmt: skip
_MIXED = ("stretch", "loss", "reorder", "acks", "pauses", "jumps", "blackout", "stamps", "bottleneck")
KINDS = {
    "stretch": Kind("stretch and lost ACKs, nothing lost", ("stretch",), ("bottleneck",)),
    "loss": Kind("lost segments, alone and in bursts", ("loss",), ("stretch", "bottleneck")),
    "reorder": Kind("late and repeated segments", ("reorder",), ("loss", "stretch")),
    "acks": Kind("late, repeated and lost ACKs", ("acks",), ("loss", "reorder")),
    "split": Kind("ACKs within a segment", ("split",), ("loss", "stretch")),
    "writes": Kind("small and odd writes", ("writes",), ("loss", "stretch")),
    "pauses": Kind("pauses of the application", ("pauses",), ("loss", "stretch")),
    "jumps": Kind("jumps of the round trip", ("jumps",), ("loss", "pauses", "stamps")),
    "blackout": Kind("times in which nothing arrives", ("blackout",), ("loss", "stamps", "stretch")),
    "ecn": Kind("marks (ECE and CWR)", ("marks",), ("loss", "stretch", "reorder")),
    "stamps": Kind("with timestamps", ("stamps",), ("loss", "reorder", "stretch", "blackout")),
    "window": Kind("small and growing windows", ("window",), ("loss", "stretch")),
    "zero": Kind("a small buffer that is read now and then", ("zero",), ("loss", "acks", "stretch")),
    "long": Kind("more than one buffer of the kernel's holds", ("long",), ("loss", "stretch")),
    "nosack": Kind("without SACK", (), ("loss", "stretch", "reorder"), (("sack", False),)),
    "cubic": Kind("CUBIC over a bottleneck", (), _MIXED, (("cc", "cubic"),)),
    "bbr": Kind("BBR up to its cycle", (), _MIXED, (("cc", "bbr"),)),
    "closing": Kind(
        "FIN, half-close, RST", ("closing",), ("loss", "stretch", "acks", "reorder", "stamps", "bottleneck")
    ),
    "answers": Kind("both ends send, now and then soon after the other", ("answers",), ("loss", "stamps")),
    "mixed": Kind("several at once", (), (*_MIXED, "writes", "marks", "window", "split")),
}


def draw(kind: Kind, rng: Random) -> Ways:
    """Draw how one conversation goes."""
    ways = Ways(tcp=dict(kind.tcp))
    ways.rtt = rng.choice((10.0, 20.0, 40.0, 40.0, 60.0, 100.0))
    ways.every = rng.choice((1, 1, 2))
    ways.writes = [(0.0, 1000 * rng.choice((8, 20, 40, 60)))]
    chosen = list(kind.always)
    if kind.some:
        low = 0 if kind.always else min(2, len(kind.some))
        chosen += rng.sample(kind.some, rng.randint(low, min(3, len(kind.some))))
    for name in chosen:
        FUNCTIONS[name](rng, ways)
    return ways
