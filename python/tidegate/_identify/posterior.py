"""What rates and limits are likely, given the drops: sums of the likelihood over both."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from tidegate._identify.crossings import Crossings, best_limit
from tidegate._identify.likelihood import heights

#: Where the drops hardly tell the rate: how far below and above the best it is looked for.
_WIDE_DOWN, _WIDE_UP = 4.0, 100.0
#: A rate is not contradicted where the log likelihood of its best limit is less than this below the best of
#: all (the 95% quantile of chi-squared with one degree of freedom, halved).
_AGREES = 1.92
#: Steps to each side, the first step as a share of the rate, and the one from which a rate is hardly told.
_SIDE, _FIRST, _LAST = 12, 2e-5, 0.03
#: Weights at the ends beside that of the best: below the first nothing is left out, above the second much is.
_NOTHING, _MUCH = 0.02, 0.3


@dataclass(frozen=True)
class Limits:
    """What one rate says of the limit.

    Args:
        area: log of the likelihood summed over limits.
        likelihood: of the best limit, its logarithm.
        centre: mean limit in bytes.
        spread: its standard deviation in bytes.
    """

    area: float
    likelihood: float
    centre: float
    spread: float


def area(packets: Crossings, rate: float, blur: float, other: float, length: float) -> Limits:
    """Return what a rate says of the limit; the likelihood is divided by `length`."""
    bucket = packets.filled(rate)
    centre = best_limit(packets, rate)
    reach = 6 * max(blur, 0.3 * packets.largest)
    for _ in range(3):
        limits = np.linspace(centre - reach, centre + reach, 33)
        height = heights(bucket, limits, blur, (other,))[0] / length
        weight = np.exp(height - height.max())
        total = weight.sum()
        centre = float((weight * limits).sum() / total)
        spread = float(np.sqrt((weight * (limits - centre) ** 2).sum() / total))
        step = limits[1] - limits[0]
        if spread > 2 * step:
            break
        reach = 3 * max(spread, step)
    return Limits(
        area=float(height.max() + np.log(total * step)),
        likelihood=float(height.max() * length),
        centre=centre,
        spread=max(spread, float(step) / 4),
    )


def rates_around(
    packets: Crossings, rate: float, blur: float, other: float, length: float
) -> tuple[Any, Any, list[Limits]]:
    """Return rates around the best, their weights, and what each says of the limit."""

    def weighed(rates: Any) -> tuple[Any, list[Limits]]:
        found = [area(packets, float(each), blur, other, length) for each in rates]
        areas = np.array([each.area for each in found])
        return np.exp(areas - areas.max()), found

    step = _FIRST
    while step <= _LAST:
        # Few rates tell whether the step is wide enough; then all are asked.
        few = rate * (1 + step * np.linspace(-_SIDE, _SIDE, 5))
        weights, _ = weighed(few)
        if max(weights[0], weights[-1]) > _MUCH:
            step *= 2
            rate = float((few * weights).sum() / weights.sum())
            continue
        rates = rate * (1 + step * np.arange(-_SIDE, _SIDE + 1))
        weights, found = weighed(rates)
        ends = max(weights[0], weights[-1])
        many = np.count_nonzero(weights > _NOTHING) > 8
        if ends < _NOTHING or not (ends > _MUCH or many):
            return rates, weights, found
        step *= 2
        rate = float((rates * weights).sum() / weights.sum())
    # The drops hardly tell the rate: every rate of a wide range is asked, as many in each octave.
    rates = rate * np.exp(np.linspace(-np.log(_WIDE_DOWN), np.log(_WIDE_UP), 61))
    found = [area(packets, float(each), blur, other, length) for each in rates]
    # Steps of equal ratio are a flat prior of the rate's logarithm. The room that packets leave for the limit
    # grows with the rate, so the limit's prior is flat as a time, limit over rate: no rate gains by its size.
    areas = np.array([each.area for each in found]) - np.log(rates)
    return rates, np.exp(areas - areas.max()), found


def not_contradicted(rates: Any, limits: list[Limits], length: float) -> tuple[float, float] | None:
    """Return the rates between which no drop contradicts a bucket; None where drops tell the rate.

    Where every rate of a wide range explains the drops alike, quantiles of a posterior say what the prior
    says. The upper end is infinite where the highest rate that was asked explains them, too.
    """
    if rates[-1] < _WIDE_UP * rates[0]:
        return None
    likelihood = np.array([each.likelihood for each in limits]) / length
    agree = np.flatnonzero(likelihood >= likelihood.max() - _AGREES)
    low, high = max(0, int(agree[0]) - 1), int(agree[-1]) + 1
    return float(rates[low]), float(rates[high]) if high < len(rates) else inf


def quantiles(values: Any, share: Any, at: tuple[float, ...]) -> tuple[float, ...]:
    """Return quantiles of a distribution given on values whose steps, or whose ratios, are equal."""
    middles = (values[1:] + values[:-1]) / 2
    ends = np.concatenate([[2 * values[0] - middles[0]], middles, [2 * values[-1] - middles[-1]]])
    return tuple(float(np.interp(each, np.concatenate([[0.0], np.cumsum(share)]), ends)) for each in at)
