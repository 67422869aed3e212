"""The one model of policers and of queues with a limit: a bucket that drains at a rate.

Every packet that passes fills the bucket by its bytes, and the bucket drains at the rate `r`. A packet that
would raise it above the limit `b` is dropped. A policer with burst `b` is this bucket read upside down: its
tokens are what is missing to `b`. A queue of `b` bytes before a link of rate `r` is this bucket itself.
Both drop the same packets; they differ in the delay: a packet in the queue waits for the bucket to drain,
behind a policer it does not.

How full the bucket is depends on the packets that passed and on `r`, but not on `b` (the reflection map of
a queue: work minus its own running minimum). So one pass over the packets gives the fullness for a rate,
and the drops then say where the limit is (`likelihood`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tidegate._identify.between import between_losses, contradicted
from tidegate._identify.chances import TAIL
from tidegate._identify.crossings import Crossings, filled
from tidegate._identify.likelihood import random_likelihood, shape
from tidegate._identify.posterior import Limits, area, not_contradicted, quantiles, rates_around
from tidegate._identify.search import near, searched

#: Two clocks differ by such a share, and a limit is not known better than to this part of a packet.
_CLOCK, _WHOLE = 1e-4, 0.01
#: So many wrong decisions in one run weigh as one, at most: of a bucket that is always full they are one run.
_LONGEST = 20.0
#: Coarse times make a rate's interval wider by this share at most.
_WIDEST = 2.0
#: A coarse clock makes a rate's interval wider by such a share on each side at most.
_MOST_OFF = 0.5


@dataclass(frozen=True)
class Bucket:
    """A fitted bucket: rate in bit/s, limit in bytes, with intervals, and how well it explains the drops.

    Args:
        explained: share of the deviance of drops that the bucket explains; 1 means every drop and every pass.
        gain: log likelihood over that of drops which fall at random, less what its parameters cost (BIC).
        likelihood: its logarithm.
        wrong: decisions on the wrong side of the limit.
        far: those of them that are further from it than the coarse times of a capture leave open.
        drops: packets lost.
        blur: between what the capture says and what the device saw, in bytes.
        other: share of drops with other reasons.
        run_length: wrong decisions that come in a row, on average.
        limit_known: whether passes and drops lie on both sides of the limit and near it.
    """

    rate_bps: float
    rate_interval: tuple[float, float]
    limit: float
    limit_interval: tuple[float, float]
    explained: float
    likelihood: float
    gain: float
    wrong: int
    far: int
    drops: int
    blur: float
    other: float
    run_length: float
    limit_known: bool


@dataclass(frozen=True)
class Point:
    """The likeliest bucket, without intervals: cheap, to compare many.

    Args:
        rate_bps: rate in bit/s.
        limit: limit in bytes.
        blur: as in `Bucket`.
        other: as in `Bucket`.
        likelihood: its logarithm.
        explained: as in `Bucket`.
    """

    rate_bps: float
    limit: float
    blur: float
    other: float
    likelihood: float
    explained: float


def point(packets: Crossings, around: float | None = None) -> Point | None:
    """Return the likeliest bucket; None where nothing, or everything, was dropped.

    ``around``: a rate in bit/s near which to look, where one is known.
    """
    if _undecided(packets):
        return None
    return _at(packets, searched(packets) if around is None else near(packets, around))


def fit(packets: Crossings, around: float | None = None) -> Bucket | None:
    """Return the bucket that explains the drops best, with intervals; None as `point`."""
    found = point(packets, around)
    return None if found is None else with_intervals(packets, found)


def fit_at(packets: Crossings, rate_bps: float, *, known: bool = True) -> Bucket | None:
    """Return the bucket of a rate that is known otherwise, as from delays, or likeliest; None as `point`."""
    if _undecided(packets):
        return None
    return with_intervals(packets, _at(packets, rate_bps), fixed=known)


def margin(packets: Crossings, rate_bps: float) -> float:
    """Return how many bytes of a bucket coarse times leave open; 0 where they are exact.

    A packet that was lost came between two that the capture shows, and which of them was next is not known.
    """
    return 2 * packets.largest + packets.coarse_s * rate_bps / 8 if packets.coarse_s > 0 else 0.0


def _undecided(packets: Crossings) -> bool:
    return packets.drops in (0, int(np.count_nonzero(packets.judged)))


def _at(packets: Crossings, rate: float) -> Point:
    likelihood, blur, other, limit = shape(packets, rate)
    chance = random_likelihood(packets.drops, int(np.count_nonzero(packets.judged)))
    return Point(rate, limit, blur, other, likelihood, 1 - likelihood / chance)


def with_intervals(packets: Crossings, found: Point, *, fixed: bool = False) -> Bucket:
    """Return the bucket with intervals: what lies between the tails of a posterior with a flat prior.

    ``fixed``: the rate is not asked.

    Wrong decisions come in runs, because a wrong one moves the fullness for those that follow; the
    likelihood is divided by the mean length of a run, so that a run counts as one observation.
    """
    rate, blur, other = found.rate_bps, found.blur, found.other
    passed, dropped = filled(packets, rate)
    missed = np.zeros(len(packets.time_s), dtype=np.int8)
    places = packets.decided
    missed[places[0][passed > found.limit]] = 1
    missed[places[1][dropped <= found.limit]] = 1
    wrong = int(missed.sum())
    # Wrong decisions come together, until the bucket has drained or filled once.
    times = packets.time_s[(missed > 0) & packets.judged]
    together = max(8 * found.limit / rate, packets.coarse_s)
    runs = 1 + int(np.count_nonzero(np.diff(times) > together)) if len(times) else 1
    length = min(_LONGEST, max(1.0, wrong / runs))
    if fixed:
        only = area(packets, rate, blur, other, length)
        rates, weights, limits = np.array([rate]), np.array([1.0]), [only]
    else:
        rates, weights, limits = rates_around(packets, rate, blur, other, length)
    share = weights / weights.sum()
    low, middle, high = (rate,) * 3 if fixed else quantiles(rates, share, (TAIL, 0.5, 1 - TAIL))
    # The blur is between the capture's times and the device's: a limit is not known better.
    coarse = packets.coarse_s * middle / 8
    centre, deviation = _limit(share, limits, float(np.hypot(blur, coarse)))
    room = margin(packets, rate)
    far = np.count_nonzero(passed > centre + room) + np.count_nonzero(dropped <= centre - room)
    # Both clocks, and what a packet takes to come in, are not known better.
    deviation = max(deviation, (_CLOCK * centre + _WHOLE * packets.largest) / 1.96)
    # Where times are coarse beside the bucket, its fullness is hardly known, and neither is the rate.
    wider = 1 + min(_WIDEST, coarse / max(centre, 1.0))
    low, high = (middle * (edge / middle) ** wider for edge in (low, high))
    # A clock with a tick puts packets together that came apart: what drains in a tick may be missing at both
    # ends of a time from one drop to another.
    off = 0.0 if fixed else min(_MOST_OFF, 2 * packets.tick_s * middle / (8 * max(centre, 1.0)))
    low, high = low * (1 - off), high / (1 - off)
    # What hidden traffic leaves is not steady, as the posterior takes it to be.
    stretches = None if fixed or not contradicted(wrong, packets.drops) else between_losses(packets, middle)
    if stretches is not None:
        low, high = min(low, stretches[0]), max(high, stretches[1])
    untold = None if fixed else not_contradicted(rates, limits, length)
    if untold is not None:
        low, high = min(low, untold[0]), max(high, untold[1])
    likelihood = limits[int(np.argmax(weights))].likelihood
    count = int(packets.judged.sum())
    chance = random_likelihood(packets.drops, count)
    reach = 3 * max(blur, packets.largest)
    return Bucket(
        rate_bps=middle,
        rate_interval=(low, high),
        limit=centre,
        limit_interval=(max(0.0, centre - 1.96 * deviation), centre + 1.96 * deviation),
        explained=1 - likelihood / chance,
        likelihood=likelihood,
        gain=likelihood - chance - 2 * float(np.log(count)),
        wrong=wrong,
        far=wrong if room == 0 else int(far),
        drops=packets.drops,
        blur=blur,
        other=other,
        run_length=length,
        limit_known=all(bool((abs(each - found.limit) < reach).any()) for each in (passed, dropped)),
    )


def _limit(share: Any, limits: list[Limits], blur: float) -> tuple[float, float]:
    """Return the limit and its deviation over all rates, in bytes."""
    centres, spread = np.array([(each.centre, each.spread) for each in limits]).T
    centre = float((share * centres).sum())
    deviation = float(np.sqrt((share * ((centres - centre) ** 2 + spread**2)).sum()))
    return centre, float(np.hypot(deviation, blur))
