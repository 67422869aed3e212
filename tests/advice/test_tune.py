"""Advice on a following gate: what is found, what is beside it, and what cannot be."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import SMALL, tidegate
from tidegate._advise.tune import _chosen
from tidegate._advise.tune_goal import Goal
from tidegate._advise.tune_search import INSTCAP
from tidegate._ask.plan import plan_of
from tidegate._base.estimate import Estimate, estimate
from tidegate_papers._reproduce import paper as _paper

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate._advise.tune_result import Setting

ABR = _paper.FOLDER / "tcp_over_abr" / "abr.toml"
QUICK: dict[str, Any] = {
    "duration": "60 s",
    "warmup": "5 s",
    "runs": 8,
    "gate.link.rate.markov.mean_holding": ["200 ms", "200 ms"],
}


#: A bound on the whole delay that some settings keep and others miss.
LOOSE_MS = 600


@pytest.fixture(scope="module")
def found() -> tg.Tuning:
    return tg.tune(ABR, changes=QUICK, seed=5, store=False)


def test_what_is_told_beside_the_best(found: tg.Tuning) -> None:
    assert (found.gate, found.followed, found.runs, found.met) == ("abr", "link", 8, True)
    names = [row.name for row in found.rows]
    assert names == [
        "as it is", "INSTCAP", "rule, N: 8Δ", "rule, N: 10Δ", "rule, N: 12Δ", "best M and N", "best constant",
        "best share", "best window", "best of all four",
    ]  # fmt: skip
    # 200 ms are seven intervals of 30 ms; N: kΔ is (k - 1) of them.
    assert [(row.m, row.n) for row in found.rows[1:5]] == [(1, 1), (7, 49), (7, 63), (7, 77)]
    assert found.rows[6].rate_bps is not None
    # The low rate is 400 kbit/s, the mean 600.
    assert 300_000 < found.rows[6].rate_bps < 800_000
    assert found.rule.gain_bps.mean == 0
    assert {row.goodput_bps.possible for row in found.rows} == {(0.0, math.inf)}
    assert {row.rtt_p50_ms.possible for row in found.rows} == {(0.0, math.inf)}
    assert found.rule.gain_bps.possible == (-math.inf, math.inf)
    for row in found.rows:
        assert (row.delay_ms, row.bound) == (None, "met")
        assert row.rtt_p50_ms.mean is not None
        assert row.goodput_bps.n == 8
        assert row.gain_bps.mean == pytest.approx(
            (row.goodput_bps.mean or 0) - (found.rule.goodput_bps.mean or 0)
        )


def test_its_numbers_are_those_of_a_study_with_the_seed_it_names(found: tg.Tuning) -> None:
    best = found.rows[5]
    effcap = {"gate.abr.rate.follow.effcap": {"m": best.m, "n": best.n}}
    again = tg.study(ABR, changes={**QUICK, **effcap}, seed=found.check_seed, runs=8, store=False)
    assert again.estimate("goodput_bps") == best.goodput_bps
    assert found.check_seed != found.seed


def goodput_of(row: Setting, found: tg.Tuning) -> list[float]:
    """Return the goodput of a setting, run by run, on the networks of the judgement."""
    sets: dict[str, Any] = {**QUICK}
    if row.rate_bps is not None:
        sets["gate.abr.rate"] = f"{row.rate_bps} bit/s"
    else:
        sets["gate.abr.rate.follow.effcap"] = {"m": row.m, "n": row.n}
        sets["gate.abr.rate.follow.share"] = row.share
        sets["flow.bulk.tcp.window"] = f"{row.window} segments"
    study = tg.study(ABR, changes=sets, seed=found.check_seed, runs=8, store=False)
    assert study.estimate("goodput_bps") == row.goodput_bps
    return [value or 0.0 for value in study.values("goodput_bps", 0)]


def test_the_star_goes_to_the_simplest_that_is_not_significantly_worse(found: tg.Tuning) -> None:
    """It is never significantly behind any setting of the table, and no simpler one could have it."""
    simple = {"INSTCAP": 0, "as it is": 1, "best M and N": 4, "best of all four": 5}
    rank = {row.name: simple.get(row.name, 2 if row.name.startswith("rule") else 3) for row in found.rows}
    assert found.top.goodput_bps.mean == max(row.goodput_bps.mean for row in found.rows)
    assert found.lead_bps.low is not None
    assert found.best is found.top or found.lead_bps.low <= 0
    goodputs = {row.name: goodput_of(row, found) for row in found.rows}
    for row in found.rows:
        behind = [a - b for a, b in zip(goodputs[row.name], goodputs[found.top.name], strict=True)]
        high = estimate(behind).high
        assert high is not None
        if rank[row.name] < rank[found.best.name]:
            assert high < 0, f"{row.name} is simpler than {found.best.name}, and not significantly worse"
        if row is found.best:
            assert high >= 0


def test_the_delay_of_a_goal_holds_the_senders_own_queue() -> None:
    """A constant rate far below what TCP sends: all waiting is at the sender, and the bound is on that."""
    slow = {
        **{key: value for key, value in QUICK.items() if key != "runs"},
        "duration": "20 s",
        "gate.abr.rate.follow.share": 0.25,
        "flow.bulk.tcp.window": "60 segments",
    }
    loose = tg.tune(ABR, changes=slow, goal="throughput with p50 delay < 10 s", runs=4, seed=1, store=False)
    own = loose.rows[0]
    assert own.share == 0.25
    assert own.delay_ms is not None
    assert own.delay_ms.mean is not None
    assert own.rtt_p50_ms.mean is not None
    plan = plan_of(tg.load(ABR, changes=slow))
    back = plan["flows"][0]["back_delay_ps"] / 1e9 + sum(
        plan["gates"][n]["delay_ps"] / 1e9 for n in plan["flows"][0]["back"]
    )
    assert own.delay_ms.mean == pytest.approx(own.rtt_p50_ms.mean - back)
    study = tg.study(ABR, changes=slow, seed=loose.check_seed, runs=4, store=False)
    wait = study.estimate("gate.link.queue_delay_p50_ms").mean
    assert wait is not None
    assert own.delay_ms.mean > 10 * wait, "most of the wait is not at the link"
    alone = tg.tune(
        ABR, changes=slow, goal="throughput with p50 queue delay < 10 s", runs=4, seed=1, store=False
    )
    assert alone.rows[0].delay_ms == study.estimate("gate.link.queue_delay_p50_ms")


def test_an_interval_that_holds_the_bound_is_undecided() -> None:
    goal = Goal.parse("throughput with p99 delay < 100 ms")
    verdicts = [goal.verdict(Estimate(mean, half, 1.0, 8)) for mean, half in ((90, 5), (99, 5), (110, 5))]
    assert verdicts == ["met", "undecided", "missed"]
    assert goal.verdict(Estimate(None, None, None, 0)) == "undecided"


def test_a_delay_that_was_not_measured_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The flow begins when the run is over: no setting has a round trip."""
    for name in ("best_pair", "best_share", "best_rate", "best_window", "best_of_all"):
        monkeypatch.setattr(f"tidegate._advise.tune.{name}", lambda *_: INSTCAP)
    late = {**QUICK, "duration": "6 s", "flow.bulk.start": "7 s"}
    found = tg.tune(ABR, changes=late, goal="throughput with p99 delay < 1 s", seed=1, store=False)
    assert (found.met, {row.bound for row in found.rows}) == (False, {"undecided"})
    told = " ".join(found.report().split())
    assert "p99 delay < 1 s is open, because nothing was measured that it could be judged by" in told
    assert "nothing in the scenario is random" not in told
    # Beside settings that miss the bound it comes last.
    one = found.rows[0]
    missed = replace(one, delay_ms=Estimate(2000.0, 1.0, 1.0, 8), bound="missed")
    assert _chosen([one, missed], [[0.0], [0.0]], [0, 1]) == (1, 1)
    beside = replace(found, rows=(one, missed), best=missed, top=missed).report()
    assert "no setting tried certainly meets the goal" in " ".join(beside.split())


