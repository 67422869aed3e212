"""Every command that leaves ``[[sweep]]`` out says so, once and in the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import SMALL, tidegate

if TYPE_CHECKING:
    from pathlib import Path

SWEEP = '\n[[sweep]]\n"flow.bulk.tcp.cc" = ["reno", "cubic"]\n'
CALLS = """
duration = "20 s"
seed = 1
pool.lines.capacity = "3 Mbit/s"
[calls.phones]
pool = "lines"
rate = "1 Mbit/s"
every.exponential = "1 s"
hold.exponential = "1 s"
blocked = "refuse"
[[sweep]]
"calls.phones.hold.exponential" = ["1 s", "2 s"]
"""
SAID = "the scenario's sweep makes 2 combinations; this is of the values outside [[sweep]]"


@pytest.mark.parametrize(
    ("words", "text", "times"),
    [
        (["run", "--seed", "1"], SMALL + SWEEP, 1),
        (["run", "--perturb", "2"], SMALL + SWEEP, 1),
        (["run", "--engine", "theory"], CALLS, 1),
        (["compare", "--vary", "flow.bulk.rtt=20 ms,30 ms"], SMALL + SWEEP, 1),
        (["compare", "--engines", "theory,sim"], CALLS, 1),
        (["check", "--explain"], SMALL + SWEEP, 1),
        (["check", "--theories"], CALLS, 1),
        (["export", "tc"], SMALL + SWEEP, 1),
        # What is of all values leaves nothing out.
        (["check"], SMALL + SWEEP, 0),
        (["study", "--runs", "2", "--no-store"], SMALL + SWEEP, 0),
        (["check-run", "--expect", "loss < 50%", "--no-store"], SMALL + SWEEP, 0),
    ],
)
def test_it_is_said(words: list[str], text: str, times: int, tmp_path: Path) -> None:
    file = tmp_path / "swept.toml"
    file.write_text(text, encoding="utf-8")
    done = tidegate(*words, file)
    assert done.returncode in (0, 1), done.stderr
    assert " ".join((done.stdout + done.stderr).split()).count(SAID) == times


def test_a_transport_of_ones_own_hears_it_too() -> None:
    swept: dict[str, Any] = {
        "duration": "1 s",
        "gate": {"link": {"rate": "10 Mbit/s"}},
        "flow": {"mine": {"path": ["link"], "rtt": "20 ms"}},
        "sweep": [{"gate.link.rate": ["10 Mbit/s", "20 Mbit/s"]}],
    }
    net = tg.Network(swept, seed=1)
    for _ in net:
        pass
    assert [warning.count(SAID) for warning in net.finish().warnings] == [1]
