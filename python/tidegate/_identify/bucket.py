"""The one model of policers and of queues with a limit: a bucket that drains at a rate.

Every packet that passes fills the bucket by its bytes, and the bucket drains at the rate `r`. A packet that
would raise it above the limit `b` is dropped. A policer with burst `b` is this bucket read upside down: its
tokens are what is missing to `b`. A queue of `b` bytes before a link of rate `r` is this bucket itself.
Both drop the same packets; they differ in the delay: a packet in the queue waits for the bucket to drain,
behind a policer it does not.

How full the bucket is depends on the packets that passed and on `r`, but not on `b` (the reflection map of
a queue: work minus its own running minimum). So one pass over the packets gives the fullness for a rate,
and the drops then say where the limit is. A drop has the probability

    p(v) = e + (1 - 2 e) / (1 + exp(-(v - b) / w)),   v = fullness with this packet, in bytes,

where `w` is the blur between capture and bucket and `e` the share of drops with other reasons.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

#: Rates tried first, as shares of the mean rate that passed, and the step from one to the next. What passed
#: is the rate times the time, plus what the bucket held, less what an idle sender left in it: near the mean
#: the fit is narrow, and far above it, where the bucket was often full, it is wide.
_LOWEST, _NEAR_LOW, _NEAR_HIGH, _HIGHEST = 0.3, 0.85, 1.35, 60.0
_STEP, _NEAR_STEP = 0.03, 0.005
#: Packets of the shortest stretch.
_STRETCH = 750
#: Blurs tried, in packets, and shares of drops with other reasons.
_BLURS = (0.01, 0.05, 0.2, 0.6, 1.5, 4.0, 10.0)
_OTHERS = (0.0005, 0.002, 0.01, 0.04, 0.12)
#: Of the posterior, this share lies on each side outside the interval.
_TAIL = 0.025


@dataclass(frozen=True)
class Crossings:
    """The packets that crossed one limit, of one or more connections, in order of time.

    Args:
        time_s: seconds from the first.
        size: bytes that the bucket counts.
        passed: whether it arrived, or is taken to have arrived.
        judged: whether its fate is known, and it carries data.
        owner: which connection it belongs to.
    """

    time_s: Any
    size: Any
    passed: Any
    judged: Any
    owner: Any

    def counting(self, extra: int) -> Crossings:
        """Return the same packets with so many more bytes each."""
        return replace(self, size=self.size + extra)

    @property
    def drops(self) -> int:
        """Packets known to be lost."""
        return int(np.count_nonzero(self.judged & ~self.passed))


@dataclass(frozen=True)
class Bucket:
    """A fitted bucket: rate in bit/s, limit in bytes, with intervals, and how well it explains the drops.

    Args:
        explained: share of the deviance of drops that the bucket explains; 1 means every drop and every pass.
        gain: log likelihood over that of drops which fall at random, less what its parameters cost (BIC).
        likelihood: its logarithm.
        wrong: decisions on the wrong side of the limit.
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
    drops: int
    blur: float
    other: float
    run_length: float
    limit_known: bool


def fullness(packets: Crossings, rate_bps: float) -> Any:
    """Return the bytes in the bucket just before each packet."""
    used = np.where(packets.passed, packets.size, 0.0)
    level = np.cumsum(used) - used - packets.time_s * (rate_bps / 8)
    return level - np.minimum.accumulate(level)


def fit(packets: Crossings, around: float | None = None) -> Bucket | None:
    """Return the bucket that explains the drops best; None where nothing, or everything, was dropped.

    ``around``: a rate in bit/s near which to look, where one is known.
    """
    drops = packets.drops
    if drops == 0 or drops == np.count_nonzero(packets.judged):
        return None
    span = max(float(packets.time_s[-1]), 1e-3)
    mean = 8 * float(packets.size[packets.passed].sum()) / span
    wide = np.exp(np.arange(np.log(_LOWEST), np.log(_HIGHEST), _STEP))
    near = np.arange(_NEAR_LOW, _NEAR_HIGH, _NEAR_STEP)
    best = (
        _search(packets, mean * np.concatenate([wide, near]))
        if around is None
        else _refined(packets, [around])
    )
    blur, other, limit = _shape(packets, best)
    return _posterior(packets, best, limit, blur, other)


def random_likelihood(drops: int, judged: int) -> float:
    """Return the log likelihood of drops that fall at random."""
    if drops in (0, judged):
        return 0.0
    share = drops / judged
    return float(drops * np.log(share) + (judged - drops) * np.log(1 - share))


