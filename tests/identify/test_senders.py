"""Which congestion control a sender used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.made_captures import POLICED, captured

if TYPE_CHECKING:
    from pathlib import Path

LINE = 'rate = "1 Gbit/s"\npolice = { rate = "4 Mbit/s", burst = "60 kB" }'
QUEUE = 'rate = "8 Mbit/s"\nqueue = "60 kB"'


def sender(text: str, place: Path) -> tg.Identification:
    return tg.identify(captured(text.replace(LINE, QUEUE).replace('"12 s"', '"30 s"'), place))


@pytest.mark.parametrize(("name", "left"), [("reno", 0.5), ("cubic", 0.7)])
def test_reductions_tell_the_controller(name: str, left: float, tmp_path: Path) -> None:
    found = sender(POLICED.replace('"cubic"', f'"{name}"'), tmp_path / "a.pcap")
    told = found.directions[0].congestion
    assert told.name == name
    assert told.share_left is not None
    assert told.share_left.value == pytest.approx(left, abs=0.06)
    assert f'tcp.cc = "{name}"' in found.scenario()
    assert found.to_dict()["directions"][0]["congestion"]["name"] == name


def test_probes_for_the_round_trip_tell_bbr(tmp_path: Path) -> None:
    told = sender(POLICED.replace('"cubic"', '"bbr"'), tmp_path / "a.pcap").directions[0].congestion
    assert told.name == "bbr"
    assert "ten seconds apart" in told.sentence


def test_without_losses_it_cannot_be_told(tmp_path: Path) -> None:
    text = POLICED.replace('tcp.cc = "cubic"', 'tcp.cc = "cubic"\ntcp.window = "20 kB"')
    told = sender(text, tmp_path / "a.pcap").directions[0].congestion
    assert told.name is None
    assert "cannot be told, because" in told.sentence


def test_near_the_receiver_it_cannot_be_told(tmp_path: Path) -> None:
    captured(POLICED, tmp_path / "a.pcap")
    told = tg.identify(tmp_path / "a-receiver.pcap").directions[0].congestion
    assert told.name is None
    assert "near the receiver" in told.sentence
