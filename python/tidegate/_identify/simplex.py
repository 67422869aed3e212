"""The least of a function near a point, without derivatives (Nelder and Mead 1965).

It takes the steps that `scipy.optimize.minimize` takes, which needs a quarter of a second to load.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: How far the worst corner is reflected, goes on, and comes back, and how far the others come to the best.
_ON, _BACK, _TO_BEST = 2.0, 0.5, 0.5


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
