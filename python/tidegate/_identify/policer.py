"""What is said of a policer."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from tidegate._base.text import number, percent, rate
from tidegate._identify.between import contradicted
from tidegate._identify.bucket import Bucket, fit
from tidegate._identify.chances import greater, share
from tidegate._identify.counting import COUNTINGS, choose
from tidegate._identify.crossings import at_least, filled
from tidegate._identify.found import Law, Number, clocked
from tidegate._identify.words import between, in_bytes

if TYPE_CHECKING:
    from tidegate._identify.crossings import Crossings
    from tidegate._identify.follows import Slope

#: A policer's rate whose interval is wider than this ratio is told as its interval.
_VAGUE = 1.25
#: Beyond this ratio the drops leave the rate open.
_WIDE = 4.0

#: Losses that find the bucket less full than to this part, as a share of its limit, are not the policer's; so
#: many speak for loss at random, unless they find it fuller, or less full, than others with this probability
#: of chance.
_NEAR, _EARLY, _CHANCE = 0.1, 8, 0.01

#: What is said where the size of the bucket is a lower bound.
_BEGUN = (
    "The capture does not have the connection's beginning, and has no pause in which the bucket filled: how "
    "many tokens were missing before it is not known, so the bucket may be larger."
)


def policer(
    packets: Crossings, plain: Bucket, slope: Slope | None, ahead: Number | None, random: Number | None
) -> Law:
    """Return the law of one bucket.

    ``slope``: how round trips follow it; ``ahead``: the queue before it; ``random``: what is lost besides.
    """
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
    least = at_least(packets, bucket.limit, bucket.rate_bps)
    top = inf if least else bucket.limit_interval[1]
    limit = Number(bucket.limit, (bucket.limit_interval[0], top)) if bucket.limit_known else None
    size = (
        f"a bucket of {'at least ' if least else ''}{in_bytes(bucket.limit)}"
        if bucket.limit_known
        else "a bucket that cannot be told, as no packet passed or was lost with the bucket nearly empty"
    )
    judged = int(packets.judged.sum())
    low, high = bucket.rate_interval
    rate_words = rate(bucket.rate_bps)
    if high > _VAGUE * low:
        rate_words = f"{between(low, high)} (the drops do not tell it closer)"
    evidence = [
        (
            f"A bucket that fills at this rate tells {judged - bucket.wrong} of {judged} packets rightly as "
            f"passed or lost ({bucket.drops} lost): {100 * bucket.explained:.0f}% of the deviance, of which "
            "losses at random explain nothing."
        ),
        *_delays_nothing(slope),
        *_after_queue(ahead),
        *_wrong(bucket, judged, random, ahead),
        *([_BEGUN] if least and limit is not None else []),
        sure,
    ]
    return Law(
        "policer",
        f"A policer of {rate_words} with {size} drops what exceeds it and delays nothing.",
        evidence,
        rate_bps=clocked(bucket.rate_bps, bucket.rate_interval),
        burst_bytes=limit,
        counts=words,
        header_bytes=counting.extra,
        counts_known=counting.known,
        drops="policer",
        random_loss=random,
        ahead_bps=ahead,
    )


def is_open(law: Law) -> bool:
    """Tell whether the drops leave the rate of a policer open, of one bucket."""
    if law.kind != "policer" or law.rate_bps is None or law.pieces or law.peak_bps is not None:
        return False
    low, high = law.rate_bps.interval
    return 0 < _WIDE * low < high


def at_rate(law: Law, rate_bps: float, alike: tuple[float, float] | None) -> Law:
    """Return the law of a policer with one of the rates in its interval.

    ``alike``: between which rates all predict the capture as well; None where that is not asked.
    """
    assert law.rate_bps is not None
    found = replace(law, rate_bps=Number(rate_bps, law.rate_bps.interval))
    if alike is None:
        return found
    words = (
        f"Rates of {between(*alike)} predict goodput and losses alike. The value that is printed, and that a "
        f"scenario is written with, is their middle, {rate(rate_bps)}; the capture does not tell it."
    )
    return replace(found, evidence=[*law.evidence, words])


def policer_of_two(slow: Bucket, fast: Bucket, ahead: Number | None) -> Law:
    """Return the law of two buckets, each of which drops what exceeds it."""
    rates = [clocked(each.rate_bps, each.rate_interval) for each in (slow, fast)]
    sizes = [Number(each.limit, each.limit_interval) for each in (slow, fast)]
    words = [
        f"{rate(each.value)} with a bucket of {in_bytes(size.value)}"
        for each, size in zip(rates, sizes, strict=True)
    ]
    return Law(
        "policer",
        f"A policer of two rates, {words[0]} and {words[1]}, drops what exceeds either and delays nothing.",
        [
            (
                f"One bucket explains the drops of the slower rate ({slow.drops} packets, "
                f"{100 * slow.explained:.0f}% of their deviance), another those of the faster one "
                f"({fast.drops} packets, {100 * fast.explained:.0f}%)."
            ),
            *_after_queue(ahead),
            "What the device counts was not asked; the numbers are bytes of IP packets.",
        ],
        rate_bps=rates[0],
        burst_bytes=sizes[0],
        peak_bps=rates[1],
        peak_burst_bytes=sizes[1],
        ahead_bps=ahead,
        drops="policer",
    )


def _delays_nothing(slope: Slope | None) -> list[str]:
    if slope is None:
        return ["Round trips are not known well enough to say whether it delays packets."]
    return [
        (
            f"Round trips do not follow the bucket: they are {slope.value:.2f} s longer (standard error "
            f"{slope.error:.2f}) for each second that it takes to drain; in a queue it is 1."
        )
    ]


def _after_queue(ahead: Number | None) -> list[str]:
    if ahead is None:
        return []
    return [
        (
            f"Packets wait before they come to it, in a queue of {rate(ahead.value)}: the bucket is that of "
            "the times at which they leave this queue."
        )
    ]


def lost_at_random(packets: Crossings, bucket: Bucket) -> Number | None:
    """Return the share of packets lost at random besides; None where nothing speaks for it.

    What hidden traffic makes a policer drop finds the bucket nearly full. What is lost at random finds it as
    packets find it at any time.
    """
    passed, dropped = filled(packets, bucket.rate_bps)
    coarse = packets.coarse_s * bucket.rate_bps / 8
    room = bucket.limit - max(3 * bucket.blur, _NEAR * bucket.limit, 2 * packets.largest + coarse)
    early, others = dropped[dropped < room], passed[passed < room]
    if not contradicted(len(early), bucket.drops) or len(early) < _EARLY:
        return None
    if min(greater(early, others), greater(others, early)) < _CHANCE / 2:
        return None
    return Number(*share(len(early), len(early) + len(others)))


def _besides(loss: Number) -> str:
    return (
        f"Besides, {percent(loss.value, 2)}% are lost at random: these losses find the bucket as full as "
        "other packets find it."
    )


def _wrong(bucket: Bucket, judged: int, random: Number | None, ahead: Number | None) -> list[str]:
    """Return what to say where packets were decided otherwise than the bucket would."""
    if random is not None:
        return [_besides(random)]
    # Behind a queue a packet's time is not known well enough to speak of other traffic.
    if ahead is not None or not contradicted(bucket.far, bucket.drops):
        return []
    return [
        (
            f"{bucket.far} of {judged} packets were decided otherwise: traffic that the capture does not "
            "show may use the same bucket. The rate is then what that traffic leaves, and the contract's is "
            "higher."
        )
    ]


def policer_that_changed(at: float, before: Bucket, after: Bucket) -> Law:
    pieces = [
        (start, clocked(each.rate_bps, each.rate_interval)) for start, each in ((0.0, before), (at, after))
    ]
    sizes = [
        Number(each.limit, each.limit_interval) if each.limit_known else None for each in (before, after)
    ]
    buckets = [
        "a bucket that cannot be told" if each is None else f"a bucket of {in_bytes(each.value)}"
        for each in sizes
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
        burst_bytes=sizes[1],
        pieces=pieces,
        drops="policer",
    )
