"""The picture of a capture shows its law and its losses, as SVG and as PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
import tidegate as tg
from support.made_captures import captured

if TYPE_CHECKING:
    from pathlib import Path

LINK = """
duration = "12 s"
seed = 7
[gate.link]
{gate}
delay = "10 ms"
[flow.a]
path = ["link"]
rtt = "40 ms"
{flow}
"""


@pytest.mark.parametrize(
    ("gate", "flow", "words"),
    [
        ('rate = "1 Gbit/s"\npolice = { rate = "8 Mbit/s", burst = "60 kB" }', "", ("tokens in", "× lost")),
        ('rate = "10 Mbit/s"\nqueue = "60 kB"', "", ("the law's rate", "wait", "a full queue's", "× lost")),
        ('rate = { steps = [["0 s", "9 Mbit/s"], ["6 s", "4 Mbit/s"]] }', "", ("the law's rate", "wait")),
        ('rate = "1 Gbit/s"\nloss = "1%"', "", ("sent and", "× lost")),
        ('rate = "1 Gbit/s"', 'app.constant = { rate = "2 Mbit/s", write = "5 kB" }', ("sent and",)),
    ],
    ids=["policer", "queue", "steps", "random loss", "no limit"],
)
def test_a_picture_names_what_it_shows(tmp_path: Path, gate: str, flow: str, words: tuple[str, ...]) -> None:
    found = tg.identify(captured(LINK.format(gate=gate, flow=flow), tmp_path / "a.pcap"))
    svg = found.plot(tmp_path / "a.svg").read_text(encoding="utf-8")
    texts = [each.text or "" for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("text")]
    told = " ".join(texts)
    assert all(word in told for word in words), told
    assert ("× lost" in told) == any(each.lost for each in found.directions)
    # Points that lie on each other are drawn once: a picture is no copy of the capture.
    assert len(svg) < 1_000_000
    assert found.plot(tmp_path / "b.svg").read_bytes() == svg.encode()
    assert found.plot(tmp_path / "a.png").stat().st_size > 10_000
