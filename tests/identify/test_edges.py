"""Captures that are short, cut, one-sided, offloaded or odd: a right answer, or one clear sentence."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import EXAMPLES
from support.made_captures import POLICED, captured, records

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def policed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captured(POLICED, tmp_path_factory.mktemp("captures") / "policed.pcap")


def test_a_policer_is_found_with_its_numbers(policed: Path) -> None:
    found = tg.identify(policed)
    law = found.limits[0].law
    assert law.kind == "policer"
    assert found.directions[0].policed
    assert law.rate_bps is not None
    assert law.rate_bps.value == pytest.approx(4e6, rel=0.01)
    assert law.burst_bytes is not None
    assert law.burst_bytes.value == pytest.approx(60e3, rel=0.05)
    assert found.to_dict()["limits"][0]["law"]["policed"] is True
    assert "policer of 4.00 Mbit/s" in found.report()


def test_a_rate_that_drops_hardly_tell_is_told_as_its_interval(tmp_path: Path) -> None:
    place = tmp_path / "policer.pcap"
    # Without jitter drops come in a pattern, which says least.
    changes = {"duration": "20 s", "flow.bulk.tcp.base": "rfc", "gate.isp.jitter": "0 s"}
    tg.run(EXAMPLES / "policer.toml", changes=changes, record="summary", pcap=place)
    law = tg.identify(place).limits[0].law
    assert law.rate_bps is not None
    # Every rate from 15 to 35 Mbit/s with a bucket of its own tells all packets rightly; the truth is 20.
    low, high = law.rate_bps.interval
    assert low < 15e6
    assert high > 35e6
    assert low < law.rate_bps.value < high
    assert "the drops do not tell it closer" in law.sentence
    assert law.burst_bytes is not None
    assert law.burst_bytes.interval[0] < 50e3 < law.burst_bytes.interval[1]


def test_the_scenario_of_a_capture_runs_and_loses_as_much(policed: Path, tmp_path: Path) -> None:
    found = tg.identify(policed)
    place = tmp_path / "link.toml"
    place.write_text(found.scenario(), encoding="utf-8")
    flow = tg.run(place, record="summary").flows[0]
    assert flow["goodput_bps"] == pytest.approx(found.directions[0].goodput_bps, rel=0.15)


def test_a_queue_of_the_same_rate_is_no_policer(tmp_path: Path) -> None:
    text = POLICED.replace(
        'rate = "1 Gbit/s"\npolice = { rate = "4 Mbit/s", burst = "60 kB" }',
        'rate = "4 Mbit/s"\nqueue = "60 kB"',
    )
    place = tmp_path / "queue.pcap"
    tg.run(tg.Scenario.from_toml(text), record="summary", pcap=place)
    law = tg.identify(place).limits[0].law
    assert law.kind == "constant"
    assert law.rate_bps is not None
    assert law.rate_bps.value == pytest.approx(4e6, rel=0.01)


def test_losses_at_random_are_no_policer(tmp_path: Path) -> None:
    text = POLICED.replace('police = { rate = "4 Mbit/s", burst = "60 kB" }', "loss = 0.01")
    place = tmp_path / "random.pcap"
    tg.run(tg.Scenario.from_toml(text), record="summary", pcap=place)
    law = tg.identify(place).limits[0].law
    assert (law.kind, law.drops) == ("none", "random")
    assert law.random_loss is not None
    assert law.random_loss.interval[0] < 0.01 < law.random_loss.interval[1]


def test_three_packets_are_too_few(policed: Path, tmp_path: Path) -> None:
    head, found = records(policed)
    place = tmp_path / "three.pcap"
    place.write_bytes(head + b"".join(found[:3]))
    answer = tg.identify(place)
    assert answer.directions == []
    assert "Cannot tell" in " ".join(answer.notes)


def test_a_capture_cut_in_a_packet_is_used_up_to_there(policed: Path, tmp_path: Path) -> None:
    data = policed.read_bytes()
    place = tmp_path / "cut.pcap"
    place.write_bytes(data[: len(data) * 2 // 3 + 7])
    answer = tg.identify(place)
    assert answer.limits[0].law.kind == "policer"
    assert answer.notes


def test_one_direction_only_is_said(policed: Path, tmp_path: Path) -> None:
    head, found = records(policed)
    # Packets with data are large: what is left is the direction of the sender alone.
    place = tmp_path / "one.pcap"
    place.write_bytes(head + b"".join(each for each in found if struct.unpack_from("<I", each, 12)[0] > 500))
    answer = tg.identify(place)
    assert answer.directions == []
    assert "only one direction" in " ".join(answer.notes)


def test_no_capture_is_an_error(tmp_path: Path) -> None:
    place = tmp_path / "text.pcap"
    place.write_text("no capture", encoding="utf-8")
    with pytest.raises(tg.errors.CaptureError, match=r"text\.pcap"):
        tg.identify(place)
