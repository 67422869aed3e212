"""Whether packets wait for a bucket to drain, as in a queue, or not, as behind a policer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.crossings import fullness

if TYPE_CHECKING:
    from tidegate._identify.crossings import Crossings

#: Stretches of the capture, and the fewest; in each the slope is found for itself.
_MOST, _FEWEST, _EACH = 24, 3, 10
#: Behind a policer the slope is surely less than this share of the 1 of a queue. Of 74 limits of the labelled
#: captures, the largest slope of a policer is 0.11, and the least of a shaper 0.42.
_NOT = 0.3
#: Standard errors on each side.
_SURE = 2.0


@dataclass(frozen=True)
class Slope:
    """By how many seconds a round trip is longer for each second that the bucket takes to drain.

    Args:
        value: 1 in a queue of one rate, 0 behind a policer; anything else where round trips vary for other
            reasons, as with a queue on the way back.
        error: its standard error, by how much stretches of the capture differ.
    """

    value: float
    error: float

    @property
    def none(self) -> bool:
        """Whether round trips surely do not follow the bucket."""
        return self.below(_NOT)

    def below(self, most: float) -> bool:
        """Tell whether the slope, up or down, is surely less than this."""
        return abs(self.value) + _SURE * self.error < most


def follows(packets: Crossings, trip: Any, rate_bps: float) -> Slope | None:
    """Return how round trips follow a bucket of this rate; None where there are too few of them.

    The slope is that of least squares within stretches of the capture, so that a slow change of the round
    trips for another reason is left out.
    """
    known = np.flatnonzero(trip > 0)
    count = min(_MOST, len(known) // _EACH)
    if count < _FEWEST:
        return None
    drain = fullness(packets, rate_bps, known) * (8 / rate_bps)
    part = np.arange(len(known)) * count // len(known)
    size = np.bincount(part)

    def centred(values: Any) -> Any:
        return values - (np.bincount(part, weights=values) / size)[part]

    across, up = centred(drain), centred(trip[known])
    weight = np.bincount(part, weights=across**2)
    product = np.bincount(part, weights=across * up)
    some = weight > 1e-6 * weight.sum()
    if np.count_nonzero(some) < _FEWEST:
        return None
    weight, product = weight[some], product[some]
    value = float(product.sum() / weight.sum())
    off = product - value * weight
    many = np.count_nonzero(some)
    error = float(np.sqrt((off**2).sum() * many / (many - 1)) / weight.sum())
    return Slope(value, error)
