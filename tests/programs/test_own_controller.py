"""Congestion controllers in Python: what they are told, what they answer, and what becomes of mistakes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import tidegate as tg

LINK = """
duration = "5 s"
seed = 1
[gate.link]
rate = "20 Mbit/s"
delay = "20 ms"
queue = "50 packets"
[gate.back]
delay = "20 ms"
[flow.a]
path = ["link"]
back = ["back"]
tcp.base = "rfc"
tcp.cc = "{cc}"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write(folder: Path, body: str, cc: str = "python:mine.py:Mine") -> Path:
    text = f"import tidegate as tg\n\n\nclass Mine(tg.CongestionControl):\n{body}\n"
    (folder / "mine.py").write_text(text)
    (folder / "link.toml").write_text(LINK.format(cc=cc))
    return folder / "link.toml"


STILL = """
    def __init__(self, **facts):
        self.window_bytes = 40 * self.mss_bytes

    def on_loss(self, loss): pass
    def on_timeout(self, loss): pass
    def on_restart(self, window_bytes): pass
"""


def test_a_constant_window_is_what_fixed_is(folder: Path) -> None:
    path = write(folder, STILL)
    own = tg.run(path).flows["a"]
    fixed = tg.run(path, changes={"flow.a.tcp.cc": "fixed", "flow.a.tcp.window": "40 segments"}).flows["a"]
    assert own["goodput_bps"] == fixed["goodput_bps"]
    assert own["cc"] == "python:mine.py:Mine"


AIMD = """
    def on_ack(self, ack):
        if ack.repair is None and ack.window_limited:
            self.window_bytes += self.mss_bytes * ack.delivered_bytes / self.window_bytes
"""


def test_runs_repeat_however_they_are_run(folder: Path) -> None:
    path = write(folder, AIMD)
    changes = {"gate.link.queue": "10 packets"}
    one, two = (
        tg.run(path, changes=changes, record="50 ms"),
        tg.run(path, changes=changes, record="50 ms", exact=True),
    )
    assert one.table("flows").equals(two.table("flows"))
    assert one.flows["a"]["segments_retransmitted"] > 0
    study = tg.study(path, runs=3, vary={"gate.link.queue": ["20 packets", "50 packets"]})
    assert study.table is not None


DRAWING = """
    def __init__(self, **facts):
        import random

        self.window_bytes = random.Random(self.seed).randrange(4, 40) * self.mss_bytes

    def on_loss(self, loss): pass
    def on_timeout(self, loss): pass
    def on_restart(self, window_bytes): pass
"""


def test_a_class_that_draws_from_its_seed_has_runs_that_differ(folder: Path) -> None:
    path = write(folder, DRAWING)
    assert tg.load(path).draws == ["flow.a/controller"]
    study = tg.study(path, runs=4, vary={"gate.link.queue": ["50 packets"]})
    assert not any("nothing is random" in text or "the same results" in text for text in study.warnings)
    assert study.estimate("goodput_bps", 0).half_width is not None
    assert tg.compare(path, vary={"seed": [1, 2, 3]}).warnings == []


def test_a_class_that_draws_nothing_is_seen_by_its_runs(folder: Path) -> None:
    study = tg.study(write(folder, STILL), runs=3, vary={"gate.link.queue": ["50 packets"]})
    (warning,) = [text for text in study.warnings if "gave the same results" in text]
    assert "flow.a/controller" in warning
    assert study.estimate("goodput_bps", 0).half_width is None


def test_the_pace_is_obeyed(folder: Path) -> None:
    body = STILL.replace("40 * self.mss_bytes", "1e9\n        self.pacing_bps = 5e6")
    flow = tg.run(write(folder, body)).flows["a"]
    assert flow["goodput_bps"] == pytest.approx(5e6, rel=0.02)
    assert flow["limited_by"]["pacing"] > 0.9


FACTS = """
    seen = []

    def on_ack(self, ack):
        assert ack.in_flight_bytes <= ack.in_flight_before_bytes
        assert ack.delivered_segments >= 0 and ack.round >= 1
        if ack.rate_bps is not None and not ack.rate_app_limited and ack.time_s > 1:
            assert ack.rate_bps <= 20e6 * 1460 / 1500 * 1.01, ack.rate_bps
            assert ack.rate_total_delivered_bytes - ack.rate_prior_delivered_bytes == ack.rate_delivered_bytes
        assert ack.rtt_s is None or ack.rtt_s >= 0.04
        self.window_bytes = 100 * self.mss_bytes
"""


def test_the_facts_of_an_ack_are_possible(folder: Path) -> None:
    assert tg.run(write(folder, FACTS)).flows["a"]["goodput_bps"] > 15e6


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "    def on_ack(self, ack):\n        1 / 0",
            "mine.py:6, in on_ack: ZeroDivisionError: division by zero",
        ),
        ("    def on_ack(self, ack):\n        self.window_bytes = float('nan')", "window_bytes: read NaN"),
        (
            "    def on_ack(self, ack):\n        self.ssthresh_bytes = -1",
            "ssthresh_bytes: read -1; set a number",
        ),
        (
            "    def on_ack(self, ack):\n        self.pacing_bps = -1",
            "pacing_bps: read -1; set 1 bit/s or more, or None",
        ),
        ("    def on_ack(self, ack):\n        self.window_bytes = 'two'", "mine.py:6, in on_ack: TypeError"),
        ("    def __init__(self):\n        pass", "TypeError"),
        ("    def on_ack(self):\n        pass", "TypeError"),
    ],
)
def test_a_mistake_is_one_message_with_its_line(folder: Path, body: str, message: str) -> None:
    path = write(folder, body)
    with pytest.raises(tg.errors.ControllerError) as raised:
        tg.run(path)
    assert message in str(raised.value)
    command = [sys.executable, "-m", "tidegate", "run", str(path), "--allow-python"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("cc", "error", "message"),
    [
        ("python:mine.py:Other", tg.errors.ControllerError, "has no attribute 'Other'"),
        ("python:mine.py:tg", tg.errors.ControllerError, "is not a subclass of tidegate.CongestionControl"),
        ("python:none.py:Mine", tg.errors.ScenarioError, "cannot read it"),
        ("python:mine.py", tg.errors.ScenarioError, "does not name a file and a class"),
        ("python:no.such.module:Mine", tg.errors.ControllerError, "ModuleNotFoundError"),
        ("pyton:mine.py:Mine", tg.errors.ScenarioError, "python:mine.py:Mine"),
    ],
)
def test_names_that_lead_nowhere(folder: Path, cc: str, error: type[Exception], message: str) -> None:
    path = write(folder, AIMD, cc)
    with pytest.raises(error) as raised:
        tg.run(path)
    assert message in str(raised.value)


def test_the_manifest_keeps_the_hash_of_the_file(folder: Path) -> None:
    path = write(folder, AIMD)
    (kept,) = tg.load(path).inputs
    assert kept["name"] == "mine.py"
    assert len(kept["sha256"]) == 64


def test_an_endpoint_by_hand_takes_one() -> None:
    source = Path(__file__).parents[2] / "examples" / "aimd.py"
    end = tg.tcp.Endpoint(
        "active", cc=f"python:{source}:Aimd", handshake=False, mss="1000 B", initial_window="2 segments"
    )
    end.write(0, 10_000)
    assert len(end.poll(0)) == 2
    end.receive("20 ms", ack=2001)
    assert len(end.poll("20 ms")) == 4
