"""Reno behind a token-bucket policer, in closed form: docs/design/theory-policer.md derives it.

Counts are segments. A bucket of ``b`` fills at the contract's rate, which is ``B`` in a round trip.
The window grows by ``a`` in a round trip and is halved when the bucket is empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

from tidegate._base.arguments import above_zero
from tidegate.theory._arguments import flag, share


@dataclass(frozen=True)
class Policed:
    """What Reno gets behind a policer in the long run.

    ``share`` is the rate that passes, of the contract's. ``window_max`` and ``window_mean`` are in segments.
    ``lost`` is how many segments each loss episode costs, ``loss`` their share of what is sent.
    ``always_used`` says that the bucket never becomes full, so that no token is wasted.
    """

    share: float
    window_max: float
    window_mean: float
    #: Round trips from one halving to the next.
    cycle: float
    lost: float
    loss: float
    always_used: bool


def policer(bucket: Any, bdp: Any, *, growth: Any = 1, paced: bool = True) -> Policed:
    """Return what one Reno connection gets behind a policer in the long run.

    Source: the design page "Theory of a policer" derives it; the window's rules are those of RFC 5681.

    Args:
        bucket: the policer's burst, in segments as they are on the wire.
        bdp: the contract's rate times the round trip, in the same segments.
        growth: segments by which the window grows in a round trip: 1 where bytes are counted (RFC 5681
            §3.1), 1/2 where ACKs are counted and every second segment is acknowledged.
        paced: segments leave evenly over the round trip; False: a window leaves back to back, as from a
            sender without pacing on a fast line.

    Raises:
        ArgumentError: an argument is no number above 0.
    """
    b, most, a = above_zero("bucket", bucket), above_zero("bdp", bdp), above_zero("growth", growth)
    found = _even(b, most, a) if flag("paced", paced) else _back_to_back(b, most, a)
    peak, always = found
    mean = min(0.75 * peak, most)
    if always:
        mean = most
    cycle = peak / (2 * a)
    # From the first loss until the sender hears of it, a round trip passes, in which it sends too much.
    lost = max(1.0, peak - most)
    return Policed(
        share=mean / most,
        window_max=peak,
        window_mean=mean,
        cycle=cycle,
        lost=lost,
        loss=lost / (lost + mean * cycle),
        always_used=always,
    )


def _even(b: float, bdp: float, a: float) -> tuple[float, bool]:
    """Return the largest window and whether the bucket never becomes full: an even sender."""
    over = sqrt(2 * a * b)
    if 3 * over >= bdp:  # b >= B^2/(18a)
        return 4 * bdp / 3, True
    return bdp + over, False


def _back_to_back(b: float, bdp: float, a: float) -> tuple[float, bool]:
    """Return the same for a sender whose window arrives at one instant."""
    if b <= bdp:
        return b, False
    over = -a + sqrt(a * a + 2 * a * (b - bdp))
    # From empty: B tokens come before a cycle's first window, and (B - W/2)^2/(2a) more while it is below B.
    below = max(0.0, bdp - (bdp + over) / 2)
    if below * below / (2 * a) < b - bdp:
        half = bdp + 4 * a
        return bdp + (-half + sqrt(half * half + 3 * bdp * bdp)) / 3, True
    return bdp + over, False


def policer_bucket(wanted: Any, bdp: Any, *, growth: Any = 1, paced: bool = True) -> float:
    """Return the smallest bucket, in segments, with which Reno gets a share of the contract's rate.

    The inverse of :func:`policer`, by halving, because it has two regimes.

    Args:
        wanted: the share, above 0 and below 1.
        bdp: as :func:`policer`; so ``growth`` and ``paced``.

    Raises:
        ArgumentError: the share is none.
    """
    aim = share("wanted", wanted)
    most, a = above_zero("bdp", bdp), above_zero("growth", growth)
    low, high = 0.0, most + most * most / (18 * a) + 4 * most  # here the bucket never becomes full
    for _ in range(60):
        middle = (low + high) / 2
        if middle and policer(middle, most, growth=a, paced=paced).share >= aim:
            high = middle
        else:
            low = middle
    return high
