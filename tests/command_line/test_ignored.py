"""No option is ignored: what would have no effect is refused, and so is an argument of a call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tidegate as tg
from support.common import tidegate

CC = "flow.bulk.tcp.cc=reno,cubic"
THEORY = ["run", "{small}", "--engine", "theory"]


@pytest.fixture
def places(small: Path, tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "t.csv").write_text("time_s,rate_mbps\n0,8\n1,4\n2,6\n")
    (tmp_path / "m.down").write_text("1\n2\n3\n50\n60\n")
    (tmp_path / "s.mbps").write_text("0 8\n1 4\n")
    return {"small": small}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "{small}", "--gate", "bottleneck"], "--gate needs --plot FILE"),
        (["run", "{small}", "--gate", "bottleneck", "--report", "x.html"], "--gate needs --plot FILE"),
        (["run", "{small}", "--show", "cwnd"], "--show needs --plot FILE"),
        (["run", "{small}", "--force"], "--force needs --out DIR"),
        (["study", "{small}", "--force"], "--force needs --out DIR"),
        (["compare", "{small}", "--vary", CC, "--force"], "--force needs --out DIR"),
        (["compare", "{small}", "--vary", CC, "--show", "cwnd"], "--show needs --plot FILE"),
        (["compare", "{small}", "--vary", CC, "--kind", "map"], "--kind needs --plot FILE"),
        (["compare", "{small}", "--vary", CC, "--tolerance", "5%"], "--tolerance needs --engines"),
        (["compare", "{small}", "--engines", "theory,sim", "--engine", "live"], "--engine is for variants"),
        (["compare", "{small}", "--engines", "theory,sim", "--workers", "2"], "--workers is for variants"),
        ([*THEORY, "--replication", "3"], "--replication is not for --engine theory"),
        ([*THEORY, "--seed", "3"], "--seed is not for --engine theory"),
        ([*THEORY, "--gate", "bottleneck"], "--gate is not for --engine theory"),
        ([*THEORY, "--show", "cwnd"], "--show is not for --engine theory"),
        (["traces", "info", "t.csv", "--step", "1 s"], "this table has times; take the step out"),
        (["traces", "info", "m.down", "--step", "1 s"], "a trace of the format mahimahi says that itself"),
        (["traces", "info", "s.mbps", "--format", "seconds-mbps", "--step", "1 s"], "seconds-mbps says that"),
        (["traces", "info", "m.down", "--window", "1 s"], "--window needs --plot FILE"),
        (["traces", "synth", "x.down", "--window", "1 s"], "mahimahi has opportunities"),
        (
            ["traces", "convert", "t.csv", "x.down", "--window", "1 s"],
            "mahimahi has opportunities",
        ),
        (
            ["traces", "synth", "x.csv", "--duration", "1 ps"],
            "the duration is 1 ps, less than a step",
        ),
        (["traces", "info", "t.csv", "--opportunity-bytes", "1504"], "this trace has rates; take them out"),
        (
            ["traces", "info", "t.csv", "--opportunity-bytes", "1504", "--plot", "x.svg"],
            "t.csv: opportunity bytes are of the opportunities of Mahimahi",
        ),
        (["traces", "convert", "t.csv", "x.csv", "--opportunity-bytes", "1500"], "t.csv: opportunity bytes"),
        (["traces", "synth", "x.csv", "--opportunity-bytes", "1500"], "x.csv: opportunity bytes"),
        (["lab", "--static", "x", "--port", "80"], "--port is for a page that is opened"),
        (["init", "--examples", "x", "--list"], "give --list or --examples, not both"),
        (["init", "policer", "--list"], "give NAME or --list, not both"),
        (["init", "--rtt", "3 ms"], "--rtt is for --link and for traces"),
        (["init", "policer", "--cc", "bbr"], "--cc is for --link and for traces"),
        (["export", "mahimahi", "{small}", "--device", "eth1"], "--device is for tc"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_option_without_effect_is_refused(
    words: list[str], said: str, places: dict[str, Path], tmp_path: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    done = tidegate(*(word.format(**places) for word in words), cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.usefixtures("places")
def test_bytes_of_opportunities_are_taken_where_some_are_read_or_written(tmp_path: Path) -> None:
    for words in (
        ["info", "m.down", "--opportunity-bytes", "1504", "--plot", "m.svg"],
        ["convert", "m.down", "m.csv", "--opportunity-bytes", "1504"],
        ["convert", "t.csv", "t.down", "--opportunity-bytes", "1504"],
        ["synth", "x.down", "--opportunity-bytes", "1504"],
    ):
        done = tidegate("traces", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert tg.traces.info(tmp_path / "m.down", opportunity_bytes=1504)["deliverable_bytes"] == 5 * 1504


@pytest.mark.parametrize(
    "given",
    [
        {"seed": 1},
        {"replication": 3},
        {"record": "10 ms"},
        {"exact": True},
        {"threads": 2},
        {"pcap": "x.pcap"},
    ],
)
def test_a_theory_takes_no_arguments_of_runs(given: dict[str, Any], small: Path) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=f"{next(iter(given))} is not for engine theory"):
        tg.run(small, engine="theory", **given)


@pytest.mark.parametrize("file", ["t.csv", "m.down"])
def test_a_scenario_gives_no_step_to_a_trace_that_has_times(file: str, places: dict[str, Path]) -> None:
    folder = places["small"].parent
    trace = {"file": file, "step": "1 s"}
    scenario = {"duration": "1 s", "gate": {"g": {"rate": {"trace": trace}}}, "flow": {"a": {"path": ["g"]}}}
    with pytest.raises(tg.errors.ScenarioError, match="a step says how long each rate holds"):
        tg.Scenario.from_dict(scenario, folder=folder)
