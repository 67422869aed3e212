"""The renewal model of TCP over a rate-controlled link: vectors, a walk by its own rules, arguments."""

from __future__ import annotations

import json
import math
import random
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import tidegate as tg

VECTORS = Path(__file__).parent.parent / "vectors" / "abr.json"
MRP: list[dict[str, Any]] = json.loads(VECTORS.read_text())["mrp"]


@pytest.mark.parametrize("row", MRP, ids=lambda row: f"psi{row['psi']}-B{row['Bmax']}")
@pytest.mark.parametrize("scheme", ["abr", "tcp"])
@pytest.mark.parametrize("reward", ["optimistic", "conservative"])
def test_the_vectors(row: dict[str, Any], scheme: str, reward: str) -> None:
    found = tg.theory.abr(psi=row["psi"], delta_packets=40, buffer=row["Bmax"], scheme=scheme, reward=reward)
    assert found.efficiency == pytest.approx(row[f"{scheme}_{reward}"], abs=1e-4)
    assert found.bounds[0] <= found.bounds[1]
    assert found.efficiency == found.bounds[reward == "optimistic"]


class Walk:
    """The model's rules as the paper states them, one round trip after the other.

    Shares nothing with the solution: rates are numbers, the binomial is drawn acknowledgement by
    acknowledgement, and the rates move through a recovery one round trip at a time.
    """

    def __init__(
        self,
        psi: float,
        delta: int,
        buffer: int,
        scheme: str,
        r1: Fraction,
        source: Fraction | None,
        seed: int,
        loss_window: str = "grown",
    ) -> None:
        self.loss_window = loss_window
        self.psi, self.delta, self.buffer, self.scheme = psi, delta, buffer, scheme
        self.wmax = 2 * (delta + buffer)
        self.rates = (Fraction(1), r1)
        self.source = source
        self.draw = random.Random(seed)
        self.a, self.b, self.d = (0, 0, 1) if scheme == "tcp" else (1, 0, 0)
        self.link = self.before = 0

    def turn(self) -> None:
        self.before = self.link
        if self.draw.random() < 1 / self.psi:
            self.link = 1 - self.link

    def step(self) -> tuple[int, float, float, bool]:
        """Return round trips, optimistic and conservative reward, and whether something was lost."""
        a, b, d, window = self.a, self.b, self.d, self.a + self.b + self.d
        acknowledged = sum(self.draw.random() * window < 1 for _ in range(d))
        grown = min(acknowledged, self.wmax - window)
        r = self.rates[self.link]
        s = self.source or self.rates[self.before]
        ready = a + d + grown
        out = ready if self.scheme == "tcp" else min(ready, math.floor(self.delta / s))
        served = math.floor(self.delta / r)
        fits: int | None = None
        if s < r and out * (1 - s / r) > self.buffer - b:
            fits = math.floor((self.buffer - b) * r / (r - s))
        elif self.scheme == "tcp" and b + out - served > self.buffer:
            fits = self.buffer - b + served
        if fits is None:
            self.a, self.d = ready - out, min(b + out, served)
            self.b = b + out - self.d
            self.turn()
            return 1, d, d, False
        after = window + grown if self.loss_window == "grown" else min(window + 1, self.wmax)
        threshold = max(1, math.ceil(after / 2))
        rounds = 3 + math.ceil(math.log2(threshold))
        for _ in range(rounds):
            self.turn()
        self.a, self.b, self.d = 0, 0, threshold
        return rounds, d + b + fits + window + 1 + after / 2 - 1, d, True


@pytest.mark.parametrize(
    ("psi", "delta", "buffer", "scheme", "r1", "rate", "loss_window"),
    [
        (2, 40, 10, "abr", 2, None, "grown"),
        (10, 40, 12, "abr", 2, None, "grown"),
        (4, 30, 6, "abr", Fraction(3, 2), None, "grown"),
        (2, 40, 10, "tcp", 2, None, "grown"),
        (10, 40, 8, "tcp", 3, None, "grown"),
        (5, 40, 10, "constant", 2, Fraction(3, 5), "grown"),
        (2, 3, 1, "tcp", 2, None, "one more"),
        (10, 40, 12, "abr", 2, None, "one more"),
    ],
)
def test_a_walk_by_the_rules_agrees(
    psi: int, delta: int, buffer: int, scheme: str, r1: Fraction, rate: Fraction | None, loss_window: str
) -> None:
    found = tg.theory.abr(
        psi=psi,
        delta_packets=delta,
        buffer=buffer,
        scheme=scheme,
        r1=r1,
        rate=rate,
        overhead=1,
        loss_window=loss_window,
    )
    source = None if rate is None else 1 / rate
    walk = Walk(psi, delta, buffer, scheme, Fraction(r1), source, seed=7, loss_window=loss_window)
    for _ in range(500):
        walk.step()
    # 60 batches, nearly independent: their means decide, with a normal interval of 99.9%.
    batches = []
    for _ in range(60):
        steps = [walk.step() for _ in range(350)]
        rounds = sum(step[0] for step in steps)
        total = delta * float(found.capacity_packets) * rounds
        batches.append(
            (
                sum(step[1] for step in steps) / total,
                sum(step[2] for step in steps) / total,
                sum(step[3] for step in steps) / rounds,
                rounds / len(steps),
            )
        )
    wanted = (found.bounds[1], found.bounds[0], found.loss_per_round_trip, found.mean_cycle_rounds)
    for each, value in zip(zip(*batches, strict=True), wanted, strict=True):
        mean = sum(each) / len(each)
        sd = math.sqrt(sum((one - mean) ** 2 for one in each) / (len(each) - 1))
        assert abs(mean - value) <= 3.46 * sd / math.sqrt(len(each)), (mean, value)


