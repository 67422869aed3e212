"""Calls for a pool agree with Erlang's formulas, and a scenario that is such a system is recognised."""

from __future__ import annotations

import math
from statistics import fmean, stdev
from typing import Any

import pytest
import tidegate as tg
from support.common import summary
from tidegate._ask.scenario import Scenario

#: Student's t for 20 runs and 99.9%.
RUNS, T = 20, 3.883
#: Calls in a run, about.
CALLS = 4000

LOADS = {1: (0.2, 0.6, 0.9), 3: (0.3, 0.7, 0.9), 7: (0.4, 0.7, 0.9), 20: (0.5, 0.8, 0.95)}
GRID = [(servers, share) for servers, shares in LOADS.items() for share in shares]


def system(servers: int, load: float, blocked: str, hold: str = '{ exponential = "1 s" }') -> str:
    """So many servers, calls of a mean of one second."""
    return f"""
duration = "{CALLS / load:.6f} s"
warmup = "{0.05 * CALLS / load:.6f} s"
[pool.lines]
capacity = "{servers} Mbit/s"
[calls.users]
pool = "lines"
rate = "1 Mbit/s"
every = {{ exponential = "{1e6 / load:.3f} us" }}
hold = {hold}
blocked = "{blocked}"
"""


def pools(text: str, runs: int = RUNS) -> list[dict[str, Any]]:
    return [summary(text, replication=n)["pools"][0] for n in range(runs)]


def agrees(values: list[float], expected: float) -> bool:
    """Tell whether the 99.9% interval of the mean holds a number."""
    half = T * stdev(values) / math.sqrt(len(values))
    return abs(fmean(values) - expected) <= half


@pytest.mark.parametrize(("servers", "share"), [*GRID, (5, 1.4)])
def test_lost_calls_are_as_erlang_says(servers: int, share: float) -> None:
    load = servers * share
    found = pools(system(servers, load, "refuse"))
    blocked = tg.theory.erlang_b(load, servers)
    assert agrees([row["calls_blocked"] for row in found], blocked)
    assert agrees([row["reserved_mean_bps"] / 1e6 for row in found], load * (1 - blocked))
    assert all(row["calls_waited"] == 0 for row in found)


def test_the_distribution_of_holding_times_does_not_matter_where_calls_are_lost() -> None:
    found = pools(system(3, 2.4, "refuse", hold='"1 s"'))
    assert agrees([row["calls_blocked"] for row in found], tg.theory.erlang_b(2.4, 3))


@pytest.mark.parametrize(("servers", "share"), GRID)
def test_waiting_calls_are_as_erlang_says(servers: int, share: float) -> None:
    load = servers * share
    found = pools(system(servers, load, "wait"))
    theory = tg.theory.erlang_c(load, servers)
    assert agrees([row["calls_blocked"] for row in found], theory.waiting)
    assert agrees([row["call_wait_mean_s"] for row in found], theory.mean)
    # Little: as many wait as come in a mean wait.
    assert agrees([row["waiting_mean_calls"] for row in found], load * theory.mean)


def test_waits_are_distributed_as_erlang_says() -> None:
    found = pools(system(7, 5.6, "wait"))
    theory = tg.theory.erlang_c(5.6, 7)
    # Quantiles of a run lean a little; they are within the noise of 20 of them.
    for column, share in (("call_wait_p50_s", 0.5), ("call_wait_p99_s", 0.99)):
        assert agrees([row[column] for row in found], theory.quantile(share)), column


def test_a_plan_of_calls_is_recognised() -> None:
    text = system(7, 5.6, "wait")
    fit = next(each for each in tg.theory.match(Scenario.from_toml(text)) if each.theory == "erlang")
    assert isinstance(fit, tg.theory.Fit)
    assert fit.parameters["servers"] == 7
    assert fit.parameters["load"] == pytest.approx(5.6)
    assert fit.unmet == ()
    row = tg.run(Scenario.from_toml(text), engine="theory").pools["lines"].summary
    assert row["calls_blocked"] == pytest.approx(tg.theory.erlang_c(5.6, 7).waiting, rel=1e-6)
    assert row["utilisation"] == pytest.approx(0.8)


OTHERS = """[calls.more]
pool = "lines"
rate = "2 Mbit/s"
every = { exponential = "9 s" }
hold = { exponential = "1 s" }
[calls.users]"""


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('hold = { exponential = "1 s" }', 'hold = "1 s"', "are not exponential"),
        ('capacity = "7 Mbit/s"', 'capacity = "5 Mbit/s"', "more than 5 calls can ever carry"),
        ('blocked = "wait"', 'blocked = "refuse"\nretry = "1 s"', "are repeated"),
        ("every = { exponential =", "every = { exponential =", None),
        ('every = { exponential = "178571.429 us" }', 'every = "178571 us"', "do not arrive at random"),
        (
            "[calls.users]",
            OTHERS,
            "have several rates",
        ),
        (
            "[pool.lines]",
            '[gate.g]\n[flow.f]\npath = ["g"]\nrtt = "9 ms"\n[pool.lines]',
            "also has packets",
        ),
    ],
)
def test_a_plan_that_is_no_erlang_system_is_told_why(old: str, new: str, reason: str | None) -> None:
    text = system(7, 5.6, "wait")
    assert old in text
    told = next(
        each
        for each in tg.theory.match(Scenario.from_toml(text.replace(old, new)))
        if each.theory == "erlang"
    )
    if reason is None:
        assert isinstance(told, tg.theory.Fit)
    else:
        assert isinstance(told, tg.theory.Miss)
        assert reason in told.reason
