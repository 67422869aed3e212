"""A policer's rate by stretches between losses: steady where all traffic is seen, else it varies."""

from __future__ import annotations

import random

import numpy as np
from tidegate._identify.between import between_losses
from tidegate._identify.crossings import Crossings

RATE, LIMIT, PACKET, SECONDS = 4e6, 30_000, 1500, 25


def policed(hidden_bps: list[float]) -> tuple[Crossings, float]:
    """Return packets sent at 1.2 times the rate through a policer, and what the hidden traffic left, bit/s.

    ``hidden_bps``: rate of the hidden traffic in each second; its packets are of 500 B.
    """
    dice = random.Random(1996)
    sent = [(dice.uniform(at, at + 0.0025), False) for at in np.arange(0, SECONDS, 0.0025)]
    for second, rate in enumerate(hidden_bps):
        sent += [(second + dice.random(), True) for _ in range(round(rate / 8 / 500))]
    full, last, taken = 0.0, 0.0, 0
    times, passed = [], []
    for time, hidden in sorted(sent):
        size = 500 if hidden else PACKET
        full, last = max(0.0, full - (time - last) * RATE / 8), time
        fits = full + size <= LIMIT
        full += size * fits
        if hidden:
            taken += size * fits
        else:
            times.append(time)
            passed.append(fits)
    count = len(times)
    packets = Crossings(
        np.array(times) - times[0], np.full(count, float(PACKET)), np.array(passed), np.ones(count, bool),
        np.zeros(count, int),
    )  # fmt: skip
    return packets, RATE - 8 * taken / SECONDS


def test_stretches_of_a_steady_rate_do_not_differ() -> None:
    packets, left = policed([0.0] * SECONDS)
    assert left == RATE
    assert between_losses(packets, RATE) is None


def test_stretches_beside_hidden_traffic_hold_what_it_leaves() -> None:
    packets, left = policed([100e3 + 400e3 * (second % 3 == 0) for second in range(SECONDS)])
    for near in (left, 1.01 * left):
        interval = between_losses(packets, near)
        assert interval is not None
        assert interval[0] < left < interval[1]
        assert interval[1] - interval[0] < 0.1 * left


def test_few_losses_tell_no_stretches() -> None:
    packets, _ = policed([0.0] * SECONDS)
    first = int(packets.decided[1][1]) + 1
    assert between_losses(packets.part(0, first), 0.9 * RATE) is None