def test_the_distribution_of_the_window_is_the_walks() -> None:
    found = tg.theory.abr(psi=5, delta_packets=20, buffer=5)
    walk = Walk(5, 20, 5, "abr", Fraction(2), None, seed=3)
    seen = [0.0] * 60
    for _ in range(500):
        walk.step()
    count = 40_000
    for _ in range(count):
        seen[walk.a + walk.b + walk.d] += 1 / count
        walk.step()
    assert found.window_probability.sum() == pytest.approx(1)
    assert all(np_window <= found.wmax for np_window in found.windows)
    for window, probability in zip(found.windows, found.window_probability, strict=True):
        assert seen[int(window)] == pytest.approx(probability, abs=0.01)
    assert found.mean_window == pytest.approx(sum(n * share for n, share in enumerate(seen)), rel=0.03)


def test_limits_that_are_known_without_solving() -> None:
    # Without loss every round trip carries what the link does: only the cells' headers are missing.
    assert tg.theory.abr(psi=5, delta_packets=40, buffer=20).efficiency == pytest.approx(48 / 53, abs=1e-12)
    # Changes ever rarer.
    assert tg.theory.abr(psi=1e6, delta_packets=40, buffer=10).efficiency == pytest.approx(48 / 53, abs=1e-4)
    # A source at the low rate never loses and gets that rate, whatever the link does.
    low = tg.theory.abr(psi=3, delta_packets=40, buffer=4, scheme="constant", rate=0.5)
    assert low.efficiency == pytest.approx(48 / 53 * 0.5 / 0.75, abs=1e-12)
    assert low.loss_per_round_trip == 0
    # Nor do times of another unit change anything.
    here = tg.theory.abr(psi=3, delta_packets=40, buffer=9)
    there = tg.theory.abr(psi=3, delta_packets=0.2, buffer=9, r0=0.005, r1=0.01)
    assert there.efficiency == pytest.approx(here.efficiency, abs=1e-12)
    assert there.throughput_packets == pytest.approx(here.throughput_packets * 200)


def test_one_choice_at_a_time_moves_the_result() -> None:
    base: dict[str, Any] = {"psi": 2, "delta_packets": 40, "buffer": 10}
    tcp = {
        name: tg.theory.abr(**base, scheme="tcp", spacing=name).efficiency
        for name in ("link", "even", "burst")
    }
    assert tcp["burst"] < tcp["link"] < tcp["even"]
    # What papers/README calls the largest of them: up to 0.17 at psi = 2.
    assert tcp["even"] - tcp["link"] == pytest.approx(0.17, abs=0.01)
    plain = tg.theory.abr(**base)
    assert tg.theory.abr(**base, recovery=4).efficiency < plain.efficiency
    assert tg.theory.abr(**base, psi_low=20).capacity_packets == pytest.approx((2 + 10) / 22)
    assert tg.theory.abr(**base, wmax=30).efficiency != plain.efficiency
    assert tg.theory.abr(**base, loss_window="one more").efficiency != plain.efficiency
    assert tg.theory.abr(**base, overhead=1).efficiency == pytest.approx(plain.efficiency * 53 / 48)


def test_what_is_taken_for_granted_is_told() -> None:
    near = tg.theory.abr(psi=1.1, delta_packets=40, buffer=10, scheme="tcp", explain=True)
    told = [str(each) for each in near.violated]
    assert any("slow start" in text and "below 1/3" in text for text in told)
    assert any("psi 1.1" in text for text in told)
    far = tg.theory.abr(psi=100, delta_packets=400, buffer=150, scheme="tcp", explain=True)
    assert not any("slow start" in str(each) or "psi" in str(each) for each in far.violated)
    assert near.assumptions
    assert not tg.theory.abr(psi=2, delta_packets=40, buffer=10).assumptions


def test_it_is_fast_enough() -> None:
    tg.theory.abr(psi=2, delta_packets=40, buffer=10)
    for delta, buffer, most in ((40, 12, 1.0), (400, 100, 10.0)):
        begin = time.process_time()
        tg.theory.abr(psi=10, delta_packets=delta, buffer=buffer)
        assert time.process_time() - begin < most


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"psi": 1}, "does not apply to 1"),
        ({"psi": 0.5}, "psi is above 1; simulate such a link instead"),
        ({"psi_low": 0.9}, "psi_low: the renewal model does not apply"),
        ({"psi": "two"}, "not a number"),
        ({"r1": 1}, "not above r0"),
        ({"delta_packets": 1}, "out of range"),
        ({"buffer": 0}, "buffer"),
        ({"buffer": 2.5}, "not a whole number"),
        ({"wmax": 1}, "wmax"),
        ({"scheme": "ABR"}, "it is abr, tcp or constant"),
        ({"reward": "fair"}, "optimistic or conservative"),
        ({"rate": 0.5}, 'for scheme="constant" only'),
        ({"scheme": "constant"}, "needs the rate"),
        ({"scheme": "constant", "rate": 0.01}, "sends no packet"),
    ],
)
def test_a_wrong_argument_is_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=words):
        tg.theory.abr(**{"psi": 2, "delta_packets": 40, "buffer": 10, **changes})
