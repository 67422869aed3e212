"""The rate at which a queue let packets leave, from the times of their reports, while packets waited.

Packets that leave a queue one after the other leave at its rate (packet-pair dispersion, Keshav 1991; in
long trains, because ACKs are delayed and compressed, Dovrolis et al. 2001). A train counts only where its
packets waited; a link that a train did not fill says nothing about its rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.chances import median
from tidegate._identify.sent import ARRIVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.sent import Sent

#: Packets of a train, and the most trains: longer captures have longer trains.
_TRAIN, _MOST = 32, 300
#: A train waited where its shortest round trip is so far above the base: a share of the usual range, at
#: least 2 ms.
_WAITED, _LEAST_S = 0.15, 0.002
#: Rates are steps if fewer than so many of them explain this share of their variance; more of them vary.
_STEPS, _EXPLAINED = 5, 0.8
#: A step holds at least this share of the trains.
_SHORTEST = 0.04
#: Rates whose deviation is below this share are one rate.
_ONE = 0.05


@dataclass(frozen=True)
class Delivery:
    """The rate over time at which packets that waited were delivered.

    Args:
        start_s: when each train began.
        end_s: when it ended.
        rate_bps: its rate, in bits of IP packets.
        pieces: first time, rate, and interval of the rate, of each piece of constant rate.
        kind: "constant", "steps" or "varying".
        saturated: share of the trains that waited.
    """

    start_s: Any
    end_s: Any
    rate_bps: Any
    pieces: list[tuple[float, float, tuple[float, float]]]
    kind: str
    saturated: float


def delivery(streams: Sequence[Sent]) -> Delivery | None:
    """Return the rates of trains that waited; None where there are fewer than four."""
    arrived = [each.fate == ARRIVED for each in streams]
    time = np.concatenate(
        [
            (each.report_ns if each.arrival_ns is None else each.arrival_ns)[ok & (each.payload > 0)]
            for each, ok in zip(streams, arrived, strict=True)
        ]
    )
    size = np.concatenate(
        [each.ip_bytes[ok & (each.payload > 0)] for each, ok in zip(streams, arrived, strict=True)]
    )
    extra = np.concatenate(
        [
            np.where(each.round_trip_ns > 0, each.round_trip_ns - each.base_round_trip_ns, -1)[
                ok & (each.payload > 0)
            ]
            for each, ok in zip(streams, arrived, strict=True)
        ]
    )
    first = min(int(each.time_ns[0]) for each in streams)
    order = np.argsort(time, kind="stable")
    time, size, extra = (time[order] - first) / 1e9, size[order], extra[order] / 1e9
    seen = extra[extra >= 0]
    if len(time) < 4 * _TRAIN or len(seen) < _TRAIN:
        return None
    length = max(_TRAIN, len(time) // _MOST)
    threshold = max(_LEAST_S, _WAITED * float(np.quantile(seen, 0.9)))
    rows = []
    trains = range(0, len(time) - length, length)
    for low in trains:
        inside = extra[low : low + length + 1]
        inside = inside[inside >= 0]
        span = float(time[low + length] - time[low])
        if span > 0 and len(inside) and inside.min() > threshold:
            rows.append(
                (time[low], time[low + length], 8 * float(size[low + 1 : low + length + 1].sum()) / span)
            )
    if len(rows) < 4:
        return None
    start, end, rate = np.array(rows).T
    cuts, kind = _pieces(rate)
    pieces = []
    cuts = [at for at in cuts if _differ(rate, cuts, at)]
    for low, high in zip([0, *cuts], [*cuts, len(rate)], strict=True):
        pieces.append((float(start[low]), *median(rate[low:high])))
    return Delivery(start, end, rate, pieces, kind, len(rows) / len(trains))


def _differ(rate: Any, cuts: list[int], at: int) -> bool:
    """Tell whether the rate is another one after a cut: a train across a change makes a cut of its own."""
    edges = [0, *cuts, len(rate)]
    place = edges.index(at)
    before, after = rate[edges[place - 1] : at], rate[at : edges[place + 1]]
    return abs(float(np.log(np.median(after) / np.median(before)))) > _ONE


def _pieces(rate: Any) -> tuple[list[int], str]:
    """Return where the rate changes, by the segmentation with the least BIC, and what that makes of it."""
    value = np.log(rate)
    count = len(value)
    centre = float(np.median(value))
    spread = 1.4826 * float(np.median(np.abs(value - centre)))
    if spread < _ONE and np.mean(np.abs(value - centre) > 0.2) < 0.1:
        return [], "constant"
    cost = _costs(value)
    best = np.full((_STEPS + 1, count + 1), np.inf)
    back = np.zeros((_STEPS + 1, count + 1), dtype=int)
    best[0, 0] = 0
    for pieces in range(1, _STEPS + 1):
        for end in range(1, count + 1):
            total = best[pieces - 1, :end] + cost[:end, end]
            back[pieces, end] = int(np.argmin(total))
            best[pieces, end] = total[back[pieces, end]]
    left = best[1:, count]
    bic = count * np.log(left / count + 1e-6) + 2 * np.arange(1, _STEPS + 1) * np.log(count)
    chosen = int(np.argmin(bic)) + 1
    if chosen == 1:
        return [], "constant" if spread < 3 * _ONE else "varying"
    if chosen == _STEPS or 1 - left[chosen - 1] / left[0] < _EXPLAINED:
        return [], "varying"
    cuts, end = [], count
    for pieces in range(chosen, 1, -1):
        end = int(back[pieces, end])
        cuts.append(end)
    return cuts[::-1], "steps"


def _costs(value: Any) -> Any:
    """Return the sum of squared deviations of each stretch from its mean; short ones are not allowed."""
    count = len(value)
    one = np.concatenate([[0.0], np.cumsum(value)])
    two = np.concatenate([[0.0], np.cumsum(value**2)])
    low, high = np.meshgrid(np.arange(count + 1), np.arange(count + 1), indexing="ij")
    length = np.maximum(high - low, 1)
    cost = two[high] - two[low] - (one[high] - one[low]) ** 2 / length
    return np.where(high - low >= max(2, int(_SHORTEST * count)), np.maximum(cost, 0), np.inf)
