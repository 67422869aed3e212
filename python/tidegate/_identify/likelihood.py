"""How likely drops are, given how full the bucket was.

A drop has the probability

    p(v) = e + (1 - 2 e) / (1 + exp(-(v - b) / w)),   v = fullness with this packet, in bytes,

where `b` is the limit, `w` the blur between capture and bucket, and `e` the share of drops with other
reasons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._capture.value import array
from tidegate._identify.crossings import Crossings, best_limit

if TYPE_CHECKING:
    from tidegate._core import FilledBucket

#: Blurs tried, in packets, and shares of drops with other reasons.
_BLURS = (0.0003, 0.01, 0.05, 0.2, 0.6, 1.5, 4.0, 10.0)
_OTHERS = (0.0005, 0.002, 0.01, 0.04, 0.12)
#: So many blurs away from every limit, a packet has the same likelihood for all of them.
_FAR = 15.0
#: Numbers of one table of packets by limits.
_TABLE = 2_000_000
#: Of so many packets near a limit, those are put together whose bytes differ by less than such a part of the
#: blur: the likelihood hardly changes over it.
_MANY, _PARTS = 8000, 24


def random_likelihood(drops: int, judged: int) -> float:
    """Return the log likelihood of drops that fall at random."""
    if drops in (0, judged):
        return 0.0
    share = drops / judged
    return float(drops * np.log(share) + (judged - drops) * np.log(1 - share))


def heights(bucket: FilledBucket, limits: Any, blur: float, others: tuple[float, ...]) -> Any:
    """Return the log likelihood for each share of other drops (rows) and each limit (columns)."""
    low, high = limits.min() - _FAR * blur, limits.max() + _FAR * blur
    near, right, wrong = bucket.near(float(low), float(high))
    share = np.array(others)
    found = np.repeat((right * np.log(1 - share) + wrong * np.log(share))[:, None], len(limits), axis=1)
    for values, sign in zip((array("<f8", each) for each in near), (-1.0, 1.0), strict=True):
        parts = int((high - low) * _PARTS / blur) + 1
        if len(values) > max(_MANY, 2 * parts):
            found += _each(*_together(values, low, parts, blur), sign, limits, blur, others)
        elif len(values) > _MANY:
            found += _apart(np.sort(values), sign, limits, blur, others)
        else:
            found += _each(values, np.ones(len(values)), sign, limits, blur, others)
    return found


def _each(values: Any, count: Any, sign: float, limits: Any, blur: float, others: tuple[float, ...]) -> Any:
    """Return the log likelihood of so many packets at each value; `sign`: 1 of drops, -1 of passes."""
    found = np.zeros((len(others), len(limits)))
    step = max(1, _TABLE // len(limits))
    for begin in range(0, len(values), step):
        part = slice(begin, begin + step)
        table = sign * values[part, None] - sign * limits[None, :]
        table = 1 / (1 + np.exp(np.clip(-table / blur, -40, 40)))
        for at, other in enumerate(others):
            found[at] += count[part] @ np.log(other + (1 - 2 * other) * table)
    return found


def _together(values: Any, low: float, parts: int, blur: float) -> tuple[Any, Any]:
    """Return the values with those of one part put together, at their mean, and how many each stands for."""
    place = ((values - low) * (_PARTS / blur)).astype(np.int64)
    count = np.bincount(place, minlength=parts)
    some = count > 0
    sums = np.bincount(place, weights=values, minlength=parts)
    return sums[some] / count[some], count[some].astype(float)


def _apart(values: Any, sign: float, limits: Any, blur: float, others: tuple[float, ...]) -> Any:
    """Return what `_each` does where the blur is small beside what lies between the limits; values rise."""
    first, last = (np.searchsorted(values, limits + each * blur) for each in (-_FAR, _FAR))
    below, above = first, len(values) - last
    right, wrong = (below, above) if sign < 0 else (above, below)
    share = np.array(others)[:, None]
    found = right * np.log(1 - share) + wrong * np.log(share)
    for at in range(len(limits)):
        near = values[first[at] : last[at]]
        found[:, at] += _each(near, np.ones(len(near)), sign, limits[at : at + 1], blur, others)[:, 0]
    return found


def shape(packets: Crossings, rate: float) -> tuple[float, float, float, float]:
    """Return the log likelihood at this rate, and what it has together: blur, share of others, limit.

    Blur and limit are in bytes.
    """
    bucket = packets.filled(rate)
    packet = packets.largest
    centre = best_limit(packets, rate)
    best: tuple[float, float, float, float] = (-np.inf, packet, 0.01, centre)
    for blur in _BLURS:
        limits = centre + packet * blur * np.linspace(-4, 4, 17)
        table = heights(bucket, limits, blur * packet, _OTHERS)
        other, at = np.unravel_index(int(np.argmax(table)), table.shape)
        best = max(best, (float(table[other, at]), blur * packet, _OTHERS[int(other)], float(limits[at])))
    return best
