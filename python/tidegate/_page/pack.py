"""Columns of numbers as short text, for pages that draw them again.

A column is turned into whole multiples of a power of ten, these into differences (of differences, where
that is shorter), and each of them into as few bytes as it needs: seven bits a byte, the eighth says that more
follow (LEB128), the sign in the lowest bit. A sampled time takes one byte a row so, a window one or two, and
the text is the same on every machine, which a compressor's is not. ``web/src/shared/columns.ts`` reads it.
"""

from __future__ import annotations

import math
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: Digits that are kept of a column's largest number, where it has a fraction.
DIGITS = 6
#: Whole numbers up to here are the same in JavaScript.
_EXACT = 2**53


def packed(values: ArrayLike, digits: int = DIGITS) -> dict[str, Any]:
    """Return a column for JSON: ``n`` numbers, ``data`` in base64; not a number is a gap.

    A number is its whole multiple times ten to the power ``exponent``; columns of whole numbers are exact,
    others keep ``digits`` digits of their largest one. ``gaps`` lists where numbers are missing: first, how
    many. ``order`` is 2 where differences of differences were taken.
    """
    column = np.asarray(values, dtype=np.float64)
    missing = ~np.isfinite(column)
    held = _held(column, missing)
    exponent = _exponent(held, digits)
    scaled = held * 10.0**-exponent if exponent <= 0 else held / 10.0**exponent
    whole = np.rint(scaled).astype(np.int64)
    once = np.diff(whole, prepend=0)
    twice = np.diff(once, prepend=0)
    order, text = min(((1, _bytes(once)), (2, _bytes(twice))), key=lambda each: len(each[1]))
    return {
        "n": len(column),
        "exponent": exponent,
        "order": order,
        "gaps": _gaps(missing),
        "data": b64encode(text).decode("ascii"),
    }


def _held(column: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the column with the number before each gap in it; what stands there is never shown."""
    place = np.where(missing, 0, np.arange(len(column)))
    held: NDArray[np.float64] = np.where(missing, 0.0, column)[np.maximum.accumulate(place)]
    return held


def _exponent(held: NDArray[np.float64], digits: int) -> int:
    largest = float(np.max(np.abs(held), initial=0.0))
    if largest == 0.0 or (largest < _EXACT and bool(np.all(held == np.rint(held)))):
        return 0
    return math.floor(math.log10(largest)) + 1 - digits


def _bytes(numbers: NDArray[np.int64]) -> bytes:
    """Return whole numbers with seven bits in each byte, the lowest first; the sign is the lowest bit."""
    rest = ((numbers << 1) ^ (numbers >> 63)).astype(np.uint64)
    length = np.ones(len(rest), dtype=np.int64)
    for bits in range(7, 64, 7):
        length += rest >= np.uint64(1) << np.uint64(bits)
    begin = np.cumsum(length) - length
    found = np.zeros(int(length.sum()), dtype=np.uint8)
    for place in range(int(length.max(initial=0))):
        here = length > place
        part = (rest[here] >> np.uint64(7 * place)).astype(np.uint8) & np.uint8(127)
        more = (length[here] > place + 1).astype(np.uint8) << np.uint8(7)
        found[begin[here] + place] = part | more
    return found.tobytes()


def _gaps(missing: NDArray[np.bool_]) -> list[list[int]]:
    """Return the stretches that are missing: where each begins, and how long it is."""
    edges = np.flatnonzero(np.diff(missing.astype(np.int8), prepend=0, append=0))
    return [[int(begin), int(end - begin)] for begin, end in edges.reshape(-1, 2)]
