"""Arguments of the theories of calls: numbers that are checked, or refused in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tidegate._base.arguments import number
from tidegate._base.calls import shown
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: More servers than any pool holds.
MOST_SERVERS = 10_000_000


def load_of(given: Any, name: str = "load") -> float:
    """Return a load in Erlang, 0 or more."""
    value = number(name, given)
    if value < 0:
        raise ArgumentError(f"{name}: {shown(given)} is out of range; 0 Erlang or more")
    return value


def whole(name: str, given: Any, least: int = 0, most: int = MOST_SERVERS) -> int:
    """Return a whole number within limits."""
    value = number(name, given)
    if value != math.floor(value) or not least <= value <= most:
        raise ArgumentError(f"{name}: {shown(given)} is no whole number from {least} to {most}")
    return int(value)


def flag(name: str, given: Any) -> bool:
    """Return whether something is so."""
    if not isinstance(given, bool) and type(given).__name__ != "bool_":
        raise ArgumentError(f"{name}: {shown(given)} is neither True nor False")
    return bool(given)


def share(name: str, given: Any, *, zero: bool = False) -> float:
    """Return a share above 0, or from 0 on, and below 1."""
    value = number(name, given)
    if not 0 <= value < 1 or (value == 0 and not zero):
        least = "from 0 to below 1" if zero else "above 0 and below 1"
        raise ArgumentError(f"{name}: {shown(given)} is out of range; {least}")
    return value


def listed(name: str, given: Any) -> list[Any]:
    """Return a list of anything, not empty."""
    try:
        values = list(_sequence(given))
    except TypeError:
        raise ArgumentError(f"{name}: {shown(given)} is no list") from None
    if not values:
        raise ArgumentError(f"{name}: the list is empty; there is at least one class of calls")
    return values


def _sequence(given: Any) -> Iterator[Any]:
    if isinstance(given, str):
        raise TypeError
    members: Iterator[Any] = iter(given)
    return members
