"""Numbers of theory functions: plain ones, exactly, or texts with units."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, SupportsIndex

from tidegate import _core
from tidegate._base.arguments import PICOS, bare
from tidegate._base.calls import shown
from tidegate.errors import ArgumentError

#: What a caller may give.
Given = int | float | str | Decimal | Fraction
#: What comes back: a fraction, or a float when floats were given.
Number = Fraction | float

#: Bits of a cell on the wire.
CELL_BITS = 424


def rational(name: str, value: Any) -> Fraction:
    """Return a number exactly; floats are read as they are printed.

    Raises:
        ArgumentError: it is no finite number.
    """
    value = bare(value)
    try:
        if isinstance(value, bool | str):
            raise ValueError
        return Fraction(value) if isinstance(value, Rational | Decimal) else Fraction(repr(value))
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ArgumentError(f"{name}: {shown(value)} is not a number") from None


def positive(name: str, value: Any, *, zero: bool = False) -> Fraction:
    """Return a number above 0, or of at least 0."""
    number = rational(name, value)
    if number < 0 or (number == 0 and not zero):
        raise ArgumentError(
            f"{name}: {shown(value)} is out of range; {'0 or more' if zero else 'more than 0'}"
        )
    return number


def count(name: str, value: Any, noun: str, *, least: int = 1, most: int = 10**9) -> int:
    """Return a whole number; a text is one with its noun, such as ``"41 segments"``."""
    number: Any = bare(value)
    if isinstance(number, str):
        found = re.fullmatch(rf"\s*(\d+)\s+{noun}s?\s*", number)
        if found is None:
            raise ArgumentError(f'{name}: {shown(value)} is no number of {noun}s; write it as "41 {noun}s"')
        number = int(found[1])
    if isinstance(number, bool):
        raise ArgumentError(f"{name}: {shown(value)} is not a whole number of {noun}s")
    if isinstance(number, float | Fraction | Decimal) and number == number // 1:
        number = int(number)
    if not isinstance(number, SupportsIndex):
        raise ArgumentError(f"{name}: {shown(value)} is not a whole number of {noun}s")
    whole = number.__index__()
    if not least <= whole <= most:
        raise ArgumentError(f"{name}: {shown(value)} is out of range; from {least} to {most} {noun}s")
    return whole


def cell_times(h: str, rates: dict[str, Any], spans: dict[str, Any]) -> dict[str, Fraction]:
    """Return rates and spans given as texts in cells and cell times at the rate ``h``.

    Raises:
        ArgumentError: one of them is no text with a unit, or a rate is 0.
    """
    for name, value in {**rates, **spans}.items():
        if not isinstance(value, str):
            others = ", ".join(n for n, v in {**rates, **spans}.items() if isinstance(v, str))
            raise ArgumentError(
                f"{name}: {shown(value)} has no unit, but {others} has one; give all of them as texts with "
                "units, or all as numbers in cells and cell times"
            )
    bps = {name: _core.read_rate(name, value) for name, value in rates.items()}
    if not bps[h]:
        raise ArgumentError(f"{h}: a rate of 0 sends nothing; more than 0")
    times = {name: Fraction(rate, bps[h]) for name, rate in bps.items()}
    for name, value in spans.items():
        times[name] = Fraction(_core.read_span(name, value) * bps[h], CELL_BITS * PICOS)
    return times


def cell_time_s(h: str) -> Fraction:
    """Return the seconds of one cell at a rate given as text."""
    return Fraction(CELL_BITS, _core.read_rate("h", h))
