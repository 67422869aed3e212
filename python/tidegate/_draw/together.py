"""Curves that run together say how many they are: the last one drawn would hide the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._draw.parts import Words
from tidegate._draw.tokens import INK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._draw.drawing import Panel

#: Points nearer than this, in points of 1/72 inch, are one to the eye.
_NEAR = 1.5


def mark_together(panel: Panel, curves: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    """Write "3 curves" where points of curves lie on each other; the panel has its scales.

    Where the same curves stay together over several points, only the first says so.
    """
    places = [np.column_stack(panel.places(x, y)) if len(x) else np.zeros((0, 2)) for x, y in curves]
    before: frozenset[int] = frozenset()
    for at in sorted({float(value) for x, _ in curves for value in x}):
        here = [
            (number, float(y[row]), places[number][row])
            for number, (x, y) in enumerate(curves)
            for row in range(len(x))
            if x[row] == at
        ]
        groups: list[list[tuple[int, float, np.ndarray]]] = []
        for each in sorted(here, key=lambda one: float(one[2][1])):
            if groups and abs(float(each[2][1] - groups[-1][0][2][1])) <= _NEAR:
                groups[-1].append(each)
            else:
                groups.append([each])
        several = [group for group in groups if len(group) > 1]
        for group in several:
            members = frozenset(number for number, _, _ in group)
            if members != before:
                words = f"{len(group)} curves"
                place = Words(
                    at, group[-1][1], words, 7, INK, "center", "bottom", at_values=True, away=(0, 6)
                )
                panel.write(place)
            before = members
        if not several:
            before = frozenset()
