"""Whether packets waited for the bucket to drain: a queue, or a policer that delays nothing.

In a queue of rate `r` a packet waits for what is before it, less what a shaper lets pass at once:

    round trip = base + max(0, fullness / r - allowance) + noise.

The noise has long tails (delayed ACKs), so that sums of absolute residuals are compared, not of squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar

from tidegate._identify.bucket import fullness

if TYPE_CHECKING:
    from tidegate._identify.bucket import Crossings

#: Round trips needed before delays are compared.
LEAST = 20
_ALLOWANCES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)
#: Rates tried first, as shares of the mean rate, and how fine.
_LOWEST, _HIGHEST, _STEP = 0.6, 8.0, 0.01
#: What a chi-squared with one degree of freedom exceeds in 5% of cases.
_CHI = 3.84


@dataclass(frozen=True)
class Waiting:
    """How far a draining queue explains the delays.

    Args:
        rate_bps: the rate of the queue.
        rate_interval: 95%.
        allowance: bytes that pass before any packet waits: the burst of a shaper.
        allowance_interval: 95%.
        explained: share of the mean absolute deviation of round trips that the queue explains; at most 1.
        noise_s: what it leaves.
        delay_s: median wait, by the round trips.
    """

    rate_bps: float
    rate_interval: tuple[float, float]
    allowance: float
    allowance_interval: tuple[float, float]
    explained: float
    noise_s: float
    delay_s: float


def explained_at(packets: Crossings, trip_s: Any, rate_bps: float) -> float:
    """Return the share of the spread of round trips that a queue of this rate explains."""
    use = trip_s > 0
    if np.count_nonzero(use) < LEAST:
        return 0.0
    wait = (fullness(packets, rate_bps) + packets.size)[use] * (8 / rate_bps)
    flat = _spread(trip_s[use])
    return 1 - _residual(wait, trip_s[use])[0] / flat if flat > 0 else 0.0


def waiting(packets: Crossings, trip_s: Any) -> Waiting | None:
    """Return the queue that explains the round trips best; None where there are too few."""
    use = trip_s > 0
    if np.count_nonzero(use) < LEAST:
        return None
    trip = trip_s[use]
    flat = _spread(trip)
    if flat == 0:
        return None

    def left(rate: float) -> float:
        return _residual((fullness(packets, rate) + packets.size)[use] * (8 / rate), trip)[0]

    mean = 8 * float(packets.size[packets.passed].sum()) / max(float(packets.time_s[-1]), 1e-3)
    rates = mean * np.exp(np.arange(np.log(_LOWEST), np.log(_HIGHEST), _STEP))
    tried = np.array([left(rate) for rate in rates])
    at = int(np.argmin(tried))
    low, high = rates[max(at - 1, 0)], rates[min(at + 1, len(rates) - 1)]
    found = minimize_scalar(left, bounds=(low, high), method="bounded", options={"xatol": mean * 1e-6})
    rate = float(found.x)
    wait = (fullness(packets, rate) + packets.size)[use] * (8 / rate)
    least, allowance, base = _residual(wait, trip)
    count = _independent(trip - base - np.maximum(0, wait - allowance))
    bound = least * np.exp(_CHI / (2 * count))
    step = _reach(left, rate, bound)
    tolerance = allowance + np.array([-1, 1]) * max(2 * least / np.sqrt(count), float(wait.max()) * 0.01)
    return Waiting(
        rate_bps=rate,
        rate_interval=(rate * (1 - step), rate * (1 + step)),
        allowance=allowance * rate / 8,
        allowance_interval=tuple(float(max(0.0, each * rate / 8)) for each in tolerance),  # type: ignore[arg-type]
        explained=1 - least / flat,
        noise_s=least,
        delay_s=float(np.median(trip) - trip.min()),
    )


def _reach(left: Any, rate: float, bound: float) -> float:
    """Return how far, as a share, the rate can go on the worse side before the residual leaves its bound."""
    reach = 1e-5
    while reach < 0.5 and (left(rate * (1 - reach)) < bound or left(rate * (1 + reach)) < bound):
        reach *= 1.5
    return reach


def _spread(trip: Any) -> float:
    return float(np.abs(trip - np.median(trip)).mean())


def _residual(wait: Any, trip: Any) -> tuple[float, float, float]:
    """Return the least mean absolute residual, with the allowance in seconds and the base that have it."""
    best = (np.inf, 0.0, 0.0)
    top = float(wait.max())
    for share in _ALLOWANCES:
        rest = trip - np.maximum(0, wait - share * top)
        base = float(np.median(rest))
        best = min(best, (float(np.abs(rest - base).mean()), share * top, base))
    step = 0.05 * top
    while step > 0.001 * top:
        for allowance in (best[1] - step, best[1] + step):
            if allowance >= 0:
                rest = trip - np.maximum(0, wait - allowance)
                base = float(np.median(rest))
                best = min(best, (float(np.abs(rest - base).mean()), allowance, base))
        step /= 2
    return best


def _independent(residual: Any) -> float:
    """Return how many independent values the residuals are worth: neighbours are alike."""
    centred = np.sign(residual - np.median(residual))
    alike = float(np.clip((centred[1:] * centred[:-1]).mean(), 0, 0.999))
    return max(10.0, len(residual) * (1 - alike) / (1 + alike))
