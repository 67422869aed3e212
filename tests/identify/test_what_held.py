"""What held a sender is told before any law: a link that nothing filled has no rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.made_captures import captured

if TYPE_CHECKING:
    from pathlib import Path

LINK = """
duration = "12 s"
seed = 7
[gate.link]
rate = "60 Mbit/s"
queue = "300 kB"
delay = "10 ms"
{gate}
[flow.a]
path = ["link"]
rtt = "40 ms"
{flow}
"""
JITTER = 'jitter = "8 ms"'


@pytest.mark.parametrize("end", ["sender", "receiver", "both"])
@pytest.mark.parametrize(
    ("gate", "flow", "held"),
    [
        ("", 'app.constant = { rate = "3 Mbit/s", write = "7500 B" }', "application"),
        (JITTER, 'app.constant = { rate = "3 Mbit/s", write = "7500 B" }', "application"),
        ("", 'app.constant = { rate = "5 Mbit/s", write = "14480 B" }', "application"),
        ("", 'app.on_off = { rate = "8 Mbit/s", on = "1 s", off = "400 ms" }', "application"),
        (JITTER, 'tcp.window = "60 kB"', "receiver window"),
        ('jitter.exponential = "4 ms"', 'tcp.window = "60 kB"', "receiver window"),
        ("", 'app.read = "3 Mbit/s"', "receiver window"),
    ],
    ids=[
        "writes",
        "writes jittered",
        "whole segments",
        "on and off",
        "window",
        "window, long tail",
        "reader",
    ],
)
def test_a_link_that_nothing_filled_has_no_rate(
    tmp_path: Path, gate: str, flow: str, held: str, end: str
) -> None:
    near = captured(LINK.format(gate=gate, flow=flow), tmp_path / "link.pcap")
    far = near.with_name("link-receiver.pcap")
    found = tg.identify({"sender": [near], "receiver": [far], "both": [near, far]}[end])
    data = max(found.directions, key=lambda each: each.data_bytes)
    law = found.limits[data.limit - 1].law
    assert law.kind == "none", law.sentence
    assert law.rate_bps is None
    assert data.limited_by[held] > 0.7, data.limited_by
    # Its scenario has what held the sender, and so predicts what was measured, but for the jitter.
    row = found.predicted[0]
    measured, said = row.goodput_bps
    assert said == pytest.approx(measured, rel=0.3)


def test_the_edge_of_an_unknown_scale_is_no_limit(tmp_path: Path) -> None:
    near = captured(LINK.format(gate="", flow='tcp.window = "60 kB"'), tmp_path / "link.pcap")
    raw = near.read_bytes()
    place = tmp_path / "mid.pcap"
    # Without the handshake the windows have no scale.
    at, head = 24, raw[:24]
    order = "<" if raw[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    for _ in range(3):
        at += 16 + int.from_bytes(raw[at + 8 : at + 12], "little" if order == "<" else "big")
    place.write_bytes(head + raw[at:])
    found = tg.identify(place)
    assert all("receiver window" not in each.limited_by for each in found.directions)
    assert "scale of the windows" in " ".join(found.notes)
