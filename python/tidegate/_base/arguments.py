"""Reading arguments of functions that take plain numbers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, SupportsIndex

from tidegate._base.errors import ArgumentError


def whole(name: str, value: Any, least: int, most: int) -> int:
    """Return a whole number in its range; 5e6 is one, 1.5 and True are not.

    Raises:
        ArgumentError: it is none, or out of its range.
    """
    number = _integer(value)
    if number is None:
        raise ArgumentError(f"{name}: {value!r} is not a whole number")
    if not least <= number <= most:
        raise ArgumentError(f"{name}: {value!r} is out of range; from {least} to {most}")
    return number


def _integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    # A number of numpy's.
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, SupportsIndex):
        return value.__index__()
    if isinstance(value, float | Fraction | Decimal) and value == value // 1:
        return int(value)
    return None
