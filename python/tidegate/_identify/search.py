"""The rate at which a bucket explains drops: first roughly on short stretches, then finer on all packets."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidegate._identify.crossings import Crossings, fewest_wrong

#: Rates tried first, as shares of the mean rate that passed, and the step from one to the next. What passed
#: is the rate times the time, plus what the bucket held, less what an idle sender left in it: near the mean
#: the fit is narrow, and far above it, where the bucket was often full, it is wide.
_LOWEST, _NEAR_LOW, _NEAR_HIGH, _HIGHEST = 0.3, 0.85, 1.35, 60.0
_STEP, _NEAR_STEP = 0.03, 0.005
#: Packets of the shortest stretch, and the most that all rates are tried on.
_STRETCH, _WIDEST = 750, 40_000
#: The finest step.
_FINEST = 1e-5
#: What passed between two losses is a rate, too: so many losses are paired, the rates are counted in classes
#: of this width, and those of so many full classes are tried.
_PAIRED, _CLASS, _CLASSES = 64, 0.002, 16
#: All packets of a long capture are looked at near the rate that a part tells, from this step on.
_NEARER = 4e-4


def searched(packets: Crossings) -> float:
    """Return the rate in bit/s with the fewest decisions on the wrong side of the best limit.

    Over a long capture the fit is as narrow as the bucket is small beside what passed. A few thousand
    packets see a wide one, so candidates come from short stretches, and are refined as the stretches grow.
    """
    if len(packets.time_s) > packets.searched:
        return refined(packets, [searched(most_losses(packets))], _NEARER, 2)
    span = max(float(packets.time_s[-1]), 1e-3)
    mean = 8 * float(packets.size[packets.passed].sum()) / span
    wide = np.exp(np.arange(np.log(_LOWEST), np.log(_HIGHEST), _STEP))
    rates = mean * np.concatenate([wide, np.arange(_NEAR_LOW, _NEAR_HIGH, _NEAR_STEP)])
    count = len(packets.time_s)
    lost = packets.decided[1]
    middle = int(lost[len(lost) // 2])
    begin = max(0, min(middle - _WIDEST // 2, count - _WIDEST))
    first = packets if count <= _WIDEST else packets.part(begin, begin + _WIDEST)
    found = list(_best(first, rates, 4))
    for share in (0.2, 0.5, 0.8):
        centre = int(lost[int(share * (len(lost) - 1))])
        length, step = _STRETCH, _NEAR_STEP
        kept = rates
        while length < count:
            low = _after_gap(packets, max(0, min(centre - length // 2, count - length)), length)
            kept = _best(packets.part(low, low + length), kept, 4)
            kept = np.unique(np.concatenate([rate * (1 + step * np.arange(-4, 5)) for rate in kept]))
            length, step = 2 * length, step * 0.45
        found.extend(_best(packets, kept, 2))
    between = _between_losses(packets, mean)
    if len(between):
        found.extend(_best(packets, between, 2))
    return refined(packets, found)


def _between_losses(packets: Crossings, mean: float) -> Any:
    """Return the rates in bit/s that are usual among those of what passed between two losses.

    At a loss the bucket is as full as its limit, so what passed between two is what drained, unless the
    bucket was empty between them. Where the bucket is small beside all that passed, the rate may lie between
    two of those that are tried in steps.
    """
    lost = packets.decided[1]
    lost = lost[np.linspace(0, len(lost) - 1, min(_PAIRED, len(lost))).astype(int)]
    through = np.cumsum(np.where(packets.passed, packets.size, 0.0))[lost]
    one, two = np.triu_indices(len(lost), 1)
    time = packets.time_s[lost[two]] - packets.time_s[lost[one]]
    much = 8 * (through[two] - through[one])
    apart = (time > 0) & (much > _LOWEST * mean * time) & (much < _HIGHEST * mean * time)
    rates = much[apart] / time[apart]
    if not len(rates):
        return rates
    place = np.round(np.log(rates / mean) / _CLASS).astype(int)
    places, members = np.unique(place, return_counts=True)
    full = places[np.argsort(-members, kind="stable")[:_CLASSES]]
    return np.array([float(np.median(rates[place == each])) for each in full])


def _after_gap(packets: Crossings, low: int, length: int) -> int:
    """Return where a stretch near `low` begins: behind the longest gap, in which the bucket drained most.

    How full a bucket is at the beginning is not known, and it is taken for empty.
    """
    begin = max(0, low - length // 2)
    gap = np.diff(packets.time_s[begin : low + length // 4 + 2])
    return begin + 1 + int(np.argmax(gap)) if len(gap) and begin else 0 if not begin else low


def most_losses(packets: Crossings) -> Crossings:
    """Return the stretch of a long capture that has the most losses."""
    lost, most = packets.decided[1], packets.searched
    within = np.searchsorted(lost, lost + most) - np.arange(len(lost))
    first = int(lost[int(np.argmax(within))])
    low = max(0, min(first - most // 4, len(packets.time_s) - most))
    return packets.part(low, low + most)


def near(packets: Crossings, rate: float) -> float:
    """Return the rate near this one with the fewest wrong decisions; of many packets, first of a part."""
    if len(packets.time_s) <= packets.searched:
        return refined(packets, [rate])
    part = most_losses(packets)
    between = _between_losses(part, rate)
    found = [rate, *(_best(part, between, 2) if len(between) else [])]
    return refined(packets, [refined(part, found)], _NEARER, 2)


def refined(packets: Crossings, found: list[float], step: float = _NEAR_STEP, best: int = 3) -> float:
    """Return the rate near one of these with the fewest wrong decisions; so many are followed."""
    kept = np.array(found)
    while True:
        step /= 4
        tried = np.unique(np.concatenate([rate * (1 + step * np.arange(-4, 5)) for rate in kept]))
        wrong = fewest_wrong(packets, tried, best)
        least = tried[wrong == wrong.min()]
        if step < _FINEST:
            return float(least[len(least) // 2])
        order = np.argsort(wrong, kind="stable")
        kept = np.unique(np.concatenate([[least[len(least) // 2]], tried[order[:best]]]))


def _best(packets: Crossings, rates: Any, count: int) -> Any:
    """Return the rates with the fewest wrong decisions."""
    wrong = fewest_wrong(packets, rates, count)
    return rates[np.argsort(wrong, kind="stable")[:count]]
