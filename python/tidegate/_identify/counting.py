"""What the device counts: bytes of IP packets, or of Ethernet frames with or without their checksum.

Two things tell. Packets of different sizes fill the bucket in another proportion when each has a header
more, which the likelihood sees. And contracts are round numbers: if the rate lies within its interval of a
number with two digits in one counting, and the interval is narrow, chance is an unlikely reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tidegate._identify.bucket import Bucket

#: Bytes that a counting adds to an IP packet (IEEE 802.3 clause 3: 14 of header, 4 of checksum).
COUNTINGS = {
    0: "IP packets",
    14: "Ethernet frames without their checksum (14 bytes more than IP)",
    18: "Ethernet frames with their checksum (18 bytes more than IP)",
}
#: Clocks of captures are off by about this share.
_CLOCK = 3e-4
#: Log of the odds that one counting must have over the others before it is believed.
_SURE = 2.0


@dataclass(frozen=True)
class Counting:
    """What the device counts, and whether the data said so."""

    extra: int
    known: bool


def choose(buckets: dict[int, Bucket]) -> Counting:
    """Return the counting that likelihood and roundness speak for; IP where neither does."""
    score = {
        extra: bucket.likelihood / _doubt(bucket) + _roundness(bucket) for extra, bucket in buckets.items()
    }
    best = max(score, key=lambda extra: score[extra])
    others = [value for extra, value in score.items() if extra != best]
    sure = bool(score[best] - max(others) >= _SURE and _roundness(buckets[best]) > 0)
    return Counting(best if sure else 0, sure)


def _doubt(bucket: Bucket) -> float:
    # Wrong decisions leave doubt about the model itself: each weighs as much as a decision.
    return max(1.0, bucket.run_length) + bucket.wrong


def round_near(rate_bps: float) -> float:
    """Return the nearest number with two digits that count."""
    unit = 10.0 ** (np.floor(np.log10(rate_bps)) - 1)
    return float(np.round(rate_bps / unit) * unit)


def _roundness(bucket: Bucket) -> float:
    """Return the log of how much likelier a contract is to be so near a round number than chance."""
    rate = bucket.rate_bps
    near = round_near(rate)
    half = max((bucket.rate_interval[1] - bucket.rate_interval[0]) / 2, _CLOCK * rate)
    if abs(rate - near) > half:
        return float(np.log(0.5))
    unit = 10.0 ** (np.floor(np.log10(rate)) - 1)
    return float(np.log(max(0.5, 0.5 * unit / (2 * half))))
