"""The least of a function near a point, without derivatives (Nelder and Mead 1965), and its interval.

It takes the steps that `scipy.optimize.minimize` takes, which needs a quarter of a second to load.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: How far the worst corner is reflected, goes on, and comes back, and how far the others come to the best.
_ON, _BACK, _TO_BEST = 2.0, 0.5, 0.5
#: Half the width of an interval, at least, as a share: the clocks of two machines.
_CLOCK = 1e-4


def least_near(
    function: Callable[[Any], float], corners: Any, within: float, alike: float, most: int
) -> tuple[float, Any]:
    """Return the least value that was found and where it is, from a simplex with these corners.

    It ends where all corners lie as near as `within` and their values as near as `alike`, or after about
    `most` values.
    """
    values = np.array([function(each) for each in corners])
    asked = len(values)
    while True:
        order = np.argsort(values, kind="stable")
        corners, values = corners[order], values[order]
        near = np.abs(corners[1:] - corners[0]).max() <= within
        if (near and np.abs(values[1:] - values[0]).max() <= alike) or asked >= most:
            return float(values[0]), corners[0]
        middle = corners[:-1].mean(axis=0)
        away = middle - corners[-1]
        place, value = middle + away, function(middle + away)
        asked += 1
        if value < values[0]:
            further = middle + _ON * away
            other = function(further)
            asked += 1
            if other < value:
                place, value = further, other
        elif value >= values[-2]:
            back = middle + (_BACK if value < values[-1] else -_BACK) * away
            other = function(back)
            asked += 1
            if other > min(value, values[-1]):
                corners[1:] = corners[0] + _TO_BEST * (corners[1:] - corners[0])
                values[1:] = [function(each) for each in corners[1:]]
                asked += len(values) - 1
                continue
            place, value = back, other
        corners[-1], values[-1] = place, value


def reach(value: float, left: Callable[[float], float], bound: float) -> tuple[float, float]:
    """Return how far a number can go on both sides before what is left of it reaches a bound.

    The interval is as wide on both sides, and not narrower than the clocks of two machines agree.
    """
    width = _CLOCK
    while width < 0.5 and (left(value * (1 - width)) < bound or left(value * (1 + width)) < bound):
        width *= 1.5
    return value * (1 - width), value * (1 + width)
