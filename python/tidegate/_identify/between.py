"""A bucket's rate by what passed between losses, on stretches of the capture.

At a loss the bucket is as full as its limit. So from one loss to another, if the bucket was not empty in
between, what passed is what drained, and each stretch of losses tells the rate for itself. Where all that
passes is in the capture the stretches agree. What hidden traffic leaves is now more, now less, and their
spread says by how much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.chances import special, student
from tidegate._identify.crossings import fullness

if TYPE_CHECKING:
    from tidegate._identify.crossings import Crossings

#: Stretches, of equal times between losses, and the fewest that have a spread.
_STRETCHES, _FEWEST = 10, 3
#: Stretches differ if the places of losses would make them differ so much no oftener than this.
_CHANCE = 0.01
#: Decisions that a bucket does not explain may be other traffic's from this share of the drops on, and from
#: so many.
_WRONG, _FEW = 0.05, 5


def contradicted(wrong: int, drops: int) -> bool:
    """Tell whether so many decisions on the wrong side of the limit speak for hidden traffic."""
    return wrong >= max(_FEW, _WRONG * drops)


def between_losses(packets: Crossings, rate_bps: float) -> tuple[float, float] | None:
    """Return the 95% interval of the rate in bit/s; None where nothing speaks against a steady one.

    A replay at a rate near the right one tells how full the bucket was. If over a stretch it drained for `T`
    seconds between losses, and its fullness at them moved by `d` bytes, the rate is `rate_bps + 8 d / T`.
    Whether the stretches differ is asked by a chi-squared test against what the places of losses explain: a
    loss is seen to one packet, and to the coarse times of a capture near the receiver. If they do, Student's
    t of their spread gives the interval.
    """
    time, moved, runs = _stretches(packets, rate_bps)
    count = len(time)
    if count < _FEWEST:
        return None
    place = 128 * (packets.largest**2 / 12 + (packets.coarse_s * rate_bps / 8) ** 2 / 3)
    if special.chdtrc(count, float((moved**2 / runs).sum()) / place) > _CHANCE:
        return None
    whole = float(time.sum())
    more = float(moved.sum()) / whole
    spread = (float((time * (moved / time - more) ** 2).sum()) / whole / (count - 1)) ** 0.5
    half = student(count - 1) * spread
    middle = rate_bps + more
    return (middle - half, middle + half) if half < middle else None


def _stretches(packets: Crossings, rate_bps: float) -> tuple[Any, Any, Any]:
    """Return of each stretch the seconds between losses, the bits by which fullness moved, and its runs.

    A run is of losses between which the bucket was never empty.
    """
    before = fullness(packets, rate_bps)
    lost = packets.decided[1]
    full = before[lost] + packets.size[lost]
    empty = np.maximum.accumulate(np.where(before <= 0, np.arange(len(before)), 0))[lost]
    follows = empty[1:] < lost[:-1]
    run = np.cumsum(~follows)[follows]
    time, moved = np.diff(packets.time_s[lost])[follows], 8 * np.diff(full)[follows]
    done = np.cumsum(time)
    if not len(time) or done[-1] <= 0:
        return time[:0], moved[:0], run[:0]
    part = np.minimum((done * (_STRETCHES / done[-1])).astype(int), _STRETCHES - 1)
    begins = np.concatenate([[True], (np.diff(part) > 0) | (np.diff(run) > 0)])
    sums = [np.bincount(part, weights=each) for each in (time, moved, begins)]
    some = sums[0] > 0
    return sums[0][some], sums[1][some], sums[2][some]
