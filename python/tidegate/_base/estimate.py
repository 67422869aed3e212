"""Means with 95% intervals, of values and of paired differences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tidegate import _core

#: The share of such intervals that hold the true mean.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over replications and its 95% interval (Student t).

    ``mean`` is None where no replication has the number, ``half_width`` and ``sd`` where
    fewer than two have it; ``n`` counts those that do.
    """

    mean: float | None
    half_width: float | None
    sd: float | None
    n: int

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return None if self.mean is None or self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""
        return None if self.mean is None or self.half_width is None else self.mean + self.half_width

    def single(self) -> Estimate:
        """Return the mean without an interval, where all values are of one run told again."""
        return Estimate(self.mean, None, None, self.n) if not self.sd else self

    def interval(self, possible: tuple[float, float] | None = None) -> tuple[float | None, float | None]:
        """Return the ends of the interval, cut to the values that are ``possible``."""
        low, high = self.low, self.high
        if possible is not None and low is not None and high is not None:
            low, high = max(low, possible[0]), min(high, possible[1])
        return low, high

    def to_dict(self, possible: tuple[float, float] | None = None) -> dict[str, Any]:
        """Return the numbers by name, with :meth:`interval`; equal values have none, as in text (``±–``)."""
        if self.half_width == 0:
            return self.single().to_dict() | {"sd": self.sd}
        low, high = self.interval(possible)
        return {
            "mean": self.mean,
            "half_width": self.half_width,
            "low": low,
            "high": high,
            "sd": self.sd,
            "n": self.n,
        }


def estimate(values: Iterable[float | int | None]) -> Estimate:
    """Return the mean of independent values and its interval; None stands for no value."""
    there = [float(value) for value in values if value is not None]
    n = len(there)
    if n == 0:
        return Estimate(None, None, None, 0)
    # Equal values have no spread, whatever rounding makes of their sum.
    mean = there[0] if min(there) == max(there) else math.fsum(there) / n
    if n == 1:
        return Estimate(mean, None, None, 1)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in there) / (n - 1))
    quantile = _core.student_t((1 + CONFIDENCE) / 2, n - 1)
    half = None if quantile is None else quantile * sd / math.sqrt(n)
    return Estimate(mean, half, sd, n)


def paired(these: Sequence[float | None], those: Sequence[float | None]) -> Estimate:
    """Return the mean of this − that over replications that both have, and its interval."""
    return estimate(
        None if this is None or that is None else this - that
        for this, that in zip(these, those, strict=False)
    )
