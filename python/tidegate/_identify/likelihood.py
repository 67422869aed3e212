"""How likely drops are, given how full the bucket was.

A drop has the probability

    p(v) = e + (1 - 2 e) / (1 + exp(-(v - b) / w)),   v = fullness with this packet, in bytes,

where `b` is the limit, `w` the blur between capture and bucket, and `e` the share of drops with other
reasons.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidegate._identify.crossings import Crossings, best_limit, filled

#: Blurs tried, in packets, and shares of drops with other reasons.
_BLURS = (0.0003, 0.01, 0.05, 0.2, 0.6, 1.5, 4.0, 10.0)
_OTHERS = (0.0005, 0.002, 0.01, 0.04, 0.12)
#: So many blurs away from every limit, a packet has the same likelihood for all of them.
_FAR = 15.0
#: Numbers of one table of packets by limits.
_TABLE = 2_000_000


def random_likelihood(drops: int, judged: int) -> float:
    """Return the log likelihood of drops that fall at random."""
    if drops in (0, judged):
        return 0.0
    share = drops / judged
    return float(drops * np.log(share) + (judged - drops) * np.log(1 - share))


def heights(passed: Any, dropped: Any, limits: Any, blur: float, others: tuple[float, ...]) -> Any:
    """Return the log likelihood for each share of other drops (rows) and each limit (columns)."""
    low, high = limits.min() - _FAR * blur, limits.max() + _FAR * blur
    near_passed, near_dropped = (each[(each > low) & (each < high)] for each in (passed, dropped))
    right = np.count_nonzero(passed <= low) + np.count_nonzero(dropped >= high)
    wrong = len(passed) + len(dropped) - len(near_passed) - len(near_dropped) - right
    away = np.concatenate([-near_passed, near_dropped])
    sign = np.concatenate([-np.ones(len(near_passed)), np.ones(len(near_dropped))])
    share = np.array(others)
    found = np.repeat((right * np.log(1 - share) + wrong * np.log(share))[:, None], len(limits), axis=1)
    step = max(1, _TABLE // len(limits))
    for begin in range(0, len(away), step):
        part = slice(begin, begin + step)
        table = away[part, None] - sign[part, None] * limits[None, :]
        table = 1 / (1 + np.exp(np.clip(-table / blur, -40, 40)))
        for at, other in enumerate(others):
            found[at] += np.log(other + (1 - 2 * other) * table).sum(axis=0)
    return found


def shape(packets: Crossings, rate: float) -> tuple[float, float, float, float]:
    """Return the log likelihood at this rate, and what it has together: blur, share of others, limit.

    Blur and limit are in bytes.
    """
    passed, dropped = filled(packets, rate)
    packet = packets.largest
    centre = best_limit(packets, rate)
    best: tuple[float, float, float, float] = (-np.inf, packet, 0.01, centre)
    for blur in _BLURS:
        limits = centre + packet * blur * np.linspace(-4, 4, 17)
        table = heights(passed, dropped, limits, blur * packet, _OTHERS)
        other, at = np.unravel_index(int(np.argmax(table)), table.shape)
        best = max(best, (float(table[other, at]), blur * packet, _OTHERS[int(other)], float(limits[at])))
    return best
