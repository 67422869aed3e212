"""The points that a claim is measured at: all of them, or the few that a quick run tries."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T_co = TypeVar("T_co", covariant=True)
S = TypeVar("S")


@dataclass(frozen=True)
class Points(Generic[T_co]):
    """The points of a full run in order, and those of a quick run, which are some of them.

    ``Lab.points`` gives them where no verdict rests on each of them, as for a curve or a note, and
    ``Lab.judged`` where one does.
    """

    every: tuple[T_co, ...]
    quick: tuple[T_co, ...]

    def __post_init__(self) -> None:
        """Refuse a quick run that tries what the full run does not.

        Raises:
            ValueError: such a point is there.
        """
        strange = [point for point in self.quick if point not in self.every]
        if strange:
            raise ValueError(f"points of the quick run that the full run does not have: {strange}")

    @staticmethod
    def always(*points: S) -> Points[S]:
        """Return points which a quick run tries, too."""
        return Points(points, points)

    def only(self, keep: Callable[[T_co], bool]) -> Points[T_co]:
        """Return those points that a claim is about."""
        return Points(tuple(filter(keep, self.every)), tuple(filter(keep, self.quick)))

    def times(self, other: Points[S]) -> Points[tuple[T_co, S]]:
        """Return every pair of one point of each."""
        return Points(
            tuple(itertools.product(self.every, other.every)),
            tuple(itertools.product(self.quick, other.quick)),
        )
