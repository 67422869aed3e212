"""One scenario through several engines, and what is said of it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import EXAMPLES, SMALL, tidegate
from tidegate import _core
from tidegate._base.estimate import Estimate, estimate
from tidegate._compare.agreement import EngineRuns, welch
from tidegate._compare.engines_value import EngineComparison
from tidegate._compare.quantities import quantities_of

if TYPE_CHECKING:
    from pathlib import Path

WINDOW = EXAMPLES / "window.toml"


def run_with(engine: str, goodput: float, **gate: float) -> tg.Run:
    """Return a run that is nothing but its summary."""
    row = {"name": "g", "queue_max_packets": 30.0, **gate}
    summary: dict[str, Any] = {
        "engine": engine, "scenario": "made up", "seed": 1, "duration_s": 1.0, "measured_from_s": 0.0,
        "flows": [{"name": "a", "goodput_bps": goodput}], "gates": [row], "warnings": [f"of {engine}"],
    }  # fmt: skip
    return tg.Run(summary, {}, lambda _: None)


def compared(sim: list[float], live: list[float]) -> EngineComparison:
    """Return a comparison of these goodputs."""
    return EngineComparison(
        "made up",
        [
            EngineRuns("sim", [run_with("sim", each) for each in sim]),
            EngineRuns("live", [run_with("live", each) for each in live]),
        ],
        {},
        "g",
    )


def test_theory_and_simulation_agree_on_a_window() -> None:
    result = tg.compare_engines(WINDOW, engines=["theory", "sim"], runs=1, changes={"duration": "10 s"})
    assert [each.engine for each in result.engines] == ["theory", "sim"]
    verdicts = {
        row.quantity.name: row.differences["theory"].verdict for row in result.rows if row.differences
    }
    assert verdicts["goodput"] == verdicts["RTT mean"] == verdicts["queue max"] == "agree"
    assert result.sentences == ["theory and sim agree within 5% on all 6 numbers that theory gives."]
    assert [each.label for each in result.engines] == ["theory", "sim"], "nothing is random: one run is all"
    assert result.reference == "sim"
    assert "theory and sim agree" in result.report()


def test_an_engine_that_does_not_apply_is_said_and_two_are_needed(tmp_path: Path) -> None:
    done = tidegate("compare", EXAMPLES / "lte.toml", "--engines", "theory,sim", "--runs", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "nothing to compare: theory: no theory applies" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engines", "theory,simulation"], 'there is no engine "simulation"'),
        (["--engines", "sim"], "name two or three of theory, sim, live"),
        (["--engines", "sim,sim"], "each once"),
        (
            ["--engines", "theory,sim", "--vary", "seed=1,2"],
            "--vary is for variants, and cannot",
        ),
        (["--engines", "theory,sim", "--tolerance", "lots"], 'read "lots"'),
        (["--vary", "seed=1,2", "--runs", "2"], "--runs needs --engines"),
        ([], "give --vary KEY=A,B,C, several files, or --engines"),
    ],
)
def test_wrong_input_is_said_in_a_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = tidegate("compare", WINDOW, *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_folder_holds_every_run_and_is_drawn_again(tmp_path: Path) -> None:
    out = tmp_path / "both"
    done = tidegate(
        "compare", WINDOW, "--engines", "theory,sim", "--runs", "2", "--set", "duration=8 s",
        "--out", out, "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told == json.loads((out / "engines.json").read_text())
    assert [len(each["summaries"]) for each in told["engines"]] == [1, 1], "nothing is random"
    assert sorted(path.name for path in out.iterdir() if path.is_dir()) == ["sim-01", "theory-01"]
    opened = tg.open(out)
    assert opened.to_dict() == told
    picture = (out / "engines.png").read_bytes()
    assert tidegate("plot", out, "-o", tmp_path / "again.png").returncode == 0
    assert (tmp_path / "again.png").read_bytes() == picture
    with pytest.raises(tg.errors.RunFolderError, match="holds a EngineComparison, and no Comparison"):
        tg.open(out, tg.Comparison)


def test_verdicts_follow_the_interval() -> None:
    same = compared([100.0, 101.0, 99.0], [100.5, 99.5, 100.0])
    apart = compared([100.0, 101.0, 99.0], [120.0, 121.0, 119.0])
    wide = compared([100.0, 130.0, 70.0], [104.0, 140.0, 60.0])
    single = compared([100.0], [110.0])
    found = [each.rows[0].differences["live"] for each in (same, apart, wide, single)]
    assert [each.verdict for each in found] == ["agree", "differ", "open", "not judged"]
    assert found[3].half_width is None
    assert single.sentences == [
        "live and sim are not judged: sim and live made only one run, which has no interval (use --runs 3)."
    ]
    assert apart.sentences == [
        "live and sim agree within 5% on queue max.",
        "live and sim differ in goodput (20% more).",
    ]
    assert "do not decide goodput" in wide.sentences[1]
    assert same.warnings == ["sim: of sim", "live: of live"]


def counted(sim: list[int], live: list[int]) -> str:
    """Return the verdict on so many time-outs in runs of two engines."""

    def runs(engine: str, counts: list[int]) -> EngineRuns:
        made = [run_with(engine, 1e6) for _ in counts]
        for run, count in zip(made, counts, strict=True):
            run.summary["flows"][0]["timeouts"] = count
        return EngineRuns(engine, made)

    comparison = EngineComparison("made up", [runs("sim", sim), runs("live", live)], {}, "g")
    (row,) = (row for row in comparison.rows if row.quantity.name == "time-outs")
    told = row.differences["live"]
    assert not told.by_floor
    assert told.allowed == pytest.approx(0.05 * sum(sim) / len(sim)), "there is no floor"
    return told.verdict


def test_counts_are_judged_with_their_own_chance() -> None:
    assert counted([0, 0, 0], [0, 0, 0]) == "agree", "nothing happened at all"
    assert counted([1, 1, 1], [1, 1, 1]) == "open", "equal counts of three events prove nothing"
    assert counted([0, 0, 0], [0, 1, 0]) == "open"
    # Less than half a time-out a run would have been too little to matter, however often it was seen.
    assert counted([0] * 50, [1, 0, 0, 0, 0] * 10) == "differ"
    assert counted([4, 3, 5], [12, 14, 13]) == "differ"
    assert counted([90_000, 90_100, 89_900], [90_500, 90_200, 90_000]) == "agree"
    # Drops come in bursts: where runs show more than independent events would, that counts.
    assert counted([100, 400, 100], [300, 900, 200]) == "open"


def test_shares_of_counts_have_the_chance_of_their_counts() -> None:
    resent = next(
        each for each in quantities_of({"flows": [{"name": "a"}], "gates": []}, None) if each.counted
    )
    row = {"name": "a", "segments_sent": 2000, "segments_retransmitted": 8}
    # (8 + 8 + 1) events in two runs, each of 2000 segments.
    assert resent.chance([{"flows": [row]}] * 2) == pytest.approx(17 / 2 / 2000**2)
    assert resent.chance([{"flows": [{"name": "a"}]}]) == 0.0, "a theory counts nothing"


def test_welchs_interval_is_that_of_the_textbook() -> None:
    one = estimate([27.5, 21.0, 19.0, 23.6, 17.0, 17.9])
    other = estimate([27.1, 22.0, 20.8, 23.4, 23.4, 23.5])
    # By hand: variances over n, and Welch-Satterthwaite degrees of freedom, rounded down.
    parts = [each.sd**2 / each.n for each in (one, other) if each.sd is not None]
    freedom = sum(parts) ** 2 / sum(part**2 / 5 for part in parts)
    assert 7 < freedom < 9
    quantile = _core.student_t(0.975, math.floor(freedom))
    assert quantile is not None
    assert welch(one, other) == pytest.approx(quantile * math.sqrt(sum(parts)))
    assert welch(one, Estimate(20.0, None, None, 1)) is None
    assert welch(Estimate(20.0, 0.0, 0.0, 1), Estimate(21.0, 0.0, 0.0, 3)) == 0.0


def test_a_kernel_controller_is_the_live_engines_alone() -> None:
    scenario = SMALL.replace('"newreno"', '"highspeed"')
    loaded = tg.Scenario.from_toml(scenario) if hasattr(tg.Scenario, "from_toml") else None
    source = loaded or tg.load({**_plain(scenario)})
    with pytest.raises(
        tg.errors.EngineError, match=r'flow\.bulk\.tcp\.cc: read "highspeed", which is the Linux kernel'
    ):
        tg.run(source)


def _plain(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text)
