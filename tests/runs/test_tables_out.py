"""Tables that other programs read, baselines of differences, pictures of traces."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import tidegate as tg
from support.common import tidegate
from tidegate._base.text import number, wrapped
from tidegate._run.varied import is_varied, with_numbers

STUDY = """\
duration = "3 s"
warmup = "1 s"
seed = 5

[gate.link]
rate = "8 Mbit/s"
queue = "20 packets"

[flow.a]
path = ["link"]
rtt = "20 ms"
start.uniform = ["0 s", "100 ms"]
"""
VARY = ("--vary", "flow.a.tcp.cc=reno,cubic,vegas", "--vary", "gate.link.queue=15 kB,0.1 MB")


def test_differences_from_a_baseline(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    out = tmp_path / "out"
    words = ("study", file, *VARY, "--runs", "3", "--baseline", "cc=cubic")
    done = tidegate(*words, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "Difference from cc=cubic, other values alike, replication by replication" in done.stdout
    below = done.stdout[done.stdout.index("Difference from") :]
    assert "reno " in below
    assert "vegas " in below
    assert "cubic " not in below
    study = tg.open(out)
    told = json.loads(tidegate(*words, "--json").stdout)
    assert told["baseline"] == {"flow.a.tcp.cc": "cubic"}
    for point, row in zip(study.points, told["points"], strict=True):
        found = row["difference_from_baseline"]
        if point.values["flow.a.tcp.cc"] == "cubic":
            assert found is None
            continue
        other = {**point.values, "flow.a.tcp.cc": "cubic"}
        theirs = np.subtract(study.values("goodput_bps", point.number), study.values("goodput_bps", other))
        assert found["goodput_bps"]["mean"] == pytest.approx(theirs.mean())
    assert json.loads(study.to_json())["points"][0]["difference_from_first"] is None
    for wrong, said in (("cc=cubi", 'did you mean "cubic"?'), ("cubic", "write a varied key"), ("x=1", "x")):
        refused = tidegate("study", file, *VARY, "--baseline", wrong)
        assert refused.returncode == 2
        assert said in refused.stderr


def test_tables_for_spreadsheets(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    table = tmp_path / "table.csv"
    done = tidegate("study", file, *VARY, "--runs", "2", "--csv", table, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert f"Table: {table}" in done.stdout
    rows = list(csv.DictReader(table.read_text().splitlines()))
    study = tg.open(tmp_path / "out")
    assert len(rows) == len(study.points) * len(study.metrics)
    for row in rows:
        assert float(row["gate.link.queue [kB]"]) == {"15 kB": 15, "0.1 MB": 100}[row["gate.link.queue"]]
    first = next(row for row in rows if row["point"] == "0" and row["metric"] == "goodput_bps")
    assert float(first["mean"]) == study.estimate("goodput_bps", 0).mean
    # The numbers beside the keys are no results.
    assert not [name for name in study.metrics if "[" in name]
    compared = tmp_path / "compared.csv"
    assert tidegate("compare", file, *VARY[:2], "--csv", compared).returncode == 0
    lines = list(csv.DictReader(compared.read_text().splitlines()))
    assert [row["flow.a.tcp.cc"] for row in lines] == ["reno", "cubic", "vegas"]
    assert all(6e6 < float(row["goodput_bps"]) < 8e6 for row in lines)
    wrong = tidegate("compare", file, "--engines", "theory,sim", "--csv", compared)
    assert (wrong.returncode, "--csv is for variants" in wrong.stderr) == (2, True)


def test_varied_keys_as_numbers() -> None:
    frame = pl.DataFrame({"a": ["1", "2.5"], "b": ["1 ms", "2 s"], "c": ["1 BDP", "10 ms"], "d": ["x", "y"]})
    found = with_numbers(frame, ["a", "b", "c", "d"])
    assert found.columns == ["a", "b", "b [ms]", "c", "d"]
    assert found["a"].to_list() == [1.0, 2.5]
    assert found["b [ms]"].to_list() == [1.0, 2000.0]
    assert [name for name in found.columns if is_varied(name, ["a", "b"])] == ["a", "b", "b [ms]"]


def test_frames_go_to_pandas() -> None:
    pytest.importorskip("pandas", reason="the extra tidegate[pandas] is not installed")
    pytest.importorskip("pyarrow", reason="the extra tidegate[pandas] is not installed")
    study = tg.study(tg.Scenario.from_toml(STUDY), vary={"flow.a.tcp.cc": ["reno", "cubic"]}, runs=2)
    assert list(study.runs.to_pandas()["flow.a.tcp.cc"]) == ["reno", "reno", "cubic", "cubic"]


def test_a_trace_is_drawn(tmp_path: Path) -> None:
    trace = tmp_path / "link.txt"
    trace.write_text("0 1\n1 2\n2 0\n3 0.3\n")
    picture = tmp_path / "link.svg"
    done = tidegate("traces", "info", trace, "--plot", picture, "--window", "500 ms")
    assert done.returncode == 0, done.stderr
    assert f"Picture: {picture}" in done.stdout
    assert "mean over 500 ms" in picture.read_text()
    figure = tg.traces.plot(trace)
    over, below = figure.axes
    edges, rates = over.lines[0].get_xydata().T
    assert edges[-1] == 3
    # kbit/s or Mbit/s: what carries the trace's own bits.
    bits = float(np.sum(np.diff(edges) * rates[:-1])) * 1e6
    assert bits == pytest.approx(8 * tg.traces.info(trace)["deliverable_bytes"], rel=1e-6)
    shares = below.lines[0].get_xydata()
    # A third of the time nothing, two thirds at most 0.3 Mbit/s.
    assert float(shares[shares[:, 0] == 0][-1, 1]) == pytest.approx(100 / 3)
    assert float(shares[shares[:, 0] <= 0.3][-1, 1]) == pytest.approx(200 / 3)
    for options, said in ((("--plot", "x.gif"), ".png"), (("--window", "1 s"), "--plot")):
        refused = tidegate("traces", "info", trace, *options)
        assert refused.returncode == 2
        assert said in refused.stderr


def test_a_trace_that_is_replaced_is_said(tmp_path: Path) -> None:
    words = ("traces", "synth", "x.down", "--seed", "1", "--duration", "1 s")
    first, second = (tidegate(*words, cwd=tmp_path).stdout for _ in range(2))
    assert first == "Trace: x.down (model cellular, seed 1)\n"
    assert second == "Trace: x.down (model cellular, seed 1), in place of the file that was there\n"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.99996, "1.00"),
        (0.9994, "0.999"),
        (9.996, "10.0"),
        (99.96, "100"),
        (999.6, "1000"),
        (-0.9996, "-1.00"),
        (0.0099999, "0.0100"),
        (9_999_999.6, "1.00e+07"),
        (1.0, "1.00"),
        (0.0, "0"),
        (None, "–"),
    ],
)
def test_three_digits_are_three_where_rounding_makes_a_number_longer(value: float | None, told: str) -> None:
    assert number(value) == told


def test_paragraphs_are_not_broken_in_a_word_with_a_hyphen() -> None:
    text = wrapped("window mean, time-outs, " * 12)
    assert not any(line.endswith("-") for line in text.splitlines())
