"""The law of a limit, chosen by what explains drops and delays.

The rule: a bucket explains the drops, or it does not (its deviance beside that of drops at random, with the
price of its parameters). A queue explains the delays, or it does not (mean absolute residual beside that of
one delay for all).

| drops explained | delays explained | law |
|---|---|---|
| yes | no | policer |
| yes | yes | queue with a limit |
| no | yes | queue; its drops are early or random |
| no | no | random loss, or no limit reached |

"Explains" is more than half: of two reasons, the one with the larger part is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.text import number, percent, rate
from tidegate._identify.bucket import fit_at
from tidegate._identify.changed import changed
from tidegate._identify.crossings import Crossings, fullness
from tidegate._identify.delay import explained_at, waiting
from tidegate._identify.drops import FEW_LOSSES, FEWEST, HALF, RISE_S, loss_share
from tidegate._identify.drops import risk as risk_of
from tidegate._identify.found import Law
from tidegate._identify.policer import policer, policer_that_changed
from tidegate._identify.queue import queue_of
from tidegate._identify.rise import delayed
from tidegate._identify.share import crossings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.bucket import Bucket
    from tidegate._identify.sent import Sent

#: A bucket that explains this share of the deviance of drops, with such a gain in log likelihood.
_PARTLY, _SURELY = 0.25, 40.0
#: Share of the spread of round trips that a queue surely explains.
_DELAYS = 0.9
#: A bucket that explains so much of the drops is not made by a queue of another rate by chance.
_ENOUGH = 0.75
#: Where one bucket explains the drops, two must each explain this share of theirs to be believed.
_CHANGED = 0.85


def law_of(streams: Sequence[Sent], bucket: Bucket | None, parts: int = 1) -> Law:
    """Return the law that these connections met; `parts` as in `crossings`."""
    count = sum(each.data_packets for each in streams)
    if count < FEWEST:
        return Law(
            "cannot tell",
            f"Cannot tell: {count} data packets are too few; a law needs {FEWEST} at least.",
            [],
        )
    packets, trip = crossings(streams, parts)
    if bucket is not None and _explains(bucket):
        explained = explained_at(packets, trip, bucket.rate_bps)
        if explained < HALF and not delayed(packets, trip, bucket) and not _queued(packets, trip, bucket):
            two = changed(packets, bucket)
            if two is not None and min(each.explained for each in two[1:]) > _CHANGED:
                return policer_that_changed(*two)
            return policer(packets, bucket, explained)
    queue = queue_of(streams, packets, trip, bucket)
    if queue is None or queue.kind == "cannot tell":
        two = changed(packets, bucket)
        if two is not None and not any(delayed(packets, trip, each) for each in two[1:]):
            return policer_that_changed(*two)
    return queue or _no_queue(packets, trip)


def _explains(bucket: Bucket) -> bool:
    """Tell whether a bucket explains the drops: most of them, or a part that is surely not chance."""
    if bucket.drops < FEW_LOSSES or bucket.gain <= 0:
        return False
    return bucket.explained >= HALF or (bucket.explained >= _PARTLY and bucket.gain >= _SURELY)


def _queued(packets: Crossings, trip: Any, bucket: Bucket) -> bool:
    """Tell whether a queue of another rate explains the delays, and the drops nearly as well.

    A shaper of two rates drops while its peak fills the queue, so a bucket at the peak explains drops, too,
    but not most of them.
    """
    seen = trip[trip > 0]
    if len(seen) < FEWEST or float(np.quantile(seen, 0.9) - seen.min()) < RISE_S:
        return False
    found = waiting(packets, trip, bucket.rate_bps)
    if found is None or found.explained < _DELAYS:
        return False
    if bucket.explained < _ENOUGH:
        return True
    other = fit_at(packets, found.rate_bps)
    return other is not None and other.explained > HALF * bucket.explained


def _no_queue(packets: Crossings, trip: Any) -> Law:
    top = _fastest(packets)
    least = f"It carries at least {rate(top)}, the most that was sent in 100 ms and arrived."
    if packets.drops == 0:
        return Law(
            "none",
            f"No limit of the link was reached: nothing was lost and no packet waited. {least}",
            ["The sender, the receiver or the application held the transfer back; see limited by."],
        )
    share = loss_share(packets)
    if packets.drops < FEW_LOSSES:
        return Law(
            "cannot tell",
            f"Cannot tell: {packets.drops} lost packets are too few, and no packet waited. {least}",
            [],
            drops="cannot tell",
        )
    risk = risk_of(packets, trip)
    if risk is not None and risk[1] < 1e-4 and risk[0] > RISE_S:
        return Law(
            "cannot tell",
            "Cannot tell: losses follow long round trips, as a queue's do, but no one rate explains them.",
            [f"Before losses, round trips are {number(1e3 * risk[0])} ms longer (p = {risk[1]:.1g})."],
            drops="queue full",
        )
    return Law(
        "none",
        f"No rate limit explains the losses: {percent(share.value, 2)}% are lost at random. {least}",
        ["Neither a bucket nor a queue explains the losses, and the round trip does not rise before them."],
        drops="random",
        random_loss=share,
    )


def _fastest(packets: Crossings) -> float:
    """Return the highest rate, over 100 ms, of packets that arrived."""
    sums = np.bincount((packets.time_s * 10).astype(int), weights=np.where(packets.passed, packets.size, 0.0))
    return float(80 * sums.max())


def tokens(packets: Crossings, law: Law) -> Any:
    """Return the bytes in the bucket of a law before each packet."""
    assert law.rate_bps is not None
    return fullness(packets.counting(law.header_bytes), law.rate_bps.value)
