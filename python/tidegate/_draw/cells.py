"""What a heat map shows: two keys with numbers, and a number for each pair of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate._base.nearest import nearest
from tidegate._base.quantity import quantities
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Fewer values of a key are read more easily as lines.
LEAST = 5
#: How numbers over keys are drawn.
_KINDS = ("lines", "map")


def check_kind(kind: str | None) -> None:
    """Refuse a kind of picture that there is not; None is none asked for.

    Raises:
        ArgumentError: the message says what is known.
    """
    if kind is not None and kind not in _KINDS:
        raise ArgumentError(nearest("kind", kind, _KINDS))


@dataclass(frozen=True)
class Axis:
    """A key: its name in words, and its values from the least to the greatest."""

    words: str
    values: Sequence[str]

    def label(self) -> str:
        """Return the name with the unit that the numbers are written in."""
        found = quantities(self.values)
        return f"{self.words}, {found[1]}" if found and found[1] else self.words

    def ticks(self) -> list[str]:
        """Return the values as numbers in one unit."""
        found = quantities(self.values)
        return [f"{each:g}" for each in found[0]] if found else list(self.values)


@dataclass(frozen=True)
class Panel:
    """A map: what stands above it, the number's name, and by (x, y) its values; a pair may have none."""

    title: str
    label: str
    values: Mapping[tuple[str, str], float | None]


def ascending(values: Sequence[str]) -> list[str]:
    """Return values that are numbers from the least to the greatest; others stay as they are."""
    found = quantities(values)
    if found is None:
        return list(values)
    return [value for _, value in sorted(zip(found[0], values, strict=True))]
