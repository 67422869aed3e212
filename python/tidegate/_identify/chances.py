"""Intervals by order statistics and of shares, and probabilities of chance.

scipy's special functions take a quarter of a second to load, so only what needs them does.
"""

from __future__ import annotations

from math import erfc, sqrt
from typing import Any

import numpy as np

from tidegate._base.lazy import Lazy

special = Lazy("scipy.special")

#: Of a 95% interval, this share lies outside on each side.
TAIL = 0.025
#: What a chi-squared with one degree of freedom exceeds in 5% of cases.
CHI = 3.84
#: What Student's t exceeds with that probability, from one degree of freedom on.
STUDENT = (
    12.706204736174694, 4.302652729749462, 3.182446305283708, 2.776445105197793,
    2.570581835636315, 2.446911851144979, 2.364624251592784, 2.306004135204166,
    2.262157162798205, 2.228138851986274, 2.200985160091639,
)  # fmt: skip


def median(values: Any) -> tuple[float, tuple[float, float]]:
    """Return the median and its 95% interval by order statistics."""
    ordered = np.sort(values)
    count = len(ordered)
    below = _tosses(count)
    low = max(0, int(np.searchsorted(below, TAIL)) - 1)
    high = min(count - 1, int(np.searchsorted(below, 1 - TAIL)))
    return float(np.median(ordered)), (float(ordered[low]), float(ordered[high]))


def _tosses(count: int) -> Any:
    """Return the probabilities of at most 0, 1, 2 … heads in so many tosses of a coin."""
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count + 1)))])
    return np.cumsum(np.exp(factorial[-1] - factorial - factorial[::-1] - count * np.log(2)))


def share(hits: int, count: int) -> tuple[float, tuple[float, float]]:
    """Return a share and its exact 95% interval (Clopper and Pearson 1934)."""
    low = float(special.betaincinv(hits, count - hits + 1, TAIL)) if hits else 0.0
    high = float(special.betaincinv(hits + 1, count - hits, 1 - TAIL)) if hits < count else 1.0
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
    return erfc((above - 0.5) / sqrt(2 * spread)) / 2


def student(freedom: int) -> float:
    """Return what Student's t of so few degrees of freedom, eleven at most, exceeds in 2.5% of cases."""
    return STUDENT[freedom - 1]
