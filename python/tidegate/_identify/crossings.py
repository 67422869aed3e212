"""The packets that crossed a limit, and how full a bucket was that drains at a rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tidegate import _core
from tidegate._capture.value import array

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
        tick_s: the tick of the capture's clock, where it is coarse; else 0.
        marked: what is known of its mark (ECN; `marks`); None where that was not looked at for all.
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
    marked: Any = None
    tick_s: float = 0.0

    def counting(self, extra: int) -> Crossings:
        """Return the same packets with so many more bytes each."""
        return replace(self, size=self.size + extra)

    def part(self, low: int, high: int) -> Crossings:
        """Return a stretch of the packets, its times from its own first."""
        time = self.time_s[low:high]
        return Crossings(
            time - (time[0] if len(time) else 0.0), self.size[low:high], self.passed[low:high],
            self.judged[low:high], self.owner[low:high], self.coarse_s, self.searched,
            tick_s=self.tick_s,
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
    def replay(self) -> _core.BucketReplay:
        """The packets where a bucket is replayed over them."""
        columns = (self.time_s.astype("<f8"), self.size.astype("<f8"), self.passed, self.judged)
        return _core.BucketReplay(*(each.tobytes() for each in columns))

    def filled(self, rate_bps: float) -> _core.FilledBucket:
        """Return the bucket with each packet at a rate; the last answer is kept."""
        if rate_bps not in self._last:
            self._last.clear()
            self._last[rate_bps] = self.replay.filled(rate_bps)
        return self._last[rate_bps]

    @cached_property
    def _last(self) -> dict[float, _core.FilledBucket]:
        return {}

    @cached_property
    def decided(self) -> tuple[Any, Any]:
        """Places of the packets that passed, and of those that were dropped, among those judged."""
        return np.flatnonzero(self.judged & self.passed), np.flatnonzero(self.judged & ~self.passed)


def fullness(packets: Crossings, rate_bps: float, places: Any = None) -> Any:
    """Return the bytes in the bucket just before each packet, or before those at `places`, which rise."""
    if places is None:
        return array("<f8", packets.replay.fullness(rate_bps))
    return array("<f8", packets.replay.fullness_at(rate_bps, places.astype("<u8").tobytes()))


def queue_waits(packets: Crossings, rate_bps: float, places: Any) -> Any:
    """Return how long the packets at these places wait, and are sent, in a queue of this rate, in seconds."""
    return (fullness(packets, rate_bps, places) + packets.size[places]) * (8 / rate_bps)


def queue_at(packets: Crossings, trip_s: Any, places: Any) -> _core.QueueWaits:
    """Return the packets at these places, which rise, beside their round trips, for many rates of a queue."""
    columns = places.astype("<u8"), trip_s[places].astype("<f8")
    return _core.QueueWaits(packets.replay, *(each.tobytes() for each in columns))


def at_least(packets: Crossings, limit: float, rate_bps: float) -> bool:
    """Tell whether a bucket's limit, in bytes, is a lower bound.

    It is where the capture begins in the middle of a connection, when the bucket held nobody knows how much,
    and has no pause as long as a full bucket takes to drain.
    """
    if packets.begun:
        return False
    gaps = np.diff(packets.time_s[packets.passed])
    return not (len(gaps) and bool(gaps.max() > 8 * limit / rate_bps))


def leaving(packets: Crossings, trip: Any) -> Any:
    """Return when packets left the queue in which they waited, in seconds from the first packet's time.

    A packet whose wait is not known waited as its neighbours did. ``trip``: round trips in seconds, -1 where
    they are not known.
    """
    known = np.flatnonzero(trip > 0)
    if not len(known):
        return packets.time_s
    wait = np.interp(packets.time_s, packets.time_s[known], trip[known] - trip[known].min())
    return np.maximum.accumulate(packets.time_s + wait)


def filled(packets: Crossings, rate_bps: float) -> tuple[Any, Any]:
    """Return the bytes in the bucket with each packet: of those that passed, of those that were dropped."""
    passed, dropped = packets.filled(rate_bps).all()
    return array("<f8", passed), array("<f8", dropped)


def best_limit(packets: Crossings, rate_bps: float) -> float:
    """Return the limit in bytes with the fewest decisions on its wrong side: just below a drop, or above all.

    Raises:
        ValueError: nothing was dropped.
    """
    found = packets.filled(rate_bps).best_limit()
    if found is None:
        raise ValueError("a limit that dropped nothing is not known")
    return found


def fewest_wrong(packets: Crossings, rates_bps: Any, best: int) -> Any:
    """Return the fewest decisions on the wrong side of a limit at each rate, for the best limit of each.

    They are exact for the `best` rates that have the fewest, and for those that have as many; of the others
    they are lower bounds, above these.
    """
    rates = np.asarray(rates_bps, dtype="<f8")
    return array("<u8", packets.replay.fewest_wrong(rates.tobytes(), best)).astype(np.int64)
