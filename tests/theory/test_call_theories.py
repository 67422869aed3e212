"""Theories of calls against the simulator: Erlang A, Engset, Kaufman and Roberts, the product form."""

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


def source(name: str, **keys: str) -> str:
    lines = [f"{key} = {value}" for key, value in {"pool": '"lines"', "rate": '"1 Mbit/s"', **keys}.items()]
    return "\n".join([f"[calls.{name}]", *lines])


def random(seconds: float) -> str:
    return f'{{ exponential = "{seconds * 1e6:.3f} us" }}'


def system(*sources: str, servers: int = 5, seconds: float = 4000, **pools: int) -> str:
    """So many servers of 1 Mbit/s, or pools of so many Mbit/s."""
    rooms = pools or {"lines": servers}
    told = "\n".join(f'[pool.{name}]\ncapacity = "{room} Mbit/s"' for name, room in rooms.items())
    times = f'duration = "{1.1 * seconds:.6f} s"\nwarmup = "{0.1 * seconds:.6f} s"'
    return "\n".join([times, told, *sources])


def rows(text: str, what: str = "pools", runs: int = RUNS) -> list[list[dict[str, Any]]]:
    return [summary(text, replication=n)[what] for n in range(runs)]


def agrees(values: list[float], expected: float) -> bool:
    """Tell whether the 99.9% interval of the mean holds a number."""
    half = T * stdev(values) / math.sqrt(len(values))
    return abs(fmean(values) - expected) <= half


def fit(text: str, theory: str) -> tg.theory.Fit:
    told = {each.theory: each for each in tg.theory.match(Scenario.from_toml(text))}
    found = told[theory]
    assert isinstance(found, tg.theory.Fit), found
    assert found.unmet == ()
    return found


def agree_on(text: str, theory: str, columns: dict[str, tuple[str, ...]]) -> None:
    """Hold a theory's rows against 20 runs."""
    found = fit(text, theory)
    for what, names in columns.items():
        simulated = rows(text, what)
        for place, told in enumerate(getattr(found, what)):
            for name in names:
                values = [run[place][name] for run in simulated]
                assert agrees(values, told[name]), (what, told["name"], name, fmean(values), told[name])


@pytest.mark.parametrize(
    ("servers", "load", "patience"),
    [(1, 0.8, 0.5), (5, 4.0, 2.0), (5, 9.0, 1.0), (20, 19.0, 5.0), (20, 30.0, 0.2)],
)
def test_impatient_calls_are_as_erlang_a_says(servers: int, load: float, patience: float) -> None:
    text = system(
        source("users", every=random(1 / load), hold=random(1), patience=random(patience)),
        servers=servers,
        seconds=max(4000 / load, 60 * patience),
    )
    waits = ("calls_blocked", "calls_abandoned_share", "call_wait_mean_s")
    agree_on(text, "erlang-a", {"pools": (*waits, "reserved_mean_bps", "waiting_mean_calls"), "calls": waits})


def test_waits_of_those_that_stay_are_distributed_as_erlang_a_says() -> None:
    text = system(source("users", every=random(1 / 9), hold=random(1), patience=random(1)), seconds=1000)
    agree_on(text, "erlang-a", {"pools": ("call_wait_p50_s", "call_wait_p99_s")})


@pytest.mark.parametrize(
    ("count", "servers", "idle"), [(3, 1, 2.0), (10, 4, 3.0), (10, 4, 0.5), (200, 5, 50.0)]
)
@pytest.mark.parametrize("hold", [random(1), '"1 s"'])
def test_sources_are_as_engset_says(count: int, servers: int, idle: float, hold: str) -> None:
    """Lost calls: whatever the holding times are like."""
    keys = {"sources": str(count), "idle": random(idle), "hold": hold, "blocked": '"refuse"'}
    text = system(source("users", **keys), servers=servers, seconds=800)
    agree_on(text, "engset", {"pools": ("calls_blocked", "reserved_mean_bps"), "calls": ("calls_blocked",)})


@pytest.mark.parametrize("patience", [None, 0.7])
@pytest.mark.parametrize(("count", "servers", "idle"), [(3, 1, 2.0), (10, 4, 1.0), (30, 20, 0.5)])
def test_sources_that_wait_are_as_machine_repair_says(
    count: int, servers: int, idle: float, patience: float | None
) -> None:
    keys = {"sources": str(count), "idle": random(idle), "hold": random(1)}
    names = ["calls_blocked", "call_wait_mean_s", "reserved_mean_bps", "waiting_mean_calls"]
    if patience is not None:
        keys["patience"] = random(patience)
        names.append("calls_abandoned_share")
    text = system(source("users", **keys), servers=servers, seconds=2000)
    agree_on(text, "engset", {"pools": tuple(names)})


@pytest.mark.parametrize("hold", [random(2), '"2 s"'])
def test_several_sizes_are_as_kaufman_and_roberts_say(hold: str) -> None:
    text = system(
        source("small", every=random(0.25), hold=random(1), blocked='"refuse"'),
        source("middle", every=random(1), hold=hold, blocked='"refuse"', rate='"2 Mbit/s"'),
        source("large", every=random(3), hold=random(1.5), blocked='"refuse"', rate='"5 Mbit/s"'),
        servers=12,
        seconds=1500,
    )
    names = ("calls_blocked",)
    agree_on(text, "kaufman-roberts", {"calls": names, "pools": (*names, "reserved_mean_bps")})


