"""Reading arguments of functions that take plain numbers."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, SupportsIndex

from tidegate import _core
from tidegate._base.calls import shown
from tidegate.errors import ArgumentError


def bare(value: Any) -> Any:
    """Return a number of numpy's as Python's own; an array stays as it is."""
    try:
        return value.item() if hasattr(value, "item") else value
    except (TypeError, ValueError):
        return value


def number(name: str, given: Any) -> float:
    """Return a finite number.

    Raises:
        ArgumentError: it is none.
    """
    try:
        value = math.nan if isinstance(given, bool | str) else float(given)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise ArgumentError(f"{name}: {shown(given)} is not a number")
    return value


def above_zero(name: str, given: Any) -> float:
    """Return a number above 0."""
    value = number(name, given)
    if value <= 0:
        raise ArgumentError(f"{name}: {shown(given)} is out of range; more than 0")
    return value


def whole(name: str, value: Any, least: int, most: int) -> int:
    """Return a whole number in its range; 5e6 is one, 1.5 and True are not.

    Raises:
        ArgumentError: it is none, or out of its range.
    """
    number = _integer(value)
    if number is None:
        raise ArgumentError(f"{name}: {shown(value)} is not a whole number")
    if not least <= number <= most:
        raise ArgumentError(f"{name}: {shown(value)} is out of range; from {least} to {most}")
    return number


def _integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    value = bare(value)
    if isinstance(value, SupportsIndex):
        try:
            return value.__index__()
        except TypeError:
            # An array has it, and no number.
            return None
    if isinstance(value, float | Fraction | Decimal) and value == value // 1:
        return int(value)
    return None


def text(name: str, value: Any) -> str:
    """Return a text.

    Raises:
        ArgumentError: it is none, or is not UTF-8.
    """
    if not isinstance(value, str):
        raise ArgumentError(f"{name}: {shown(value)} is not a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ArgumentError(f"{name}: read {value!a}, which is not UTF-8") from None
    return value


#: The units of time inside: picoseconds in a second, and the latest time.
PICOS = 10**12
LATEST_S = 10**7


def instant(name: str, value: Any) -> int:
    """Return a time in picoseconds: a number of seconds, or a text such as "20 ms".

    Raises:
        ArgumentError: it is neither, negative, or beyond 10,000,000 s.
    """
    if isinstance(value, str):
        return _core.read_instant(name, value)
    value = bare(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | Decimal):
        raise ArgumentError(f'{name}: {shown(value)} is no time; give seconds, or a text such as "20 ms"')
    if not 0 <= value <= LATEST_S:
        raise ArgumentError(f"{name}: {shown(value)} s is out of range; from 0 to {LATEST_S} s")
    # A decimal number is taken as it is printed.
    seconds = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
    return round(seconds * PICOS)
