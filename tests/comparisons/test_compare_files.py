"""Several scenarios in one comparison: a shaper against a policer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import tidegate
from tidegate._compare.text import report

if TYPE_CHECKING:
    from pathlib import Path

SHAPER = """\
title = "Shaped"
duration = "4 s"
[gate.shaper]
rate = "8 Mbit/s"
queue = "50 packets"
delay = "20 ms"
loss = 0.001
[flow.bulk]
path = ["shaper"]
rtt = "40 ms"
"""
POLICER = """\
title = "Policed"
duration = "5 s"
warmup = "1 s"
seed = 7
[gate.isp]
rate = "100 Mbit/s"
police = { rate = "8 Mbit/s", burst = "50 kB" }
delay = "20 ms"
[flow.bulk]
path = ["isp"]
rtt = "40 ms"
"""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A shaper and a policer, with gates and lengths of their own."""
    for name, text in (("shaper.toml", SHAPER), ("policer.toml", POLICER)):
        (tmp_path / name).write_text(text)
    return [tmp_path / "shaper.toml", tmp_path / "policer.toml"]


def test_each_is_run_with_one_seed_and_shows_its_own_gate(files: list[Path]) -> None:
    comparison = tg.compare(files)
    shaped, policed = comparison.rows()
    assert [row["scenario"] for row in (shaped, policed)] == ["shaper.toml", "policer.toml"]
    # The seed that one of them gives is that of all, and each is the run that it would be alone.
    assert comparison.seeds == "seed 7 in all"
    alone = [tg.run(file, seed=7) for file in files]
    for row, run, gate in zip((shaped, policed), alone, ("shaper", "isp"), strict=True):
        assert row["goodput_bps"] == run.flows["bulk"]["goodput_bps"]
        assert row["queue_delay_p99_ms"] == run.gates[gate]["queue_delay_p99_ms"]
        assert row["loss"] == run.gates[gate]["loss"]
    text = report(comparison)
    assert text.startswith("shaper.toml, policer.toml\n")
    told = " ".join(text.split())
    assert "gates shaper, isp · measured from 0 or 1 to the end (4 to 5 s)" in told
    words = "\n".join(part.get_text() for part in comparison.plot().texts)
    assert "queueing delay, loss and use: gates shaper, isp" in words
    assert "scenario=policer.toml" in words
    # One scale of time for all rows, as long as the longest run.
    axes = comparison.plot().axes
    assert sum(each.get_xlabel() == "time, s" for each in axes) >= 2
    limits = [each.get_xlim()[1] for each in axes]
    assert limits.count(5.0) >= 4
    assert 4.0 not in limits


def test_keys_are_varied_in_each(files: list[Path]) -> None:
    comparison = tg.compare(files, vary={"flow.bulk.tcp.cc": ["reno", "cubic"]}, changes={"duration": "2 s"})
    assert comparison.axes == ["scenario", "flow.bulk.tcp.cc"]
    found = [(v.changes["scenario"], v.run.flows["bulk"]["cc"]) for v in comparison.variants]
    assert found[:2] == [("shaper.toml", "reno"), ("shaper.toml", "cubic")]
    assert found[2:] == [("policer.toml", "reno"), ("policer.toml", "cubic")]
    assert {v.run.summary["duration_s"] for v in comparison.variants} == {2.0}


def test_a_gate_of_all_is_compared(files: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "faster" / "shaper.toml"
    other.parent.mkdir()
    other.write_text(SHAPER.replace("8 Mbit/s", "16 Mbit/s"))
    comparison = tg.compare([files[0], other], seed=1)
    assert (comparison.gate, comparison.place) == ("shaper", "gate shaper")
    # Files of one name are told apart by their folders.
    assert [row["scenario"] for row in comparison.rows()] == [str(files[0]), str(other)]
    assert comparison.rows()[1]["goodput_bps"] > 1.2 * comparison.rows()[0]["goodput_bps"]
    with pytest.raises(tg.errors.UnknownNameError, match="shaper"):
        tg.compare([files[0], files[1]], gate="shaper", seed=1)


def test_the_same_twice_has_its_place_behind_it(files: list[Path]) -> None:
    twice: dict[str, Any] = {"title": "One", "duration": "1 s", "gate": {"g": {"rate": "8 Mbit/s"}}}
    twice["flow"] = {"bulk": {"path": ["g"], "rtt": "40 ms"}}
    rows = tg.compare([twice, twice, files[0]], seed=1).rows()
    assert [row["scenario"] for row in rows] == ["One (1)", "One (2)", "shaper.toml"]
    assert rows[0]["goodput_bps"] == rows[1]["goodput_bps"]


def test_what_is_no_comparison_is_refused(files: list[Path]) -> None:
    for sources in (files[0], [files[0]]):
        with pytest.raises(tg.errors.ArgumentError, match="nothing to compare: vary takes keys"):
            tg.compare(sources)
    with pytest.raises(tg.errors.ArgumentError, match="no scenario is given"):
        tg.compare([])
    with pytest.raises(tg.errors.ArgumentError, match="several scenarios have this name"):
        tg.compare(files, vary={"scenario": ["a", "b"]})
    told = tidegate("compare", *files, "--engines", "sim,theory")
    assert told.returncode == 2
    assert "--engines runs one scenario; give one FILE" in told.stderr
    told = tidegate("compare", files[0])
    assert "give --vary KEY=A,B,C, several files, or --engines" in told.stderr


def test_the_command_line_and_the_folder(files: list[Path], tmp_path: Path) -> None:
    out, page = tmp_path / "both", tmp_path / "both.html"
    done = tidegate("compare", *files, "--json", "--out", out, "--report", page)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["vary"] == ["scenario"]
    assert told["gate"] is None
    assert [each["set"] for each in told["variants"]] == [
        {"scenario": "shaper.toml"}, {"scenario": "policer.toml"},
    ]  # fmt: skip
    back = tg.open(out)
    direct = tg.compare(files)
    assert back.rows() == direct.rows()
    assert report(back) == report(direct)
    # Both texts are in the report.
    text = page.read_text()
    assert "# shaper.toml" in text
    assert "# policer.toml" in text
    assert "title = &#34;Policed&#34;" in text
