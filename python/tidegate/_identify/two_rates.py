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
from tidegate._identify.simplex import least_near

if TYPE_CHECKING:
    from tidegate._identify.crossings import Crossings
    from tidegate._identify.delay import Waiting

#: Peaks tried first, as multiples of the rate.
_PEAKS = np.exp(np.arange(np.log(1.15), np.log(40.0), 0.12))
#: Allowances tried first, as shares of the one that fits one rate, which takes the peak's waits for its own.
_ALLOWANCES = np.arange(0.5, 1.15, 0.05)
#: Round trips that are enough.
_ENOUGH = 8000
#: The second rate must explain this share of what one rate leaves.
_BETTER = 0.25
#: What leaves more than this share after the first search is not searched again.
_NO_BETTER = 0.9
#: A peak nearer to the rate than this is noise.
_APART = 1.25
#: Packets that must wait for the peak.
_LEAST = 20
#: Half the width of a peak's interval, at least, as a share: the clocks of two machines.
_CLOCK = 1e-4


@dataclass(frozen=True)
class TwoRates:
    """Peak and rate in bit/s, the bucket in bytes, each with its 95% interval.

    Args:
        explained: share of the mean absolute deviation of round trips that both rates explain.
        noise_s: what they leave.
    """

    peak_bps: float
    peak_interval: tuple[float, float]
    rate_bps: float
    rate_interval: tuple[float, float]
    burst: float
    burst_interval: tuple[float, float]
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
    if best[0] > one.noise_s:
        return None

    def by_logarithms(at: Any) -> float:
        return left(*(float(each) for each in np.exp(at)))

    start = np.log(np.maximum(best[1:], 1e-9))
    for step in (0.05, 0.005):
        around = np.vstack([start, start + step * np.eye(3)])
        least, start = least_near(by_logarithms, around, within=1e-6, alike=1e-9, most=250)
        if least > _NO_BETTER * one.noise_s:
            return None
    peak, rate, allowance = (float(each) for each in np.exp(start))
    slow, fast = waits(rate) - allowance, waits(peak)
    if (
        peak < _APART * rate
        or least > (1 - _BETTER) * one.noise_s
        or np.count_nonzero((fast > slow) & (fast > 1.5 * fast.min())) < _LEAST
    ):
        return None
    bound = least * float(np.exp(3.84 / (2 * max(10.0, len(trip) / 4))))

    def reach(value: float, put: Any) -> tuple[float, float]:
        width = _CLOCK
        while width < 0.5 and (put(value * (1 - width)) < bound or put(value * (1 + width)) < bound):
            width *= 1.5
        return value * (1 - width), value * (1 + width)

    low, high = reach(allowance, lambda each: left(peak, rate, each))
    # Where times are coarse, so is what came in at the peak until then.
    packet = packets.largest + 2 * packets.coarse_s * peak / 8
    # A packet needs its tokens when its transmission at the peak begins; the backlog above drains by bytes.
    more = packets.largest * rate / peak
    return TwoRates(
        peak_bps=peak,
        peak_interval=reach(peak, lambda each: left(each, rate, allowance)),
        rate_bps=rate,
        rate_interval=reach(rate, lambda each: left(peak, each, allowance)),
        burst=allowance * rate / 8 + more,
        burst_interval=(low * rate / 8 + more - packet / 2, high * rate / 8 + more + packet / 2),
        explained=1 - least / flat,
        noise_s=least,
    )
