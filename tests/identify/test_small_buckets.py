"""Policers whose bucket holds a few packets, captured near the receiver."""

from __future__ import annotations

from pathlib import Path

import pytest
import tidegate as tg

LINK = """
duration = "8 s"
seed = 1
[gate.link]
{gate}
delay = "10 ms"
[flow.a]
path = ["link"]
rtt = "20 ms"
tcp.base = "linux"
tcp.cc = "{cc}"
"""


def identified(folder: Path, gate: str, cc: str) -> tg.Law:
    place = folder / "link.pcap"
    tg.run(tg.Scenario.from_toml(LINK.format(gate=gate, cc=cc)), record="summary", pcap=place)
    found = tg.identify(place.with_name("link-receiver.pcap"))
    return found.limits[max(found.directions, key=lambda each: each.data_bytes).limit - 1].law


@pytest.mark.parametrize("rate", [5, 10])
def test_a_bucket_of_three_packets_is_named_where_a_sender_paces(rate: int, tmp_path: Path) -> None:
    gate = f'rate = "1 Gbit/s"\npolice = {{ rate = "{rate} Mbit/s", burst = "4600 B" }}'
    law = identified(tmp_path, gate, "bbr")
    assert law.kind == "policer", law.sentence
    assert law.rate_bps is not None
    assert law.rate_bps.value == pytest.approx(rate * 1e6, rel=0.02)
    assert law.burst_bytes is not None
    assert law.burst_bytes.value == pytest.approx(4600, rel=0.02)


@pytest.mark.parametrize("cc", ["reno", "bbr"])
def test_losses_at_random_find_no_small_bucket(cc: str, tmp_path: Path) -> None:
    law = identified(tmp_path, 'rate = "30 Mbit/s"\nloss = 0.01', cc)
    assert law.kind != "policer", law.sentence
    assert law.drops == "random", law.sentence
