"""Whether a policer drops the packets: one bucket, two, one behind a queue, or one that changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.bucket import fit_at, point, with_intervals
from tidegate._identify.changed import changed
from tidegate._identify.crossings import fullness, leaving
from tidegate._identify.delay import explained_at, waiting
from tidegate._identify.dispersion import fastest_mode, gaps
from tidegate._identify.drops import FEW_LOSSES, FEWEST, HALF, RISE_S
from tidegate._identify.follows import Slope, follows
from tidegate._identify.found import clocked
from tidegate._identify.policer import lost_at_random, policer, policer_of_two, policer_that_changed
from tidegate._identify.search import most_losses
from tidegate._identify.second import PARTLY, second

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.bucket import Bucket
    from tidegate._identify.crossings import Crossings
    from tidegate._identify.found import Law, Number
    from tidegate._identify.sent import Sent

#: A bucket that explains this share of the deviance of drops, with such a gain in log likelihood.
_PARTLY, _SURELY = 0.25, 40.0
#: Share of the spread of round trips that a queue surely explains.
_DELAYS = 0.9
#: A bucket that explains so much of the drops is not made by a queue of another rate by chance.
_ENOUGH = 0.75
#: A bucket that explains so much needs no queue before it and no second bucket.
_ALL = 0.9
#: A bucket that tells nearly every drop, and less than so much of the spread of round trips.
_SURE, _LITTLE_DELAY = 0.95, 0.1
#: A bucket of so many packets is small; this share of the packets that find it nearly full has the shortest
#: round trips.
_SMALL, _SOONEST = 12.0, 0.25
#: Round trips that are spread by less than this, and by less than that share of the time in which the bucket
#: drains, do not wait for it.
_HARDLY_S, _LITTLE = 0.0005, 0.01
#: A queue before a policer is faster than the policer by this factor, or it would be the limit.
_FASTER = 1.05
#: Gaps so near the rate of a policer, of such a share of the packets that waited, are those of a queue.
_NEAR, _SOME = 0.02, 0.1
#: Packets of such a part.
_PART = 20_000
#: Whoever has passed a bucket of fewer packets than this has been spaced.
_SPACED = 1.5
#: A bucket of many packets leaves no range of rates so wide open.
_LOOSE = 2.0
#: Rates within this factor of each other may be one.
_ALIKE = 1.25
#: Where one bucket explains the drops, two must each explain this share of theirs to be believed.
_CHANGED = 0.85


def policed(streams: Sequence[Sent], packets: Crossings, trip: Any, bucket: Bucket | None) -> Law | None:
    """Return the law of a policer; None where none is told."""
    if bucket is None:
        return None
    ahead: Number | None = None
    if bucket.explained < _ALL and bucket.wrong:
        later = _behind(packets, trip)
        near = None if later is None or _surely_less(later, bucket) else point(later)
        if later is not None and near is not None and near.likelihood > bucket.likelihood:
            queue, found = _queue(streams, near.rate_bps), with_intervals(later, near)
            if queue is not None and queue.interval[0] > _FASTER * found.rate_bps and explains(found):
                packets, bucket, ahead = later, found, queue
    if bucket.explained < PARTLY:
        return None
    slope = follows(packets, trip, bucket.rate_bps)
    if _waits(packets, trip, bucket, slope) or _queued(packets, trip, bucket, slope):
        return None
    if bucket.explained < _ALL:
        both = second(packets, bucket)
        if both is not None and not any(
            _waits(packets, trip, each, follows(packets, trip, each.rate_bps)) for each in both
        ):
            return policer_of_two(*both, ahead)
    if not explains(bucket) or _is_open_and_large(packets, bucket):
        return None
    # Without round trips, packets that a link has spaced look like those that pass a bucket of one packet.
    if slope is None and bucket.limit < _SPACED * packets.largest:
        return None
    random = lost_at_random(packets, bucket)
    known = random is not None or ahead is not None
    changes = None if known else policed_in_parts(packets, trip, bucket, _CHANGED)
    return changes or policer(packets, bucket, slope, ahead, random)


def policed_in_parts(packets: Crossings, trip: Any, bucket: Bucket | None, least: float = 0.0) -> Law | None:
    """Return the law of a policer that changed, where no bucket explains the whole; None where none is told.

    ``least``: what each bucket must explain of its own drops.
    """
    two = changed(packets, bucket)
    if two is None or min(each.explained for each in two[1:]) < least:
        return None
    at, *buckets = two
    cut = int(np.searchsorted(packets.time_s, at))
    for (low, high), each in zip(((0, cut), (cut, len(trip))), buckets, strict=True):
        part, here = packets.part(low, high), trip[low:high]
        if _waits(part, here, each, follows(part, here, each.rate_bps)):
            return None
    return policer_that_changed(*two)


def explains(bucket: Bucket) -> bool:
    """Tell whether a bucket explains the drops: most of them, or a part that is surely not chance."""
    if bucket.drops < FEW_LOSSES or bucket.gain <= 0:
        return False
    return bucket.explained >= HALF or (bucket.explained >= _PARTLY and bucket.gain >= _SURELY)


def _is_open_and_large(packets: Crossings, bucket: Bucket) -> bool:
    """Tell whether drops that a bucket explains in part leave the rate open, though it holds many packets.

    Only a bucket of a few packets drains between two bursts, so that many rates explain its drops alike. A
    large one that leaves the rate open stands for something else, such as a queue whose rate fell.
    """
    low, high = bucket.rate_interval
    return bucket.limit > _SMALL * packets.largest and bucket.explained < _ENOUGH and high > _LOOSE * low


def in_doubt(law: Law, bucket: Bucket) -> bool:
    """Tell whether a policer of one bucket explains a part of the drops only, as a queue's may do.

    ``bucket``: the one of all packets at the times at which they were sent.
    """
    return not law.pieces and law.peak_bps is None and bucket.explained < _ENOUGH


def drains_alike(queue: Law, law: Law) -> bool:
    """Tell whether a queue with a burst, or whose rate changes, drains as a policer is said to.

    Then packets wait for what the bucket holds; the burst, or another rate at times, hides that.
    """
    if queue.kind not in ("token bucket", "two rates", "steps") or law.rate_bps is None:
        return False
    rates = [each.value for _, each in queue.pieces] or [queue.rate_bps.value if queue.rate_bps else 0.0]
    return any(each < _ALIKE * law.rate_bps.value and law.rate_bps.value < _ALIKE * each for each in rates)


def _waits(packets: Crossings, trip: Any, bucket: Bucket, slope: Slope | None) -> bool:
    """Tell whether packets wait for the bucket to drain, as far as round trips tell."""
    if slope is None:
        return False
    explained = explained_at(packets, trip, bucket.rate_bps)
    if not slope.none:
        # Delayed ACKs of a few packets in flight can follow a small bucket, too.
        little = slope.below(HALF) and explained < _LITTLE_DELAY
        return bucket.explained <= _SURE or not (little or _passes_at_once(packets, trip, bucket))
    # Beside a bucket that drains for long, waits behind a shaper's burst are short: then the slope is small,
    # too.
    known = trip[trip > 0]
    spread = float(np.abs(known - np.median(known)).mean())
    return explained >= HALF and spread > min(_HARDLY_S, _LITTLE * 8 * bucket.limit / bucket.rate_bps)


def _passes_at_once(packets: Crossings, trip: Any, bucket: Bucket) -> bool:
    """Tell whether packets that find a small bucket nearly full do not wait, as they would in any queue.

    With room for less than one packet more, a queue, that of a shaper with a burst as well, has a packet
    waiting. Other reasons make round trips longer, never shorter. Where the drops leave the rate open, the
    highest counts.
    """
    if bucket.limit > _SMALL * packets.largest:
        return False
    known = np.flatnonzero(trip > 0)
    held = fullness(packets, bucket.rate_bps, known) + packets.size[known]
    full = trip[known[held > bucket.limit - packets.largest]]
    if len(full) < FEWEST:
        return False
    one = 8 * packets.largest / bucket.rate_interval[1]
    return float(np.quantile(full, _SOONEST) - trip[known].min()) < one / 2


def _behind(packets: Crossings, trip: Any) -> Crossings | None:
    """Return the packets at the times at which they leave a queue; None where nothing waited."""
    known = np.flatnonzero(trip > 0)
    if len(known) < FEWEST or np.ptp(trip[known]) < RISE_S or packets.drops < FEW_LOSSES:
        return None
    left = leaving(packets, trip)
    return replace(packets, time_s=left - left[0])


def _surely_less(packets: Crossings, bucket: Bucket) -> bool:
    """Tell whether a part of many packets shows that a bucket explains far less of them than this one."""
    if len(packets.time_s) <= packets.searched:
        return False
    found = point(most_losses(replace(packets, searched=_PART)))
    return found is None or found.explained < HALF * bucket.explained


def _queue(streams: Sequence[Sent], policed_bps: float) -> Number | None:
    """Return the rate of the queue in which packets waited, as the gaps between those that waited tell it.

    None where many of them leave at the rate of the policer: then this is a queue's.
    """
    between = gaps(streams)
    mode = fastest_mode(between)
    same = fastest_mode(between, policed_bps * (1 - _NEAR), policed_bps * (1 + _NEAR))
    if mode is None or (same is not None and same.share > _SOME):
        return None
    return clocked(mode.rate_bps, mode.interval)


def _queued(packets: Crossings, trip: Any, bucket: Bucket, slope: Slope | None) -> bool:
    """Tell whether a queue of another rate explains the delays, and the drops nearly as well.

    A shaper of two rates drops while its peak fills the queue, so a bucket at the peak explains drops, too,
    but not most of them.
    """
    seen = trip[trip > 0]
    if slope is None or len(seen) < FEWEST or np.quantile(seen, 0.9) - seen.min() < RISE_S:
        return False
    found = waiting(packets, trip, bucket.rate_bps)
    if found is None or found.explained < _DELAYS:
        return False
    if bucket.explained < _ENOUGH:
        return True
    other = fit_at(packets, found.rate_bps)
    return other is not None and other.explained > HALF * bucket.explained
