"""A part of a study: which of its runs are done here, when several machines share it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tidegate.errors import ArgumentError

#: A study is cut into so many parts at most.
MOST = 1_000_000


@dataclass(frozen=True)
class Shard:
    """Part ``number`` of ``of`` equal ones, counted from 1."""

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of <= MOST:
            raise ArgumentError(
                f"shard: read {self}; write the number of the part and how many there are, such as 3/64"
            )

    @staticmethod
    def parse(text: object) -> Shard:
        """Read ``3/64``.

        Raises:
            ArgumentError: it is no such text.
        """
        pattern = r"\s*([0-9]{1,9})\s*/\s*([0-9]{1,9})\s*"
        found = re.fullmatch(pattern, text) if isinstance(text, str) else None
        if found is None:
            read = f'"{text}"' if isinstance(text, str) else text
            raise ArgumentError(
                f"shard: read {read}; write the number of the part and how many there are, such as 3/64"
            )
        return Shard(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, place: int) -> bool:
        """Tell whether what stands at ``place``, counted from 0, belongs to this part."""
        return place % self.of == self.number - 1

    def count(self, places: int) -> int:
        """Return how many of so many places belong to this part."""
        return len(range(self.number - 1, places, self.of))
