"""A shaper with two rates: a peak that limits what passes out of the bucket, and the rate that refills it.

Both are buckets over the same packets, and a packet leaves when both let it:

    round trip = base + max(fullness at the peak / peak, fullness at the rate / rate - allowance) + noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._capture.value import array
from tidegate._identify.crossings import queue_at
from tidegate._identify.delay import followed
from tidegate._identify.simplex import least_near, reach

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidegate._identify.crossings import Crossings
    from tidegate._identify.delay import Waiting

#: Peaks tried first, as multiples of the rate.
_PEAKS = np.exp(np.arange(np.log(1.15), np.log(40.0), 0.12))
#: Allowances tried first, as shares of the one that fits one rate, which takes the peak's waits for its own.
_ALLOWANCES = np.arange(0.5, 1.15, 0.05)
#: Neighbours of these lie so far apart, as a share.
_NEXT = 0.1
#: Packets that find no more than this share of the allowance used surely wait for the peak only.
_PEAK_ONLY = 0.6
#: Round trips that are enough.
_ENOUGH = 8000
#: Of the packets for which one rate and two predict different waits, two must leave less than this share of
#: what one leaves; after the first, coarse search, less than the second.
_BETTER, _NO_BETTER = 0.5, 0.8
#: Or of what one leaves beyond the usual noise, if it leaves so many times as much.
_ABOVE = 1.5
#: A peak nearer to the rate than this is noise.
_APART = 1.25
#: Packets that must wait for the peak.
_LEAST = 20
#: Coarse times widen the peak's interval by such a share at most.
_MOST_OFF = 0.5


@dataclass(frozen=True)
class TwoRates:
    """Peak and rate in bit/s, the bucket in bytes, each with its 95% interval.

    Args:
        used_up_s: when the first packet waits for the rate, in seconds from the first packet.
        explained: share of the mean absolute deviation of round trips that both rates explain.
        noise_s: what they leave.
    """

    peak_bps: float
    peak_interval: tuple[float, float]
    rate_bps: float
    rate_interval: tuple[float, float]
    burst: float
    burst_interval: tuple[float, float]
    used_up_s: float
    explained: float
    noise_s: float


def two_rates(packets: Crossings, trip_s: Any, one: Waiting) -> TwoRates | None:
    """Return the two rates where they explain the round trips much better than `one` rate does."""
    packets, trip_s = packets.part(0, packets.searched), trip_s[: packets.searched]
    use = np.flatnonzero(trip_s > 0)
    use = use[:: max(1, len(use) // _ENOUGH)]
    trip = trip_s[use]
    flat = float(np.abs(trip - np.median(trip)).mean())

    queue = queue_at(packets, trip_s, use)

    def waits(rate: float) -> Any:
        return array("<f8", queue.at(rate))

    def left(peak: float, rate: float, allowance: float) -> float:
        rest = trip - np.maximum(waits(peak), waits(rate) - allowance)
        return float(np.abs(rest - np.median(rest)).mean())

    slow = waits(one.rate_bps)
    found_s = 8 * one.allowance / one.rate_bps or 0.5 * float(slow.max())
    best = (np.inf, 0.0, 0.0, 0.0)
    peaks = [(peak, waits(peak)) for peak in one.rate_bps * _PEAKS]
    for allowance in found_s * _ALLOWANCES:
        for peak, fast in peaks:
            rest = trip - np.maximum(fast, slow - allowance)
            best = min(best, (float(np.abs(rest - np.median(rest)).mean()), peak, one.rate_bps, allowance))
    best = min(best, _in_turn(left, peaks, trip, slow, one.rate_bps, found_s))
    waited = np.maximum(0.0, slow - 8 * one.allowance / one.rate_bps)

    peak, rate, allowance = best[1:]
    if _part_left(trip, waited, waits(peak), slow - allowance) > _NO_BETTER:
        return None

    def by_logarithms(at: Any) -> float:
        return left(*(float(each) for each in np.exp(at)))

    start = np.log(np.maximum(best[1:], 1e-9))
    for step in (0.05, 0.005, 0.0005):
        around = np.vstack([start, start + step * np.eye(3)])
        least, start = least_near(by_logarithms, around, within=1e-6, alike=1e-9, most=250)
    peak, rate, allowance = (float(each) for each in np.exp(start))
    slow, fast = waits(rate) - allowance, waits(peak)
    if peak < _APART * rate or _part_left(trip, waited, fast, slow) > _BETTER:
        return None
    bound = least * float(np.exp(3.84 / (2 * max(10.0, len(trip) / 4))))

    low, high = reach(allowance, lambda each: left(peak, rate, each), bound)
    slowest, fastest = reach(peak, lambda each: left(each, rate, allowance), bound)
    # Where times are coarse, all waits for the peak may be off by as much, together.
    longest = float(np.ptp(fast[fast > slow]))
    off = min(_MOST_OFF, packets.coarse_s / longest) if longest > 0 else _MOST_OFF
    # Where times are coarse, so is what came in at the peak until then.
    packet = packets.largest + 2 * packets.coarse_s * peak / 8
    # A packet needs its tokens when its transmission at the peak begins; the backlog above drains by bytes.
    more = packets.largest * rate / peak
    return TwoRates(
        peak_bps=peak,
        peak_interval=(slowest * (1 - off), fastest / (1 - off)),
        rate_bps=rate,
        rate_interval=reach(rate, lambda each: left(peak, each, allowance), bound),
        burst=allowance * rate / 8 + more,
        burst_interval=(low * rate / 8 + more - packet / 2, high * rate / 8 + more + packet / 2),
        used_up_s=float(packets.time_s[use[np.argmax(slow > fast)]]),
        explained=1 - least / flat,
        noise_s=least,
    )


def _part_left(trip: Any, waited: Any, fast: Any, slow: Any) -> float:
    """Return what two rates leave of the waits for the peak beside what one leaves; 1 where few wait.

    ``waited``: what packets wait for one rate. ``fast``, ``slow``: what they wait for the peak, and for the
    rate once the burst is used up.
    """
    peaked = (fast > slow) & (fast > 1.5 * fast.min())
    if np.count_nonzero(peaked) < _LEAST:
        return 1.0
    one, two = (np.abs(trip - each - np.median(trip - each)) for each in (waited, np.maximum(fast, slow)))
    before, after, overall = one[peaked].mean(), two[peaked].mean(), two.mean()
    # Where times are coarse, two leave what they leave elsewhere.
    above = (after - overall) / (before - overall) if before > _ABOVE * overall else 1.0
    return float(min(after / before, max(above, 0.0))) if before > 0 else 1.0


def _in_turn(
    left: Callable[[float, float, float], float],
    peaks: Sequence[tuple[float, Any]],
    trip: Any,
    slow: Any,
    rate: float,
    found_s: float,
) -> tuple[float, float, float, float]:
    """Return what is left, the peak, the rate and the allowance: the peak from packets that wait only for it.

    Then the allowance, from all packets. Fitted together from afar, each would make up for the other's error.
    """
    first = slow < _PEAK_ONLY * found_s
    if np.count_nonzero(first) < _LEAST:
        return np.inf, 0.0, rate, 0.0

    def of_peak(fast: Any) -> float:
        rest = (trip - fast)[first]
        return float(np.abs(rest - np.median(rest)).mean())

    peak = min(peaks, key=lambda each: of_peak(each[1]))[0]
    allowance = min(found_s * _ALLOWANCES, key=lambda each: left(peak, rate, each))
    allowance = followed(lambda each: left(peak, rate, each), allowance, _NEXT)
    peak = followed(lambda each: left(each, rate, allowance), peak, _NEXT)
    return left(peak, rate, allowance), peak, rate, allowance
