"""The live engine as people use it: the kernel's TCP, on this machine."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import tidegate as tg
from support.common import tidegate
from tidegate._run.completion import total_throughput

pytestmark = pytest.mark.live

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")

LINK = """\
title = "A live link"
duration = "3 s"
warmup = "1 s"
seed = 3

[gate.bottleneck]
rate = "8 Mbit/s"
queue = "40 packets"
delay = "10 ms"

[flow.one]
path = ["bottleneck"]
rtt = "20 ms"
tcp.base = "linux"
tcp.cc = "reno"

[flow.two]
path = ["bottleneck"]
rtt = "20 ms"
start = "200 ms"
app.transfer = "300 kB"
tcp.base = "linux"
"""


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scenario; skips where this machine allows no network namespaces."""
    file = tmp_path_factory.mktemp("live") / "link.toml"
    file.write_text(LINK)
    short = {"duration": "100 ms", "warmup": "0 s", "flow.two.start": "0 s"}
    try:
        tg.run(file, engine="live", changes=short)
    except tg.errors.EngineError as reason:
        pytest.skip(str(reason))
    return file


def test_a_live_run_is_a_run(link: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = tidegate(
        "run", link, "--engine", "live", "--out", out, "--pcap", "--plot", tmp_path / "live.png", "--json"
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["engine"] == "live"
    one, two = summary["flows"]
    assert one["cc"] == "reno"
    assert two["cc"] == "cubic"
    assert 0.3 < two["completion_s"] < 2.5
    # The gate delivers its rate, and all of it reached one of the two receivers.
    carried = total_throughput(summary)
    assert 0.9 * 8e6 < carried <= 8e6 * 1.01
    assert summary["gates"][0]["delivered_bytes"] * 8 / 2 == pytest.approx(carried, rel=0.01)
    run = tg.open(out)
    assert run.manifest["engine"] == "live"
    live = run.manifest["live"]
    assert {each["flow"] for each in live["verified"]} == {"one", "two"}
    assert "tcp.cc = cubic" in live["verified"][1]["in_force"]
    assert live["lateness"]["packets"] > 1000
    cwnd = run.flows["one"].series("cwnd")
    assert len(cwnd) > 100
    assert run.has("gates")
    assert (tmp_path / "live.png").stat().st_size > 10_000
    for name in ("packets.pcap", "packets-receiver.pcap"):
        assert (out / name).read_bytes()[:4] == b"\x4d\x3c\xb2\xa1"


def test_a_live_run_ends_when_all_is_done(link: Path) -> None:
    sets = ["warmup=0 s", "duration=until done", "limits.duration=20 s", "record.every=5 ms"]
    began = time.monotonic()
    run = tg.run(link, engine="live", changes=sets)
    assert time.monotonic() - began < 15
    bulk, two = run.summary["flows"]
    end = two["start_s"] + two["completion_s"]
    assert run.summary["duration_s"] == pytest.approx(end, abs=1e-9)
    assert two["goodput_bps"] == pytest.approx(8 * 300_000 / two["completion_s"])
    # What is counted and recorded ends with the run.
    carried = run.summary["gates"][0]["delivered_bytes"] * 8 / end
    assert carried <= 8e6 * 1.01
    assert 0 < bulk["throughput_bps"] < 8e6
    assert end - 0.02 < run.flows["one"].series("cwnd")["time_s"].max() <= end
    assert run.warnings == [warning for warning in run.warnings if "stopped at" not in warning]
    # Both start at once: a SYN that comes to a full queue is lost. The link cannot carry 300 kB in that time.
    sets = [each.replace("20 s", "300 ms") for each in [*sets, "flow.two.start=0 s"]]
    stopped = tg.run(link, engine="live", changes=sets)
    assert stopped.summary["duration_s"] == 0.3
    assert any("stopped at 300 ms, limits.duration: 1 of 1 flows" in warning for warning in stopped.warnings)
    assert 0 < stopped.flows["two"]["progress"] < 1


@pytest.mark.usefixtures("link")
@pytest.mark.parametrize("count", [1, 3])
def test_a_live_run_ends_with_the_last_of_its_transfers(count: int) -> None:
    flow = {
        "path": ["link"],
        "rtt": "20 ms",
        "app": {"transfer": "200 kB"},
        "count": count,
        "tcp": {"base": "linux"},
    }
    scenario = {
        "duration": "until done",
        "limits": {"duration": "20 s"},
        "gate": {"link": {"rate": "8 Mbit/s", "queue": "1 BDP"}},
        "flow": {"get": flow},
    }
    began = time.monotonic()
    run = tg.run(scenario, engine="live", seed=1)
    # Seconds of real time, none of which is a wait for the limit.
    assert time.monotonic() - began < 15
    flows = run.summary["flows"]
    assert len(flows) == count
    assert [each["progress"] for each in flows] == [1.0] * count
    ends = [each["start_s"] + each["completion_s"] for each in flows]
    assert run.summary["duration_s"] == pytest.approx(max(ends), abs=1e-9)
    # The link cannot carry them faster.
    assert max(ends) >= count * 200_000 * 8 / 8e6
    assert not [warning for warning in run.warnings if "not finished" in warning or "stopped at" in warning]


def test_an_unknown_controller_is_refused_before_anything_starts(link: Path) -> None:
    began = time.monotonic()
    done = tidegate("run", link, "--engine", "live", "--set", "flow.one.tcp.cc=veno")
    available = AVAILABLE.read_text().split()
    if "veno" in available:
        pytest.skip("this kernel has veno")
    assert done.returncode == 2
    assert 'flow.one.tcp.cc: read "veno"; the kernel here has reno' in done.stderr
    assert "Traceback" not in done.stderr
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_and_leaves_nothing(link: Path, tmp_path: Path, how: signal.Signals) -> None:
    command = [
        sys.executable,
        "-m",
        "tidegate",
        "run",
        str(link),
        "--engine",
        "live",
        "--set",
        "duration=30 s",
    ]
    work = subprocess.Popen(
        [*command, "--out", str(tmp_path / "out")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(1.5)
    work.send_signal(how)
    began = time.monotonic()
    _, told = work.communicate(timeout=20)
    assert time.monotonic() - began < 3
    assert work.returncode == (130 if how == signal.SIGINT else 143), told
    assert "Traceback" not in told
    assert not list(tmp_path.iterdir())
    assert not Path("/sys/class/net/tide0").exists()


def test_live_refuses_what_has_no_meaning_there(link: Path) -> None:
    assert tidegate("run", link, "--engine", "live", "--exact").returncode == 2
    with pytest.raises(
        tg.errors.EngineError, match=r'flow\.one\.tcp\.cc: read "tahoe"; .* the engine "sim" has it'
    ):
        tg.run(link, engine="live", changes={"flow.one.tcp.cc": "tahoe"})


def test_what_the_kernel_cannot_be_told_is_a_warning(link: Path) -> None:
    short = {"duration": "300 ms", "warmup": "0 s", "flow.two.start": "0 s"}
    run = tg.run(link, engine="live", changes={**short, "flow.one.tcp.limited_transmit": False})
    assert any(
        "flow.one: the kernel does not support tcp.limited_transmit = false" in w for w in run.warnings
    )


def test_how_runs_use_the_machine_is_the_environments(link: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = {"duration": "100 ms", "warmup": "0 s", "flow.two.start": "0 s"}
    monkeypatch.setenv("TIDEGATE_LIVE", "backend=packet tail=0 idle=halts work=divided")
    notes = tg.run(link, engine="live", changes=short).manifest["live"]["notes"]
    assert any(note.startswith("backend packet") for note in notes)
    assert any(note.startswith("no spin tail") for note in notes)
    assert "idle processors may halt" in notes
    monkeypatch.setenv("TIDEGATE_LIVE", "idle=asleep")
    with pytest.raises(
        tg.errors.ArgumentError, match='TIDEGATE_LIVE: read "idle=asleep"; it is one of auto, awake, halts'
    ):
        tg.run(link, engine="live", changes=short)
    done = tidegate("run", link, "--engine", "live", "--json")
    assert done.returncode == 2
    assert "idle=asleep" in done.stdout + done.stderr


def test_rows_and_shares_name_the_same_culprit(link: Path) -> None:
    """A policer's drops make the window small: the row at an instant says so too, as simulated rows do."""
    policed = {
        "duration": "4 s",
        "gate.bottleneck.rate": "1 Gbit/s",
        "gate.bottleneck.police": {"rate": "8 Mbit/s", "burst": "20 kB"},
        "flow.two.start": "3.9 s",
        "flow.two.app.transfer": "2 kB",
        "record.every": "10 ms",
    }
    run = tg.run(link, engine="live", changes=policed)
    one = run.summary["flows"][0]
    rows = run.table("flows").filter(pl.col("flow") == "one", pl.col("time_s") >= 1.0)
    policer = rows.filter(pl.col("held_by") == "policer").height / rows.height
    assert one["limited_by"]["policer of bottleneck"] > 0.5
    assert policer > 0.5
    assert rows.filter(pl.col("held_by") == "congestion window").height < 0.2 * rows.height


def test_a_slow_reader_limits_its_flow_as_in_the_simulator(link: Path) -> None:
    slow = {"flow.one.app.read": "2 Mbit/s", "flow.two.start": "2.9 s", "flow.two.app.transfer": "2 kB"}
    live, sim = (tg.run(link, engine=engine, changes=slow).summary["flows"][0] for engine in ("live", "sim"))
    for one in (live, sim):
        assert 1.9e6 < one["goodput_bps"] < 2.2e6
        assert one["limited_by"]["receiver window"] > 0.6
    assert abs(live["limited_by"]["receiver window"] - sim["limited_by"]["receiver window"]) < 0.25
