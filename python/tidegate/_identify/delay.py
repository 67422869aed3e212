"""Whether packets waited for the bucket to drain: a queue, or a policer that delays nothing.

In a queue of rate `r` a packet waits for what is before it, less what a shaper lets pass at once:

    round trip = base + max(0, fullness / r - allowance) + noise.

The noise has long tails (delayed ACKs), so that sums of absolute residuals are compared, not of squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.chances import CHI, student
from tidegate._identify.crossings import queue_at, queue_waits

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate._identify.crossings import Crossings

#: Round trips needed before delays are compared.
LEAST = 20
#: Rates tried first, as shares of the mean rate, and how fine.
_LOWEST, _HIGHEST, _STEP = 0.6, 8.0, 0.01
#: Allowances are searched down to such shares of the longest wait.
_COARSE, _FINE = 1e-3, 1e-6
#: So many rates are followed to the dip beside them, down to such a step.
_FOLLOWED, _FINEST = 3, 1e-6
#: At this step the best are kept, so many.
_NEAR, _KEPT = 1e-3, 3
#: Round trips that are enough to compare rates, first roughly, then finely; of more, every so many is taken.
_FEW, _ENOUGH, _MANY = 2000, 8000, 100_000
#: All packets of a long capture follow from this step on, if the rate explains them so well beside the part
#: that was searched, as a share.
_NEARER, _AS_WELL = 4e-5, 0.8
#: The queue is not empty while packets wait for more than this share of the usual longest wait.
_BUSY = 0.1
#: Parts of the busy time whose rates are compared.
_PARTS = 12


@dataclass(frozen=True)
class Waiting:
    """How far a draining queue explains the delays.

    Args:
        rate_bps: the rate of the queue.
        rate_interval: 95%.
        allowance: bytes that pass before any packet waits: the burst of a shaper.
        allowance_interval: 95%.
        explained: share of the mean absolute deviation of round trips that the queue explains; at most 1.
        noise_s: what it leaves.
        plain_noise_s: what it leaves without the allowance.
        unsteady: half the 95% interval of the rate, as a share, by how much the rates of busy times differ.
        delay_s: median wait, by the round trips.
    """

    rate_bps: float
    rate_interval: tuple[float, float]
    allowance: float
    allowance_interval: tuple[float, float]
    explained: float
    noise_s: float
    plain_noise_s: float
    unsteady: float
    delay_s: float


def explained_at(packets: Crossings, trip_s: Any, rate_bps: float) -> float:
    """Return the share of the spread of round trips that a queue of this rate explains."""
    known = _some(np.flatnonzero(trip_s > 0), _MANY)
    if len(known) < LEAST:
        return 0.0
    flat = _spread(trip_s[known])
    left = queue_at(packets, trip_s, known).residual(rate_bps, _COARSE)[0]
    return 1 - left / flat if flat > 0 else 0.0


def waiting(packets: Crossings, trip_s: Any, near_bps: float | None = None) -> Waiting | None:
    """Return the queue that explains the round trips best; None where there are too few.

    ``near_bps``: a rate to look at besides, such as the one that the drops tell.
    """
    known = np.flatnonzero(trip_s > 0)
    if len(known) < LEAST:
        return None
    flat = _spread(trip_s[known])
    if flat == 0:
        return None
    rate = _rate(packets, trip_s, near_bps)
    _, allowance, _ = queue_at(packets, trip_s, _some(known, _MANY)).residual(rate, _FINE)
    wait, trip = queue_waits(packets, rate, known), trip_s[known]
    rest = trip - np.maximum(0, wait - allowance)
    base = float(np.median(rest))
    least = float(np.abs(rest - base).mean())
    count = _independent(rest - base)
    bound = least * np.exp(CHI / (2 * count))
    left = _left(packets, trip_s, known)
    unsteady = _unsteady(packets, trip_s)
    step = max(_reach(left, rate, bound), unsteady)
    tolerance = allowance + np.array([-1, 1]) * max(2 * least / np.sqrt(count), float(wait.max()) * 0.01)
    return Waiting(
        rate_bps=rate,
        rate_interval=(rate * (1 - step), rate * (1 + step)),
        allowance=allowance * rate / 8,
        allowance_interval=tuple(float(max(0.0, each * rate / 8)) for each in tolerance),  # type: ignore[arg-type]
        explained=1 - least / flat,
        noise_s=least,
        plain_noise_s=_spread(trip - wait),
        unsteady=unsteady,
        delay_s=float(np.median(trip) - trip.min()),
    )


def _some(places: Any, most: int) -> Any:
    """Return at most twice so many of these places, at equal distances."""
    return places[:: max(1, len(places) // most)]


def _left(packets: Crossings, trip_s: Any, known: Any) -> Callable[[float], float]:
    """Return what tells how much of these round trips the queue of a rate leaves."""
    queue = queue_at(packets, trip_s, _some(known, _ENOUGH))
    return lambda rate: queue.residual(rate, _COARSE)[0]


def _rate(packets: Crossings, trip_s: Any, near_bps: float | None) -> float:
    """Return the rate, bit/s, whose queue explains the round trips best.

    Of a long capture the beginning is searched, and then all of it near the rate that this tells; where that
    rate explains the whole much worse, the whole is searched.
    """
    known, most = np.flatnonzero(trip_s > 0), packets.searched
    if len(packets.time_s) > most and np.count_nonzero(trip_s[:most] > 0) >= LEAST:
        part = packets.part(0, most)
        rate = _rate(part, trip_s[:most], near_bps)
        here, whole = explained_at(part, trip_s[:most], rate), explained_at(packets, trip_s, rate)
        if whole > _AS_WELL * here:
            return followed(_left(packets, trip_s, known), rate, _NEARER)
    rough, fine, most_of = (queue_at(packets, trip_s, _some(known, few)) for few in (_FEW, _ENOUGH, _MANY))

    def left(rate: float, step: float = _COARSE) -> float:
        return fine.residual(rate, step)[0]

    mean = 8 * float(packets.size[packets.passed].sum()) / max(float(packets.time_s[-1]), 1e-3)
    rates = mean * np.exp(np.arange(np.log(_LOWEST), np.log(_HIGHEST), _STEP))
    tried = np.array([rough.residual(rate, _COARSE)[0] for rate in rates])
    # Where the sender pauses often the right rate is a narrow dip, so several are followed down.
    starts = [*rates[np.argsort(tried)[:_FOLLOWED]], *drained(packets, trip_s)]
    starts += [] if near_bps is None else [near_bps]
    near = sorted((followed(left, float(each), finest=_NEAR) for each in starts), key=left)[:_KEPT]
    rate = min((followed(left, each, _NEAR) for each in near), key=left)
    if most_of.residual(rate, _COARSE)[1] > 0:
        # Rate and allowance go together: what is fine in one is fine only with the other.
        rate = followed(lambda each: left(each, _FINE), rate)
    return rate


def drained(packets: Crossings, trip_s: Any) -> list[float]:
    """Return the rates, bit/s, at which the queue let packets leave in the longest times it was never empty.

    The first packet of such a time leaves at its time and round trip, so does the last, and between them
    leaves what was sent between them.
    """
    known = np.flatnonzero(trip_s > 0)
    waits = trip_s[known] - trip_s[known].min()
    busy = waits > _BUSY * float(np.quantile(waits, 0.9))
    edges = np.flatnonzero(np.diff(np.concatenate([[False], busy, [False]]).astype(int)))
    begins, ends = known[edges[::2]], known[edges[1::2] - 1]
    leave = packets.time_s + trip_s
    sent = np.cumsum(np.where(packets.passed, packets.size, 0.0))
    longest = np.argsort(leave[begins] - leave[ends])[:_FOLLOWED]
    return [
        float(8 * (sent[end] - sent[begin]) / (leave[end] - leave[begin]))
        for begin, end in zip(begins[longest], ends[longest], strict=True)
        if leave[end] > leave[begin]
    ]


def _unsteady(packets: Crossings, trip_s: Any) -> float:
    """Return half a 95% interval of the rate, as a share of it, by how much the rates of busy times differ.

    They do not differ where all that passes is in the capture. What other traffic leaves is now more, now
    less.
    """
    known = np.flatnonzero(trip_s > 0)
    waits = trip_s[known] - trip_s[known].min()
    busy = waits > _BUSY * float(np.quantile(waits, 0.9))
    leave = (packets.time_s + trip_s)[known]
    sent = np.cumsum(np.where(packets.passed, packets.size, 0.0))[known]
    inside = busy[1:] & busy[:-1]
    span = np.where(inside, np.diff(leave), 0.0)
    done = np.cumsum(span)
    if done[-1] <= 0:
        return 0.0
    part = np.minimum((done * (_PARTS / done[-1])).astype(int), _PARTS - 1)
    weight = np.bincount(part, weights=span, minlength=_PARTS)
    bits = np.bincount(part, weights=np.where(inside, 8 * np.diff(sent), 0.0), minlength=_PARTS)
    rates = bits[weight > 0] / weight[weight > 0]
    if len(rates) < 3:
        return 0.0
    # Student's t, as the parts are few.
    mean = float(bits.sum() / weight.sum())
    return float(student(len(rates) - 1) * rates.std(ddof=1) / np.sqrt(len(rates)) / mean)


def followed(left: Any, rate: float, step: float = _STEP, finest: float = _FINEST) -> float:
    """Return the rate, or another number, with the least residual near this one, on finer and finer grids."""
    while step > finest:
        step /= 4
        rate = min((rate * (1 + step * each) for each in range(-4, 5)), key=left)
    return rate


def _reach(left: Any, rate: float, bound: float) -> float:
    """Return how far, as a share, the rate can go on the worse side before the residual leaves its bound."""
    reach = 1e-5
    while reach < 0.5 and (left(rate * (1 - reach)) < bound or left(rate * (1 + reach)) < bound):
        reach *= 1.5
    return reach


def _spread(trip: Any) -> float:
    return float(np.abs(trip - np.median(trip)).mean())


def _independent(residual: Any) -> float:
    """Return how many independent values the residuals are worth: neighbours are alike."""
    centred = np.sign(residual - np.median(residual))
    alike = float(np.clip((centred[1:] * centred[:-1]).mean(), 0, 0.999))
    return max(10.0, len(residual) * (1 - alike) / (1 + alike))
