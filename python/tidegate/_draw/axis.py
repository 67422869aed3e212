"""Axes of pictures: what they reach, where their ticks are, and what stands beside these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

#: Steps between ticks, times a power of ten.
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
#: A tick may lie beyond the end of an axis by so much of its length.
_ROUND = 1e-9


@dataclass
class Scale:
    """One axis of a panel; without ticks of its own it has round numbers."""

    low: float = 0.0
    high: float = 1.0
    log: bool = False
    #: Steps between two ticks at most.
    most: int = 5
    #: Ticks are whole numbers.
    whole: bool = False
    steps: Sequence[float] = STEPS
    #: (place, word) of each tick; None: round numbers.
    named: Sequence[tuple[float, str]] | None = None
    #: Words stand beside the ticks.
    labelled: bool = True
    #: Lines across the panel.
    grid: bool = True
    #: Size of the words, points.
    size: float = 8.5
    #: Words that stand slanted, because they would lie on each other.
    slanted: bool = False
    _kept: dict[tuple[float, float], list[tuple[float, str]]] = field(default_factory=dict, repr=False)

    def span(self, low: float, high: float) -> None:
        """Say what the axis reaches; of no length it has 1."""
        self.low, self.high = float(low), float(high if high > low else low + 1.0)

    def share(self, value: float) -> float:
        """Return how far along the axis a value lies, from 0 to 1."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """Return the place of each tick and its word."""
        if self.named is not None:
            return list(self.named)
        ends = (self.low, self.high)
        if ends not in self._kept:
            values = powers(*ends) if self.log else even(*ends, self.most, self.steps, whole=self.whole)
            words = [f"{value:g}" for value in values] if self.log else same_digits(values)
            self._kept[ends] = list(zip(values, words, strict=True))
        return self._kept[ends]


def even(
    low: float, high: float, most: int, steps: Sequence[float] = STEPS, *, whole: bool = False
) -> list[float]:
    """Return multiples of a round step from one end to the other: ``most`` steps at most."""
    length = high - low
    size = 10.0 ** math.floor(math.log10(length / most) - 1)
    choices = [size * 10.0**more * step for more in range(4) for step in steps]
    if whole:
        choices = [step for step in choices if step >= 1 and step == round(step)] or [1.0]
    for step in choices:
        first = math.ceil(low / step - length / step * _ROUND)
        last = math.floor(high / step + length / step * _ROUND)
        if last - first <= most:
            break
    return [number * step for number in range(first, last + 1)]


def powers(low: float, high: float) -> list[float]:
    """Return powers of ten from one end to the other and, where these are few, twice and five times them."""
    digits = (1,) if high / low > 200 else (1, 2, 5)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [digit * 10.0**exponent for exponent in exponents for digit in digits]
    return [value for value in values if low * (1 - _ROUND) <= value <= high * (1 + _ROUND)]


def same_digits(values: Sequence[float]) -> list[str]:
    """Write numbers with as many digits after the point as the finest of them needs."""
    span = max(map(abs, values), default=0.0) or 1.0
    for digits in range(9):
        if all(abs(round(value, digits) - value) <= 1e-9 * span for value in values):
            break
    return [f"{value + 0.0:.{digits}f}" for value in (round(each, digits) for each in values)]
