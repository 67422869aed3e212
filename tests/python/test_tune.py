"""Advice on a following gate: what is found, what is beside it, and what cannot be."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tidegate as tg
from support import SMALL, tidegate
from tidegate import _paper
from tidegate._tune_goal import Goal

ABR = _paper.FOLDER / "tcp_over_abr" / "abr.toml"
QUICK: dict[str, Any] = {
    "duration": "60 s",
    "warmup": "5 s",
    "runs": 8,
    "gate.link.rate.markov.mean_holding": ["200 ms", "200 ms"],
}


@pytest.fixture(scope="module")
def found() -> tg.Tuning:
    return tg.tune(ABR, set=QUICK, seed=5, store=False)


def test_what_is_told_beside_the_best(found: tg.Tuning) -> None:
    assert (found.gate, found.followed, found.runs, found.met) == ("abr", "link", 8, True)
    names = [row.name for row in found.rows]
    assert names == [
        "as it is", "INSTCAP", "rule, N: 8Δ", "rule, N: 10Δ", "rule, N: 12Δ", "best M and N", "best constant",
    ]  # fmt: skip
    # 200 ms are seven intervals of 30 ms; N: kΔ is (k - 1) of them.
    assert [(row.m, row.n) for row in found.rows[1:5]] == [(1, 1), (7, 49), (7, 63), (7, 77)]
    assert found.rows[6].rate_bps is not None
    # The low rate is 400 kbit/s, the mean 600.
    assert 300_000 < found.rows[6].rate_bps < 800_000
    assert found.rule.gain_bps.mean == 0
    for row in found.rows:
        assert row.delay_ms is None
        assert row.goodput_bps.n == 8
        assert row.gain_bps.mean == pytest.approx(
            (row.goodput_bps.mean or 0) - (found.rule.goodput_bps.mean or 0)
        )


def test_its_numbers_are_those_of_a_study_with_the_seed_it_names(found: tg.Tuning) -> None:
    best = found.rows[5]
    effcap = {"gate.abr.rate.follow.effcap": {"m": best.m, "n": best.n}}
    again = tg.study(ABR, set={**QUICK, **effcap}, seed=found.check_seed, runs=8, store=False)
    assert again.estimate("goodput_bps") == best.goodput_bps
    assert found.check_seed != found.seed


def test_the_search_finds_what_a_grid_does(found: tg.Tuning) -> None:
    """On the networks of the search nothing on a coarse grid is better by more than a hundredth."""
    grid = [{"m": m, "n": n} for m in (1, 3, 7, 14) for n in (1, 10, 30, 60, 120)]
    best = found.rows[5]
    tried = [{"m": best.m, "n": best.n}, *grid]
    study = tg.study(
        ABR, vary={"gate.abr.rate.follow.effcap": tried}, set=QUICK, seed=found.seed, runs=8, store=False
    )
    means = [study.estimate("goodput_bps", n).mean or 0 for n in range(len(tried))]
    assert means[0] >= 0.99 * max(means[1:])


def test_it_is_the_same_on_any_number_of_threads(found: tg.Tuning) -> None:
    assert tg.tune(ABR, set=QUICK, seed=5, workers=1, store=False).to_dict() == found.to_dict()


def test_a_bound_is_kept_or_said_to_be_missed() -> None:
    loose = tg.tune(
        ABR, set={**QUICK, "duration": "30 s"}, goal="throughput with p99 delay < 60 ms", seed=1, store=False
    )
    assert loose.met
    assert loose.best.delay_ms is not None
    assert loose.best.delay_ms.mean is not None
    assert loose.best.delay_ms.mean <= 60
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
    ],
)
def test_a_goal(text: str, parts: tuple[str, str, float | None]) -> None:
    goal = Goal.parse(text)
    assert (goal.statistic, goal.what, goal.bound_ms) == parts


@pytest.mark.parametrize(
    "text", ["", "delay", "throughput with p95 delay < 1 s", "throughput with p99 delay < 200"]
)
def test_a_wrong_goal_is_named(text: str) -> None:
    with pytest.raises(tg.ArgumentError, match="goal"):
        Goal.parse(text)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"source": SMALL}, "there is none"),
        ({"source": ABR, "gate": "link"}, "gate link: it has no rate.follow that a flow uses.*abr has"),
        ({"source": ABR, "runs": 1}, "an interval needs 2"),
        ({"source": _paper.FOLDER / "tcp_over_abr" / "sessions.toml"}, "there are 2: near, far"),
    ],
)
def test_what_cannot_be_tuned(arguments: dict[str, Any], words: str) -> None:
    source = arguments.pop("source")
    given = tg.Scenario.from_toml(source) if source is SMALL else source
    with pytest.raises(tg.ArgumentError, match=words):
        tg.tune(given, **arguments, store=False)
    with pytest.raises(tg.UnknownNameError, match='did you mean "abr"'):
        tg.tune(ABR, "abrr", store=False)
