"""When packets passed that a capture near the receiver lacks: between neighbours, or with the one before.

A sender that paces sends bursts of a few packets, and what a bucket of a few packets drops is the end of a
burst. Midway to the next burst the bucket has drained again, and nothing would have been dropped there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._identify.bucket import point, with_intervals
from tidegate._identify.drops import FEW_LOSSES
from tidegate._identify.second import PARTLY, second
from tidegate._identify.share import crossings

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate._identify.bucket import Point
    from tidegate._identify.crossings import Crossings
    from tidegate._identify.sent import Sent

#: A bucket that explains so much of the drops needs no other times.
_ALL = 0.9
#: Other times are taken if a bucket, or each of two, then explains so much, with such a gain in likelihood
#: (its logarithm).
_ENOUGH, _SURELY = 0.75, 40.0
#: It holds so many packets: in a smaller one a packet would be dropped for following another at all, as every
#: packet does that is put close behind one.
_PACKETS = 2.5


def placed(between: Sent, close: Callable[[], Sent]) -> Sent:
    """Return the packets with those that are missing between their neighbours, or close behind one.

    They stand between them, unless a bucket explains the drops only where they do not.
    """
    if between.lost < FEW_LOSSES:
        return between
    packets = crossings([between])[0]
    first = point(packets)
    if first is None or first.explained >= _ALL:
        return between
    other = close()
    later = crossings([other])[0]
    found = point(later)
    if found is None or found.limit < _PACKETS * later.largest:
        return between
    if found.explained >= _ENOUGH and found.likelihood >= first.likelihood + _SURELY:
        return other
    return other if _of_two(later, found) > max(_ENOUGH, _of_two(packets, first)) else between


def _of_two(packets: Crossings, one: Point) -> float:
    """Return what two buckets explain of the deviance of their drops, the lesser of both; 0 where none do."""
    if one.explained < PARTLY:
        return 0.0
    both = second(packets, with_intervals(packets, one))
    if both is None or both[1].limit < _PACKETS * packets.largest:
        return 0.0
    return min(each.explained for each in both)
