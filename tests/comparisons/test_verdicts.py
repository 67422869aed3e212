"""Verdicts in colour, intervals of shares, and which of several scenarios refuses a change."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tidegate as tg
from support.common import tidegate
from tidegate._base.estimate import Estimate
from tidegate._check.expectation import Expectation
from tidegate._cli.colour import with_verdicts
from tidegate._run.words import possible

LINE = """\
duration = "2 s"
seed = 1

[gate.link]
rate = "8 Mbit/s"
queue = "20 packets"

[flow.a]
path = ["link"]
rtt = "20 ms"
"""


def on_a_terminal(folder: Path, *words: str, **environment: str) -> str:
    """Return what a command prints where standard output is a terminal."""
    import pty

    read, write = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tidegate", *words], stdout=write, stderr=subprocess.DEVNULL, cwd=folder,
        env={**kept, "TERM": "xterm", **environment},
    )  # fmt: skip
    process.wait()
    os.close(write)
    said = os.read(read, 65536).decode()
    os.close(read)
    return said


def test_a_terminal_has_verdicts_in_colour(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(LINE)
    words = ("check-run", "x.toml", "--expect", "flow.a.goodput_bps > 1e6", "--expect", "loss < 0")
    shown = on_a_terminal(tmp_path, *words)
    assert "\x1b[32mholds\x1b[0m  " in shown
    assert "\x1b[31;1mfails\x1b[0m  " in shown
    plain = on_a_terminal(tmp_path, *words, NO_COLOR="1")
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == plain
    assert "\x1b" not in tidegate(*words, cwd=tmp_path).stdout


def test_only_verdicts_have_colour() -> None:
    text = (
        "goodput      -0.0076 ±0.012%  agree\n"
        "resent           +417 ±1795%   open\n"
        "4 kB    3.73 ±0.66     met\n"
        "  on networks that the search has not seen: not met\n"
        "a sentence that happens to stay open\n"
        "live and sim agree within 5%\n"
        "holds what it promises\n"
    )
    shown = with_verdicts(text)
    assert shown.count("\x1b[0m") == 4
    assert "\x1b[31;1mnot met\x1b[0m" in shown
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == text


def test_intervals_of_shares_end_where_shares_do() -> None:
    assert possible("fairness") == (0.0, 1.0) == possible("gate.link.loss")
    assert possible("goodput_bps") == (0.0, math.inf) == possible("utilisation")
    assert possible("a number of one's own") is None
    assert Estimate(0.999, 0.004, 0.002, 4, (0.0, 1.0)).to_dict()["high"] == 1.0
    assert Estimate(0.999, 0.004, 0.002, 4).to_dict()["high"] == pytest.approx(1.003)
    study = tg.study({"duration": "3 s", **_two()}, runs=3, seed=1)
    told = json.loads(study.to_json())["points"][0]["metrics"]
    assert told["fairness"]["high"] <= 1
    assert study.table.filter(study.table["metric"] == "fairness")["high"].max() <= 1


def _two() -> dict[str, object]:
    flow = {"path": ["link"], "rtt": "20 ms", "count": 2, "start": {"uniform": ["0 s", "20 ms"]}}
    return {"gate": {"link": {"rate": "8 Mbit/s", "queue": "40 packets"}}, "flow": {"a": flow}}


def test_a_refused_change_names_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(LINE)
    (tmp_path / "two.toml").write_text(LINE.replace("link", "isp"))
    words = ("compare", "one.toml", "two.toml", "--vary", "gate.link.queue=10 packets,20 packets")
    done = tidegate(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert 'gate.link: no gate is called "link", in two.toml' in done.stderr
    told = json.loads(tidegate(*words, "--json", cwd=tmp_path).stdout)["error"]
    assert told["message"] == 'no gate is called "link", in two.toml'
    # Alone there is nothing to tell apart.
    alone = tidegate("compare", "two.toml", "--vary", "gate.link.queue=1 packet,2 packets", cwd=tmp_path)
    assert "in two.toml" not in alone.stderr


def test_a_number_that_cannot_be_below_zero_is_not_said_to_be() -> None:
    few = Estimate(0.25, 0.8, 0.5, 4, possible("timeouts"))
    assert few.to_dict()["low"] == few.low == 0
    assert Expectation.parse("timeouts >= 0").judge(few, 4) == "holds"
    assert Expectation.parse("timeouts > 0").judge(few, 4) == "undecided"
    assert (
        Expectation.parse("fairness <= 1").judge(Estimate(0.88, 0.15, 0.09, 4, possible("fairness")), 4)
        == "holds"
    )


def test_equal_values_have_no_interval_in_any_form() -> None:
    told = Estimate(3.0, 0.0, 0.0, 4).to_dict()
    assert told == {"mean": 3.0, "half_width": None, "low": None, "high": None, "sd": 0.0, "n": 4}
