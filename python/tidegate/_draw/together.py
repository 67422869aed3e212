"""Curves that run together say how many they are: the last one drawn would hide the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._draw.tokens import INK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

#: Points nearer than this, in points of 1/72 inch, are one to the eye.
_NEAR = 1.5


def mark_together(axes: Axes, curves: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    """Write "3 curves" where points of curves lie on each other; the axes have their scales.

    Where the same curves stay together over several points, only the first says so.
    """
    figure = axes.get_figure(root=True)
    if figure is None:
        return
    near = _NEAR * figure.dpi / 72
    places = [
        axes.transData.transform(np.column_stack((x, y))) if len(x) else np.zeros((0, 2)) for x, y in curves
    ]
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
            if groups and abs(float(each[2][1] - groups[-1][0][2][1])) <= near:
                groups[-1].append(each)
            else:
                groups.append([each])
        several = [group for group in groups if len(group) > 1]
        for group in several:
            members = frozenset(number for number, _, _ in group)
            if members != before:
                axes.annotate(
                    f"{len(group)} curves", (at, group[-1][1]), xytext=(0, 6), textcoords="offset points",
                    ha="center", va="bottom", fontsize=7, color=INK, zorder=3,
                )  # fmt: skip
            before = members
        if not several:
            before = frozenset()
