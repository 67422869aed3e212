"""Rules of players that users write in Python."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import tidegate as tg

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """
duration = "90 s"
seed = 4
[gate.link]
rate.steps = [["0 s", "3 Mbit/s"], ["30 s", "0.6 Mbit/s"], ["60 s", "2 Mbit/s"]]
queue = "60 kB"
delay = "15 ms"
[flow.player]
path = ["link"]
[flow.player.app.video]
ladder = ["300 kbit/s", "750 kbit/s", "1200 kbit/s", "1850 kbit/s"]
buffer = "20 s"
{more}
rule = {rule}
"""
#: The rule "throughput", as a user would write it.
MEAN = """
import tidegate as tg

class Mean(tg.VideoRule):
    def __init__(self, **told):
        self.seen = []

    def choose(self, choice):
        if choice.came_s is None:
            return 0
        self.seen.append(8 * choice.came_bytes / choice.came_s)
        late = self.seen[-5:]
        carried = 0.9 * len(late) / sum(1 / bps for bps in late)
        return max([place for place, bps in enumerate(self.ladder_bps) if bps <= carried], default=0)
"""


def _run(folder: Path, code: str, rule: str, more: str = "", *, exact: bool = False) -> tg.Run:
    (folder / "mine.py").write_text(code)
    place = folder / "video.toml"
    place.write_text(SCENARIO.format(rule=rule, more=more))
    return tg.run(place, exact=exact)


def test_a_rule_in_python_does_what_the_same_rule_in_rust_does(tmp_path: Path) -> None:
    for exact in (False, True):
        own = _run(tmp_path, MEAN, '"python:mine.py:Mean"', exact=exact)
        known = _run(tmp_path, MEAN, '"throughput"', exact=exact)
        assert own.table("segments").equals(known.table("segments"))
        assert own.videos["player"]["switches"] > 2


def test_a_rule_is_told_what_there_is(tmp_path: Path) -> None:
    code = """
import tidegate as tg

TOLD = []

class Told(tg.VideoRule):
    def choose(self, choice):
        assert (self.segment_s, self.buffer_s, len(self.ladder_bps)) == (4, 20, 4)
        assert choice.sizes_bytes == [150_000, 375_000, 600_000, 925_000]
        assert (choice.last is None) == (choice.number == 0)
        assert choice.number == 0 or choice.came_bytes == choice.sizes_bytes[choice.last]
        assert 0 <= choice.buffered_s <= 16
        return choice.number % 3
"""
    run = _run(tmp_path, code, '"python:mine.py:Told"')
    rates = run.table("segments")["bitrate_bps"].to_list()
    assert rates[:6] == [3e5, 7.5e5, 1.2e6] * 2


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return 4", "choose: read 4; return a place in the ladder, 0 to 3"),
        ("return -1", "choose: read -1; return a place in the ladder, 0 to 3"),
        ("return 'high'", "choose: read 'high'; return a place in the ladder, 0 to 3"),
        ("return 1 // 0", "mine.py:5, in choose: ZeroDivisionError"),
    ],
)
def test_a_mistake_is_one_message(body: str, words: str, tmp_path: Path) -> None:
    head = "import tidegate as tg\n\nclass Wrong(tg.VideoRule):\n    def choose(self, choice):\n"
    code = f"{head}        {body}\n"
    with pytest.raises(tg.errors.ControllerError, match=words.replace("(", r"\(")):
        _run(tmp_path, code, '"python:mine.py:Wrong"')


def test_what_is_no_rule_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tg.errors.ControllerError, match=r"other is not a subclass of tidegate\.VideoRule"):
        _run(tmp_path, "class other:\n    pass\n", '"python:mine.py:other"')
    with pytest.raises(tg.errors.ScenarioError, match="is not known"):
        _run(tmp_path, MEAN, '"mine.py"')
    with pytest.raises(tg.errors.ScenarioError, match=r"absent\.py"):
        _run(tmp_path, MEAN, '"python:absent.py:Mean"')


def test_a_file_that_names_a_rule_runs_only_if_it_may(tmp_path: Path) -> None:
    _run(tmp_path, MEAN, '"python:mine.py:Mean"')
    command = [sys.executable, "-m", "tidegate", "run", str(tmp_path / "video.toml")]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "--allow-python" in refused.stderr
    assert subprocess.run([*command, "--allow-python"], capture_output=True, check=False).returncode == 0


@pytest.mark.live
@pytest.mark.skipif(os.geteuid() != 0, reason="live runs as root")
def test_the_live_engine_says_that_it_has_no_python(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MEAN)
    place = tmp_path / "video.toml"
    place.write_text(SCENARIO.format(rule='"python:mine.py:Mean"', more=""))
    with pytest.raises(tg.errors.EngineError, match="players of this engine have no Python"):
        tg.run(place, engine="live")
