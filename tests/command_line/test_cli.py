"""The command line: what it prints, its JSON, and how it ends when it is interrupted."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tidegate as tg
from support.common import EXAMPLES, SMALL, tidegate
from tidegate._cli.options import parse_vary, split_values


def test_run_prints_one_object_and_nothing_else(small: Path) -> None:
    done = tidegate("run", small, "--json")
    assert done.returncode == 0
    summary = json.loads(done.stdout)
    assert f"seed {summary['seed']} " in done.stderr, "the file names no seed: it is invented and printed"


def test_run_for_people_fits_80_columns(small: Path) -> None:
    done = tidegate("run", small, "--seed", "1", COLUMNS="80")
    assert done.returncode == 0
    assert "goodput" in done.stdout
    assert "payload only" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    ascii_only = tidegate("run", small, "--seed", "1", PYTHONIOENCODING="ascii")
    assert ascii_only.returncode == 0
    assert ascii_only.stdout.isascii()


def test_out_plot_and_compare(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert tidegate("run", small, "--seed", "1", "--out", folder, "--pcap").returncode == 0
    assert {"manifest.json", "summary.json", "flows.parquet", "packets.pcap"} <= {
        p.name for p in folder.iterdir()
    }
    assert json.loads((folder / "manifest.json").read_text())["command"][:2] == ["tidegate", "run"]
    again = tidegate("run", small, "--seed", "1", "--out", folder)
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert tidegate("run", small, "--seed", "1", "--out", folder, "--force").returncode == 0
    drawn = tidegate("plot", folder, "--json")
    assert drawn.returncode == 0
    assert Path(json.loads(drawn.stdout)["picture"]).stat().st_size > 10_000
    done = tidegate(
        "compare",
        small,
        "--seed",
        "1",
        "--vary",
        "flow.bulk.tcp.cc=reno,newreno,cubic",
        "--plot",
        "small-compare.png",
        cwd=tmp_path,
    )
    assert done.returncode == 0
    assert (tmp_path / "small-compare.png").stat().st_size > 10_000
    assert "cubic" in done.stdout
    both = tmp_path / "both"
    done = tidegate(
        "compare", small, "--seed", "1", "--json", "--out", both,
        "--vary", "flow.bulk.tcp.cc=reno,cubic", "--vary", "gate.bottleneck.queue=5 packets,50 packets",
    )  # fmt: skip
    assert done.returncode == 0
    result = json.loads(done.stdout)
    assert [v["set"]["gate.bottleneck.queue"] for v in result["variants"]] == ["5 packets", "50 packets"] * 2
    assert {"goodput_bps", "queue_delay_p50_ms", "queue_delay_p99_ms", "loss", "utilisation"} <= set(
        result["variants"][0]
    )
    assert tidegate("plot", both, "-o", tmp_path / "x.svg").returncode == 0


def test_check(small: Path) -> None:
    assert "no problems" in tidegate("check", small).stdout
    explained = tidegate("check", small, "--explain").stdout
    assert "bottleneck" in explained
    result = json.loads(tidegate("check", small, "--json").stdout)
    assert result["ok"] is True
    assert result["flows"] == ["bulk"]


def test_check_of_many_flows_looks_for_theories_when_asked(small: Path) -> None:
    """To read the whole plan would take more memory than the run; copies count."""
    many = ("check", small, "--set", "flow.bulk.count=25000")
    assert "none of them is about 25,001 flows and gates" in tidegate(*many, "--explain").stdout
    told = json.loads(tidegate(*many, "--explain", "--json").stdout)
    assert "25000 identical copies" in told["explain"]
    assert told["theories"] is None
    few = json.loads(tidegate("check", small, "--explain", "--json").stdout)
    assert all(each["theory"] for each in few["theories"])


def test_schema_and_reference() -> None:
    assert "properties" in json.loads(tidegate("schema").stdout)
    assert "tcp" in tidegate("reference").stdout
    assert json.loads(tidegate("reference", "--json").stdout)["reference"]


#: As a shell has it: whatever runs the tests may have asked Python to write each line at once.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
UNBUFFERED = {**BUFFERED, "PYTHONUNBUFFERED": "1"}
both_ways = pytest.mark.parametrize("env", [BUFFERED, UNBUFFERED], ids=["buffered", "unbuffered"])


@both_ways
def test_a_reader_that_leaves_early(env: dict[str, str]) -> None:
    command = f"{sys.executable} -m tidegate reference | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@both_ways
def test_a_full_disk(small: Path, env: dict[str, str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tidegate", "run", str(small), "--seed", "1"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=env,
        )  # fmt: skip
    assert done.returncode == 4
    assert "no space" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command", [["run"], ["compare", "--vary", "flow.bulk.tcp.cc=reno,cubic"]], ids=["run", "compare"]
)
def test_ctrl_c(command: list[str], small: Path, tmp_path: Path) -> None:
    small.write_text(SMALL.replace("4 Mbit/s", "4 Gbit/s").replace('"6 s"', '"100000 s"'))
    name, *rest = command
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "tidegate", name, str(small), *rest,
         "--seed", "1", "--record", "summary", "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(1.5)
    assert process.poll() is None, "still running"
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert time.monotonic() - begin < 5
    assert process.returncode == 130
    assert said.strip() == "stopped"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["small.toml"], "nothing is left behind"


def test_values_split_at_commas_outside_brackets() -> None:
    assert split_values("reno, newreno,cubic") == ["reno", "newreno", "cubic"]
    assert split_values('["1 s", "2 s"],["3 s"]') == ['["1 s", "2 s"]', '["3 s"]']
    assert split_values('{ a = 1, b = 2 },"x,y"') == ["{ a = 1, b = 2 }", '"x,y"']
    assert parse_vary(["a.b=1 s,2 s"]) == {"a.b": ["1 s", "2 s"]}


def test_traces(tmp_path: Path) -> None:
    made = tmp_path / "made.down"
    done = tidegate(
        "traces",
        "synth",
        made,
        "--model",
        "cellular",
        "--seed",
        "7",
        "--duration",
        "20 s",
        "--mean",
        "6 Mbit/s",
    )
    assert done.returncode == 0
    info = json.loads(tidegate("traces", "info", made, "--json").stdout)
    assert info["duration_s"] == pytest.approx(20, abs=0.01)
    assert info["mean_bps"] == pytest.approx(6e6, rel=0.02)
    assert "outages" in tidegate("traces", "info", made).stdout
    rates = tmp_path / "rates.csv"
    assert tidegate("traces", "convert", made, rates, "--window", "100 ms").returncode == 0
    back = json.loads(tidegate("traces", "info", rates, "--json").stdout)
    assert back["mean_bps"] == pytest.approx(info["mean_bps"], rel=1e-4)
    again = tmp_path / "again.down"
    tidegate("traces", "synth", again, "--seed", "7", "--duration", "20 s", "--mean", "6 Mbit/s")
    assert again.read_bytes() == made.read_bytes()


def test_a_trace_of_rates_has_the_mean_that_is_asked_for_and_one_of_opportunities_by_chance(
    tmp_path: Path,
) -> None:
    shares = []
    for seed in range(1, 9):
        means = []
        for name in ("made.csv", "made.down"):
            tg.traces.synth(tmp_path / name, seed=seed, mean="12 Mbit/s", duration="10 s")
            means.append(tg.traces.info(tmp_path / name)["mean_bps"])
        assert means[0] == pytest.approx(12e6, abs=1)
        shares.append(means[1] / means[0] - 1)
    # 10,000 opportunities are expected: one standard deviation is 1%.
    assert max(map(abs, shares)) > 1e-3
    assert max(map(abs, shares)) < 0.04


@pytest.mark.parametrize("example", sorted(p.name for p in EXAMPLES.glob("*.toml")))
def test_check_is_silent_about_examples(example: str) -> None:
    done = tidegate("check", EXAMPLES / example)
    assert done.returncode == 0
    # Of the one that names code it says so.
    told = [line for line in done.stderr.splitlines() if "runs the Python file aimd.py" not in line]
    assert told == []


class Screen(io.StringIO):
    """A terminal that remembers."""

    def isatty(self) -> bool:
        return True


def test_progress_shows_after_a_second_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import tqdm.std
    from tidegate._base import progress as _progress

    now = 100.0
    screen = Screen()
    monkeypatch.setattr(tqdm.std, "time", lambda: now)
    monkeypatch.setattr(sys, "stderr", screen)
    with _progress.Progress("running") as progress:
        progress.tick(0.0)
        now = 100.9
        assert progress.tick(0.2)
        assert screen.getvalue() == "", "what is over soon is not announced"
        now = 102.0
        progress.tick(0.5)
        assert re.search(r"running .* 50%, 00:0[12] left", screen.getvalue()), screen.getvalue()
        shown = len(screen.getvalue())
    assert screen.getvalue()[shown:].strip() == "", "it is wiped away"
    monkeypatch.setattr(screen, "isatty", lambda: False)
    before = screen.getvalue()
    with _progress.Progress("running") as progress:
        now = 109.0
        progress.tick(0.5)
    assert screen.getvalue() == before, "a file is no terminal"
