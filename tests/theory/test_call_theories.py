"""Theories of calls against the simulator: Erlang A, Engset, Kaufman and Roberts, the product form."""

from __future__ import annotations

import math
from statistics import fmean, stdev
from typing import Any

import pytest
import tidegate as tg
from support.common import summary
from tidegate._ask.scenario import Scenario
from tidegate.theory import CallClass

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
    assert found.bent == ()
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
        (lambda: tg.theory.product_form([5], [CallClass((1, 1), 1)]), "one for each pool"),
        (lambda: tg.theory.product_form([5], [CallClass((0,), 1)]), "at least one pool"),
        (lambda: tg.theory.product_form([5], ["a"]), "CallClass"),
        (lambda: tg.theory.product_form([3000, 3000, 3000], [CallClass((1, 1, 1), 1)]), "too large"),
    ],
)
def test_arguments_out_of_range(call: Any, message: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=message):
        call()
