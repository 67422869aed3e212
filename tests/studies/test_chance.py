"""Where nothing is random the tool says so, and no interval is told."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import EXAMPLES, tidegate
from tidegate._run.text_traffic import traffic_tables

if TYPE_CHECKING:
    from pathlib import Path

PLAIN: dict[str, Any] = {
    "duration": "3 s",
    "seed": 4,
    "gate": {"link": {"rate": "4 Mbit/s", "queue": "10 packets", "delay": "10 ms"}},
    "flow": {"bulk": {"path": ["link"], "rtt": "40 ms"}},
}
START = {"flow.bulk.start.uniform": ["0 s", "100 ms"]}
MARKOV = {
    "gate.link.rate": {"markov": {"rates": ["2 Mbit/s", "4 Mbit/s"], "mean_holding": ["0.2 s", "0.2 s"]}}
}


def source(kind: str) -> dict[str, Any]:
    return {"traffic.bg": {"path": ["link"], "source": {kind: {"rate": "1 Mbit/s"}}}}


def source_of(rate: str) -> dict[str, Any]:
    return {"constant": {"rate": rate, "packet": "125 B"}}


def test_a_study_in_which_nothing_is_random_has_no_intervals() -> None:
    study = tg.study(PLAIN, vary={"flow.bulk.tcp.cc": ["reno", "cubic"]}, runs=3)
    (warning,) = [text for text in study.warnings if "nothing is random" in text]
    assert "each point runs once, an interval would be of nothing" in warning
    assert "--perturb 16" in warning
    assert "flow.bulk.start.uniform" in warning
    found = study.estimate("goodput_bps", 0)
    assert (found.half_width, found.low, found.sd, found.n) == (None, None, None, 1)
    assert study.difference("goodput_bps", 1, 0).half_width is None
    text = study.report()
    assert "±0" not in text
    assert "±–" in text
    assert "1 run each" in text
    told = json.loads(study.to_json())["points"][1]
    assert told["varies"] is False
    assert told["metrics"]["goodput_bps"]["half_width"] is None
    assert told["difference_from_first"]["flow.bulk.tcp.cc"]["goodput_bps"]["half_width"] is None


def test_it_is_still_known_when_the_folder_is_opened(tmp_path: Path) -> None:
    study = tg.study(PLAIN, vary={"flow.bulk.tcp.cc": ["reno", "cubic"]}, runs=2)
    assert tg.open(study.save(tmp_path / "s")).to_json() == study.to_json()


def test_a_point_without_chance_among_others_is_named() -> None:
    study = tg.study(PLAIN, vary={"flow.bulk.start": ["0 s", {"uniform": ["0 s", "100 ms"]}]}, runs=3)
    (warning,) = [text for text in study.warnings if "nothing is random" in text]
    assert "at 1 of the 2 points" in warning
    assert "runs once" in warning
    assert study.counts() == [1, 3]
    assert study.estimate("goodput_bps", 0).half_width is None
    assert study.estimate("goodput_bps", 1).half_width is not None
    # The one run stands beside each of the others.
    one, others = study.values("goodput_bps", 0), study.values("goodput_bps", 1)
    apart = study.difference("goodput_bps", 1, 0)
    assert apart.n == 3
    assert apart.mean == pytest.approx(sum(others) / 3 - one[0])  # type: ignore[arg-type, operator]
    back = study.difference("goodput_bps", 0, 1)
    assert (back.mean, back.half_width) == (pytest.approx(-(apart.mean or 0.0)), apart.half_width)
    assert "Difference from" in study.report()


def test_parts_of_a_study_with_fixed_points_are_the_whole(tmp_path: Path) -> None:
    vary = {"flow.bulk.start": ["0 s", {"uniform": ["0 s", "100 ms"]}, "10 ms", {"uniform": ["0 s", "9 ms"]}]}
    whole = tg.study(PLAIN, vary=vary, runs=3)
    assert whole.counts() == [1, 3, 1, 3]
    parts = [tmp_path / f"part{number}" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        tg.study_part(PLAIN, f"{number}/3", part, vary=vary, runs=3)
    assert tg.merge_study(parts).to_json() == whole.to_json()
    until = tg.study(PLAIN, vary=vary, until="goodput_bps:±0.001%", runs=2)
    assert until.counts()[0::2] == [1, 1]


def test_chance_that_changes_nothing_is_seen_afterwards() -> None:
    # The chain would move after an hour; this run ends after three seconds.
    slow = {"markov": {"rates": ["4 Mbit/s", "2 Mbit/s"], "mean_holding": ["9 h", "9 h"], "initial": 0}}
    study = tg.study(PLAIN, changes={"gate.link.rate": slow}, vary={"flow.bulk.tcp.cc": ["reno"]}, runs=3)
    assert not any("nothing is random" in text for text in study.warnings)
    (warning,) = [text for text in study.warnings if "gave the same results" in text]
    assert "gate.link/rate" in warning
    assert study.estimate("goodput_bps", 0).half_width is None


def test_more_runs_are_not_advised_where_they_would_all_be_the_same() -> None:
    study = tg.study(PLAIN, vary={"flow.bulk.tcp.cc": ["reno"]}, runs=1)
    assert not any("--runs" in text for text in study.warnings)
    assert any("would be equal" in text for text in study.warnings)


@pytest.mark.parametrize(
    ("changes", "drawn"),
    [
        ({}, []),
        (START, ["flow.bulk/start"]),
        (MARKOV, ["gate.link/rate"]),
        ({"gate.link.loss": 0.01}, ["gate.link/loss"]),
        ({"flow.bulk.tcp": {"base": "rfc", "increase": "random"}}, ["flow.bulk/increase"]),
        (source("poisson"), ["traffic.bg/source"]),
        (source("constant"), []),
    ],
)  # fmt: skip
def test_what_is_drawn_is_what_differs_between_seeds(changes: dict[str, Any], drawn: list[str]) -> None:
    scenario = tg.Scenario.from_dict(PLAIN, changes=changes)
    assert scenario.draws == drawn
    runs = [tg.run(scenario, seed=seed, record="summary").summary for seed in (1, 2, 3)]
    for run in runs:
        run["seed"] = 0
    differ = any(one != other for one, other in itertools.pairwise(runs))
    assert differ == bool(drawn)


def test_every_example_draws_what_its_seeds_show() -> None:
    for path in sorted(EXAMPLES.glob("*.toml")):
        scenario = tg.load(path, changes={"duration": "4 s", "warmup": "0 s"})
        if scenario.draws:
            continue
        one, other = (tg.run(scenario, seed=seed, record="summary").summary for seed in (1, 2))
        assert {**one, "seed": 0} == {**other, "seed": 0}, f"{path.name} draws something that nobody lists"


def test_seeds_that_change_nothing_are_said(tmp_path: Path) -> None:
    vary = {"flow.bulk.tcp.cc": ["reno", "cubic"], "seed": [1, 2, 3]}
    (warning,) = tg.compare(PLAIN, vary=vary).warnings
    assert warning.startswith("nothing is random in this scenario: all 3 seeds give the same run")
    assert not any("seeds" in text for text in tg.compare(PLAIN, changes=MARKOV, vary=vary).warnings)
    done = tidegate(
        "compare", EXAMPLES / "lte.toml", "--vary", "seed=1,2", "--set", "duration=4 s", cwd=tmp_path
    )
    assert "all 2 seeds give the same run" in done.stderr


def test_a_table_of_sources_leaves_none_out() -> None:
    call = {"path": ["link"], "source": {"constant": {"rate": "100 kbit/s", "packet": "125 B"}}}
    traffic = {"call": {**call, "count": 15}, "backup": {"path": ["link"], "source": source_of("500 kbit/s")}}
    run = tg.run({**PLAIN, "flow": {}, "traffic": traffic}, changes={"gate.link.queue": "100 packets"})
    lines = traffic_tables(run.summary["traffic_groups"])[1].splitlines()
    calls, backup, every = (line.split() for line in lines[3:])
    assert calls[:2] == ["call", "15"]
    assert backup[:2] == ["backup", "1"]
    assert every[:2] == ["all", "16"]
    assert float(every[2]) == pytest.approx(2.0, rel=0.01)


def test_a_long_table_of_sources_says_what_it_leaves_out() -> None:
    one = {"path": ["link"], "source": source_of("10 kbit/s")}
    run = tg.run({**PLAIN, "flow": {}, "traffic": {f"source{n}x": one for n in range(20)}})
    _, text = traffic_tables(run.summary["traffic_groups"])
    assert "the 12 groups with the highest rates of 20" in text
    assert "all" in text
