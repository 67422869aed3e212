"""What commands refuse: status 2 and a message; other errors too have a status and a sentence."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import tidegate as tg
from support.common import SMALL, tidegate
from tidegate._cli.errors import guarded


def test_wrong_scenario_says_file_line_key_value_and_repair(small: Path) -> None:
    small.write_text(SMALL.replace("4 Mbit/s", "4 Mb/s/s"))
    done = tidegate("run", small, "--json")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["kind"] == "ScenarioError"
    assert error["line"] == 6
    assert error["key"] == "gate.bottleneck.rate"
    assert "4 Mb/s/s" in error["read"]
    for word in ("small.toml", "6", "gate.bottleneck.rate", "4 Mb/s/s"):
        assert word in done.stderr
    check = tidegate("check", small)
    assert (check.returncode, check.stdout) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["run"], "FILE"),
        (["run", "nowhere.toml"], "nowhere.toml"),
        (["run", "."], "directory"),
        (["run", "{small}", "--set", "duration"], "duration"),
        (["run", "{small}", "--set", "gate.bottlneck.rate=1 Mbit/s"], "bottl"),
        (["run", "{small}", "--seed", "x"], "x"),
        (["run", "{small}", "--seed", "-1"], "-1"),
        (["run", "{small}", "--record", "often"], "often"),
        (["compare", "{small}", "--vary", "seed=1,2", "--engine", "theory"], "cannot be used here"),
        (["run", "{small}", "--engine", "quantum"], "quantum"),
        (["run", "{small}", "--pcap"], "--out"),
        (["run", "{small}", "--plot", "x.gif"], ".png"),
        (["run", "{small}", "--plot", "no/x.png"], "no"),
        (["run", "{small}", "--out", "{small}"], "is the input"),
        (["run", "{small}", "--out", "/proc/x/y"], "/proc"),
        (["run", "{binary}"], "binary"),
        (["check", "nowhere.toml"], "nowhere.toml"),
        (["plot", "nowhere"], "nowhere"),
        (["plot", "{small}"], "file"),
        (["plot", "{folder}"], "run folder"),
        (["study", "{small}", "--columns", ""], "no metric is called"),
        (["compare", "{small}"], "--vary"),
        (["compare", "{small}", "--vary", "flow.bulk.tcp.cc"], "flow.bulk.tcp.cc"),
        (["compare", "{small}", "--vary", "flow.bulk.tcp.cc=reno,,cubic"], "reno,,cubic"),
        (["compare", "{small}", "--vary", "flow.bulk.tcp.cc=reno,yeah"], "yeah"),
        (["compare", "{small}", "--vary", "a=1", "--vary", "a=2"], "twice"),
        (["traces", "info", "nowhere.down"], "nowhere.down"),
        (["traces", "info", "{binary}"], "binary"),
        (["traces", "info", "{small}"], "small.toml"),
        (["traces", "convert", "{small}", "x.txt"], "x.txt"),
        (["traces", "synth", "x.down", "--model", "wishful"], "wishful"),
        (["traces", "synth", "x.down", "--mean", "fast"], "fast"),
        (["fly"], "fly"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)  # fmt: skip
def test_wrong_input_is_status_2(arguments: list[str], word: str, small: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 4)
    names = {"small": small, "folder": tmp_path / "folder", "binary": tmp_path / "binary"}
    given = [argument.format(**names) for argument in arguments]
    done = tidegate(*given, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert word in done.stderr
    assert done.stdout == ""
    with_json = tidegate(*given, "--json", cwd=tmp_path)
    assert with_json.returncode == 2
    assert json.loads(with_json.stdout)["error"]["message"]


@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may read and write everything")
def test_no_permission(small: Path, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    assert tidegate("run", small, "--out", locked / "x").returncode == 2
    small.chmod(0)
    assert tidegate("run", small).returncode == 2


@pytest.mark.parametrize(
    ("error", "status", "word"),
    [
        (tg.errors.InternalError("this is a bug in tidegate: boom"), 4, "boom"),
        (tg.errors.RunError("the run was interrupted"), 4, "interrupted"),
        (tg.errors.ArgumentError("seed: not that"), 2, "not that"),
        (tg.errors.TraceError("t.down, line 3: no"), 2, "line 3"),
        (FileNotFoundError(2, "No such file or directory", "x.toml"), 2, "x.toml: no such file"),
        (OSError(28, "No space left on device"), 4, "no space"),
        (MemoryError(), 4, "memory"),
        (ZeroDivisionError("1/0"), 4, "this is a bug in tidegate: ZeroDivisionError"),
        (KeyboardInterrupt(), 130, "stopped"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_every_error_is_a_message_and_a_status(
    error: BaseException, status: int, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    assert guarded(fail) == status
    said = capsys.readouterr()
    assert word in said.err
    assert len(said.err.splitlines()) <= 2
    assert said.out == ""
