"""Fewer points that look the same, and the last value of a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_POINTS = 4000


def last(values: Floats) -> float:
    """Return the last value that is there; 0 where none is."""
    good = values[~np.isnan(values)]
    return float(good[-1]) if len(good) else 0.0


def thin(time: Floats, value: Floats, points: int = _POINTS) -> tuple[Floats, Floats]:
    """Return fewer points that look the same: the least and the largest of every stretch."""
    if len(time) <= points:
        return time, value
    size = -(-len(time) // (points // 2))
    keep: list[int] = []
    for begin in range(0, len(time), size):
        part = value[begin : begin + size]
        if np.all(np.isnan(part)):
            keep.append(begin)
            continue
        keep.extend(sorted({begin + int(np.nanargmin(part)), begin + int(np.nanargmax(part))}))
    return time[keep], value[keep]