def _search(packets: Crossings, rates: Any) -> float:
    """Return the rate with the fewest decisions on the wrong side of the best limit.

    Over a long capture the fit is as narrow as the bucket is small beside what passed. A few thousand
    packets see a wide one, so candidates come from short stretches, and are refined as the stretches grow.
    """
    count = len(packets.time_s)
    lost = np.flatnonzero(packets.judged & ~packets.passed)
    found = list(_best(packets, rates, 4))
    for share in (0.2, 0.5, 0.8):
        centre = int(lost[int(share * (len(lost) - 1))])
        length, step = _STRETCH, _NEAR_STEP
        kept = rates
        while length < count:
            low = max(0, min(centre - length // 2, count - length))
            kept = _best(_stretch(packets, low, low + length), kept, 4)
            kept = np.unique(np.concatenate([rate * (1 + step * np.arange(-4, 5)) for rate in kept]))
            length, step = 2 * length, step * 0.45
        found.extend(_best(packets, kept, 2))
    return _refined(packets, found)


def _refined(packets: Crossings, found: list[float]) -> float:
    step, kept = _NEAR_STEP, np.array(found)
    while True:
        step /= 4
        near = np.unique(np.concatenate([rate * (1 + step * np.arange(-4, 5)) for rate in kept]))
        wrong = np.array([_split(packets, rate)[0] for rate in near])
        least = near[wrong == wrong.min()]
        if step < 1e-5:
            return float(least[len(least) // 2])
        order = np.argsort(wrong, kind="stable")
        kept = np.unique(np.concatenate([[least[len(least) // 2]], near[order[:3]]]))


def _stretch(packets: Crossings, low: int, high: int) -> Crossings:
    return Crossings(
        packets.time_s[low:high] - packets.time_s[low], packets.size[low:high], packets.passed[low:high],
        packets.judged[low:high], packets.owner[low:high],
    )  # fmt: skip


def _best(packets: Crossings, rates: Any, count: int) -> Any:
    """Return the rates with the fewest wrong decisions."""
    wrong = np.array([_split(packets, rate)[0] for rate in rates])
    return rates[np.argsort(wrong, kind="stable")[:count]]


def _split(packets: Crossings, rate: float) -> tuple[int, float]:
    """Return the fewest wrong decisions at this rate and the limit that has them."""
    value = (fullness(packets, rate) + packets.size)[packets.judged]
    dropped = ~packets.passed[packets.judged]
    order = np.argsort(value)
    value, dropped = value[order], dropped[order]
    below = np.cumsum(dropped)
    above = np.count_nonzero(~dropped) - np.cumsum(~dropped)
    wrong = below + above
    at = int(np.argmin(wrong))
    limit = (value[at] + value[min(at + 1, len(value) - 1)]) / 2
    return int(wrong[at]), float(limit)


def _shape(packets: Crossings, rate: float) -> tuple[float, float, float]:
    """Return the blur in bytes, the share of other drops, and the limit, likeliest together at this rate."""
    value = (fullness(packets, rate) + packets.size)[packets.judged]
    dropped = ~packets.passed[packets.judged]
    packet = float(packets.size.max())
    _, centre = _split(packets, rate)
    best: tuple[float, float, float, float] = (-np.inf, packet, 0.01, centre)
    for blur in _BLURS:
        limits = centre + packet * blur * np.linspace(-4, 4, 17)
        for other in _OTHERS:
            heights = _heights(value, dropped, limits, blur * packet, other)
            at = int(np.argmax(heights))
            best = max(best, (float(heights[at]), blur * packet, other, float(limits[at])))
    return best[1:]


def _heights(value: Any, dropped: Any, limits: Any, blur: float, other: float) -> Any:
    """Return the log likelihood for each limit."""
    # Packets far from every limit have the same likelihood for all of them.
    near = (value > limits.min() - 30 * blur) & (value < limits.max() + 30 * blur)
    above = value >= limits.max() + 30 * blur
    far_right = np.count_nonzero(above & dropped) + np.count_nonzero(~near & ~above & ~dropped)
    far_wrong = np.count_nonzero(~near) - far_right
    common = far_right * np.log(1 - other) + far_wrong * np.log(other)
    value, sign = value[near], np.where(dropped[near], 1.0, -1.0)
    found = np.empty(len(limits))
    for at, limit in enumerate(limits):
        away = np.clip((value - limit) / blur, -40, 40) * sign
        found[at] = common + np.log(other + (1 - 2 * other) / (1 + np.exp(-away))).sum()
    return found


def _posterior(packets: Crossings, rate: float, limit: float, blur: float, other: float) -> Bucket:
    """Return the bucket with intervals: what lies between the tails of a posterior with a flat prior.

    Wrong decisions come in runs, because a wrong one moves the fullness for those that follow; the
    likelihood is divided by the mean length of a run, so that a run counts as one observation.
    """
    judged = packets.judged
    dropped = ~packets.passed[judged]
    value = (fullness(packets, rate) + packets.size)[judged]
    missed = (value > limit) != dropped
    runs = np.count_nonzero(np.diff(np.concatenate([[False], missed]).astype(int)) == 1)
    wrong = int(missed.sum())
    length = max(1.0, wrong / max(1, int(runs)))
    rates, weights, centres, spread = _rates(packets, rate, blur, other, length)
    top = int(np.argmax(weights))
    share = weights / weights.sum()
    low, middle, high = _quantiles(rates, share, (_TAIL, 0.5, 1 - _TAIL))
    centre = float((share * centres).sum())
    deviation = float(np.sqrt((share * ((centres - centre) ** 2 + spread**2)).sum()))
    likelihood = _area(packets, rates[top], blur, other, length)[1]
    count = int(judged.sum())
    chance = random_likelihood(packets.drops, count)
    around = np.abs(value - limit) < 3 * max(blur, float(packets.size.max()))
    return Bucket(
        rate_bps=middle,
        rate_interval=(low, high),
        limit=centre,
        limit_interval=(centre - 1.96 * deviation, centre + 1.96 * deviation),
        explained=1 - likelihood / chance,
        likelihood=likelihood,
        gain=likelihood - chance - 2 * float(np.log(count)),
        wrong=wrong,
        drops=packets.drops,
        blur=blur,
        other=other,
        run_length=length,
        limit_known=bool(np.count_nonzero(around & dropped) > 0 and np.count_nonzero(around & ~dropped) > 0),
    )


def _area(
    packets: Crossings, rate: float, blur: float, other: float, length: float
) -> tuple[float, float, float, float]:
    """Return the log likelihood summed over limits, the best one, and the limit's mean and deviation."""
    judged = packets.judged
    value = (fullness(packets, rate) + packets.size)[judged]
    dropped = ~packets.passed[judged]
    centre = _split(packets, rate)[1]
    reach = 6 * max(blur, 0.3 * float(packets.size.max()))
    for _ in range(3):
        limits = np.linspace(centre - reach, centre + reach, 33)
        heights = _heights(value, dropped, limits, blur, other) / length
        weight = np.exp(heights - heights.max())
        total = weight.sum()
        centre = float((weight * limits).sum() / total)
        spread = float(np.sqrt((weight * (limits - centre) ** 2).sum() / total))
        step = limits[1] - limits[0]
        if spread > 2 * step:
            break
        reach = 3 * max(spread, step)
    return (
        float(heights.max() + np.log(total * step)),
        float(heights.max() * length),
        centre,
        max(spread, step / 4),
    )


def _rates(
    packets: Crossings, rate: float, blur: float, other: float, length: float
) -> tuple[Any, Any, Any, Any]:
    """Return rates around the best, their weights, and the limits that go with them."""
    step = 2e-5
    while True:
        rates = rate * (1 + step * np.arange(-12, 13))
        areas, _, centres, spread = np.array([_area(packets, each, blur, other, length) for each in rates]).T
        weights = np.exp(areas - areas.max())
        ends = max(weights[0], weights[-1])
        if ends < 0.02 or step > 0.03:
            return rates, weights, centres, spread
        if ends > 0.3 or np.count_nonzero(weights > 0.02) > 8:
            step *= 2
            rate = float((rates * weights).sum() / weights.sum())
        else:
            return rates, weights, centres, spread


def _quantiles(values: Any, share: Any, at: tuple[float, ...]) -> tuple[float, ...]:
    """Return quantiles of a distribution given on equally spaced values."""
    step = values[1] - values[0]
    ends = np.concatenate([[values[0] - step / 2], values + step / 2])
    return tuple(float(np.interp(each, np.concatenate([[0.0], np.cumsum(share)]), ends)) for each in at)
