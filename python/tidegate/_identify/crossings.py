"""The packets that crossed a limit, and how full a bucket was that drains at a rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

#: Packets that are searched, where nothing else is said.
LONG = 80_000


@dataclass(frozen=True)
class Crossings:
    """The packets that crossed one limit, of one or more connections, in order of time.

    Args:
        time_s: seconds from the first.
        size: bytes that the bucket counts.
        passed: whether it arrived, or is taken to have arrived.
        judged: whether its fate is known, and it carries data.
        owner: which connection it belongs to.
        coarse_s: how exact the times are, on each side.
        begun: whether nothing was in the bucket before the first packet.
        searched: of a longer capture, so many packets are searched; the others only confirm what these tell.
    """

    time_s: Any
    size: Any
    passed: Any
    judged: Any
    owner: Any
    coarse_s: float = 0.0
    searched: int = LONG
    begun: bool = True

    def counting(self, extra: int) -> Crossings:
        """Return the same packets with so many more bytes each."""
        return replace(self, size=self.size + extra)

    def part(self, low: int, high: int) -> Crossings:
        """Return a stretch of the packets, its times from its own first."""
        time = self.time_s[low:high]
        return Crossings(
            time - (time[0] if len(time) else 0.0), self.size[low:high], self.passed[low:high],
            self.judged[low:high], self.owner[low:high], self.coarse_s, self.searched,
        )  # fmt: skip

    @cached_property
    def drops(self) -> int:
        """Packets known to be lost."""
        return int(np.count_nonzero(self.judged & ~self.passed))

    @cached_property
    def largest(self) -> float:
        """Bytes of the largest packet."""
        return float(self.size.max())

    @cached_property
    def scratch(self) -> Any:
        """Room for numbers of each packet."""
        return np.empty(len(self.time_s))

    @cached_property
    def before(self) -> Any:
        """Bytes that passed before each packet."""
        used = np.where(self.passed, self.size, 0.0)
        return np.cumsum(used) - used

    @cached_property
    def decided(self) -> tuple[Any, Any]:
        """Places of the packets that passed, and of those that were dropped, among those judged."""
        return np.flatnonzero(self.judged & self.passed), np.flatnonzero(self.judged & ~self.passed)


def fullness(packets: Crossings, rate_bps: float) -> Any:
    """Return the bytes in the bucket just before each packet."""
    level = packets.time_s * (-rate_bps / 8)
    level += packets.before
    least = packets.scratch
    np.minimum.accumulate(level, out=least)
    level -= least
    return level


def filled(packets: Crossings, rate_bps: float) -> tuple[Any, Any]:
    """Return the bytes in the bucket with each packet: of those that passed, of those that were dropped."""
    value = fullness(packets, rate_bps)
    value += packets.size
    passed, dropped = packets.decided
    return value[passed], value[dropped]


def fewest_wrong(packets: Crossings, rate_bps: float) -> int:
    """Return the fewest decisions on the wrong side of a limit, for the best limit at this rate."""
    if not packets.drops:
        return 0
    value = fullness(packets, rate_bps)
    value += packets.size
    ordered = np.sort(value[packets.decided[1]])
    # A pass below the least drop is right whatever the limit.
    high = np.flatnonzero(value >= ordered[0])
    passed = value[high[packets.judged[high] & packets.passed[high]]]
    below = np.searchsorted(ordered, passed, side="right")
    at_least = np.cumsum(np.bincount(below, minlength=len(ordered) + 1)[::-1])[::-1]
    wrong = np.arange(len(ordered) + 1)
    wrong[:-1] += at_least[1:]
    return int(wrong.min())
