"""Two buckets in one policer, as in RFC 2698: a packet is dropped where either is full."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.bucket import Bucket, fit
from tidegate._identify.crossings import fullness

if TYPE_CHECKING:
    from tidegate._identify.crossings import Crossings

#: Two are tried where one explains this share of the deviance of drops, at least.
PARTLY = 0.15
#: Losses that each bucket has for itself.
_LOSSES = 8
#: Share of their deviance that each explains, and share of all losses that both tell: where packets' times
#: are known, and where they are coarse.
_EXPLAINED, _TOGETHER = (0.75, 0.4), (0.9, 0.6)
#: Each gains so much log likelihood over losses at random.
_GAIN = 40.0
#: The faster one is faster by this factor at least, and smaller by that one.
_FASTER, _SMALLER = 1.1, 1.5
#: Each is fitted again, without the losses of the other, so many times.
_ROUNDS = 2


def second(packets: Crossings, one: Bucket) -> tuple[Bucket, Bucket] | None:
    """Return the slower and the faster bucket where two explain what one does not; else None."""
    lost = packets.judged & ~packets.passed
    other: Bucket | None = None
    for _ in range(_ROUNDS):
        other = _of(packets, lost & ~_full(packets, one))
        if other is None:
            return None
        again = _of(packets, lost & ~_full(packets, other))
        if again is None:
            return None
        one = again
    assert other is not None
    slow, fast = sorted((one, other), key=lambda each: each.rate_bps)
    full = _full(packets, slow) | _full(packets, fast)
    coarse = int(packets.coarse_s > 0)
    if (
        fast.rate_bps < _FASTER * slow.rate_bps
        or slow.limit < _SMALLER * fast.limit
        or min(slow.gain, fast.gain) < _GAIN
        or min(slow.explained, fast.explained) < _EXPLAINED[coarse]
        or np.count_nonzero(lost & full) < _TOGETHER[coarse] * packets.drops
    ):
        return None
    return slow, fast


def _of(packets: Crossings, lost: Any) -> Bucket | None:
    """Return the bucket of these losses; the others are not judged, and did not pass."""
    if np.count_nonzero(lost) < _LOSSES:
        return None
    return fit(replace(packets, judged=packets.judged & (packets.passed | lost)))


def _full(packets: Crossings, bucket: Bucket) -> Any:
    """Return which packets a bucket has no room for, within its blur."""
    room = bucket.limit - max(bucket.blur, packets.largest / 2)
    return fullness(packets, bucket.rate_bps) + packets.size > room
