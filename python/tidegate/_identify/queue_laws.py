"""What is said of a queue: before one rate, a shaper, two rates, steps, or a rate that varies."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.text import number, rate
from tidegate._identify.bucket import Bucket, fit_at
from tidegate._identify.crossings import queue_waits
from tidegate._identify.dispersion import fastest_mode, gaps
from tidegate._identify.drops import HALF, drops_of
from tidegate._identify.found import Law, Number, clocked
from tidegate._identify.full import full_at
from tidegate._identify.hidden import hidden_traffic, link_rate, queue_rate, unexplained
from tidegate._identify.words import in_bytes, residual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.crossings import Crossings
    from tidegate._identify.delay import Waiting
    from tidegate._identify.delivery import Delivery
    from tidegate._identify.sent import Sent
    from tidegate._identify.stepped import Stepped
    from tidegate._identify.two_rates import TwoRates

#: A shaper's burst is taken from all round trips if without it their residual is so many times as large.
_BURST_TELLS = 1.1
#: A packet behind more than so many others that waits for less than half of these is one of a burst. So many
#: packets that follow tell how large the burst is; more than this share of them wait for other traffic, too.
_BEHIND, _FOLLOWING, _UNDISTURBED = 3, 20, 0.9
#: A shaper's rate is taken from its drops if they are explained to this share.
_DROPS_TELL = 0.9
#: A shaper's rate is not so near to its peak, and neighbours that tell the peak are so near to its interval,
#: as shares.
_BELOW_PEAK, _NEAR_PEAK = 0.9, 0.02


def one_change(packets: Crossings, trip: Any, change: Stepped, both: TwoRates | None) -> Law:
    alike = change.paced(packets)
    drops, queue, words, loss = drops_of(
        alike, trip, fit_at(alike, change.before_bps), None, change.before_bps, one_rate=False
    )
    before = clocked(change.before_bps, change.before_interval)
    after = clocked(change.after_bps, change.after_interval)
    holds = "" if queue is None else f" The queue holds {_size(queue)}."
    evidence = [
        (
            f"Round trips follow the backlog of a queue whose rate changes after {number(change.at_s)} s: it "
            f"explains {100 * change.explained:.0f}% of their spread and leaves "
            f"{residual(change.noise_s)}."
        )
    ]
    if both is not None:
        evidence.append(
            f"A shaper that lets {in_bytes(both.burst)} pass at {rate(both.peak_bps)} may explain them as "
            "well. A transfer that begins after a pause would show whether such a burst is there again."
        )
    seen = trip[trip > 0]
    return Law(
        "steps",
        f"A link whose rate changes in steps: {rate(before.value)}, {rate(after.value)}.{holds} {words}",
        evidence,
        rate_bps=before,
        queue_bytes=queue,
        pieces=[(0.0, before), (change.at_s, after)],
        drops=drops,
        **({} if loss is None else loss.of_law),
        standing_delay_s=float(np.median(seen) - seen.min()),
    )


def one_rate(
    streams: Sequence[Sent], packets: Crossings, trip: Any, found: Waiting, bucket: Bucket | None
) -> Law:
    mean = packets.largest
    link = link_rate(streams, found.rate_bps)
    burst = _burst(packets, trip, found.rate_bps if link is None else link.rate_bps)
    fitted = found.allowance_interval[0] > 3 * mean and found.plain_noise_s > _BURST_TELLS * found.noise_s
    if burst is not None and fitted:
        burst = Number(found.allowance, found.allowance_interval)
    # Delays tell the rate better than drops do, and the limit is as exact as the rate.
    by_drops, bucket = bucket, fit_at(packets, found.rate_bps) or bucket
    value = queue_rate(link, found)
    if link is None and burst is not None and by_drops is not None and by_drops.explained > _DROPS_TELL:
        # After each pause a shaper's burst hides some of the rate from the delays, but not from the drops.
        value = clocked(by_drops.rate_bps, by_drops.rate_interval)
    drops, queue, words, loss = drops_of(
        packets,
        trip,
        bucket,
        burst,
        value.value,
    )
    return Law(
        "constant" if burst is None else "token bucket",
        f"{_plain(value, burst)}{'' if queue is None else f', which holds {_size(queue)}'}. {words}",
        [
            (
                "Round trips follow the backlog of such a queue: it explains "
                f"{100 * found.explained:.0f}% of their spread and leaves {residual(found.noise_s)}."
            ),
            *(unexplained(packets, found) if link is None else hidden_traffic(link, found.rate_bps, loss)),
        ],
        rate_bps=value,
        burst_bytes=burst,
        queue_bytes=queue,
        drops=drops,
        **({} if loss is None else loss.of_law),
        standing_delay_s=found.delay_s,
    )


def _burst(packets: Crossings, trip: Any, rate_bps: float) -> Number | None:
    """Return the bytes that pass at once; None where no packets leave sooner than a plain queue lets them.

    In a plain queue a packet waits for those before it, and for other traffic besides. What it waits for less
    is the burst. Only of the connection that came first the shortest round trip surely has no wait.
    """
    known = np.flatnonzero(trip > 0)
    known = known[packets.owner[known] == packets.owner[known[0]]]
    behind = queue_waits(packets, rate_bps, known)
    one = 8 * packets.largest / rate_bps
    waits = trip[known] - trip[known].min()
    soon = np.flatnonzero((behind > _BEHIND * one) & (waits < HALF * behind))
    times = packets.time_s[known[soon]]
    if not len(soon) or not bool((np.diff(times) > one).any()):
        return None
    # Those that follow wait for the same less, and for other traffic, which is not seen, besides.
    after = np.unique(np.minimum(np.add.outer(soon, np.arange(_FOLLOWING)), len(known) - 1))
    after = after[(waits[after] > one) & (behind[after] > waits[after])]
    less = (behind - waits)[after if len(after) else soon] * rate_bps / 8
    middle, value = (float(each) for each in np.quantile(less, (0.5, _UNDISTURBED)))
    reach = packets.largest / 2 + value - middle + packets.coarse_s * rate_bps / 8
    return Number(value, (max(0.0, value - reach), value + reach))


def _plain(value: Number, burst: Number | None) -> str:
    if burst is None:
        return f"A link of {rate(value.value)} with a queue"
    return f"A shaper of {rate(value.value)} lets {in_bytes(burst.value)} pass at once and queues the rest"


def _size(queue: Number) -> str:
    return f"{'' if isfinite(queue.interval[1]) else 'at least '}{in_bytes(queue.value)}"


def both_rates(streams: Sequence[Sent], packets: Crossings, trip: Any, found: TwoRates, one: Waiting) -> Law:
    burst = Number(found.burst, found.burst_interval)
    peak = clocked(found.peak_bps, found.peak_interval)
    # Near the receiver neighbours tell the peak better than round trips, whose timestamps are coarse.
    low, high = (
        (1 + side * _NEAR_PEAK) * each for side, each in zip((-1, 1), found.peak_interval, strict=True)
    )
    mode = fastest_mode(gaps(streams), max(low, found.rate_bps / _BELOW_PEAK), high)
    if mode is not None and packets.coarse_s > 0 and mode.sharp > HALF:
        peak = clocked(mode.rate_bps, mode.interval)
    link = link_rate(streams, found.rate_bps, _BELOW_PEAK * found.peak_bps)
    value = queue_rate(link, found)
    drops, queue, words, loss = drops_of(
        packets, trip, fit_at(packets, found.rate_bps), burst, found.rate_bps, one_rate=False
    )
    return Law(
        "two rates",
        f"A shaper lets {in_bytes(found.burst)} pass at {rate(peak.value)}, and queues the rest for "
        f"{rate(value.value)}{'' if queue is None else f'; it holds {_size(queue)}'}. {words}",
        [
            (
                "Round trips follow the longer backlog of two buckets: they explain "
                f"{100 * found.explained:.0f}% of their spread and leave {residual(found.noise_s)}; "
                f"one rate leaves {residual(one.noise_s)}."
            ),
            *([] if link is None else hidden_traffic(link, found.rate_bps, loss)),
        ],
        rate_bps=value,
        peak_bps=peak,
        burst_bytes=burst,
        queue_bytes=queue,
        drops=drops,
        **({} if loss is None else loss.of_law),
        standing_delay_s=one.delay_s,
    )


def of_trains(streams: Sequence[Sent], packets: Crossings, trip: Any, trains: Delivery) -> Law:
    pieces = [(start, clocked(value, interval)) for start, value, interval in trains.pieces]
    passing = float(np.median(trains.rate_bps))
    hidden: list[str] = []
    kind, burst, bucket = trains.kind, None, None
    if kind == "constant":
        link = link_rate(streams, passing)
        if link is not None:
            pieces = [(pieces[0][0], clocked(link.rate_bps, link.interval))]
            hidden = hidden_traffic(link, passing, None)
        burst = _burst(packets, trip, pieces[0][1].value)
        if burst is not None:
            kind, bucket = "token bucket", fit_at(packets, passing)
    queue = full_at(packets, trip) if trains.kind != "constant" else None
    drops, words, loss = "queue full", "It loses packets when it is full.", None
    if queue is not None:
        hidden.append(
            "Losses come at one backlog, whatever the rate is. Traffic that the capture does not show would "
            "add to it."
        )
    else:
        drops, queue, words, loss = drops_of(
            packets, trip, bucket, burst, pieces[0][1].value, one_rate=trains.kind == "constant"
        )
    seen = trip[trip > 0]
    low, high = (float(each) for each in np.quantile(trains.rate_bps, (0.05, 0.95)))
    steps = ", ".join(rate(each.value) for _, each in pieces)
    sentence = {
        "steps": f"A link whose rate changes in steps: {steps}",
        "varying": f"A link whose rate varies between {rate(low)} and {rate(high)}",
    }.get(kind, _plain(pieces[0][1], burst))
    holds = "" if queue is None or kind == "constant" else f" The queue holds {_size(queue)}."
    return Law(
        kind,
        f"{sentence}.{holds} {words}",
        [
            (
                f"{len(trains.rate_bps)} trains of packets waited and were delivered at {rate(low)} to "
                f"{rate(high)} (nine of ten); {100 * trains.saturated:.0f}% of all trains waited."
            ),
            *hidden,
        ],
        rate_bps=Number(float(np.median(trains.rate_bps)), (low, high))
        if trains.kind == "varying"
        else pieces[0][1],
        burst_bytes=burst,
        queue_bytes=queue,
        pieces=pieces if trains.kind == "steps" else [],
        trace=[
            (float(start), float(each)) for start, each in zip(trains.start_s, trains.rate_bps, strict=True)
        ]
        if trains.kind == "varying"
        else [],
        drops=drops,
        **({} if loss is None else loss.of_law),
        standing_delay_s=float(np.median(seen) - seen.min()),
    )


def fair_queue(value: Number, parts: Sequence[Law]) -> Law:
    """Return the law of a link that serves connections in turn; `parts` are their laws, each taken alone."""
    kinds = {each.drops for each in parts} - {"none"}
    early = "early" in kinds
    words = (
        "Nothing was lost, so the queue's limit is not known."
        if not kinds
        else "The longer a connection's queue, the likelier it loses packets, as with FQ-CoDel."
        if early
        else "It loses packets when it is full."
    )
    waits = [each.standing_delay_s for each in parts if each.standing_delay_s is not None]
    return Law(
        "constant",
        f"A link of {rate(value.value)} that serves its connections in turn (fair queueing). {words}",
        [
            (
                "Together the connections are delivered at one rate, and those that have data waiting get "
                "equal shares of it, but they do not wait at the same times."
            )
        ],
        rate_bps=value,
        fair=True,
        drops="none" if not kinds else "early" if early else "queue full",
        standing_delay_s=max(waits, default=None),
    )
