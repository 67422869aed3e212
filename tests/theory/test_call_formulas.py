"""Formulas of calls without a simulation: systems by hand, limits of other formulas, wrong arguments."""

from __future__ import annotations

import math
from typing import Any

import pytest
import tidegate as tg
from tidegate.theory import CallClass

#: Student's t for 20 runs and 99.9%.
RUNS, T = 20, 3.883


def test_exact_by_hand() -> None:
    """Small systems, state by state."""
    # Two units: a small call takes one, a large one both; loads 1 and 1. States (0,0) 1, (1,0) 1, (2,0) 1/2,
    # (0,1) 1: 3.5 in all.
    found = tg.theory.kaufman_roberts(2, [1, 1], [1, 2])
    assert found.blocked == pytest.approx((1.5 / 3.5, 2.5 / 3.5))
    # Two links of one unit: a call over each, one over both: (0) 1, (1) 1, (2) 1, (1,2) 1, (both) 1.
    net = tg.theory.product_form([1, 1], [CallClass((1, 0), 1), CallClass((0, 1), 1), CallClass((1, 1), 1)])
    assert net.blocked == pytest.approx((3 / 5, 3 / 5, 4 / 5))
    # Two sources, one server, idle as long as held: states 1, 2: full 2/3; a call sees one other: 1/2.
    lost = tg.theory.engset(2, 1, 1)
    assert (lost.full, lost.blocked) == pytest.approx((2 / 3, 1 / 2))
    # The same with waiting: weights 1, 2, 2; a call sees 1 and 1: half of them wait.
    waiting = tg.theory.engset_waiting(2, 1, 1)
    assert (waiting.waiting, waiting.queue, waiting.mean) == pytest.approx((1 / 2, 2 / 5, 1 / 2))
    # A sum of shares stays one in spite of rounding.
    assert tg.theory.engset_waiting(8, 1, 0.001).waiting <= 1
    # Patience like the holding time: as many servers as calls, M/M/inf, so the number of calls is Poisson.
    impatient = tg.theory.erlang_a(8, 5, 1)
    poisson = [math.exp(-8) * 8**k / math.factorial(k) for k in range(80)]
    assert impatient.waiting == pytest.approx(sum(poisson[5:]))
    assert impatient.abandoned == pytest.approx(sum(p * (k - 5) for k, p in enumerate(poisson) if k > 5) / 8)


@pytest.mark.parametrize(("load", "servers"), [(0.5, 1), (9, 10), (95, 100)])
def test_endless_patience_is_erlang_c_and_endless_sources_erlang_b(load: float, servers: int) -> None:
    patient, known = tg.theory.erlang_a(load, servers, 1e7), tg.theory.erlang_c(load, servers)
    assert patient.waiting == pytest.approx(known.waiting, rel=1e-4)
    assert patient.mean == pytest.approx(known.mean, rel=1e-4)
    assert patient.quantile(0.99) == pytest.approx(known.quantile(0.99), rel=1e-4)
    many = tg.theory.engset(10_000_000, servers, 10_000_000 / load)
    assert many.blocked == pytest.approx(tg.theory.erlang_b(load, servers), rel=1e-4)
    assert tg.theory.kaufman_roberts(servers, [load], [1]).blocked[0] == pytest.approx(
        tg.theory.erlang_b(load, servers), rel=1e-12
    )


def test_product_form_by_enumeration() -> None:
    """Every state of a small network summed by hand, with a class of few sources."""
    rooms = (7, 5)
    classes = [CallClass((1, 0), 2.5), CallClass((2, 1), 1.25), CallClass((0, 2), 0.4, sources=3)]

    def weights(fewer: int) -> dict[tuple[int, int, int], float]:
        found = {}
        for one in range(8):
            for two in range(8):
                for few in range(4 - fewer):
                    if one + 2 * two <= rooms[0] and two + 2 * few <= rooms[1]:
                        of_few = math.comb(3 - fewer, few) * 0.4**few
                        poisson = 2.5**one / math.factorial(one) * 1.25**two / math.factorial(two)
                        found[one, two, few] = poisson * of_few
        return found

    found = tg.theory.product_form(rooms, classes)
    for number, kind in enumerate(classes):
        seen = weights(1 if kind.sources else 0)
        lost = 0.0
        for (one, two, few), weight in seen.items():
            used = (one + 2 * two, two + 2 * few)
            if any(u + need > room for u, need, room in zip(used, kind.units, rooms, strict=True)):
                lost += weight
        assert found.blocked[number] == pytest.approx(lost / sum(seen.values()), rel=1e-12)
    states = weights(0)
    mean = [sum(w * state[n] for state, w in states.items()) / sum(states.values()) for n in range(3)]
    assert found.carried == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tg.theory.erlang_a(1, 0, 1), "servers"),
        (lambda: tg.theory.erlang_a(1, 2, 0), "patience"),
        (lambda: tg.theory.erlang_a(-1, 2, 1), "load"),
        (lambda: tg.theory.erlang_a(1e7, 2, 1e9), "simulate"),
        (lambda: tg.theory.engset(0, 1, 1), "sources"),
        (lambda: tg.theory.engset(3, 1, 0), "idle"),
        (lambda: tg.theory.engset(3, 1.5, 1), "servers"),
        (lambda: tg.theory.engset_waiting(3, 1, 1, patience=-1), "patience"),
        (lambda: tg.theory.kaufman_roberts(5, [1], [1, 2]), "one for each class"),
        (lambda: tg.theory.kaufman_roberts(5, [1], [0]), "sizes"),
        (lambda: tg.theory.kaufman_roberts(5, [], []), "empty"),
        (lambda: tg.theory.kaufman_roberts(5, "ab", [1]), "no list"),
        (lambda: tg.theory.kaufman_roberts(10, [1e300], [1]), r"loads\[0\]: 1e\+300 .*at most 1e\+90 Erlang"),
        (lambda: tg.theory.product_form([5], [CallClass((1, 1), 1)]), "one for each pool"),
        (lambda: tg.theory.product_form([5], [CallClass((0,), 1)]), "at least one pool"),
        (lambda: tg.theory.product_form([5], ["a"]), "CallClass"),
        (lambda: tg.theory.product_form([3000, 3000, 3000], [CallClass((1, 1, 1), 1)]), "too large"),
    ],
)
def test_arguments_out_of_range(call: Any, message: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=message):
        call()
