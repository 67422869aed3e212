"""Which law a queue has: one rate, a shaper, two rates, steps, or a rate that varies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.delay import Waiting, waiting
from tidegate._identify.delivery import delivery
from tidegate._identify.drops import FEWEST, HALF, RISE_S
from tidegate._identify.queue_laws import both_rates, of_trains, one_change, one_rate
from tidegate._identify.stepped import Stepped, stepped
from tidegate._identify.two_rates import TwoRates, two_rates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.bucket import Bucket
    from tidegate._identify.crossings import Crossings
    from tidegate._identify.found import Law
    from tidegate._identify.sent import Sent

#: One packet in fifty waits, at least.
_SOME = 0.98
#: Of the spread of round trips a backlog must explain so much where senders were held by other things.
_SURELY = 0.75
#: Two rates, or one, are believed without trains of packets if they explain more than this share.
_EXPLAINED = 0.9
#: One explanation is better than another if it leaves less than this share of what the other leaves. A change
#: comes soon if it comes in this first share of the capture.
_CLEARLY, _SOON = 0.8, 0.1
#: What is left of round trips is compared down to this part of a packet.
_EXACT = 0.1
#: What one rate leaves of the round trips is worth a second rate only if it is more than this.
_NOISE_S = 0.000005


def queue_of(
    streams: Sequence[Sent], packets: Crossings, trip: Any, bucket: Bucket | None, held: float = 0.0
) -> Law | None:
    """Return the law of a queue; None where packets did not wait.

    ``held``: share of the time in which the senders' applications or the receivers' windows held them. Where
    it is most of the time, packets come at the pace of these, which is not the link's: then only a backlog
    that explains the round trips tells a rate.
    """
    seen = trip[trip > 0]
    if len(seen) < FEWEST or float(np.quantile(seen, _SOME) - seen.min()) < RISE_S:
        return None
    found = waiting(packets, trip, None if bucket is None else bucket.rate_bps)
    trains = delivery(streams)
    if found is not None and found.noise_s > _NOISE_S:
        both = two_rates(packets, trip, found) if found.explained > HALF / 2 else None
        # Hidden traffic leaves much of the round trips unexplained, but packets that wait leave at one rate.
        steady = found.explained >= HALF and trains is not None and trains.kind == "constant"
        if both is not None and not steady and both.explained <= _EXPLAINED:
            both = None
        change = None
        if found.explained < _EXPLAINED or _for_long(packets, found):
            change = stepped(packets, trip, found.noise_s, both)
        more = trains is not None and (trains.kind == "varying" or len(trains.pieces) > 2)
        if change is not None and change.explained <= (_EXPLAINED if more else HALF):
            change = None
        if change is not None and (both is None or _rather(packets, change, both)):
            return one_change(packets, trip, change, both)
        if both is not None:
            return both_rates(streams, packets, trip, both, found)
    # Where few packets wait, trains of them are chance.
    few = float(np.quantile(seen, 0.9) - seen.min()) < RISE_S
    paced = held > HALF or few
    good = found is not None and found.explained >= (_SURELY if paced else HALF)
    if trains is None or (good and trains.kind == "constant"):
        return one_rate(streams, packets, trip, found, bucket) if good and found is not None else None
    if trains.saturated < 0.05 and not good:
        return None
    if good and found is not None and (paced or found.explained > _EXPLAINED):
        return one_rate(streams, packets, trip, found, bucket)
    if paced:
        return None
    return of_trains(streams, packets, trip, trains)


def _for_long(packets: Crossings, found: Waiting) -> bool:
    """Tell whether a burst lasts for so long that a rate that falls once may be the reason."""
    return 8 * found.allowance / found.rate_bps > _SOON * float(packets.time_s[-1])


def _rather(packets: Crossings, change: Stepped, both: TwoRates) -> bool:
    """Tell whether a rate that changes once is the reason rather than a shaper of two rates.

    Where both leave as much of the round trips, the burst was used up once and never filled again. Then what
    changes soon after the beginning is more likely a burst that ends, and what changes later a rate.
    """
    exact = _EXACT * 8 * packets.largest / both.rate_bps
    one, two = (max(each.noise_s, exact) for each in (change, both))
    if min(one, two) < _CLEARLY * max(one, two):
        return one < two
    return change.at_s > _SOON * float(packets.time_s[-1])
