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

from tidegate._base.text import number
from tidegate._identify.aqm import with_aqm
from tidegate._identify.crossings import Crossings, fullness
from tidegate._identify.drops import FEW_LOSSES, FEWEST, RISE_S
from tidegate._identify.drops import risk as risk_of
from tidegate._identify.found import Law
from tidegate._identify.least import least_carried
from tidegate._identify.losses import losses
from tidegate._identify.marks import with_marks
from tidegate._identify.policed import drains_alike, explains, in_doubt, policed, policed_in_parts
from tidegate._identify.queue import queue_of
from tidegate._identify.share import crossings
from tidegate._identify.words import between, in_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.bucket import Bucket
    from tidegate._identify.sent import Sent


def law_of(
    streams: Sequence[Sent],
    bucket: Bucket | None,
    parts: int = 1,
    held: float = 0.0,
    beside: Sequence[Sent] = (),
) -> Law:
    """Return the law that these connections met; `parts` as in `crossings`, `held` as in `queue_of`.

    ``beside``: packets that cross it as well, of which nothing else is known.
    """
    count = sum(each.data_packets for each in streams)
    if count < FEWEST:
        return Law(
            "cannot tell",
            f"Cannot tell: {count} data packets are too few; a law needs {FEWEST} at least.",
            [],
        )
    packets, trip = crossings([*streams, *beside], parts)
    queue = None
    law = policed(streams, packets, trip, bucket)
    if law is None or (bucket is not None and in_doubt(law, bucket)):
        queue = queue_of(streams, packets, trip, bucket, held)
        queue = None if queue is None else with_aqm(with_marks(queue, packets, trip), packets, trip)
    if law is not None and queue is not None and drains_alike(queue, law):
        law = None
    if law is None and (queue is None or queue.kind == "cannot tell"):
        law = policed_in_parts(packets, trip, bucket)
    return law or queue or _no_queue(packets, trip, bucket, least_carried(streams))


def _no_queue(packets: Crossings, trip: Any, bucket: Bucket | None, least: str) -> Law:
    if packets.drops == 0:
        return Law(
            "none",
            f"No limit of the link was reached: nothing was lost, and no packet waited for others. {least}",
            ["The sender, the receiver or the application held the transfer back; see limited by."],
        )
    if packets.drops < FEW_LOSSES:
        return Law(
            "cannot tell",
            f"Cannot tell: {packets.drops} lost packets are too few, and no packet waited. {least}",
            [],
            drops="cannot tell",
        )
    if bucket is not None and explains(bucket):
        return _policer_or_queue(bucket, least)
    risk = risk_of(packets, trip)
    if risk is not None and risk[1] < 1e-4 and risk[0] > RISE_S:
        return Law(
            "cannot tell",
            "Cannot tell: losses follow long round trips, as a queue's do, but no one rate explains them.",
            [f"Before losses, round trips are {number(1e3 * risk[0])} ms longer (p = {risk[1]:.1g})."],
            drops="queue full",
        )
    lost = losses(packets)
    return Law(
        "none",
        f"No rate limit explains the losses: {lost.words}. {least}",
        ["Neither a bucket nor a queue explains the losses, and the round trip does not rise before them."],
        drops="random",
        **lost.of_law,
    )


def _policer_or_queue(bucket: Bucket, least: str) -> Law:
    """Return the law where a bucket explains the drops, and round trips tell no policer from a queue."""
    low, high = bucket.rate_interval
    return Law(
        "cannot tell",
        f"Cannot tell a policer from a queue: a bucket of {in_bytes(bucket.limit)} at "
        f"{between(low, high)} explains the {bucket.drops} losses, and round trips do not tell which it is. "
        f"{least}",
        [
            (
                "Behind a policer round trips do not follow how full the bucket is, in a queue they do; here "
                "they vary otherwise, as with a queue on the way back of the ACKs, or are not known."
            )
        ],
        drops="cannot tell",
    )


def tokens(packets: Crossings, law: Law) -> Any:
    """Return the bytes in the bucket of a law before each packet."""
    assert law.rate_bps is not None
    return fullness(packets.counting(law.header_bytes), law.rate_bps.value)
