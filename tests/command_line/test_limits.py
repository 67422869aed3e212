"""Ctrl-C is answered in every phase; what would never end, or never fit, is refused in words."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import tidegate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: Much longer than any answer to Ctrl-C may take: a hang fails, a busy machine does not.
HANG_S = 60

FLOW = '\n[flow.a]\npath = ["g"]\n'
HEAD = 'duration = "10 s"\n\n[gate.g]\ndelay = "10 ms"\n'

#: One packet takes 12,000 s, and the rate changes twice a microsecond: the first departure is worked out in
#: one step of the simulation, which takes minutes.
ENDLESS = (
    HEAD
    + 'rate.markov = { rates = ["1 bit/s", "2 bit/s"], mean_holding = ["500 ns", "500 ns"] }\n'
    + FLOW
    + "\n[limits]\nevents = 1000000000000\n"
)


def interrupted(
    arguments: Sequence[str | Path], after_s: float, folder: Path
) -> subprocess.CompletedProcess[str]:
    """Start a command, press Ctrl-C after a while, and say how it ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tidegate", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        # A shell that starts things in the background has them ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        time.sleep(after_s)
        assert process.poll() is None, f"it ended by itself: {process.communicate()}"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANG_S)
    finally:
        process.kill()
    assert "Traceback" not in err, err
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.mark.parametrize(
    "command",
    [
        ["run"],
        ["run", "--out", "out"],
        ["study", "--runs", "2"],
        ["compare", "--vary", "gate.g.delay=1 ms,2 ms"],
    ],
    ids=["run", "run --out", "study", "compare"],
)
def test_ctrl_c_ends_a_step_that_takes_minutes(command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "endless.toml"
    path.write_text(ENDLESS)
    done = interrupted([command[0], path, "--seed", "1", *command[1:]], 4, tmp_path)
    assert done.returncode == 130, done.stderr
    assert "stopped" in done.stderr
    assert [left.name for left in tmp_path.iterdir()] == ["endless.toml"], "nothing half-written stays"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("key", ["rate.trace", "app.request.response.file"])
def test_a_pipe_is_no_file(key: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    if key == "rate.trace":
        text = HEAD + 'rate.trace = { file = "pipe.csv", format = "csv" }\n' + FLOW
    else:
        text = HEAD + FLOW + 'app.request.think = "1 s"\napp.request.response.file = "pipe.csv"\n'
    (tmp_path / "a.toml").write_text(text)
    done = tidegate("check", tmp_path / "a.toml")
    assert done.returncode == 2
    assert "this is a pipe or a device, not a file" in done.stderr
    for command in (["check", tmp_path / "pipe.csv"], ["traces", "info", tmp_path / "pipe.csv"]):
        done = tidegate(*command)
        assert done.returncode == 2
        assert "this is a pipe or a device, not a file" in done.stderr


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/urandom"])
def test_a_device_is_no_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(HEAD + f'rate.trace = {{ file = "{name}", format = "csv" }}\n' + FLOW)
    for command in (["check", tmp_path / "a.toml"], ["run", name], ["traces", "info", name]):
        done = tidegate(*command)
        assert done.returncode == 2, done.stderr
        assert "this is a pipe or a device, not a file" in done.stderr


def test_files_have_a_largest_size(tmp_path: Path) -> None:
    """Sparse files: nothing is written, and nothing may be read."""
    for name in ("large.toml", "large.down"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(200_000_000)
    (tmp_path / "a.toml").write_text(HEAD + 'rate.trace = "large.down"\n' + FLOW)
    for file in ("large.toml", "a.toml"):
        done = tidegate("check", tmp_path / file)
        assert done.returncode == 2
        assert "200000000 bytes" in done.stderr


def test_a_hundred_thousand_gates_are_checked(tmp_path: Path) -> None:
    gates = "".join(f'[gate.g{index}]\nrate = "10 Mbit/s"\n' for index in range(100_000))
    (tmp_path / "many.toml").write_text(f'duration = "1 s"\n{gates}\n[flow.a]\npath = ["g0"]\n')
    done = tidegate("check", tmp_path / "many.toml")
    assert done.returncode == 0, done.stderr
    assert "100000 gates" in done.stdout
    assert "99899 more warnings" in done.stderr


def test_flows_with_long_paths_are_refused_in_words(tmp_path: Path) -> None:
    gates = [f"g{index}" for index in range(100)]
    path = ", ".join(f'"{gate}"' for gate in gates)
    written = "".join(f'[gate.{gate}]\nrate = "10 Mbit/s"\nper = "flow"\n' for gate in gates)
    copies = f'duration = "1 s"\n{written}[flow.a]\ncount = 100000\npath = [{path}]\n'
    tables = f'duration = "1 s"\n{written}' + "".join(
        f"[flow.f{index}]\npath = [{path}]\n" for index in range(20_000)
    )
    for text, words in [
        (copies, "10000000 places on their paths need about"),
        (tables, "a scenario is a small text"),
        ("".join(f"[gate.g{index}]\n" for index in range(100_001)), "at most 100000 are read"),
    ]:
        (tmp_path / "large.toml").write_text(text)
        done = tidegate("check", tmp_path / "large.toml")
        assert done.returncode == 2
        assert words in done.stderr


def test_a_recording_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(HEAD + 'rate = "1 Mbit/s"\n' + FLOW)
    done = tidegate("run", tmp_path / "a.toml", "--record", "1 ps", "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "more than limits.memory, 2000 MB" in done.stderr


def test_until_done_is_reckoned_by_the_rows_up_to_then(tmp_path: Path) -> None:
    """Memory is not reckoned for the 1,000 s that such a run may last at most."""
    scenario = tmp_path / "a.toml"
    scenario.write_text(
        'duration = "until done"\nseed = 1\ngate.g.rate = "10 Gbit/s"\n'
        '[flow.a]\npath = ["g"]\nrtt = "50 us"\ncount = 4\napp.transfer = "256 kB"\n'
    )
    assert tidegate("run", scenario, "--plot", tmp_path / "a.png").returncode == 0
    done = tidegate("compare", scenario, "--vary", "flow.a.tcp.cc=reno,dctcp")
    assert done.returncode == 0, done.stderr
    done = tidegate("run", scenario, "--record", "1 ps")
    assert done.returncode == 2
    assert "more than limits.memory, 2000 MB" in done.stderr
    assert "1000 s" not in done.stderr


def test_a_run_counts_its_rows_by_what_they_take_in_the_end() -> None:
    text = (
        'duration = "60 s"\nseed = 1\nlimits.memory = "40 MB"\ngate.g.rate = "10 Mbit/s"\n'
        '[flow.a]\npath = ["g"]\nrtt = "20 ms"\ntcp.base = "rfc"\n'
    )
    run = tg.run(tg.Scenario.from_toml(text), record="events")
    assert "the limit of 40000000 bytes of memory was reached" in run.warnings[0]
    rows = len(run.table("gates")) + len(run.table("flows"))
    assert 20e6 < 300 * rows < 44e6


def test_flows_are_reckoned_as_they_cost(tmp_path: Path) -> None:
    """What is refused before a run is about what it takes: within a factor of two of the measured peak."""
    path = tmp_path / "many.toml"
    path.write_text(
        'duration = "1 s"\nseed = 1\nlimits.memory = "60 MB"\ngate.g.rate = "1 Gbit/s"\n'
        '[flow.a]\npath = ["g"]\nrtt = "20 ms"\ncount = 20000\n'
    )
    with pytest.raises(
        tg.errors.ScenarioError, match=r"need about 1\d\d MB .* more than limits.memory, 60 MB"
    ) as raised:
        tg.load(path)
    reckoned = 1e6 * int(re.search(r"about (\d+) MB", str(raised.value))[1])
    code = (
        "import re, sys, tidegate as tg\n"
        # Not ru_maxrss: a process begins with what it was forked from.
        "peak = lambda: 1024 * int(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])\n"
        "before = peak()\n"
        "tg.run(sys.argv[1], changes={'limits.memory': '1 GB'}, record='summary', threads=1)\n"
        "print(peak() - before)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert reckoned / 2 < int(done.stdout) < 2 * reckoned
