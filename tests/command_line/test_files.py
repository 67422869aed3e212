"""Nothing half-written: a full disk, a killed process, a closed terminal, a name that is not UTF-8."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.common import SMALL, tidegate
from tidegate._base.files import clean, file_beside, folder_beside

COMMAND = [sys.executable, "-m", "tidegate"]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "x.toml"
    path.write_text("seed = 1\n" + SMALL)
    return path


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def small_files() -> None:
    """Let no file have more than 2 kB, as if the disk were full then."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("run", "x.toml", "--plot", "p.png"), "p.png"),
        (("run", "x.toml", "--report", "r.html"), "r.html"),
        (("run", "x.toml", "--csv", "t.csv", "--record", "events", "--out", "o"), "o"),
        (("run", "x.toml", "--flent", "f.flent"), "f.flent"),
        (("run", "x.toml", "--out", "o", "--pcap"), "o"),
        (("study", "x.toml", "--runs", "2", "--no-store", "--report", "r.html"), "r.html"),
        (("compare", "x.toml", "--vary", "flow.bulk.tcp.cc=reno,cubic", "--plot", "p.pdf"), "p.pdf"),
        (("init", "--examples", "all"), "all"),
        (("traces", "synth", "t.down", "--seed", "1"), "t.down"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value[:1]),
)
def test_a_full_disk_leaves_nothing_and_names_the_file(
    scenario: Path, words: tuple[str, ...], name: str
) -> None:
    done = subprocess.run(
        [*COMMAND, *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=scenario.parent,
        # Bytecode would be cut off as well, and stay.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=small_files,
    )
    assert done.returncode == 4, done.stderr
    assert f"{name}: " in done.stderr
    assert "too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert left(scenario.parent) == ["x.toml"]


def test_what_a_killed_process_left_goes_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    begin = "from pathlib import Path; from tidegate._base.files import *\n"
    for text in (f"with file_beside('r.html'): {kill}", f"with folder_beside(Path('out').resolve()): {kill}"):
        subprocess.run([sys.executable, "-c", begin + text], cwd=tmp_path, check=False)
    assert len(left(tmp_path)) == 2
    with file_beside(tmp_path / "r.html") as work:
        assert len(left(tmp_path)) == 2, "the next of the same name removes the first"
        done = tidegate("clean", tmp_path)
        assert "removed 1 half-written result" in done.stdout
        assert left(tmp_path) == [work.name]
        work.write_text("whole")
    assert left(tmp_path) == ["r.html"]
    with folder_beside(tmp_path / "out"):
        assert clean(tmp_path) == []
    assert left(tmp_path) == ["r.html"]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_closed_terminal_leaves_nothing(scenario: Path, number: signal.Signals) -> None:
    scenario.write_text("seed = 1\n" + SMALL.replace('"6 s"', '"100000 s"'))
    process = subprocess.Popen(
        [*COMMAND, "run", "x.toml", "--out", "o", "--record", "summary"], cwd=scenario.parent
    )
    while len(left(scenario.parent)) == 1:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait(timeout=30) == 128 + number
    assert left(scenario.parent) == ["x.toml"]


def test_names_that_are_not_utf_8(scenario: Path) -> None:
    odd = os.fsencode(scenario.parent) + b"/caf\xe9"
    scenario.rename(os.fsdecode(odd + b".toml"))
    done = subprocess.run(
        [*COMMAND, "run", odd + b".toml", "--report", odd + b".html"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"caf\\udce9.html" in done.stdout
    assert Path(os.fsdecode(odd + b".html")).exists()
    for words in (["--out", odd], ["--set", b'title="\xe9"'], ["--plot", odd + b".xcf"]):
        wrong = subprocess.run([*COMMAND, "run", odd + b".toml", *words], capture_output=True, check=False)
        assert wrong.returncode == 2, wrong.stderr
        assert b"caf\\udce9" in wrong.stderr or b"not UTF-8" in wrong.stderr
        assert b"bug" not in wrong.stderr


def test_a_closed_standard_output_is_one_sentence(scenario: Path) -> None:
    done = subprocess.run(
        f"{' '.join(COMMAND)} run {scenario} >&-", shell=True, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "standard output is closed" in done.stderr


def test_a_picture_needs_no_window(scenario: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "run", "x.toml", "--plot", "p.png"],
        capture_output=True,
        text=True,
        check=False,
        cwd=scenario.parent,
        env={**os.environ, "MPLBACKEND": "xx"},
    )
    assert done.returncode == 0, done.stderr


def test_ctrl_c_is_quiet_before_the_command_has_begun(tmp_path: Path) -> None:
    # Ctrl-C while click is imported, which is long before the command's own work.
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    done = subprocess.run(
        [*COMMAND, "--help"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    # A program that imports the package has Python's own answer.
    own = subprocess.run(
        [sys.executable, "-c", "import tidegate; raise KeyboardInterrupt"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "KeyboardInterrupt" in own.stderr


@pytest.mark.parametrize(
    "words", [("run", "odd\udcff.toml", "--plot", "o.png"), ("run", "--link", "5 Mbit/s", "--cc", "\udcff")]
)
def test_of_a_text_that_is_not_utf_8_a_part_is_shown(scenario: Path, words: tuple[str, ...]) -> None:
    (scenario.parent / "odd\udcff.toml").write_text(re.sub("title = .*", "", scenario.read_text()))
    done = subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, check=False, cwd=scenario.parent
    )
    assert done.returncode == 2
    assert "not UTF-8" in done.stderr
    assert "udcff" in done.stderr
    assert len(done.stderr) < 300
