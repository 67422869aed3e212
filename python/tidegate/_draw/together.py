"""Curves that run together say how many they are: the last one drawn would hide the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from tidegate._draw.letters import width
from tidegate._draw.parts import Words
from tidegate._draw.tokens import INK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._draw.drawing import Panel

    Across = Literal["left", "center", "right"]

#: Points nearer than this, in points of 1/72 inch, are one to the eye.
_NEAR = 1.5
#: Size of the words, their height, and how far they are from the points and from the ends of bars.
_SIZE, _HIGH, _AWAY, _OFF = 7.0, 8.0, 6.0, 3.0


class _Here(NamedTuple):
    """A point of a curve with its bar; places are points of 1/72 inch."""

    curve: int
    y: float
    place: float
    low: float
    high: float


def mark_together(
    panel: Panel, curves: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]
) -> None:
    """Write "3 curves" where points of curves lie on each other; the panel has its scales.

    Where the same curves stay together over several points, only the first says so. ``curves``: of each x, y,
    and the ends of the bar at each point.
    """
    places = [
        [panel.places(x, values)[1] if len(x) else np.zeros(0) for values in (y, low, high)]
        for x, y, low, high in curves
    ]
    before: frozenset[int] = frozenset()
    for at in sorted({float(value) for x, *_ in curves for value in x}):
        here = [
            _Here(number, float(y[row]), *(float(each[row]) for each in places[number]))
            for number, (x, y, *_) in enumerate(curves)
            for row in range(len(x))
            if x[row] == at
        ]
        groups: list[list[_Here]] = []
        for each in sorted(here, key=lambda one: one.place):
            if groups and abs(each.place - groups[-1][0].place) <= _NEAR:
                groups[-1].append(each)
            else:
                groups.append([each])
        several = [group for group in groups if len(group) > 1]
        for group in several:
            members = frozenset(each.curve for each in group)
            if members != before:
                _write(panel, at, group, here)
            before = members
        if not several:
            before = frozenset()


def _write(panel: Panel, at: float, group: Sequence[_Here], here: Sequence[_Here]) -> None:
    """Write how many curves a group is, above its bars or below them, where no other bar is in the way."""
    words = f"{len(group)} curves"
    (left, right), (bottom, top) = panel.places([panel.x.low, panel.x.high], [panel.y.low, panel.y.high])
    middle, half = float(panel.places(at, panel.y.low)[0]), width(words, _SIZE) / 2 + 2
    across: Across = "left" if middle - half < left else "right" if middle + half > right else "center"
    high, low = max(each.high for each in group), min(each.low for each in group)
    last = group[-1].place
    above, below = max(high + _OFF, last + _AWAY), min(low - _OFF, group[0].place - _AWAY)

    def is_free(begin: float, end: float) -> bool:
        others = (each for each in here if each not in group)
        return bottom <= begin and end <= top and not any(e.low < end and e.high > begin for e in others)

    under = not is_free(above, above + _HIGH) and is_free(below - _HIGH, below)
    aside = {"left": _OFF, "right": -_OFF, "center": 0.0}[across]
    away = (aside, (below if under else above) - last)
    panel.write(
        Words(
            at, group[-1].y, words, _SIZE, INK, across, "top" if under else "bottom", at_values=True,
            away=away,
        )
    )  # fmt: skip
