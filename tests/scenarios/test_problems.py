"""All problems of a scenario at once, for people and for programs."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
import tidegate as tg
from support.common import ROOT, tidegate

WRONG = """\
duration = "10 xs"

[gate.link]
rate = "8 Mbit/q"
queue = "10 pakets"

[flow.x]
path = ["lnk"]
tcp.cc = "cubik"
"""

#: Draws a bar from the first moment on.
BAR = """
import time
from tidegate._base import progress
progress._AFTER_S = 0.0
with progress.Progress("running") as bar:
    for share in (0.25, 0.5):
        time.sleep(0.15)
        bar(share)
"""


def test_a_file_is_mended_in_one_go(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(WRONG)
    done = tidegate("check", file)
    assert (done.returncode, done.stdout) == (2, "")
    said = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert [line.split(": ")[1] for line in said] == [
        "duration", "gate.link.rate", "gate.link.queue", "flow.x.tcp.cc",
    ]  # fmt: skip
    # "xs" is as near to ms as to ns: the units are listed, none is guessed.
    assert done.stderr.split("\n\n")[0].endswith("= help: units here: ps, ns, us, ms, s, min, h")
    mended = WRONG.replace("xs", "s").replace("bit/q", "bit/s").replace("pakets", "packets")
    file.write_text(mended.replace("cubik", "cubic"))
    assert "flow.x.path" in tidegate("check", file).stderr


def test_programs_get_sentences(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(WRONG)
    error = json.loads(tidegate("check", file, "--json").stdout)["error"]
    assert error["message"] == 'the unit of "10 xs" is not known'
    assert (error["key"], error["line"], error["column"]) == ("duration", 1, 12)
    assert [other["key"] for other in error["others"]] == [
        "gate.link.rate", "gate.link.queue", "flow.x.tcp.cc",
    ]  # fmt: skip
    assert error["others"][1]["help"] == 'write "10 packets"'
    missing = json.loads(tidegate("check", tmp_path / "no.toml", "--json").stdout)["error"]
    assert missing["message"].endswith("no.toml: no such file or directory")
    with pytest.raises(tg.errors.ScenarioError) as raised:
        tg.load(file)
    assert raised.value.problem == error["message"]
    assert [other.key for other in raised.value.others or []] == [each["key"] for each in error["others"]]


def test_no_more_than_twenty_problems_are_drawn() -> None:
    text = 'duration = "1 s"\n[gate.link]\nrate = "8 Mbit/s"\n[flow.x]\npath = ["link"]\n'
    wrong = "".join(f"nonsense{number} = 1\n" for number in range(30))
    with pytest.raises(tg.errors.ScenarioError) as raised:
        tg.Scenario.from_toml(text + wrong)
    assert str(raised.value).count("error: ") == 20
    assert str(raised.value).endswith("\n\n10 more problems")
    assert len(raised.value.others or []) == 29


def test_a_folder_that_cannot_be_made_has_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = tidegate(
        "run", "examples/window.toml", "--set", "duration=9 s", "--out", tmp_path / "file" / "run"
    )
    assert done.returncode == 2
    assert f"{tmp_path}/file/run: cannot be made" in done.stderr
    assert "/.run." not in done.stderr


def test_theories_that_do_not_apply_are_told_when_asked() -> None:
    brief = tidegate("check", "examples/lte.toml", "--explain").stdout
    assert brief.endswith("theory\n  none describes this scenario (--theories says why)\n")
    full = tidegate("check", "examples/lte.toml", "--theories").stdout
    assert full.startswith("theory\n  spacer  does not apply: ")
    assert "gate bottleneck" in full


def test_an_explanation_fits_a_terminal_and_is_whole_in_a_pipe() -> None:
    inside, outside = pty.openpty()
    fcntl.ioctl(outside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "tidegate", "check", str(ROOT / "examples" / "abr.toml"), "--explain"]
    settings = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    work = subprocess.Popen(command, stdout=outside, env=settings)
    os.close(outside)
    screen = b""
    with contextlib.suppress(OSError):
        while part := os.read(inside, 4096):
            screen += part
    os.close(inside)
    assert work.wait(timeout=30) == 0
    lines = screen.decode().replace("\r", "").splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) > 60
    piped = tidegate(*command[3:]).stdout.splitlines()
    assert max(map(len, piped)) > 80
    assert " ".join(" ".join(lines).split()) == " ".join(" ".join(piped).split())


def test_a_bar_is_drawn_where_the_terminal_has_no_size() -> None:
    inside, outside = pty.openpty()
    fcntl.ioctl(outside, termios.TIOCSWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
    settings = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    subprocess.run([sys.executable, "-c", BAR], stderr=outside, check=True, env=settings)
    os.close(outside)
    screen = os.read(inside, 4096).decode()
    os.close(inside)
    assert "running" in screen
    assert "50%" in screen


def test_very_many_errors_on_one_line_are_counted() -> None:
    """Each that is put into words looks through the text, so only the first ones are."""
    names = ", ".join(f'"g{number}"' for number in range(20_000))
    text = f'duration = "1 s"\nseed = 1\n[gate.link]\nrate = "1 Mbit/s"\n[flow.a]\npath = [{names}]\n'
    with pytest.raises(tg.errors.ScenarioError) as raised:
        tg.Scenario.from_toml(text)
    assert len(raised.value.others) == 99
    told = str(raised.value)
    assert told.endswith("19980 more problems")
    assert 'no gate is called "g19"' in told
    # Of the long line the part around the error is shown.
    assert len(told) < 50_000
    assert all(len(line) < 1200 for line in told.splitlines())
