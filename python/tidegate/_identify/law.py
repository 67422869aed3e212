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

from tidegate._base.text import number, rate
from tidegate._identify.bucket import Bucket, Crossings, fit, fullness
from tidegate._identify.counting import COUNTINGS, choose
from tidegate._identify.delay import Waiting, explained_at, waiting
from tidegate._identify.delivery import Delivery, delivery
from tidegate._identify.found import Law, Number
from tidegate._identify.share import crossings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.sent import Sent

#: More than this share of deviance, or of spread, is "explained".
HALF = 0.5
#: Fewer data packets than this say nothing.
FEWEST = 20
#: A delay that rises by less than this is no queue, whatever its shape.
_RISE_S = 0.003
#: Before losses at a queue, round trips are longer by the time that the full queue takes to drain; a queue
#: that never empties hides up to three quarters of it. Behind a policer they are not longer at all (Flach
#: et al., §3).
_INFLATED = 0.25
#: Clocks of computers are off by up to 50 millionths each (the usual tolerance of their crystals), and the
#: capture's and the device's are two: no rate is known better.
_CLOCK = 1e-4
#: Losses fewer than this do not make a law.
_FEW_LOSSES = 3


def law_of(streams: Sequence[Sent], bucket: Bucket | None) -> Law:
    """Return the law that these connections met."""
    count = sum(each.data_packets for each in streams)
    if count < FEWEST:
        return Law(
            "cannot tell",
            f"Cannot tell: {count} data packets are too few; a law needs {FEWEST} at least.",
            [],
        )
    packets, trip = crossings(streams)
    if bucket is not None and bucket.gain > 0 and bucket.explained >= HALF and bucket.drops >= _FEW_LOSSES:
        delayed = explained_at(packets, trip, bucket.rate_bps)
        if delayed < HALF and _inflation(packets, trip, bucket) < _INFLATED:
            return _policer(packets, bucket, delayed)
    return _queue(streams, packets, trip, bucket) or _no_queue(packets, trip)


def _inflation(packets: Crossings, trip: Any, bucket: Bucket) -> float:
    """Return how much longer round trips are before losses, as a share of a full bucket's time to drain."""
    known = np.flatnonzero(trip > 0)
    before = np.searchsorted(known, np.flatnonzero(packets.judged & ~packets.passed)) - 1
    before = before[before >= 0]
    if len(before) < _FEW_LOSSES:
        return 0.0
    longer = float(np.median(trip[known][before]) - np.quantile(trip[known], 0.05))
    return longer * bucket.rate_bps / (8 * bucket.limit)


def _policer(packets: Crossings, plain: Bucket, delayed: float) -> Law:
    buckets = {0: plain}
    mean = float(packets.size[packets.passed].mean())
    for extra in COUNTINGS:
        if extra:
            found = fit(packets.counting(extra), around=plain.rate_bps * (1 + extra / mean))
            if found is not None:
                buckets[extra] = found
    counting = choose(buckets)
    bucket = buckets[counting.extra]
    words = COUNTINGS[counting.extra]
    sure = (
        f"Its rate is round in {words}."
        if counting.known
        else f"What the device counts cannot be told; the numbers are bytes of {words}. "
        f"With Ethernet headers they are up to {100 * 18 / mean:.1f}% higher."
    )
    limit = Number(bucket.limit, bucket.limit_interval) if bucket.limit_known else None
    size = (
        f"a bucket of {_bytes(bucket.limit)}"
        if bucket.limit_known
        else "a bucket that cannot be told, as no packet passed or was lost with the bucket nearly empty"
    )
    judged = int(packets.judged.sum())
    evidence = [
        (
            f"A bucket that fills at this rate tells {judged - bucket.wrong} of {judged} packets rightly as "
            f"passed or lost ({bucket.drops} lost): {100 * bucket.explained:.0f}% of the deviance, of which "
            "losses at random explain nothing."
        ),
        (
            "Round trips do not rise as the bucket empties: a queue of that rate would explain "
            f"{100 * max(0.0, delayed):.0f}% of their spread."
        ),
        sure,
    ]
    return Law(
        "policer",
        f"A policer of {rate(bucket.rate_bps)} with {size} drops what exceeds it and delays nothing.",
        evidence,
        rate_bps=_clocked(bucket.rate_bps, bucket.rate_interval),
        burst_bytes=limit,
        counts=words,
        header_bytes=counting.extra,
        counts_known=counting.known,
        drops="policer",
    )


def _queue(streams: Sequence[Sent], packets: Crossings, trip: Any, bucket: Bucket | None) -> Law | None:
    """Return the law of a queue; None where packets did not wait."""
    seen = trip[trip > 0]
    if len(seen) < FEWEST or float(np.quantile(seen, 0.9) - seen.min()) < _RISE_S:
        return None
    found = waiting(packets, trip)
    trains = delivery(streams)
    good = found is not None and found.explained >= HALF
    if trains is None or (good and trains.kind == "constant"):
        return _one_rate(packets, trip, found, bucket) if good and found is not None else None
    if trains.saturated < 0.05 and not good:
        return None
    if good and found is not None and found.explained > 0.9:
        return _one_rate(packets, trip, found, bucket)
    return _trains(packets, trip, trains)


