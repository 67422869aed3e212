"""Effective capacity and its estimate with a finite delta."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tidegate as tg

VECTORS: dict[str, Any] = json.loads((Path(__file__).parent.parent / "vectors" / "abr.json").read_text())
effective = tg.effcap.effective_capacity


@pytest.mark.parametrize("case", VECTORS["effective_capacity"], ids=["slow", "memoryless"])
def test_effective_capacities_of_the_vectors(case: dict[str, Any]) -> None:
    for delta, wanted in case["gamma"].items():
        assert effective(case["C"], case["P"], float(delta)) == pytest.approx(wanted, abs=1e-6)
    assert effective(case["C"], case["P"], 0) == pytest.approx(case["limit_delta_0"], abs=1e-9)
    assert effective(case["C"], case["P"], math.inf) == case["limit_delta_inf"]


@pytest.mark.parametrize("case", VECTORS["effcap_estimator"], ids=lambda case: f"M{case['M']}-N{case['N']}")
def test_estimates_of_the_vectors(case: dict[str, Any]) -> None:
    m, n, full = case["M"], case["N"], case["first_full_index"]
    for delta, wanted in case["finite_delta"].items():
        told = tg.effcap.estimate_delta(case["capacity"], m, n, float(delta))
        assert told[-1] == pytest.approx(wanted, abs=1e-6)
    endless = tg.effcap.estimate_delta(case["capacity"], m, n, math.inf)
    assert endless[full:] == pytest.approx(case["output"][full:])
    # The same conventions while history is short as EFFCAP's own.
    assert endless == pytest.approx(tg.effcap.estimate(case["capacity"], m, n))


def test_the_estimate_of_a_long_history_tends_to_the_limit() -> None:
    draw = np.random.default_rng(5)
    chain, capacity = [[0.9, 0.1], [0.2, 0.8]], np.array([40.0, 20.0])
    state, states = 0, []
    for chance in draw.random(60_000):
        state = int(chance < chain[state][1])
        states.append(state)
    told = tg.effcap.estimate_delta(capacity[states], 40, 50_000, 0.003)[-1]
    assert told == pytest.approx(effective(capacity, chain, 0.003), abs=0.3)


def test_a_minimum_that_cannot_follow_itself_is_not_the_limit() -> None:
    chain = [[0.0, 1.0], [0.5, 0.5]]
    assert effective([10, 40], chain, math.inf) == pytest.approx(25)
    assert effective([10, 40], chain, 1e6) == pytest.approx(25, abs=1e-5)


def test_it_falls_with_delta_between_its_limits() -> None:
    draw = np.random.default_rng(1)
    for _ in range(40):
        n = int(draw.integers(1, 8))
        chain = draw.random((n, n)) * (draw.random((n, n)) < 0.6) + np.roll(np.eye(n), 1, axis=1) * 0.01
        chain /= chain.sum(axis=1, keepdims=True)
        capacity = draw.random(n) * 100
        deltas = [0, 1e-9, 1e-5, 1e-3, 0.0099, 0.0101, 0.1, 1, 20, 1e3, 1e6, math.inf]
        told = [effective(capacity, chain, delta) for delta in deltas]
        assert all(more >= less - 1e-7 for more, less in itertools.pairwise(told))
        assert told[-2] == pytest.approx(told[-1], abs=1e-4)


def test_states_that_are_left_for_ever_do_not_count() -> None:
    assert effective([1, 40, 20], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]], math.inf) == 20


@pytest.mark.parametrize(
    ("capacity", "chain", "delta", "words"),
    [
        ([40, 20], [[1, 0], [0, 1]], 1, "falls apart"),
        ([40, 20], [[0.5, 0.4], [0, 1]], 1, r"P\[0\]: the probabilities add up to 0.9"),
        ([40, 20], [[1.0]], 1, "2 rows of 2"),
        ([40, -1], [[0.5, 0.5], [0.5, 0.5]], 1, r"C\[1\]"),
        ([], [], 1, "shape"),
        ([40], [[1.5]], -1, "add up to 1.5|delta"),
        ([40], [[1]], -1, "delta: -1 is out of range"),
        ([40], [[1]], math.nan, "delta"),
        ("40", [[1]], 1, "not a sequence"),
    ],
)
def test_a_wrong_chain_is_named(capacity: Any, chain: Any, delta: float, words: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=words):
        effective(capacity, chain, delta)


@pytest.mark.parametrize(
    ("m", "n", "delta", "words"), [(0, 1, 1, "m: 0"), (1, 1.5, 1, "n: 1.5"), (1, 1, "x", "delta: 'x'")]
)
def test_a_wrong_number_is_named(m: Any, n: Any, delta: Any, words: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=words):
        tg.effcap.estimate_delta([1, 2], m, n, delta)


@pytest.mark.parametrize("delta", [0.0, *(10.0**power for power in range(-15, -5)), 0.01, 1.0, 1000.0])
def test_a_ring_without_chance_has_its_mean_for_every_delta(delta: float) -> None:
    ring = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert effective([40, 20, 10], ring, delta) == pytest.approx(70 / 3)


def test_a_large_delta_gives_the_slowest_cycle_though_powers_are_rounded() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        states = int(rng.integers(2, 6))
        capacity, order = rng.integers(1, 100, states) / 10, rng.permutation(states)
        ring = np.zeros((states, states))
        ring[order, np.roll(order, -1)] = 1.0
        for delta in (1e16, 1e100, 1e308):
            assert effective(capacity.tolist(), ring.tolist(), delta) == pytest.approx(capacity.mean())
