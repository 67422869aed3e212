"""Erlang's formulas against exact sums and printed tables, and their arguments."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import tidegate as tg
from tidegate.theory import erlang_b, erlang_c, erlang_servers


def exact_b(load: Fraction, servers: int) -> Fraction:
    """The formula as Erlang wrote it."""
    terms = [load**n / math.factorial(n) for n in range(servers + 1)]
    return terms[-1] / sum(terms)


@pytest.mark.parametrize("servers", [0, 1, 2, 7, 30, 120])
@pytest.mark.parametrize("load", ["1/100", "1/2", "1", "6", "50", "300"])
def test_the_recursion_is_the_sum(load: str, servers: int) -> None:
    exact = exact_b(Fraction(load), servers)
    assert erlang_b(float(Fraction(load)), servers) == pytest.approx(float(exact), rel=1e-12)


def test_printed_values() -> None:
    # Tables of traffic theory, four digits.
    assert erlang_b(10, 10) == pytest.approx(0.2146, abs=5e-5)
    assert erlang_b(1, 1) == 0.5
    assert erlang_c(8, 10).waiting == pytest.approx(0.4092, abs=5e-5)
    # One server: an arrival waits with probability load, for 1 / (1 - load) holding times.
    one = erlang_c(0.7, 1, hold=3.0)
    assert one.waiting == pytest.approx(0.7)
    assert one.mean == pytest.approx(3.0 * 0.7 / 0.3)


def test_large_systems_are_stable() -> None:
    assert 0 < erlang_b(1e5, 100_500) < 1e-2
    assert erlang_b(0.0, 3) == 0.0
    assert erlang_b(0.0, 0) == 1.0
    assert erlang_b(5, 0) == 1.0


def test_waits() -> None:
    found = erlang_c(5.6, 7, hold=2.0)
    assert found.beyond(0) == pytest.approx(found.waiting)
    assert found.beyond(-1) == 1.0
    assert found.quantile(0.0) == 0.0
    for share in (0.7, 0.9, 0.999):
        assert found.beyond(found.quantile(share)) == pytest.approx(1 - share)
    full = erlang_c(7, 7)
    assert (full.waiting, full.mean, full.quantile(0.5), full.beyond(9)) == (1.0, math.inf, math.inf, 1.0)


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("load", [0.0, 0.3, 5, 42.5, 900])
@pytest.mark.parametrize("goal", [1.0, 0.2, 0.01, 1e-6])
def test_the_inverse_is_the_least(load: float, goal: float, *, waits: bool) -> None:
    def share(servers: int) -> float:
        return erlang_c(load, servers).waiting if waits else erlang_b(load, servers)

    servers = erlang_servers(load, goal, waits=waits)
    assert share(servers) <= goal
    assert servers == 0 or share(servers - 1) > goal


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: erlang_b(-1, 3), "load"),
        (lambda: erlang_b(math.nan, 3), "not a number"),
        (lambda: erlang_b("5", 3), "not a number"),
        (lambda: erlang_b(1, 2.5), "whole number"),
        (lambda: erlang_b(1, -1), "whole number"),
        (lambda: erlang_c(1, 2, hold=0), "hold"),
        (lambda: erlang_c(1, 2).quantile(1.0), "share"),
        (lambda: erlang_servers(1, 0), "blocking"),
        (lambda: erlang_servers(1e9, 0.01), "more than"),
    ],
)
def test_wrong_arguments(call: object, says: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=says):
        call()  # type: ignore[operator]
