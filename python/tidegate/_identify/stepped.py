"""A queue whose rate changes once: the time of the change and both rates, from round trips."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._capture.value import array
from tidegate._identify.chances import CHI
from tidegate._identify.delay import LEAST, drained, followed
from tidegate._identify.simplex import least_near, reach

if TYPE_CHECKING:
    from tidegate._identify.crossings import Crossings
    from tidegate._identify.two_rates import TwoRates

#: Times of the change that are tried first, as shares of the round trips.
_CUTS = np.arange(0.05, 1.0, 0.05)
#: Of these, so many are followed to the best time near them, so many times finer.
_FOLLOWED, _FINE = 4, 1000
#: Times that a change is moved by what it leaves.
_SHIFTS = 30
#: Round trips that are enough to compare these, and to search finely.
_FEW, _ENOUGH = 1000, 8000
#: Two rates must leave less than this share of what one leaves: first roughly, then finely.
_WORTH, _BETTER = 0.8, 0.6
#: Rates that differ by less than this factor are one rate.
_APART = 1.1
#: So many packets must wait before the change, and after it.
_WAITED = 20

#: When the rate changes, in seconds, and the rates before and after, bit/s.
_Law = tuple[float, float, float]


@dataclass(frozen=True)
class Stepped:
    """When the rate changed, in seconds from the first packet, and the rates, bit/s, with 95% intervals.

    Args:
        explained: share of the mean absolute deviation of round trips that the queue explains.
        noise_s: what it leaves.
    """

    at_s: float
    before_bps: float
    before_interval: tuple[float, float]
    after_bps: float
    after_interval: tuple[float, float]
    explained: float
    noise_s: float

    def paced(self, packets: Crossings) -> Crossings:
        """Return the packets in a time in which the queue has the first rate all along.

        That time goes as much faster or slower as the rate does. In it, the backlog is the same.
        """
        time, pace = packets.time_s, self.after_bps / self.before_bps
        return replace(
            packets, time_s=np.where(time < self.at_s, time, self.at_s + pace * (time - self.at_s))
        )


def stepped(
    packets: Crossings, trip_s: Any, one_leaves_s: float, both: TwoRates | None = None
) -> Stepped | None:
    """Return the queue whose rate changes once, where it leaves much less of round trips than one rate does.

    ``one_leaves_s``: mean absolute residual that one rate leaves. ``both``: a shaper of two rates that
    explains the round trips; where its burst is used once, the rate changes when it is used up.
    """
    packets, trip_s = packets.part(0, packets.searched), trip_s[: packets.searched]
    known = np.flatnonzero(trip_s > 0)
    if len(known) < 2 * LEAST:
        return None
    rough = _Trips.some(packets, trip_s, known, _FEW)
    tried = [] if both is None else [(both.used_up_s, both.peak_bps, both.rate_bps)]
    tried += _cut(packets, trip_s, known)
    # A change that is put a little too early or too late leaves a backlog that is wrong for long.
    first = [rough.moved(law) for law in sorted(tried, key=rough.left)[:_FOLLOWED]]
    if not first or min(rough.left(law) for law in first) > _WORTH * one_leaves_s:
        return None
    fine = _Trips.some(packets, trip_s, known, _ENOUGH)
    start = np.log(np.maximum(min(first, key=rough.left), 1e-9))
    for step in (0.02, 0.002):
        least, start = least_near(
            lambda each: fine.left(np.exp(each)),
            np.vstack([start, start + step * np.eye(3)]),
            within=1e-6,
            alike=1e-9,
            most=150,
        )
    at, before, after = (float(each) for each in np.exp(start))
    if (
        least > _BETTER * one_leaves_s
        or max(before, after) < _APART * min(before, after)
        or min(fine.waited((at, before, after))) < _WAITED
    ):
        return None
    bound = least * float(np.exp(CHI / (2 * max(10.0, len(fine.trip) / 4))))
    flat = float(np.abs(fine.trip - np.median(fine.trip)).mean())
    return Stepped(
        at_s=at,
        before_bps=before,
        before_interval=reach(before, lambda each: fine.left((at, each, after)), bound),
        after_bps=after,
        after_interval=reach(after, lambda each: fine.left((at, before, each)), bound),
        explained=1 - least / flat,
        noise_s=least,
    )


def _cut(packets: Crossings, trip_s: Any, known: Any) -> list[_Law]:
    """Return changes to try: of each time the rates at which the queue drained before it, and after it."""
    found = []
    for share in _CUTS:
        cut = int(known[int(share * (len(known) - 1))])
        sides = ((0, cut), (cut, len(trip_s)))
        before, after = (drained(packets.part(*side), trip_s[slice(*side)]) for side in sides)
        found += [(float(packets.time_s[cut]), one, two) for one in before for two in after]
    return found


@dataclass(frozen=True)
class _Trips:
    """Some packets, by their places, with their round trips in seconds."""

    packets: Crossings
    places: Any
    trip: Any

    @classmethod
    def some(cls, packets: Crossings, trip_s: Any, known: Any, most: int) -> _Trips:
        """Return at most twice so many of the packets whose round trips are known."""
        places = known[:: max(1, len(known) // most)]
        return cls(packets, places, trip_s[places])

    def waits(self, law: _Law) -> Any:
        """Return how long they wait, and are sent, in a queue whose rate changes, in seconds."""
        at, before, after = law
        return array(
            "<f8", self.packets.replay.waits_at(at, before, after, self.places.astype("<u8").tobytes())
        )

    def left(self, law: _Law) -> float:
        """Return the mean absolute residual of the round trips, in seconds."""
        rest = self.trip - self.waits(law)
        return float(np.abs(rest - np.median(rest)).mean())

    def waited(self, law: _Law) -> tuple[int, int]:
        """Return how many packets wait for others before the change, and after it."""
        at, before, after = law
        early = self.packets.time_s[self.places] < at
        behind = self.waits(law) > 2 * 8 * self.packets.largest / np.where(early, before, after)
        return int(np.count_nonzero(behind & early)), int(np.count_nonzero(behind & ~early))

    def moved(self, law: _Law) -> _Law:
        """Return the law with the best time near its own, or near the one that the residuals tell."""
        at, before, after = law

        def left_at(each: float) -> float:
            return self.left((each, before, after))

        at = min(at, self._shifted(law), key=left_at)
        return followed(left_at, at, _CUTS[0], _CUTS[0] / _FINE), before, after

    def _shifted(self, law: _Law) -> float:
        """Return a better time for the change, from what is left of the round trips after it and before it.

        Where the rate falls and the change is put too late, the backlog afterwards comes out too small: by
        that time times the difference of the rates, if the queue is never empty.
        """
        at, before, after = law
        last = float(self.packets.time_s[-1])
        if before == after:
            return at
        for _ in range(_SHIFTS):
            rest = self.trip - self.waits((at, before, after))
            later = self.packets.time_s[self.places] >= at
            if later.all() or not later.any():
                break
            more = float(np.median(rest[later]) - np.median(rest[~later]))
            at = min(last, max(0.0, at - more * after / (before - after)))
        return at
