"""Means with 95% intervals, of values and of paired differences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tidegate import _core

#: The share of such intervals that hold the true mean.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over replications and its 95% interval (Student t).

    ``mean`` is None where no replication has the number, ``half_width`` and ``sd`` where
    fewer than two have it; ``n`` counts those that do. ``possible`` are the least and the greatest value
    that there can be, None where nothing is known of them: the interval is made for values without bounds,
    so ``low`` and ``high`` are cut to them.
    """

    mean: float | None
    half_width: float | None
    sd: float | None
    n: int
    possible: tuple[float, float] | None = field(default=None, compare=False, repr=False)

    @property
    def low(self) -> float | None:
        """The lower end of the interval, as far as it is possible."""
        if self.mean is None or self.half_width is None:
            return None
        low = self.mean - self.half_width
        return low if self.possible is None else max(low, self.possible[0])

    @property
    def high(self) -> float | None:
        """The upper end of the interval, as far as it is possible."""
        if self.mean is None or self.half_width is None:
            return None
        high = self.mean + self.half_width
        return high if self.possible is None else min(high, self.possible[1])

    @property
    def arms(self) -> tuple[float, float]:
        """How far the interval reaches below the mean and above it; 0 where there is none."""
        if self.mean is None or self.low is None or self.high is None:
            return 0.0, 0.0
        return max(0.0, self.mean - self.low), max(0.0, self.high - self.mean)

    def single(self) -> Estimate:
        """Return the mean without an interval, where all values are of one run told again."""
        return replace(self, half_width=None, sd=None) if not self.sd else self

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name; equal values have no interval, as in text (``±–``)."""
        if self.half_width == 0:
            return self.single().to_dict() | {"sd": self.sd}
        return {
            "mean": self.mean,
            "half_width": self.half_width,
            "low": self.low,
            "high": self.high,
            "sd": self.sd,
            "n": self.n,
        }


def estimate(values: Iterable[float | int | None], possible: tuple[float, float] | None = None) -> Estimate:
    """Return the mean of independent values and its interval; None stands for no value.

    ``possible``: the least and the greatest value that there can be.
    """
    there = [float(value) for value in values if value is not None]
    n = len(there)
    if n == 0:
        return Estimate(None, None, None, 0, possible)
    # Equal values have no spread, whatever rounding makes of their sum.
    mean = there[0] if min(there) == max(there) else math.fsum(there) / n
    if n == 1:
        return Estimate(mean, None, None, 1, possible)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in there) / (n - 1))
    quantile = _core.student_t((1 + CONFIDENCE) / 2, n - 1)
    half = None if quantile is None else quantile * sd / math.sqrt(n)
    return Estimate(mean, half, sd, n, possible)


def most_if_none(chances: float) -> float:
    """Return the share below which one lies, with 95%, of which nothing was seen in so many chances.

    That is the rule of three, for chances that are independent: 0.95 is 1 - exp(-3).
    """
    return 3.0 / chances if chances > 0 else math.inf


def paired(
    these: Sequence[float | None],
    those: Sequence[float | None],
    possible: tuple[float, float] | None = None,
) -> Estimate:
    """Return the mean of this − that over replications that both have, and its interval.

    ``possible``: the least and the greatest value that one of them can have.
    """
    reach = math.inf if possible is None else possible[1] - possible[0]
    apart = (
        None if this is None or that is None else this - that
        for this, that in zip(these, those, strict=False)
    )
    return estimate(apart, (-reach, reach))
