"""The smallest pool that meets a goal: against Erlang, with its step below, and its refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import tidegate as tg
from support.common import tidegate
from tidegate._advise.pool import _warnings
from tidegate._advise.pool_goal import read_goal, wider
from tidegate._base.estimate import Estimate
from tidegate_papers._reproduce import paper as _paper

IMAGES = _paper.FOLDER / "image_server" / "image-server.toml"

CALLS: dict[str, Any] = {
    "duration": "400 s",
    "warmup": "20 s",
    "seed": 1,
    "runs": 8,
    "pool": {"lines": {"capacity": "3 Mbit/s"}},
    "calls": {
        "phones": {
            "pool": "lines",
            "rate": "1 Mbit/s",
            "every": {"exponential": "100 ms"},
            "hold": {"exponential": "1 s"},
            "blocked": "refuse",
        }
    },
}


def erlang_b(load: float, servers: int) -> float:
    """Return the blocking of Erlang's loss system by its recursion."""
    blocking = 1.0
    for n in range(1, servers + 1):
        blocking = load * blocking / (n + load * blocking)
    return blocking


def test_calls_need_what_erlang_says() -> None:
    assert erlang_b(10, 14) > 0.05 > erlang_b(10, 15)
    found = tg.size(CALLS, pool="lines", goal="blocked < 5%", store=False)
    assert found.capacity_bps == 15_000_000
    assert found.less is not None
    assert (found.less.capacity_bps, found.less.met) == (14_000_000, False)
    for trial in found.tried:
        lines = trial.capacity_bps // 1_000_000
        assert trial.found.mean == pytest.approx(erlang_b(10, lines), abs=0.02)
    assert "15 Mbit/s" in found.report()


def pool_of(load: float, lines: int, **keys: Any) -> dict[str, Any]:
    """Return calls of a second at a load, as many lines, and 8 runs of about 2000 calls."""
    phones = {**CALLS["calls"]["phones"], "every": {"exponential": f"{round(1e6 / load)} us"}, **keys}
    return {
        **CALLS,
        "duration": f"{round(2000 / load) + 10} s",
        "warmup": "10 s",
        "pool": {"lines": {"capacity": f"{lines} Mbit/s"}},
        "calls": {"phones": {name: value for name, value in phones.items() if value is not None}},
    }


def test_where_the_interval_holds_the_bound_it_is_undecided() -> None:
    """Of 10 Erlang over 13 lines 8.434% are blocked: a bound of 8.44% cannot be told from that."""
    assert 100 * erlang_b(10, 13) == pytest.approx(8.434, abs=0.001)
    scenario, goal = pool_of(10, 20), "blocked < 8.44%"
    found = tg.size(scenario, pool="lines", goal=goal, method="sim", seed=1, store=False)
    assert (found.capacity_bps, found.undecided, found.decided) == (14_000_000, (13_000_000,), False)
    assert found.less is not None
    assert (found.less.verdict, found.less.runs) == ("undecided", 16 * 8)
    assert "undecided: 13 Mbit/s may be enough as well" in " ".join(found.report().split())
    told = found.to_dict()
    assert (told["decided"], told["undecided_bps"]) == (False, [13_000_000])
    exact = tg.size(scenario, pool="lines", goal=goal, seed=1, store=False)
    assert (exact.capacity_bps, exact.method, exact.theory) == (13_000_000, "theory", "erlang")
    assert (exact.simulated_bps, exact.undecided) == (14_000_000, (13_000_000,))
    assert exact.less is not None
    assert (exact.less.verdict, exact.decided) == ("not met", True)
    alone = tg.size(scenario, pool="lines", goal=goal, method="theory", seed=1, store=False)
    assert (alone.capacity_bps, alone.tried, alone.found) == (13_000_000, (), None)


def test_what_no_run_has_is_not_measured() -> None:
    """A call in 100 days: none is offered, and no capacity can be judged by what was blocked."""
    none = {**CALLS, "duration": "1 s", "warmup": "0 s", "calls": {"phones": {**CALLS["calls"]["phones"]}}}
    none["calls"]["phones"]["every"] = {"exponential": "2400 h"}
    told = "it is undecided whether any .*: blocked is not measured with .*a longer duration"
    with pytest.raises(tg.errors.ArgumentError, match=told):
        tg.size(none, pool="lines", goal="blocked < 5%", method="sim", runs=2, store=False)


