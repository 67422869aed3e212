"""A queue whose rate changes once: the time of the change and both rates, from round trips."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._capture.value import array
from tidegate._identify.delay import LEAST, drained, followed
from tidegate._identify.simplex import least_near

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
#: What a chi-squared with one degree of freedom exceeds in 5% of cases. Half the least interval, as a share.
_CHI, _CLOCK = 3.84, 1e-4


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
    rough = known[:: max(1, len(known) // _FEW)]
    tried: list[tuple[float, float, float, float]] = []
    if both is not None:
        law = (both.used_up_s, both.peak_bps, both.rate_bps)
        tried.append((_left(packets, trip_s, rough, law), *law))
    for share in _CUTS:
        cut = int(known[int(share * (len(known) - 1))])
        at = float(packets.time_s[cut])
        sides = ((0, cut), (cut, len(trip_s)))
        before, after = (drained(packets.part(*side), trip_s[slice(*side)]) for side in sides)
        tried += [
            (_left(packets, trip_s, rough, (at, one, two)), at, one, two) for one in before for two in after
        ]
    best: tuple[float, float, float, float] = (np.inf, 0.0, 0.0, 0.0)
    # A change that is put a little too early or too late leaves a backlog that is wrong for long.
    for _, at, one, two in sorted(tried)[:_FOLLOWED]:

        def left_at(at: float, one: float = one, two: float = two) -> float:
            return _left(packets, trip_s, rough, (at, one, two))

        at = min(at, _shifted(packets, trip_s, rough, (at, one, two)), key=left_at)
        at = followed(left_at, at, _CUTS[0], _CUTS[0] / _FINE)
        best = min(best, (left_at(at), at, one, two))
    if best[0] > _WORTH * one_leaves_s:
        return None
    use = known[:: max(1, len(known) // _ENOUGH)]

    def by_logarithms(at: Any) -> float:
        time, before, after = (float(each) for each in np.exp(at))
        return _left(packets, trip_s, use, (time, before, after))

    start = np.log(np.array(best[1:]))
    for step in (0.02, 0.002):
        least, start = least_near(
            by_logarithms, np.vstack([start, start + step * np.eye(3)]), within=1e-6, alike=1e-9, most=150
        )
    at, before_bps, after_bps = (float(each) for each in np.exp(start))
    flat = float(np.abs(trip_s[use] - np.median(trip_s[use])).mean())
    waits = _waits(packets, use, (at, before_bps, after_bps))
    one_packet = 8 * packets.largest / np.where(packets.time_s[use] < at, before_bps, after_bps)
    waited = waits > 2 * one_packet
    early = packets.time_s[use] < at
    if (
        least > _BETTER * one_leaves_s
        or max(before_bps, after_bps) < _APART * min(before_bps, after_bps)
        or min(np.count_nonzero(waited & early), np.count_nonzero(waited & ~early)) < _WAITED
    ):
        return None
    bound = least * float(np.exp(_CHI / (2 * max(10.0, len(use) / 4))))

    def reach(place: int) -> tuple[float, float]:
        values, width = [at, before_bps, after_bps], _CLOCK
        while width < 0.5:
            sides = []
            for edge in (1 - width, 1 + width):
                moved = list(values)
                moved[place] *= edge
                sides.append(_left(packets, trip_s, use, (moved[0], moved[1], moved[2])))
            if min(sides) >= bound:
                break
            width *= 1.5
        return values[place] * (1 - width), values[place] * (1 + width)

    return Stepped(at, before_bps, reach(1), after_bps, reach(2), 1 - least / flat, least)


def _shifted(packets: Crossings, trip_s: Any, use: Any, law: tuple[float, float, float]) -> float:
    """Return a better time for the change, from what is left of the round trips after it and before it.

    Where the rate falls and the change is put too late, the backlog afterwards comes out too small: by that
    time times the difference of the rates, if the queue is never empty.
    """
    at, before, after = law
    last = float(packets.time_s[-1])
    if before == after:
        return at
    for _ in range(_SHIFTS):
        rest = trip_s[use] - _waits(packets, use, (at, before, after))
        later = packets.time_s[use] >= at
        if later.all() or not later.any():
            break
        more = float(np.median(rest[later]) - np.median(rest[~later]))
        at = min(last, max(0.0, at - more * after / (before - after)))
    return at


def _left(packets: Crossings, trip_s: Any, use: Any, law: tuple[float, float, float]) -> float:
    rest = trip_s[use] - _waits(packets, use, law)
    return float(np.abs(rest - np.median(rest)).mean())


def _waits(packets: Crossings, use: Any, law: tuple[float, float, float]) -> Any:
    """Return how long packets wait, and are sent, in a queue whose rate changes, in seconds."""
    return array("<f8", packets.replay.waits_at(*law, use.astype("<u8").tobytes()))
