"""What is said of a queue: before one rate, a shaper, two rates, steps, or a rate that varies."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.text import number, rate
from tidegate._identify.bucket import Bucket, fit_at
from tidegate._identify.delay import Waiting, waiting
from tidegate._identify.delivery import Delivery, delivery
from tidegate._identify.dispersion import Usual, fastest_usual, gaps
from tidegate._identify.drops import FEWEST, HALF, RISE_S, drops_of
from tidegate._identify.found import Law, Number, clocked
from tidegate._identify.two_rates import TwoRates, two_rates
from tidegate._identify.words import in_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.crossings import Crossings
    from tidegate._identify.losses import Losses
    from tidegate._identify.sent import Sent

#: A shaper's burst is believed if without it the residual of the round trips is so many times as large.
_BURST_TELLS = 1.1
#: A shaper's rate is taken from its drops if they are explained to this share.
_DROPS_TELL = 0.9
#: Traffic that the capture does not show may be there if round trips differ by so many packets and seconds,
#: and the rates of busy times by such a share.
_HIDDEN_PACKETS, _HIDDEN_S, _UNSTEADY = 0.2, 0.0005, 0.004
#: Neighbours tell the link's rate if this share of all, and of those that are near it, has it. It is not
#: below what passes, but for so much, and not above it by more than so many times.
_SHARE, _SHARP, _NEARLY, _OTHERS = 0.1, 0.6, 0.02, 2.5
#: From this share on, hidden traffic is told.
_HIDDEN = 0.003
#: Unless it is no more than so many times the share of losses.
_LOST = 2.0
#: One packet in fifty waits, at least.
_SOME = 0.98
#: Of the spread of round trips a backlog must explain so much where senders were held by other things.
_SURELY = 0.75
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
    if found is not None and found.explained > HALF / 2 and found.noise_s > _NOISE_S:
        both = two_rates(packets, trip, found)
        if both is not None and both.explained > 0.9:
            return _both_rates(streams, packets, trip, both, found)
    trains = delivery(streams)
    # Where few packets wait, trains of them are chance.
    few = float(np.quantile(seen, 0.9) - seen.min()) < RISE_S
    paced = held > HALF or few
    good = found is not None and found.explained >= (_SURELY if paced else HALF)
    if trains is None or (good and trains.kind == "constant"):
        return _one_rate(streams, packets, trip, found, bucket) if good and found is not None else None
    if trains.saturated < 0.05 and not good:
        return None
    if good and found is not None and (paced or found.explained > 0.9):
        return _one_rate(streams, packets, trip, found, bucket)
    if paced:
        return None
    return _trains(streams, packets, trip, trains)


def _one_rate(
    streams: Sequence[Sent], packets: Crossings, trip: Any, found: Waiting, bucket: Bucket | None
) -> Law:
    mean = packets.largest
    link = _link(streams, found.rate_bps)
    shaper = found.allowance_interval[0] > 3 * mean and found.plain_noise_s > _BURST_TELLS * found.noise_s
    # Delays tell the rate better than drops do, and the limit is as exact as the rate.
    by_drops, bucket = bucket, fit_at(packets, found.rate_bps) or bucket
    value = clocked(found.rate_bps, found.rate_interval)
    if link is not None:
        value = clocked(link.rate_bps, link.interval)
    elif shaper and by_drops is not None and by_drops.explained > _DROPS_TELL:
        # After each pause a shaper's burst hides some of the rate from the delays, but not from the drops.
        value = clocked(by_drops.rate_bps, by_drops.rate_interval)
    drops, queue, words, loss = drops_of(
        packets,
        trip,
        bucket,
        Number(found.allowance, found.allowance_interval) if shaper else None,
        value.value,
    )
    kind = "token bucket" if shaper else "constant"
    what = (
        (f"A shaper of {rate(value.value)} lets {in_bytes(found.allowance)} pass at once and queues the rest")
        if shaper
        else f"A link of {rate(value.value)} with a queue"
    )
    return Law(
        kind,
        f"{what}{'' if queue is None else f', which holds {_size(queue)}'}. {words}",
        [
            (
                "Round trips follow the backlog of such a queue: it explains "
                f"{100 * found.explained:.0f}% of their spread and leaves {number(1e3 * found.noise_s)} ms."
            ),
            *(_unexplained(packets, found) if link is None else _others(link, found.rate_bps, loss)),
        ],
        rate_bps=value,
        burst_bytes=Number(found.allowance, found.allowance_interval) if shaper else None,
        queue_bytes=queue,
        drops=drops,
        **({} if loss is None else loss.of_law),
        standing_delay_s=found.delay_s,
    )


def _size(queue: Number) -> str:
    return f"{'' if isfinite(queue.interval[1]) else 'at least '}{in_bytes(queue.value)}"


def _link(streams: Sequence[Sent], passing_bps: float) -> Usual | None:
    """Return the rate at which neighbours leave the queue, where most of them leave at one rate.

    It is the link's, whatever other traffic passes between them, and not below what passes over long times.
    """
    usual = fastest_usual(gaps(streams), (1 - _NEARLY) * passing_bps, _OTHERS * passing_bps)
    if usual is None or usual.sharp < _SHARP or usual.share < _SHARE:
        return None
    return usual


def _others(link: Usual, passing_bps: float, loss: Losses | None) -> list[str]:
    """Return what to say where less passes than the link's rate: traffic that the capture does not show.

    What is lost at random has taken its part of the link.
    """
    hidden = 1 - passing_bps / link.rate_bps
    if hidden < max(_HIDDEN, 0.0 if loss is None else _LOST * loss.share.value):
        return []
    return [
        (
            f"{100 * link.share:.0f}% of the packets that waited leave as far apart as {rate(link.rate_bps)} "
            f"send them; over longer times only {rate(passing_bps)} pass. Traffic that the capture does not "
            f"show takes {100 * hidden:.2g}% of the link while packets wait."
        )
    ]


def _unexplained(packets: Crossings, found: Waiting) -> list[str]:
    """Return what to say where packets waited for more than the capture shows."""
    others = found.noise_s * found.rate_bps / (8 * packets.largest)
    # What hidden traffic leaves is now more, now less; the noise of hosts leaves as much at all times.
    if others < _HIDDEN_PACKETS or found.noise_s < _HIDDEN_S or found.unsteady < _UNSTEADY:
        return []
    return [
        (
            f"What it leaves is the time of {number(others)} packets: traffic that the capture does not show "
            "may share the link. The rate is then what that traffic leaves, and the link's is higher."
        )
    ]


def _both_rates(streams: Sequence[Sent], packets: Crossings, trip: Any, found: TwoRates, one: Waiting) -> Law:
    burst = Number(found.burst, found.burst_interval)
    peak = clocked(found.peak_bps, found.peak_interval)
    # Near the receiver neighbours tell the peak better than round trips, whose timestamps are coarse.
    usual = fastest_usual(gaps(streams), (1 - _NEARLY) * found.peak_bps, (1 + _NEARLY) * found.peak_bps)
    if usual is not None and packets.coarse_s > 0:
        peak = clocked(usual.rate_bps, usual.interval)
    drops, queue, words, loss = drops_of(
        packets, trip, fit_at(packets, found.rate_bps), burst, found.rate_bps, one_rate=False
    )
    return Law(
        "two rates",
        f"A shaper lets {in_bytes(found.burst)} pass at {rate(peak.value)}, and queues the rest for "
        f"{rate(found.rate_bps)}{'' if queue is None else f'; it holds {_size(queue)}'}. {words}",
        [
            (
                "Round trips follow the longer backlog of two buckets: they explain "
                f"{100 * found.explained:.0f}% of their spread and leave {number(1e3 * found.noise_s)} ms; "
                f"one rate leaves {number(1e3 * one.noise_s)} ms."
            ),
        ],
        rate_bps=clocked(found.rate_bps, found.rate_interval),
        peak_bps=peak,
        burst_bytes=burst,
        queue_bytes=queue,
        drops=drops,
        **({} if loss is None else loss.of_law),
        standing_delay_s=one.delay_s,
    )


def _trains(streams: Sequence[Sent], packets: Crossings, trip: Any, trains: Delivery) -> Law:
    pieces = [(start, clocked(value, interval)) for start, value, interval in trains.pieces]
    passing = float(np.median(trains.rate_bps))
    hidden: list[str] = []
    if trains.kind == "constant":
        link = _link(streams, passing)
        if link is not None:
            pieces = [(pieces[0][0], clocked(link.rate_bps, link.interval))]
            hidden = _others(link, passing, None)
    drops, queue, words, loss = drops_of(
        packets, trip, None, None, pieces[0][1].value, one_rate=trains.kind == "constant"
    )
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
            *hidden,
        ],
        rate_bps=Number(float(np.median(trains.rate_bps)), (low, high))
        if trains.kind == "varying"
        else pieces[0][1],
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
