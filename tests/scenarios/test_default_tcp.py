"""One default for ``tcp.base``, whichever door a scenario comes in by."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import tidegate
from tidegate._ask.begin import template, templates
from tidegate._ask.link import Link

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = """\
duration = "30 s"
seed = 1

[gate.link]
rate = "20 Mbit/s"
queue = "1 BDP"

[flow.download]
path = ["link"]
rtt = "40 ms"
"""
NAMED = {"flow.download.tcp.base": "linux-6.18", "flow.download.tcp.cc": "cubic"}


def numbers(scenario: Any, **changes: Any) -> list[dict[str, Any]]:
    """Return what a run says of its flows."""
    return [
        dict(flow) for flow in tg.run(scenario, seed=1, record="summary", changes=changes).summary["flows"]
    ]


def test_every_door_has_the_newest_linux_and_cubic(tmp_path: Path) -> None:
    file, named = tmp_path / "plain.toml", tg.Scenario.from_toml(PLAIN, changes=NAMED)
    file.write_text(PLAIN)
    right = numbers(named)
    empty = {"path": ["link"], "rtt": "40 ms"}
    asked = {
        "duration": "30 s",
        "seed": 1,
        "gate": {"link": {"rate": "20 Mbit/s", "queue": "1 BDP"}},
        "flow": {"download": {**empty, "tcp": {"use": "mine"}}},
        "tcp": {"mine": {"sack": True}},
    }
    doors = {
        "a file": tg.load(file),
        "a text": tg.Scenario.from_toml(PLAIN),
        "a dict with a named set": tg.Scenario.from_dict(asked),
        "--link": tg.Scenario.from_toml(Link(rate="20Mbit/s").toml()),
        "base = linux": tg.Scenario.from_toml(PLAIN, changes={"flow.download.tcp.base": "linux"}),
    }
    for door, scenario in doors.items():
        assert numbers(scenario) == right, door
    assert numbers(file, **{"flow.download.tcp.base": "rfc"}) != right


def test_the_command_line_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "plain.toml").write_text(PLAIN)
    file = tidegate("run", "plain.toml", cwd=tmp_path)
    link = tidegate("run", "--link", "20Mbit/s", cwd=tmp_path)
    assert (file.returncode, link.returncode) == (0, 0)
    assert file.stdout.splitlines()[3:] == link.stdout.splitlines()[3:]


@pytest.mark.parametrize("name", sorted(templates()))
def test_a_template_means_the_same_with_the_base_in_words(name: str) -> None:
    plain = tg.Scenario.from_toml(template(name))
    sets = {f"flow.{flow}.tcp.base": "linux" for flow in tomllib.loads(template(name))["flow"]}
    assert numbers(plain) == numbers(tg.Scenario.from_toml(template(name), changes=sets))


def test_an_endpoint_and_an_environment_have_it_too() -> None:
    one, other = tg.tcp.Endpoint(), tg.tcp.Endpoint(base="linux", cc="cubic")
    assert one.poll(0) == other.poll(0)
    assert one.state == other.state
    assert one.state.mss_bytes == 1448
    pytest.importorskip("gymnasium")
    told = []
    for scenario in (PLAIN, tg.Scenario.from_toml(PLAIN, changes=NAMED)):
        source = tg.Scenario.from_toml(scenario) if isinstance(scenario, str) else scenario
        env = tg.gym.Env(source, interval="100 ms")
        env.reset(seed=1)
        told.append(env.step([0.0])[0].tolist())
    assert told[0] == told[1]
