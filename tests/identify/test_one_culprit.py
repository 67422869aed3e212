"""A run and its capture name the same first culprit: one definition of what limits a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import tidegate as tg

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
duration = "15 s"
seed = 4
[gate.acc]
rate = "{rate}"
queue = "500 packets"
delay = "12 ms"
{gate}
[flow.dl]
path = ["acc"]
rtt = "30 ms"
{flow}
"""
#: What a capture calls the causes of a run, the gate being "acc".
CALLED = {"gate.acc": "rate", "policer of acc": "policer"}
POLICE = 'police = {{ rate = "{rate}", burst = "{burst}" }}'


@pytest.mark.parametrize("base", ["rfc", "linux"])
@pytest.mark.parametrize(
    ("rate", "gate", "flow", "first"),
    [
        ("200 Mbit/s", POLICE.format(rate="30 Mbit/s", burst="200 kB"), "", "policer"),
        ("200 Mbit/s", POLICE.format(rate="10 Mbit/s", burst="60 kB"), "", "policer"),
        ("20 Mbit/s", "", "", "rate"),
        ("200 Mbit/s", "", 'tcp.window = "60 kB"', "receiver window"),
        # A window above the pipe: the queue is what its packets wait in.
        ("10 Mbit/s", "", 'tcp.window = "200 kB"', "rate"),
        (
            "200 Mbit/s",
            "",
            'app.request = { size = "200 B", response = "20 kB", think = "300 ms" }',
            "application",
        ),
    ],
    ids=["policer", "slow policer", "queue", "window", "window above the pipe", "application"],
)
def test_the_first_culprit(tmp_path: Path, base: str, rate: str, gate: str, flow: str, first: str) -> None:
    text = HEAD.format(rate=rate, gate=gate, flow=flow) + f'tcp.base = "{base}"\n'
    place = tmp_path / "run.pcap"
    run = tg.run(tg.Scenario.from_toml(text), record="summary", pcap=place)
    of_run = run.flows["dl"]["limited_by"]
    told = {CALLED.get(name, name): share for name, share in of_run.items()}
    found = tg.identify(place)
    data = max(found.directions, key=lambda each: each.data_bytes)
    assert max(told, key=told.__getitem__) == first, told
    assert max(data.limited_by, key=data.limited_by.__getitem__) == first, (data.limited_by, told)
    assert data.limited_by[first] == pytest.approx(told[first], abs=0.2), told
