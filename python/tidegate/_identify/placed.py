"""When packets passed that a capture near the receiver lacks: between neighbours, or with the one before.

A sender that paces sends bursts of a few packets, and what a bucket of a few packets drops is the end of a
burst. Midway to the next burst the bucket has drained again, and nothing would have been dropped there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._identify.bucket import point
from tidegate._identify.drops import FEW_LOSSES
from tidegate._identify.share import crossings

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate._identify.sent import Sent

#: A bucket that explains so much of the drops needs no other times.
_ALL = 0.9
#: Other times are taken if a bucket then explains so much, with such a gain in log likelihood.
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
    first = point(crossings([between])[0])
    if first is None or first.explained >= _ALL:
        return between
    other = close()
    packets = crossings([other])[0]
    found = point(packets)
    if (
        found is None
        or found.explained < _ENOUGH
        or found.likelihood < first.likelihood + _SURELY
        or found.limit < _PACKETS * packets.largest
    ):
        return between
    return other
