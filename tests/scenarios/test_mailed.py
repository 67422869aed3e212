"""A scenario from somebody else is data: it runs no code unasked, and tells the terminal nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tidegate as tg
from support.common import SMALL, tidegate
from tidegate._base.text import harmless

CODE = """\
from pathlib import Path
import tidegate as tg
Path(__file__).with_name("ran").touch()
class Mine(tg.CongestionControl):
    def on_loss(self, loss): pass
    def on_timeout(self, loss): pass
    def on_restart(self, window_bytes): pass
"""
OWN = "python:mine.py:Mine"


@pytest.fixture
def mailed(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(CODE)
    path = tmp_path / "mailed.toml"
    path.write_text("seed = 1\n" + SMALL.replace('"newreno"', f'"{OWN}"'))
    return path


RUNS = [
    ("run",),
    ("study", "--runs", "2", "--no-store"),
    ("study", "--runs", "2", "--no-store", "--shard", "1/2", "--out", "part"),
    ("compare", "--vary", "gate.bottleneck.delay=1 ms,2 ms"),
    ("check-run", "--expect", "flow.bulk.goodput_bps > 1 Mbit/s"),
    ("size", "--gate", "bottleneck"),
    ("tune", "--gate", "bottleneck"),
    ("regress", "nothing.pcap"),
]


@pytest.mark.parametrize("words", RUNS, ids=lambda words: words[0])
def test_a_file_of_code_is_refused_by_whatever_would_run_it(
    mailed: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mailed.parent)
    done = tidegate(words[0], mailed, *words[1:])
    assert done.returncode == 2, done.stderr
    assert "flow.bulk.tcp.cc: this runs the Python file mine.py, with your rights" in done.stderr
    assert f"{mailed}:15" in done.stderr
    assert "--allow-python" in done.stderr
    assert not (mailed.parent / "ran").exists()
    assert not (mailed.parent / "part").exists()


def test_an_axis_in_the_file_is_the_files(mailed: Path) -> None:
    mailed.write_text(f'seed = 1\n{SMALL}\n[[sweep]]\n"flow.bulk.tcp.cc" = ["reno", "{OWN}"]\n')
    done = tidegate("study", mailed, "--runs", "2", "--no-store")
    assert done.returncode == 2
    assert "this runs the Python file mine.py" in done.stderr
    assert not (mailed.parent / "ran").exists()


def test_what_the_user_writes_runs(mailed: Path) -> None:
    ran = mailed.parent / "ran"
    assert tidegate("run", mailed, "--allow-python").returncode == 0
    assert ran.exists()
    ran.unlink()
    plain = mailed.with_name("plain.toml")
    plain.write_text("seed = 1\n" + SMALL)
    assert tidegate("run", plain, "--set", f"flow.bulk.tcp.cc={OWN}").returncode == 0
    assert ran.exists()
    ran.unlink()
    assert tidegate("compare", plain, "--vary", f"flow.bulk.tcp.cc=reno,{OWN}").returncode == 0
    assert ran.exists()
    ran.unlink()
    # Another controller in place of the file's needs no permission.
    assert tidegate("run", mailed, "--set", "flow.bulk.tcp.cc=cubic").returncode == 0
    assert not ran.exists()
    # A program in Python is the user's own.
    tg.run(mailed)
    assert ran.exists()


def test_what_runs_nothing_says_what_would_run(mailed: Path) -> None:
    plan = mailed.parent / "plan"
    for words in (
        ("check", mailed),
        ("check", mailed, "--explain"),
        ("export", "tc", mailed),
        ("study", "plan", mailed, "--shards", "2", "--runs", "4", "--out", plan),
    ):
        told = tidegate(*words).stderr
        assert "a run of this scenario runs the Python file mine.py" in told, words
    assert not (mailed.parent / "ran").exists()
    assert "--allow-python" not in (plan / "parts.txt").read_text()
    tidegate(
        "study", "plan", mailed, "--shards", "2", "--runs", "4", "--allow-python", "--out", plan, "--force"
    )
    assert all("--allow-python" in line for line in (plan / "parts.txt").read_text().splitlines())


#: ESC and BEL, a control of C1, and a mark that turns text.
OBEYED = "\x1b]0;x\x07\x9b31m\u202e"


def test_a_title_tells_the_terminal_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("seed = 1\n" + SMALL.replace('"Small"', json.dumps("T" + OBEYED)))
    shown = r"T\u001b]0;x\u0007\u009b31m\u202e"
    for words in (
        ("run", path),
        ("check", path, "--explain"),
        ("compare", path, "--vary", "flow.bulk.tcp.cc=reno,cubic"),
        ("study", path, "--runs", "2", "--no-store"),
        ("study", path, "--runs", "2", "--no-store", "--vary", f"gate.bottleneck.x=a{OBEYED},b"),
    ):
        done = tidegate(*words)
        text = done.stdout + done.stderr
        assert harmless(text) == text, words
        assert done.returncode or shown in text, words
    # As JSON it is the same text, written out.
    told = tidegate("run", path, "--json").stdout
    assert harmless(told) == told
    assert json.loads(told)["scenario"] == "T" + OBEYED


def test_only_one_place_writes_to_the_terminal() -> None:
    folder = Path(tg.__file__).parent / "_cli"
    writers = [path.name for path in folder.glob("*.py") if "click.echo(" in path.read_text(encoding="utf-8")]
    assert writers == ["options.py"]
