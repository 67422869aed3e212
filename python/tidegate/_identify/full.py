"""The limit of a queue whose rate changes: what it held, in bytes, at each loss, whatever its rate was.

What is in a queue is what came before less what has left, and round trips tell when packets left. A queue
that is full drops at one backlog, and next to nothing passed at more. An AQM drops at many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.crossings import leaving
from tidegate._identify.found import Number

if TYPE_CHECKING:
    from tidegate._identify.crossings import Crossings

#: Losses, and times of losses more than a round trip apart, that are enough.
_LOSSES, _SERIES = 5, 3
#: Nine of ten losses meet more than this share of what any packets that passed met, and lie as near.
_FULL, _LONGEST = 0.9, 0.999
#: Eight of ten losses lie within so many packets, or such a share of the backlog.
_PACKETS, _SHARE = 4.0, 0.1


def full_at(packets: Crossings, trip: Any) -> Number | None:
    """Return what the queue holds, in bytes; None where losses do not all come at one backlog."""
    lost, passed = packets.judged & ~packets.passed, packets.judged & packets.passed
    known = trip > 0
    if np.count_nonzero(lost) < _LOSSES or not known.any():
        return None
    apart = np.diff(packets.time_s[lost]) > float(np.median(trip[known]))
    if 1 + np.count_nonzero(apart) < _SERIES:
        return None
    came = np.concatenate([[0.0], np.cumsum(np.where(packets.passed, packets.size, 0.0))])
    inside = came[:-1] - came[np.searchsorted(leaving(packets, trip), packets.time_s, side="right")]
    low, middle, high = (float(each) for each in np.quantile(inside[lost], (0.1, 0.5, 0.9)))
    packet = packets.largest
    if high - low > max(_PACKETS * packet, _SHARE * middle):
        return None
    if low + packet < _FULL * float(np.quantile(inside[passed], _LONGEST)):
        return None
    # The packet in transmission is inside as a whole, and one beside it may count or not.
    half = max(1.5 * packet, (high - low) / 2)
    value = middle - packet / 2
    return Number(value, (max(0.0, value - half), value + half))
