"""Lines, areas and marks as paths of SVG, in whole numbers."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tidegate._draw.tokens import Shape

    Floats = NDArray[np.float64]

#: No picture is so large; what lies further out is cut by its panel.
_FAR = 100_000.0


def line_path(x: Floats, y: Floats, *, steps: bool) -> str:
    """Return a line with its gaps; values that are as the one before are left out of steps."""
    return "".join(
        f"M{across[0]} {up[0]}" + _on(across, up, steps=steps) for across, up in _pieces(x, y, steps=steps)
    )


def area_path(x: Floats, low: Floats, high: Floats, *, steps: bool) -> str:
    """Return the outline of what lies between two lines."""
    parts = []
    for begin, end in _stretches(~np.isnan(low) & ~np.isnan(high) & ~np.isnan(x)):
        across, bottom, top = (_whole(each[begin:end]) for each in (x, low, high))
        flat = bool((bottom == bottom[0]).all())
        there = f"M{across[0]} {bottom[0]}V{top[0]}" + _on(across, top, steps=steps)
        if flat:
            parts.append(f"{there}V{bottom[0]}z")
        else:
            # The lower line on the way back: a value stands until the next, so it falls before it moves.
            way = _on(across[::-1], bottom[::-1], steps=steps, back=True)
            parts.append(f"{there}V{bottom[-1]}{way}z")
    return "".join(parts)


#: Of stripes: from the middle of one to that of the next, and half of one, both measured along an axis.
_APART, _HALF = 50 * math.sqrt(2), 3


def hatch_path(left: float, right: float, top: float, bottom: float) -> str:
    """Return a rectangle's slanted stripes; resvg draws a pattern several times as slowly."""
    parts = []
    first, last = (math.ceil(edge / _APART - 0.5) for edge in (left + top, right + bottom))
    for number in range(first, last):
        middle = round(_APART * (number + 0.5))
        # Along a side of a stripe x + y is the same.
        sides = middle - _HALF, middle + _HALF
        ends = [(round(max(left, side - bottom)), round(min(right, side - top))) for side in sides]
        if all(begin < end for begin, end in ends):
            there, back = ([(x, side - x) for x in each] for side, each in zip(sides, ends, strict=True))
            corners = [*there, *reversed(back)]
            parts.append("M" + "L".join(f"{x} {y}" for x, y in corners) + "z")
    return "".join(parts)


def mark_path(x: Floats, y: Floats, shape: Shape, size: float) -> str:
    """Return marks around their places; those that lie on each other are one."""
    there = ~np.isnan(x) & ~np.isnan(y)
    half = round(size / 2)
    across, up = _whole(x[there]), _whole(y[there])
    places = dict.fromkeys(zip(across.tolist(), up.tolist(), strict=True))
    third, far = round(size / 6), round(0.7 * size)
    drawn = {
        "circle": f"m{-half} 0a{half} {half} 0 1 0 {2 * half} 0a{half} {half} 0 1 0 {-2 * half} 0z",
        "square": f"m{-half} {-half}h{2 * half}v{2 * half}h{-2 * half}z",
        "up": f"m0 {-half}l{half} {2 * half}h{-2 * half}z",
        "down": f"m0 {half}l{half} {-2 * half}h{-2 * half}z",
        "diamond": f"m0 {-far}l{far} {far}l{-far} {far}l{-far} {-far}z",
        "plus": _around(_PLUS, third),
        "ex": _around([((x - y) * 0.7, (x + y) * 0.7) for x, y in _PLUS], third),
        "star": _around(_STAR, far),
        "cross": f"m{-half} {-half}l{2 * half} {2 * half}m0 {-2 * half}l{-2 * half} {2 * half}",
        "upright": f"m0 {-half}v{2 * half}",
        "level": f"m{-half} 0h{2 * half}",
    }[shape]
    return "".join(f"M{a} {b}{drawn}" for a, b in places)


#: The corners of a plus, its arms two wide; of a star, around its middle.
_PLUS = (
    (-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1), (1, 3), (-1, 3), (-1, 1), (-3, 1), (-3, -1), (-1, -1)
)  # fmt: skip
_STAR = [
    ((0.4 if number % 2 else 1.0) * math.sin(turn), (-0.4 if number % 2 else -1.0) * math.cos(turn))
    for number, turn in enumerate(np.arange(10) * math.pi / 5)
]


def _around(corners: Sequence[tuple[float, float]], unit: float) -> str:
    """Return an outline around a place, which is where it begins and ends."""
    ways = [(round(unit * x), round(unit * y)) for x, y in corners]
    moves = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(ways)]
    return f"m{ways[0][0]} {ways[0][1]}" + "".join(f"l{x} {y}" for x, y in moves) + "z"


def _on(x: Floats, y: Floats, *, steps: bool, back: bool = False) -> str:
    """Return the line from its first place on."""
    if not steps:
        moved = (np.diff(x) != 0) | (np.diff(y) != 0)
        places = zip(x[1:][moved].tolist(), y[1:][moved].tolist(), strict=True)
        joined = " ".join(f"{a} {b}" for a, b in places)
        return f"L{joined}" if joined else ""
    changed = np.flatnonzero(np.diff(y) != 0) + 1
    at = changed - 1 if back else changed
    path = "".join(f"H{a}V{b}" for a, b in zip(x[at].tolist(), y[changed].tolist(), strict=True))
    return f"{path}H{x[-1]}"


def _pieces(x: Floats, y: Floats, *, steps: bool) -> Iterator[tuple[Floats, Floats]]:
    good = ~np.isnan(x) & ~np.isnan(y)
    for begin, end in _stretches(good):
        across, up = x[begin:end], y[begin:end]
        if steps and end < len(x):
            # The last value before a gap stands until the gap begins.
            across, up = np.append(across, x[end]), np.append(up, up[-1])
        if len(across) > 1:
            yield _whole(across), _whole(up)


def _stretches(good: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield where what is there begins, and where it ends."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], good, [False])).astype(np.int8)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _whole(values: Floats) -> Floats:
    found: Floats = np.rint(np.clip(values, -_FAR, _FAR)).astype(np.int64)
    return found
