"""When finite transfers are done: tables, pictures, comparisons, studies, and runs that end with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tidegate as tg
from support.common import tidegate
from tidegate._compare.quantities import quantities_of
from tidegate._compare.text import report as comparison_report
from tidegate._run.summary import figures_of
from tidegate._run.text import run_report
from tidegate.gym import Env

TEXT = """\
title = "Transfers"
duration = "until done"
seed = 1
[gate.line]
rate = "8 Mbit/s"
queue = "50 packets"
delay = "20 ms"
[flow.a]
path = ["line"]
rtt = "60 ms"
app.transfer = "2 MB"
"""
SECOND = """
[flow.b]
path = ["line"]
rtt = "60 ms"
start = "500 ms"
app.transfer = "500 kB"
"""
BULK = """
[flow.bulk]
path = ["line"]
rtt = "60 ms"
"""


def load(text: str, *sets: str) -> tg.Scenario:
    return tg.Scenario.from_toml(text, changes=list(sets))


def saved(folder: Path, text: str = TEXT) -> Path:
    file = folder / "t.toml"
    file.write_text(text)
    return file


def words(figure: Any) -> str:
    found = [text.get_text() for text in figure.texts]
    found += [text.get_text() for axes in figure.axes for text in axes.texts]
    return "\n".join(found)


def test_a_transfer_that_is_done_says_when() -> None:
    run = tg.run(load(TEXT))
    row = run.flows["a"]
    took = row["completion_s"]
    assert run.summary["duration_s"] == pytest.approx(took, abs=1e-9)
    assert row["goodput_bps"] == pytest.approx(16e6 / took)
    assert row["progress"] == 1
    text = run_report(run.summary, run.title)
    assert f"measured from 0 to {took:.3f} s · done after {took:.3f} s" in " ".join(text.split())
    head = next(line for line in text.splitlines() if line.startswith("flow"))
    assert head.split()[-1] == "done"
    assert f"{took:.2f}" in text
    assert "done after" in words(run.plot())
    assert "done after" in " ".join(run.report().split())


def test_one_that_is_not_says_how_far(tmp_path: Path) -> None:
    run = tg.run(load(TEXT, "duration=1 s"))
    row = run.flows["a"]
    assert row["completion_s"] is None
    assert row["progress"] == pytest.approx(row["goodput_bps"] / 16e6, rel=0.1)
    told = f"{100 * row['progress']:.0f}%"
    assert f"not finished ({told})" in " ".join(run_report(run.summary, run.title).split())
    assert f"not finished ({told})" in words(run.plot())
    comparison = tg.compare(saved(tmp_path), vary={"duration": ["1 s", "5 s"]})
    first, second = comparison.rows()
    assert (first["completion_s"], first["progress"]) == (None, row["progress"])
    assert second["progress"] == 1
    text = comparison_report(comparison)
    assert f"({told})" in text
    assert "not finished" in text
    assert f"({told})" in words(comparison.plot())


def test_other_runs_have_no_such_numbers() -> None:
    run = tg.run(load(TEXT, "duration=1 s", "flow.a.app=bulk"))
    assert run.flows["a"]["completion_s"] is None
    assert "progress" not in run.summary["flows"][0]
    assert "start_s" not in run.summary["flows"][0]
    assert "done" not in " ".join(run_report(run.summary, run.title).split())
    assert "progress" not in figures_of(run.summary, None)


def test_goodput_is_the_same_wherever_the_run_ends() -> None:
    until, fixed = (tg.run(load(TEXT + SECOND, *sets)) for sets in ((), ("duration=20 s",)))
    assert until.summary["duration_s"] < 5
    for name in ("a", "b"):
        assert until.flows[name]["goodput_bps"] == fixed.flows[name]["goodput_bps"]
    # Together: all that came from the first one's start to the last one's end.
    ends = [row["start_s"] + row["completion_s"] for row in fixed.summary["flows"]]
    together = 8 * 2_500_000 / max(ends)
    for run in (until, fixed):
        assert figures_of(run.summary, "line")["goodput_bps"] == pytest.approx(together)
        quantity = next(each for each in quantities_of(run.summary, "line") if each.place == "all")
        assert quantity.of(run.summary) == pytest.approx(together)
        assert figures_of(run.summary, "line")["completion_s"] == max(
            row["completion_s"] for row in run.summary["flows"]
        )
    assert together < 8e6


def test_transfers_one_after_another_are_not_faster_than_the_link() -> None:
    """Over its own time each of two may have nearly the whole link; together they have no more than that."""
    late = load(TEXT + SECOND, "duration=20 s", "flow.b.start=10 s")
    run = tg.run(late)
    own = [row["goodput_bps"] for row in run.summary["flows"]]
    assert sum(own) > 8e6
    whole = run.flows["b"]["start_s"] + run.flows["b"]["completion_s"]
    assert figures_of(run.summary, None)["goodput_bps"] == pytest.approx(8 * 2_500_000 / whole)
    # Beside a flow without end, over the measured time: what came of all of them.
    mixed = tg.run(load(TEXT + BULK, "duration=20 s"))
    bits = 16e6 + mixed.flows["bulk"]["goodput_bps"] * 20
    assert figures_of(mixed.summary, None)["goodput_bps"] == pytest.approx(bits / 20)


def test_a_run_until_done_waits_for_what_ends_and_for_nothing_else() -> None:
    run = tg.run(load(TEXT + BULK))
    assert run.summary["duration_s"] == pytest.approx(run.flows["a"]["completion_s"], abs=1e-9)
    asks = TEXT.replace(
        'app.transfer = "2 MB"', 'app.request = { count = 3, response = "10 kB", think = "1 s" }'
    )
    run = tg.run(load(asks))
    assert run.requests["a"]["finished"] == 3
    assert 2 < run.summary["duration_s"] < 4


def test_what_is_recorded_ends_with_the_run() -> None:
    run = tg.run(load(TEXT + '[record]\nevery = "10 ms"\n'))
    times = run.flows["a"].series("cwnd")["time_s"]
    assert run.summary["duration_s"] - 0.011 < times.max() <= run.summary["duration_s"]
    # Samples of the picture are as fine as a run of that length needs.
    times = tg.run(load(TEXT)).flows["a"].series("cwnd")["time_s"]
    assert len(times) > 300


def test_the_bound_is_told() -> None:
    run = tg.run(load(TEXT + SECOND, "limits.duration=1 s"))
    assert run.summary["duration_s"] == 1
    assert any("stopped at 1 s, limits.duration: 2 of 2 flows" in warning for warning in run.warnings)


def test_variants_and_points_have_lengths_of_their_own(tmp_path: Path) -> None:
    comparison = tg.compare(saved(tmp_path), vary={"gate.line.rate": ["4 Mbit/s", "8 Mbit/s"]})
    slow, fast = (variant.run.summary["duration_s"] for variant in comparison.variants)
    assert slow > 1.5 * fast
    told = comparison.to_dict()
    assert (told["duration_s"], told["shortest_s"]) == (slow, fast)
    told_lines = " ".join(comparison_report(comparison).split())
    assert f"measured from 0 to the end ({fast:.3f} to {slow:.3f} s)" in told_lines
    study = tg.study(load(TEXT, "gate.line.loss=0.1%"), vary={"flow.a.tcp.cc": ["reno", "cubic"]}, runs=4)
    assert study.estimate("completion_s", 0).mean == pytest.approx(2.3, abs=0.8)
    assert study.estimate("progress", 0).mean == 1
    assert study.to_dict()["shortest_s"] < study.to_dict()["duration_s"]


def test_a_stepped_run_needs_a_length() -> None:
    with pytest.raises(tg.errors.RunError, match="a run in steps needs a length"):
        Env(load(TEXT), flow="a")


def test_the_command_line(tmp_path: Path) -> None:
    file = saved(tmp_path)
    checked = tidegate("check", file)
    assert "until done, 1000 s at most" in checked.stdout
    assert json.loads(tidegate("check", file, "--json").stdout)["until_done"] is True
    assert (
        "the run ends when the flow that comes to an end is done"
        in tidegate("check", file, "--explain").stdout
    )
    run = tidegate("run", file)
    assert run.returncode == 0, run.stderr
    assert "done after" in " ".join(run.stdout.split())