def test_the_search_finds_what_a_grid_does(found: tg.Tuning) -> None:
    """On the networks of the search nothing on a coarse grid is better by more than a hundredth."""
    grid = [{"m": m, "n": n} for m in (1, 3, 7, 14) for n in (1, 10, 30, 60, 120)]
    best = found.rows[5]
    tried = [{"m": best.m, "n": best.n}, *grid]
    study = tg.study(
        ABR, vary={"gate.abr.rate.follow.effcap": tried}, changes=QUICK, seed=found.seed, runs=8, store=False
    )
    means = [study.estimate("goodput_bps", n).mean or 0 for n in range(len(tried))]
    assert means[0] >= 0.99 * max(means[1:])


def test_it_is_the_same_on_any_number_of_threads(found: tg.Tuning) -> None:
    assert tg.tune(ABR, changes=QUICK, seed=5, workers=1, store=False).to_dict() == found.to_dict()


def test_a_bound_is_kept_or_said_to_be_missed() -> None:
    loose = tg.tune(
        ABR,
        changes={**QUICK, "duration": "30 s"},
        goal=f"throughput with p99 delay < {LOOSE_MS} ms",
        seed=1,
        store=False,
    )
    assert loose.met
    assert loose.best.delay_ms is not None
    assert loose.best.delay_ms.high is not None
    assert loose.best.delay_ms.high <= LOOSE_MS
    assert loose.best.delay_ms.possible == (0.0, math.inf)
    done = tidegate(
        "tune", str(ABR), "--goal", "throughput with mean rtt < 100 ms", "--seed", "1", "--no-store",
        "--set", 'duration="15 s"', "--set", 'warmup="1 s"', "--runs", "4", "--json",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert not told["met"]
    assert not any(row["meets"] for row in told["rows"])


def test_the_report_says_whether_the_gain_is_significant(found: tg.Tuning) -> None:
    text = found.report()
    assert "significant" in text
    assert f"seed {found.check_seed}" in text
    assert json.loads(found.to_json())["best"]["name"] == found.best.name


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("throughput", ("", "", None)),
        ("throughput with p99 delay < 200 ms", ("p99", "delay", 200)),
        ("throughput  with mean rtt <= 1.5 s", ("mean", "rtt", 1500)),
        ("throughput with p50 delay below 3ms", ("p50", "delay", 3)),
        ("throughput with p99 queue delay < 20 ms", ("p99", "queue delay", 20)),
    ],
)
def test_a_goal(text: str, parts: tuple[str, str, float | None]) -> None:
    goal = Goal.parse(text)
    assert (goal.statistic, goal.what, goal.bound_ms) == parts