def test_a_capacity_without_a_number_is_open() -> None:
    (part,) = read_goal("blocked < 5%", "lines").parts
    assert part.verdict(Estimate(None, None, None, 0), 0) == "undecided"
    found = tg.size(CALLS, pool="lines", goal="blocked < 5%", method="sim", runs=1, store=False)
    assert found.less is not None
    blank = replace(found.less, each=(Estimate(None, None, None, 0),), verdict="undecided")
    tried = tuple(blank if each is found.less else each for each in found.tried)
    beside = replace(found, tried=tried, less=blank, undecided=(blank.capacity_bps,)).report()
    told = " ".join(beside.split())
    assert "may be enough as well, because nothing was measured" in told
    assert "not measured  " in beside
    assert any("nothing was measured" in note for note in _warnings([*tried], certain=False))
    assert not any("still contains" in note for note in _warnings([*tried], certain=False))


def test_one_replication_decides_with_a_warning() -> None:
    found = tg.size(CALLS, pool="lines", goal="blocked < 5%", method="sim", runs=1, store=False)
    assert {trial.runs for trial in found.tried} == {1}
    assert found.decided
    assert any("Only one replication" in note for note in found.notes)
    several = tg.size(CALLS, pool="lines", goal="blocked < 5%", method="sim", runs=4, store=False)
    assert not any("one replication" in note for note in several.notes)


def test_goals_of_classes() -> None:
    two = {
        **CALLS,
        "duration": "300 s",
        "calls": {
            "small": {**CALLS["calls"]["phones"], "every": {"exponential": "200 ms"}},
            "large": {**CALLS["calls"]["phones"], "every": {"exponential": "1 s"}, "rate": "4 Mbit/s"},
        },
        "pool": {"lines": {"capacity": "20 Mbit/s"}},
    }
    goal = "large blocked < 5% and small blocked < 2%"

    def blocked(units: int) -> tuple[float, ...]:
        return tg.theory.kaufman_roberts(units, [5, 1], [1, 4]).blocked

    units = next(n for n in range(4, 99) if blocked(n)[0] < 0.02 and blocked(n)[1] < 0.05)
    found = tg.size(two, pool="lines", goal=goal, store=False)
    assert (found.theory, found.capacity_bps) == ("kaufman-roberts", units * 1_000_000)
    assert found.simulated_bps is not None
    assert found.capacity_bps in (found.simulated_bps, *found.undecided)
    assert found.theory_values == pytest.approx((blocked(units)[1], blocked(units)[0]))
    assert "large blocked < 5%" in found.report()
    only = tg.size(two, pool="lines", goal="small blocked < 2%", method="theory", store=False)
    assert only.capacity_bps < found.capacity_bps
    with pytest.raises(tg.errors.ArgumentError, match='did you mean "large"'):
        tg.size(two, pool="lines", goal="larg blocked < 5%", store=False)


def test_the_theory_may_not_know_the_goal() -> None:
    with pytest.raises(tg.errors.EngineError, match="says nothing of this goal"):
        tg.size(CALLS, pool="lines", goal="p99 call wait < 1 s", method="theory", store=False)
    constant = pool_of(5, 9, every="200 ms")
    with pytest.raises(tg.errors.EngineError, match="gaps are constant"):
        tg.size(constant, pool="lines", goal="blocked < 5%", method="theory", store=False)
    waits = pool_of(5, 9, blocked=None, patience={"exponential": "1 s"})
    found = tg.size(waits, pool="lines", goal="abandoned < 5%", method="theory", store=False)
    lines = next(n for n in range(1, 99) if tg.theory.erlang_a(5, n, 1).abandoned < 0.05)
    assert (found.theory, found.capacity_bps) == ("erlang-a", lines * 1_000_000)


def test_images_within_a_goal() -> None:
    changes = {"gate.vc.rate.reserve.rate": "50 Mbit/s"}
    found = tg.size(IMAGES, pool="vp", goal="p95 response < 4 s", changes=changes, runs=6, store=False)
    assert found.capacity_bps % 50_000_000 == 0
    assert found.found.high is not None
    assert found.found.high < 4
    assert found.less is not None
    assert not found.less.met
    # What it says is what a study says.
    study = tg.study(
        IMAGES,
        changes={**changes, "pool.vp.capacity": f"{found.capacity_bps} bit/s"},
        runs=found.found.n,
        store=False,
    )
    assert study.estimate("request.all.response_p95_with_unfinished_s", 0) == found.found


def test_a_pool_cannot_help_a_processor() -> None:
    with pytest.raises(
        tg.errors.ArgumentError, match="all circuits fit at once: something else is the limit"
    ):
        tg.size(IMAGES, pool="vp", goal="p95 response < 1 s", changes={"runs": "3"}, store=False)


