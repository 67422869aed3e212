"""A policer whose contract changes once during the capture: one bucket before, another after.

Where one bucket explains little of the drops, the capture is cut in two at each of a few losses, and at the
best of them finer. Each half needs a bucket that explains its own drops; the second begins full, as a
device does that is given a new contract.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._identify.bucket import Bucket, Point, point, with_intervals
from tidegate._identify.likelihood import random_likelihood

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate._identify.crossings import Crossings

#: A bucket that explains this share of the deviance needs no other.
ENOUGH = 0.75
#: Fewer losses are not cut in two.
_LOSSES = 12
#: Cuts tried, as shares of the losses; then again around the best, nearer each time, down to single losses.
_CUTS = (0.2, 0.35, 0.5, 0.65, 0.8)
_NEAR, _NEARER = 0.075, 3
#: Packets that are searched; the capture is thinned to a stretch of so many around the cut.
_STRETCH = 20_000
#: Contracts differ if their rates, or their limits, do so by these factors at least.
_RATES, _LIMITS = 1.05, 1.5


def changed(packets: Crossings, whole: Bucket | None) -> tuple[float, Bucket, Bucket] | None:
    """Return when the contract changed, in seconds, and the buckets before and after; None if it did not."""
    lost = np.flatnonzero(packets.judged & ~packets.passed)
    if len(lost) < _LOSSES or (whole is not None and whole.explained >= ENOUGH):
        return None
    judged = int(packets.judged.sum())
    alone = random_likelihood(packets.drops, judged) + (0.0 if whole is None else max(0.0, whole.gain))
    best: tuple[float, float, Point, Point] | None = None
    shares = list(_CUTS)
    width = _NEAR
    while True:
        for share in shares:
            at = float(packets.time_s[lost[int(share * (len(lost) - 1))]]) - 1e-6
            earlier, later = (point(each) for each in _halves(packets, at))
            if earlier is None or later is None:
                continue
            gain = earlier.likelihood + later.likelihood - 5 * float(np.log(judged))
            if best is None or gain > best[0]:
                best = (gain, share, earlier, later)
        if best is None:
            return None
        if width * len(lost) < 1:
            break
        shares = [min(0.95, max(0.05, best[1] + each * width)) for each in (-1, -0.5, 0.5, 1)]
        width /= _NEARER
    gain, share, *points = best
    if gain <= alone or min(each.explained for each in points) < 0.5:
        return None
    at = float(packets.time_s[lost[int(share * (len(lost) - 1))]])
    before, after = (
        with_intervals(part, each) for part, each in zip(_halves(packets, at - 1e-6), points, strict=True)
    )
    return (at, before, after) if _differ(before, after) else None


def _differ(before: Bucket, after: Bucket) -> bool:
    """Tell whether the rates or the limits are surely, and by much, not the same."""
    for one, two, here, there, much in (
        (before.rate_bps, after.rate_bps, before.rate_interval, after.rate_interval, _RATES),
        (before.limit, after.limit, before.limit_interval, after.limit_interval, _LIMITS),
    ):
        apart = here[1] < there[0] or there[1] < here[0]
        if apart and max(one, two) > much * min(one, two):
            return True
    return False


def _halves(packets: Crossings, at: float) -> Iterator[Crossings]:
    cut = int(np.searchsorted(packets.time_s, at))
    for low, high in ((max(0, cut - _STRETCH), cut), (cut, min(len(packets.time_s), cut + _STRETCH))):
        yield packets.part(low, high)