@pytest.mark.parametrize(
    "text", ["", "delay", "throughput with p95 delay < 1 s", "throughput with p99 delay < 200"]
)
def test_a_wrong_goal_is_named(text: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match="goal"):
        Goal.parse(text)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"source": SMALL}, "there is none"),
        ({"source": ABR, "gate": "link"}, "gate link: it has no rate.follow that a flow uses.*abr has"),
        ({"source": ABR, "runs": 1}, "write 2 or more"),
        ({"source": _paper.FOLDER / "tcp_over_abr" / "sessions.toml"}, "there are 2: near, far"),
    ],
)
def test_what_cannot_be_tuned(arguments: dict[str, Any], words: str) -> None:
    source = arguments.pop("source")
    given = tg.Scenario.from_toml(source) if source is SMALL else source
    with pytest.raises(tg.errors.ArgumentError, match=words):
        tg.tune(given, **arguments, store=False)
    with pytest.raises(tg.errors.UnknownNameError, match='did you mean "abr"'):
        tg.tune(ABR, "abrr", store=False)


def test_small_changes_are_tried_with_every_setting() -> None:
    found = tg.tune(ABR, changes={**QUICK, "duration": "20 s"}, seed=5, perturb=3, store=False)
    assert found.runs == 4
    assert all(row.goodput_bps.n == 4 for row in found.rows)
    assert "3 have small changes that nobody can know" in " ".join(found.report().split())
    with pytest.raises(tg.errors.ArgumentError, match="give one of the two"):
        tg.tune(ABR, perturb=3, runs=4, store=False)


def test_a_report_has_the_answer_the_scenario_and_the_command(tmp_path: Path) -> None:
    page = tmp_path / "tune.html"
    sets = [
        word
        for key, value in QUICK.items()
        if key not in ("runs", "duration")
        for word in ("--set", f"{key}={json.dumps(value)}")
    ]
    done = tidegate(
        "tune", ABR, "--runs", "2", "--seed", "5", *sets, "--set", "duration=20 s", "--report", page
    )
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    assert "rule of thumb" in text
    assert "rate.follow" in text
    assert "tidegate tune" in text