def test_those_that_never_finish_count() -> None:
    """Held for ever, one circuit serves one client: it is fast, and nobody else is served."""
    changes = {"gate.vc.rate.reserve.hold": "forever", "gate.vc.rate.reserve.rate": "100 Mbit/s", "runs": "3"}
    run = tg.run(tg.load(IMAGES, changes=changes), record="summary")
    every = run.requests["all"]
    assert every["response_mean_s"] < 1 < 5 < every["response_mean_with_unfinished_s"]
    assert every["response_p95_with_unfinished_s"] > every["response_p95_s"]
    found = tg.size(IMAGES, pool="vp", goal="mean response < 2 s", changes=changes, store=False)
    assert found.capacity_bps == 500_000_000, "all five"


def test_goals_are_read() -> None:
    (part,) = read_goal(" p99  response <= 250 ms", "vp").parts
    assert (part.metric, part.bound) == ("request.all.response_p99_with_unfinished_s", 0.25)
    assert part.verdict(Estimate(0.25, None, None, 1)) == "met"
    (strict,) = read_goal("p99 response < 250 ms", "vp").parts
    assert strict.verdict(Estimate(0.25, None, None, 1)) == "not met"
    # Student's t for 99% and 4 runs is 5.841, so half of the interval is 0.0584.
    half = 0.02 * 5.841 / 2
    for mean, verdict in ((0.19, "met"), (0.2, "undecided"), (0.3, "undecided"), (0.31, "not met")):
        assert part.verdict(Estimate(mean, 0.0318, 0.02, 4)) == verdict
    assert wider(Estimate(0.2, 0.0318, 0.02, 4)).half_width == pytest.approx(half, rel=1e-4)
    told = read_goal("response<2 s", "vp").parts
    assert told[0].metric == "request.all.response_mean_with_unfinished_s"
    assert read_goal("blocked < 0.02", "vp").parts[0].bound == 0.02
    assert read_goal("p50 call wait < 1 s", "vp").parts[0].metric == "pool.vp.call_wait_p50_s"
    both = read_goal("large blocked < 5% and calls.small p99 call wait < 1 s", "vp", ["large", "small"])
    assert [part.metric for part in both.parts] == [
        "calls.large.calls_blocked",
        "calls.small.call_wait_p99_s",
    ]
    assert read_goal("abandoned < 1%", "vp").parts[0].metric == "pool.vp.calls_abandoned_share"


def test_none_of_a_few_calls_is_not_none_of_all() -> None:
    """Not one of 100 calls blocked: with 95% fewer than 3 of 100 are."""
    (part,) = read_goal("blocked < 1%", "vp").parts
    none = Estimate(0.0, 0.0, 0.0, 8)
    assert part.verdict(none, calls=100) == "undecided"
    assert part.verdict(none, calls=1000) == "met"
    assert part.verdict(none, calls=0) == "undecided"


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ("fast", 'read "fast"'),
        ("p95 response > 2 s", "write"),
        ("p95 response < 2", "goal"),
        ("p95 response < 0 s", "goal"),
        ("p95 blocked < 1%", "a share has no p95"),
        ("blocked < 0%", "above 0"),
        ("blocked < 120%", "above 0"),
        ("p95 call wait < 1 s", "mean, p50 and p99"),
        ("blocked < 1% and", 'a bound is missing beside "and"'),
        ("blocked < 1% or abandoned < 1%", 'bounds are joined by "and", not by "or"'),
        ("mean call wait < 100 ms, blocked < 1%", 'bounds are joined by "and", not by ","'),
    ],
)
def test_wrong_goals(goal: str, message: str) -> None:
    done = tidegate("size", IMAGES, "--pool", "vp", "--goal", goal)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_what_does_not_fit() -> None:
    with pytest.raises(tg.errors.UnknownNameError, match="vp"):
        tg.size(IMAGES, pool="vq", goal="p95 response < 2 s", store=False)
    with pytest.raises(tg.errors.ArgumentError, match="has requests"):
        tg.size(CALLS, pool="lines", goal="p95 response < 2 s", store=False)
    channel = {
        "duration": "2 s",
        "pool": {"ring": {"capacity": "20 Mbit/s"}},
        "gate": {"c": {"rate": {"dtm": {"slot": "512 kbit/s", "initial": "2 Mbit/s", "pool": "ring"}}}},
        "flow": {"bulk": {"path": ["c"], "app": {"transfer": "1 MB"}}},
    }
    with pytest.raises(tg.errors.ArgumentError, match="DTM"):
        tg.size(channel, pool="ring", goal="blocked < 1%", store=False)


def test_json() -> None:
    arguments = ["size", IMAGES, "--pool", "vp", "--goal", "mean response < 30 s", "--runs", "2", "--json"]
    done = tidegate(*arguments, "--no-store")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["capacity_bps"], told["unit"], told["tried"][0]["met"]) == (20_000_000, "s", True)
