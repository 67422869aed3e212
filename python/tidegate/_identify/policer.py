"""What is said of a policer."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from tidegate._base.text import number, rate
from tidegate._identify.between import contradicted
from tidegate._identify.bucket import Bucket, fit
from tidegate._identify.counting import COUNTINGS, choose
from tidegate._identify.found import Law, Number, clocked
from tidegate._identify.words import in_bytes

if TYPE_CHECKING:
    from tidegate._identify.crossings import Crossings

#: A policer's rate whose interval is wider than this ratio is told as its interval.
_VAGUE = 1.25

#: What is said where the size of the bucket is a lower bound.
_BEGUN = (
    "The capture does not have the connection's beginning, and has no pause in which the bucket filled: how "
    "many tokens were missing before it is not known, so the bucket may be larger."
)


def policer(packets: Crossings, plain: Bucket, delayed: float) -> Law:
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
    least = not packets.begun and not _drained(packets, bucket)
    top = inf if least else bucket.limit_interval[1]
    limit = Number(bucket.limit, (bucket.limit_interval[0], top)) if bucket.limit_known else None
    size = (
        f"a bucket of {'at least ' if least else ''}{in_bytes(bucket.limit)}"
        if bucket.limit_known
        else "a bucket that cannot be told, as no packet passed or was lost with the bucket nearly empty"
    )
    judged = int(packets.judged.sum())
    low, high = bucket.rate_interval
    told = rate(bucket.rate_bps)
    if high > _VAGUE * low:
        told = f"{rate(low)} to {rate(high)} (the drops do not tell it closer)"
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
        *_hidden(bucket, judged),
        *([_BEGUN] if least and limit is not None else []),
        sure,
    ]
    return Law(
        "policer",
        f"A policer of {told} with {size} drops what exceeds it and delays nothing.",
        evidence,
        rate_bps=clocked(bucket.rate_bps, bucket.rate_interval),
        burst_bytes=limit,
        counts=words,
        header_bytes=counting.extra,
        counts_known=counting.known,
        drops="policer",
    )


def _drained(packets: Crossings, bucket: Bucket) -> bool:
    """Tell whether nothing passed for once as long as the whole bucket takes to fill with tokens."""
    gaps = np.diff(packets.time_s[packets.passed])
    return bool(len(gaps) and gaps.max() > 8 * bucket.limit / bucket.rate_bps)


def _hidden(bucket: Bucket, judged: int) -> list[str]:
    """Return what to say where packets were decided otherwise than the bucket would."""
    if not contradicted(bucket.wrong, bucket.drops):
        return []
    return [
        (
            f"{bucket.wrong} of {judged} packets were decided otherwise: traffic that the capture does not "
            "show may use the same bucket. The rate is then what that traffic leaves, and the contract's is "
            "higher."
        )
    ]


def policer_that_changed(at: float, before: Bucket, after: Bucket) -> Law:
    pieces = [
        (start, clocked(each.rate_bps, each.rate_interval)) for start, each in ((0.0, before), (at, after))
    ]
    told = [Number(each.limit, each.limit_interval) if each.limit_known else None for each in (before, after)]
    buckets = [
        "a bucket that cannot be told" if each is None else f"a bucket of {in_bytes(each.value)}"
        for each in told
    ]
    return Law(
        "policer",
        f"A policer whose contract changes at {number(at)} s: {rate(before.rate_bps)} with {buckets[0]}, "
        f"then {rate(after.rate_bps)} with {buckets[1]}. It drops what exceeds it and delays nothing.",
        [
            (
                "One bucket for all of the capture explains less; two explain "
                f"{100 * before.explained:.0f}% and {100 * after.explained:.0f}% of the deviance of drops "
                f"on their side ({before.drops} and {after.drops} lost)."
            ),
            "What the device counts was not asked; the numbers are bytes of IP packets.",
        ],
        rate_bps=pieces[-1][1],
        burst_bytes=told[1],
        pieces=pieces,
        drops="policer",
    )