def _one_rate(packets: Crossings, trip: Any, found: Waiting, bucket: Bucket | None) -> Law:
    mean = float(packets.size.max())
    shaper = found.allowance_interval[0] > 3 * mean
    drops, queue, words, loss = _drops(packets, trip, bucket, found.allowance if shaper else 0.0)
    kind = "token bucket" if shaper else "constant"
    what = (
        f"A shaper of {rate(found.rate_bps)} lets {_bytes(found.allowance)} pass at once and queues the rest"
        if shaper
        else f"A link of {rate(found.rate_bps)} with a queue"
    )
    return Law(
        kind,
        f"{what}{'' if queue is None else f', which holds {_bytes(queue.value)}'}. {words}",
        [
            (
                "Round trips follow the backlog of such a queue: it explains "
                f"{100 * found.explained:.0f}% of their spread and leaves {number(1e3 * found.noise_s)} ms."
            ),
        ],
        rate_bps=_clocked(found.rate_bps, found.rate_interval),
        burst_bytes=Number(found.allowance, found.allowance_interval) if shaper else None,
        queue_bytes=queue,
        drops=drops,
        random_loss=loss,
        standing_delay_s=found.delay_s,
    )


def _trains(packets: Crossings, trip: Any, trains: Delivery) -> Law:
    pieces = [(start, _clocked(value, interval)) for start, value, interval in trains.pieces]
    drops, queue, words, loss = _drops(packets, trip, None, 0.0)
    seen = trip[trip > 0]
    low, high = (float(each) for each in np.quantile(trains.rate_bps, (0.05, 0.95)))
    steps = ", ".join(rate(each.value) for _, each in pieces)
    sentence = {
        "constant": f"A link of {rate(pieces[0][1].value)} with a queue. {words}",
        "steps": f"A link whose rate changes in steps: {steps}. {words}",
        "varying": f"A link whose rate varies between {rate(low)} and {rate(high)}. {words}",
    }[trains.kind]
    return Law(
        trains.kind,
        sentence,
        [
            (
                f"{len(trains.rate_bps)} trains of packets waited and were delivered at {rate(low)} to "
                f"{rate(high)} (nine of ten); {100 * trains.saturated:.0f}% of all trains waited."
            ),
        ],
        rate_bps=Number(float(np.median(trains.rate_bps)), (low, high))
        if trains.kind == "varying"
        else pieces[0][1],
        queue_bytes=queue,
        pieces=pieces if trains.kind == "steps" else [],
        drops=drops,
        random_loss=loss,
        standing_delay_s=float(np.median(seen) - seen.min()),
    )


def _drops(
    packets: Crossings, trip: Any, bucket: Bucket | None, allowance: float
) -> tuple[str, Number | None, str, Number | None]:
    """Return what dropped packets in a queue: a name, the queue's limit, words, the share if random."""
    if packets.drops == 0:
        return "none", None, "Nothing was lost, so the queue's limit is not known.", None
    if bucket is not None and bucket.explained >= HALF / 2 and bucket.gain > 0:
        limit = Number(
            bucket.limit - allowance,
            tuple(each - allowance for each in bucket.limit_interval),  # type: ignore[arg-type]
        )
        return "queue full", limit, "It loses packets when it is full.", None
    risk = _risk(packets, trip)
    if risk is None:
        return "cannot tell", None, f"{packets.drops} losses are too few to tell why.", None
    wait, chance = risk
    if chance < 0.001 and wait > 0:
        return (
            "early",
            None,
            "The longer its queue, the likelier it loses packets: an AQM, or a queue often full.",
            None,
        )
    share = loss_share(packets)
    return "random", None, f"{100 * share.value:.2g}% are lost at random, whatever the queue holds.", share


def _risk(packets: Crossings, trip: Any) -> tuple[float, float] | None:
    """Return by how many seconds waits before losses exceed others, and the probability by chance."""
    from scipy.stats import mannwhitneyu

    # A lost packet has no round trip; the one before it waited about as long.
    known = np.flatnonzero(trip > 0)
    lost = np.flatnonzero(packets.judged & ~packets.passed)
    before = np.searchsorted(known, lost) - 1
    before = before[before >= 0]
    if len(before) < _FEW_LOSSES or len(known) < FEWEST:
        return None
    waits = trip[known]
    test = mannwhitneyu(waits[before], waits, alternative="greater")
    return float(np.median(waits[before]) - np.median(waits)), float(test.pvalue)


def _clocked(value: float, interval: tuple[float, float]) -> Number:
    """Return a rate whose interval is not narrower than the clocks of two machines allow."""
    return Number(value, (min(interval[0], value * (1 - _CLOCK)), max(interval[1], value * (1 + _CLOCK))))


def loss_share(packets: Crossings) -> Number:
    """Return the share of packets lost, with an exact binomial interval."""
    from scipy.stats import binomtest

    count = int(packets.judged.sum())
    interval = binomtest(packets.drops, count).proportion_ci(0.95)
    return Number(packets.drops / count, (float(interval.low), float(interval.high)))


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
    if packets.drops < _FEW_LOSSES:
        return Law(
            "cannot tell",
            f"Cannot tell: {packets.drops} lost packets are too few, and no packet waited. {least}",
            [],
            drops="cannot tell",
        )
    risk = _risk(packets, trip)
    if risk is not None and risk[1] < 1e-4 and risk[0] > _RISE_S:
        return Law(
            "cannot tell",
            "Cannot tell: losses follow long round trips, as a queue's do, but no one rate explains them.",
            [f"Before losses, round trips are {number(1e3 * risk[0])} ms longer (p = {risk[1]:.1g})."],
            drops="queue full",
        )
    return Law(
        "none",
        f"No rate limit explains the losses: {100 * share.value:.2g}% are lost at random. {least}",
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


def _bytes(count: float) -> str:
    return f"{number(count / 1e3)} kB" if count < 1e6 else f"{number(count / 1e6)} MB"
