"""The smallest pool that meets a goal: against Erlang, with its step below, and its refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tidegate as tg
from support import tidegate
from tidegate import _paper
from tidegate._estimate import Estimate
from tidegate._size_pool import read_goal

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
    found = tg.size_pool(CALLS, "lines", "blocked < 5%", store=False)
    assert found.capacity_bps == 15_000_000
    assert found.less is not None
    assert (found.less.capacity_bps, found.less.met) == (14_000_000, False)
    for trial in found.tried:
        lines = trial.capacity_bps // 1_000_000
        assert trial.found.mean == pytest.approx(erlang_b(10, lines), abs=0.02)
    assert "15 Mbit/s" in found.report()


def test_images_within_a_goal() -> None:
    changes = {"gate.vc.rate.reserve.rate": "50 Mbit/s", "runs": "6"}
    found = tg.size_pool(IMAGES, "vp", "p95 response < 4 s", set=changes, store=False)
    assert found.capacity_bps % 50_000_000 == 0
    assert found.found.high is not None
    assert found.found.high < 4
    assert found.less is not None
    assert not found.less.met
    # What it says is what a study says.
    study = tg.study(
        IMAGES, set={**changes, "pool.vp.capacity": f"{found.capacity_bps} bit/s"}, runs=6, store=False
    )
    assert study.estimate("request.all.response_p95_with_unfinished_s", 0) == found.found


def test_a_pool_cannot_help_a_processor() -> None:
    with pytest.raises(tg.ArgumentError, match="all circuits fit at once: the pool is not what limits"):
        tg.size_pool(IMAGES, "vp", "p95 response < 1 s", set={"runs": "3"}, store=False)


def test_those_that_never_finish_count() -> None:
    """Held for ever, one circuit serves one client: it is fast, and nobody else is served."""
    changes = {"gate.vc.rate.reserve.hold": "forever", "gate.vc.rate.reserve.rate": "100 Mbit/s", "runs": "3"}
    run = tg.run(tg.load(IMAGES, set=changes), record="summary")
    every = run.requests["all"]
    assert every["response_mean_s"] < 1 < 5 < every["response_mean_with_unfinished_s"]
    assert every["response_p95_with_unfinished_s"] > every["response_p95_s"]
    found = tg.size_pool(IMAGES, "vp", "mean response < 2 s", set=changes, store=False)
    assert found.capacity_bps == 500_000_000, "all five"


def test_goals_are_read() -> None:
    goal = read_goal(" p99  response <= 250 ms", "vp")
    assert (goal.metric, goal.bound) == ("request.all.response_p99_with_unfinished_s", 0.25)
    assert goal.met(Estimate(0.25, None, None, 1))
    assert not read_goal("p99 response < 250 ms", "vp").met(Estimate(0.25, None, None, 1))
    assert not goal.met(Estimate(0.2, 0.06, 0.1, 4)), "the interval holds the bound"
    assert not goal.met(Estimate(None, None, None, 0))
    assert read_goal("response<2 s", "vp").metric == "request.all.response_mean_with_unfinished_s"
    assert read_goal("blocked < 0.02", "vp").bound == 0.02
    assert read_goal("p50 call wait < 1 s", "vp").metric == "pool.vp.call_wait_p50_s"


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
    ],
)
def test_wrong_goals(goal: str, message: str) -> None:
    done = tidegate("size", IMAGES, "--pool", "vp", "--goal", goal)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_what_does_not_fit() -> None:
    with pytest.raises(tg.UnknownNameError, match="vp"):
        tg.size_pool(IMAGES, "vq", "p95 response < 2 s", store=False)
    with pytest.raises(tg.ArgumentError, match="has requests"):
        tg.size_pool(CALLS, "lines", "p95 response < 2 s", store=False)
    channel = {
        "duration": "2 s",
        "pool": {"ring": {"capacity": "20 Mbit/s"}},
        "gate": {"c": {"rate": {"dtm": {"slot": "512 kbit/s", "initial": "2 Mbit/s", "pool": "ring"}}}},
        "flow": {"bulk": {"path": ["c"], "app": {"transfer": "1 MB"}}},
    }
    with pytest.raises(tg.ArgumentError, match="DTM"):
        tg.size_pool(channel, "ring", "blocked < 1%", store=False)


def test_json() -> None:
    arguments = ["size", IMAGES, "--pool", "vp", "--goal", "mean response < 30 s", "--runs", "2", "--json"]
    done = tidegate(*arguments, "--no-store")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["capacity_bps"], told["unit"], told["tried"][0]["met"]) == (20_000_000, "s", True)
