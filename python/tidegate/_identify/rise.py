"""Whether round trips rise before losses, as they do in a queue and not behind a policer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.drops import FEW_LOSSES
from tidegate._identify.drops import risk as risk_of

if TYPE_CHECKING:
    from tidegate._identify.bucket import Bucket
    from tidegate._identify.crossings import Crossings

#: Before losses at a queue, round trips are longer by the time that the full queue takes to drain; a queue
#: that never empties hides up to three quarters of it. Behind a policer they are not longer at all (Flach
#: et al., §3).
_INFLATED = 0.25
#: Round trips surely rose before losses if chance explains it with less probability, and if nine of ten
#: losses follow a wait for so many packets: a queue is full before each of its drops, noise is not.
_SURELY, _NINE_OF_TEN, _PACKETS = 1e-6, 0.1, 2


def _inflation(packets: Crossings, trip: Any, bucket: Bucket, at: float = 0.5) -> float:
    """Return how much longer round trips are before losses, as a share of a full bucket's time to drain.

    ``at``: which quantile of the losses; their median if left out.
    """
    known = np.flatnonzero(trip > 0)
    before = np.searchsorted(known, np.flatnonzero(packets.judged & ~packets.passed)) - 1
    before = before[before >= 0]
    if len(before) < FEW_LOSSES:
        return 0.0
    longer = float(np.quantile(trip[known][before], at) - np.quantile(trip[known], 0.05))
    return longer * bucket.rate_bps / (8 * bucket.limit)


def delayed(packets: Crossings, trip: Any, bucket: Bucket) -> bool:
    """Tell whether packets waited before losses, which they do in a queue and not behind a policer.

    Either for much of the time that the full bucket takes to drain, or surely and for several packets' time:
    so a shaper is known whose queue is small beside its burst.
    """
    if _inflation(packets, trip, bucket) >= _INFLATED:
        return True
    told = risk_of(packets, trip)
    surely = told is not None and told[0] > 0 and told[1] < _SURELY
    if not surely:
        return False
    usual = _inflation(packets, trip, bucket, _NINE_OF_TEN)
    return usual * bucket.limit > _PACKETS * packets.largest
