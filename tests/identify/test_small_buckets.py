"""Policers whose bucket holds a few packets."""

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


def identified(folder: Path, gate: str, cc: str, end: str = "link-receiver.pcap") -> tg.Law:
    place = folder / "link.pcap"
    tg.run(tg.Scenario.from_toml(LINK.format(gate=gate, cc=cc)), record="summary", pcap=place)
    found = tg.identify(place.with_name(end))
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


@pytest.mark.parametrize("end", ["link.pcap", "link-receiver.pcap"])
@pytest.mark.parametrize(("cc", "rate"), [("reno", 40), ("reno", 8), ("cubic", 13)])
def test_bursts_of_a_round_trip_bound_the_rate_and_do_not_tell_it(
    cc: str, rate: int, end: str, tmp_path: Path
) -> None:
    gate = f'rate = "1 Gbit/s"\npolice = {{ rate = "{rate} Mbit/s", burst = "7 kB" }}'
    law = identified(tmp_path, gate, cc, end)
    assert law.kind == "policer", law.sentence
    assert law.rate_bps is not None
    low, high = law.rate_bps.interval
    assert low < rate * 1e6 < high
    assert high > 2 * low
    assert "the drops do not tell it closer" in law.sentence
    # The value beside the range is said to be one of many that predict the capture alike.
    assert "predict goodput and losses alike" in " ".join(law.evidence)
    if end == "link.pcap":
        assert rate * 1e6 / 8 < law.rate_bps.value < rate * 1e6 * 8


def test_delayed_acks_beside_a_small_bucket_are_no_queue(tmp_path: Path) -> None:
    gate = 'rate = "1 Gbit/s"\npolice = { rate = "18 Mbit/s", burst = "6848 B" }'
    law = identified(tmp_path, gate, "bbr", "link.pcap")
    assert law.kind == "policer", law.sentence
    assert law.rate_bps is not None
    assert law.rate_bps.value == pytest.approx(18e6, rel=0.001)


@pytest.mark.parametrize("cc", ["reno", "cubic", "bbr"])
@pytest.mark.parametrize("packets", [3, 8])
@pytest.mark.parametrize("shaped", [False, True])
def test_a_queue_of_a_few_packets_is_no_policer(cc: str, packets: int, shaped: bool, tmp_path: Path) -> None:
    rate = '{ token_bucket = { rate = "10 Mbit/s", burst = "6 kB" } }' if shaped else '"10 Mbit/s"'
    law = identified(tmp_path, f'rate = {rate}\nqueue = "{packets} packets"', cc, "link.pcap")
    assert law.kind != "policer", law.sentence