def test_several_pools_are_as_the_product_form_says() -> None:
    """A line of three links: calls over one, over two and over all; one class of few sources."""
    both, every = '["a", "b"]', '["a", "b", "c"]'
    text = system(
        source("one", every=random(0.5), hold=random(1), blocked='"refuse"', pool='"a"'),
        source("two", every=random(0.7), hold='"1 s"', blocked='"refuse"', pool=both, rate='"2 Mbit/s"'),
        source("all", every=random(1), hold=random(1), blocked='"refuse"', pool=every, rate='"3 Mbit/s"'),
        source("few", sources="4", idle=random(2), hold=random(1), blocked='"refuse"', pool='"c"'),
        seconds=1500,
        a=7,
        b=6,
        c=5,
    )
    names = ("calls_blocked",)
    agree_on(text, "product-form", {"calls": names, "pools": (*names, "reserved_mean_bps")})


@pytest.mark.parametrize(
    ("keys", "theory", "reason"),
    [
        ({"every": random(1), "hold": random(1), "patience": '"1 s"'}, "erlang-a", "is constant"),
        ({"every": random(1), "hold": random(1)}, "erlang-a", "no call gives up after waiting"),
        ({"every": random(1), "hold": '"1 s"', "patience": random(1)}, "erlang-a", "not exponential"),
        ({"every": random(1), "hold": random(1), "patience": random(1)}, "erlang", "which is Erlang A"),
        ({"sources": "9", "idle": random(1), "hold": random(1)}, "erlang", "Engset's model"),
        ({"sources": "9", "idle": '"1 s"', "hold": random(1)}, "engset", "idle times are constant"),
        ({"every": random(1), "hold": random(1)}, "engset", "do not come from a fixed number"),
        (
            {"every": random(1), "hold": random(1), "blocked": '"refuse"'},
            "kaufman-roberts",
            "have the same rate",
        ),
        ({"every": random(1), "hold": random(1)}, "kaufman-roberts", "in the theory they are lost"),
        ({"every": random(1), "hold": random(1), "blocked": '"refuse"'}, "product-form", "one pool"),
    ],
)
def test_a_plan_that_does_not_fit_is_told_why(keys: dict[str, str], theory: str, reason: str) -> None:
    told = {
        each.theory: each for each in tg.theory.match(Scenario.from_toml(system(source("users", **keys))))
    }
    miss = told[theory]
    assert isinstance(miss, tg.theory.Miss)
    assert reason in miss.reason


def test_a_network_too_large_for_an_exact_answer_is_refused_in_words() -> None:
    pools = {f"p{n}": 500 for n in range(4)}
    every = "[" + ", ".join(f'"{name}"' for name in pools) + "]"
    text = system(
        source("all", every=random(1), hold=random(1), blocked='"refuse"', pool=every),
        source("one", every=random(1), hold=random(1), blocked='"refuse"', pool='"p0"'),
        servers=0,
        **pools,
    )
    told = {each.theory: each for each in tg.theory.match(Scenario.from_toml(text))}["product-form"]
    assert isinstance(told, tg.theory.Miss)
    assert "too large for an exact answer" in told.reason


def test_constant_patience_ends_when_it_says() -> None:
    """By hand: one line, held for 5 s by the first call; calls at 1, 2, 3 s ... wait for 2.5 s."""
    text = """
duration = "10 s"
[pool.lines]
capacity = "1 Mbit/s"
[calls.users]
pool = "lines"
rate = "1 Mbit/s"
every = "1 s"
hold = "5 s"
patience = "2.5 s"
"""
    row = summary(text)["calls"][0]
    # Made at 1 to 9 s. The first holds from 1 to 6 s; those of 2 and 3 s leave at 4.5 and 5.5 s; that of
    # 4 s is served at 6 s until 11 s; those of 5, 6 and 7 s leave at 7.5, 8.5 and 9.5 s; two wait on.
    assert (row["calls_offered"], row["calls_carried"], row["calls_abandoned"]) == (9, 2, 5)
    assert row["call_wait_mean_s"] == pytest.approx(1.0)
    assert row["calls_abandoned_share"] == pytest.approx(5 / 9)
    # One that may wait for just as long as it takes is served: what is given back comes first.
    exact = summary(text.replace('"2.5 s"', '"2 s"'))["calls"][0]
    assert (exact["calls_carried"], exact["call_wait_mean_s"]) == (2, pytest.approx(1.0))


def test_sources_call_when_they_have_been_idle() -> None:
    """By hand: two sources, one line; each idle for 1 s, each call 2 s; a lost call ends at once."""
    text = """
duration = "8.5 s"
[pool.lines]
capacity = "1 Mbit/s"
[calls.users]
pool = "lines"
rate = "1 Mbit/s"
sources = 2
idle = "1 s"
hold = "2 s"
blocked = "refuse"
"""
    # 1: the first is granted, the second lost; 2: lost; 3: given back, then granted to the second, and the
    # first calls at 4 and is lost ...
    row = summary(text)["calls"][0]
    pool = summary(text)["pools"][0]
    assert row["calls_offered"] == row["calls_carried"] + row["calls_refused"]
    assert pool["reserved_max_bps"] == 1e6
    assert row["calls_carried"] == 4
    assert pool["reserved_mean_bps"] == pytest.approx(1e6 * 7.5 / 8.5)
    waiting = summary(text.replace('blocked = "refuse"', ""))["calls"][0]
    # In turn, without a pause: from 1 s on every two seconds; waits of 0, 2, 1 (4 to 5), 1 (6 to 7) ...
    assert (waiting["calls_refused"], waiting["calls_carried"]) == (0, 4)
    assert waiting["call_wait_mean_s"] == pytest.approx((0 + 2 + 1 + 1) / 4)
