"""Intervals by order statistics and of shares, from scipy's special functions, which load fast."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import bdtr, betaincinv, ndtr

#: Of a 95% interval, this share lies outside on each side.
TAIL = 0.025


def median(values: Any) -> tuple[float, tuple[float, float]]:
    """Return the median and its 95% interval by order statistics."""
    ordered = np.sort(values)
    count = len(ordered)
    below = bdtr(np.arange(count + 1), count, 0.5)
    low = max(0, int(np.searchsorted(below, TAIL)) - 1)
    high = min(count - 1, int(np.searchsorted(below, 1 - TAIL)))
    return float(np.median(ordered)), (float(ordered[low]), float(ordered[high]))


def share(hits: int, count: int) -> tuple[float, tuple[float, float]]:
    """Return a share and its exact 95% interval (Clopper and Pearson 1934)."""
    low = float(betaincinv(hits, count - hits + 1, TAIL)) if hits else 0.0
    high = float(betaincinv(hits + 1, count - hits, 1 - TAIL)) if hits < count else 1.0
    return hits / count, (low, high)


def greater(some: Any, others: Any) -> float:
    """Return the probability that `some` are by chance as much greater than `others` as they are.

    Mann and Whitney's test (1947) by its normal limit, with the corrections for ties and for continuity.
    """
    count, against = len(some), len(others)
    both = np.concatenate([some, others])
    _, place, ties = np.unique(both, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[place]
    whole = count + against
    spread = (
        count
        * against
        / 12
        * (whole + 1 - float((ties.astype(float) ** 3 - ties).sum()) / (whole * (whole - 1)))
    )
    if spread <= 0:
        return 1.0
    above = float(ranks[:count].sum()) - count * (count + 1) / 2 - count * against / 2
    return float(ndtr(-(above - 0.5) / spread**0.5))
