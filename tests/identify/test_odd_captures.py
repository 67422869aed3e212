"""What links and captures do besides: changes of the law, offload, sharing, UDP, packed files."""

from __future__ import annotations

import gzip
import lzma
import random
import struct
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import tidegate
from support.made_captures import POLICED, captured, coalesced, doubled, joined, numbered, records

if TYPE_CHECKING:
    from pathlib import Path

LINE = 'rate = "1 Gbit/s"\npolice = { rate = "4 Mbit/s", burst = "60 kB" }'


@pytest.fixture(scope="module")
def policed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captured(POLICED, tmp_path_factory.mktemp("captures") / "policed.pcap")


def is_the_policer(found: tg.Identification, rate: float = 4e6, burst: float = 60e3) -> None:
    law = found.limits[0].law
    assert law.kind == "policer"
    assert law.rate_bps is not None
    assert law.rate_bps.value == pytest.approx(rate, rel=0.02)
    assert law.burst_bytes is not None
    assert law.burst_bytes.value == pytest.approx(burst, rel=0.1)


@pytest.mark.parametrize("later_mbit", [1.4, 1.5, 1.6, 2.0])
def test_a_policer_that_changes_its_contract(policed: Path, tmp_path: Path, later_mbit: float) -> None:
    later = captured(POLICED.replace('"4 Mbit/s"', f'"{later_mbit} Mbit/s"'), tmp_path / "later.pcap")
    law = tg.identify(joined(policed, later, tmp_path / "both.pcap")).limits[0].law
    assert law.kind == "policer"
    assert [each.value for _, each in law.pieces] == pytest.approx([4e6, later_mbit * 1e6], rel=0.05)
    assert 10 < law.pieces[1][0] < 16
    assert "changes" in law.sentence


def test_a_queue_whose_rate_changes(tmp_path: Path) -> None:
    text = POLICED.replace(LINE, 'rate.steps = [["0 s", "8 Mbit/s"], ["6 s", "3 Mbit/s"]]\nqueue = "60 kB"')
    law = tg.identify(captured(text, tmp_path / "steps.pcap")).limits[0].law
    assert law.kind == "steps"
    assert [each.value for _, each in law.pieces] == pytest.approx([8e6, 3e6], rel=0.02)


def test_two_rates(tmp_path: Path) -> None:
    law_of = 'rate.token_bucket = { rate = "3 Mbit/s", burst = "200 kB", peak = "9 Mbit/s" }\nqueue = "60 kB"'
    law = tg.identify(captured(POLICED.replace(LINE, law_of), tmp_path / "two.pcap")).limits[0].law
    assert law.kind == "two rates"
    assert law.rate_bps is not None
    assert law.peak_bps is not None
    assert law.burst_bytes is not None
    assert (law.rate_bps.value, law.peak_bps.value) == pytest.approx((3e6, 9e6), rel=0.01)
    low, high = law.burst_bytes.interval
    assert low < 200e3 < high


def test_super_segments_are_taken_apart(policed: Path, tmp_path: Path) -> None:
    place = coalesced(policed, tmp_path / "gso.pcap")
    assert len(records(place)[1]) < len(records(policed)[1])
    found = tg.identify(place)
    is_the_policer(found)
    assert "segmentation offload" in " ".join(found.notes)


def test_wrong_checksums_do_not_matter(policed: Path, tmp_path: Path) -> None:
    head, found = records(policed)
    spoiled = [each[: 16 + 10] + b"\0\0" + each[16 + 12 : 52] + b"\xab\xcd" + each[54:] for each in found]
    place = tmp_path / "sums.pcap"
    place.write_bytes(head + b"".join(spoiled))
    is_the_policer(tg.identify(place))


@pytest.mark.parametrize(("named", "every", "later"), [(True, 1, 20), (True, 10, 900), (False, 1, 20)])
def test_packets_that_stand_twice_are_left_out(
    named: bool, every: int, later: int, policed: Path, tmp_path: Path
) -> None:
    once = numbered(policed, tmp_path / "once.pcap") if named else policed
    plain = tg.identify(once)
    assert plain.notes == []
    found = tg.identify(doubled(once, tmp_path / "twice.pcap", every, later))
    copies = -(-len(records(once)[1]) // every)
    assert f"{copies} packets were captured twice" in " ".join(found.notes)
    assert found.to_dict()["limits"] == plain.to_dict()["limits"]
    assert found.directions[0].lost == plain.directions[0].lost


def test_packets_sent_again_are_no_copies(policed: Path, tmp_path: Path) -> None:
    # A recorder that is late by 2 ms is none of two interfaces.
    found = tg.identify(doubled(numbered(policed, tmp_path / "once.pcap"), tmp_path / "late.pcap", 10, 2000))
    assert "captured twice" not in " ".join(found.notes)


def test_udp_alone_is_said(policed: Path, tmp_path: Path) -> None:
    head, found = records(policed)
    out = []
    for each in found[:50]:
        packet = bytearray(each)
        packet[16 + 9] = 17
        struct.pack_into(">HHHH", packet, 36, 40000, 5001, len(packet) - 36, 0)
        out.append(bytes(packet))
    place = tmp_path / "udp.pcap"
    place.write_bytes(head + b"".join(out))
    answer = tg.identify(place)
    assert answer.directions == []
    assert "only UDP (50 packets)" in answer.notes[-1]
    assert "no law can be told" in answer.notes[-1]


def test_packed_captures_say_the_same(policed: Path, tmp_path: Path) -> None:
    plain = tg.identify(policed).to_dict()["limits"]
    for name, pack in (("a.pcap.gz", gzip.compress), ("a.pcap.xz", lzma.compress)):
        place = tmp_path / name
        place.write_bytes(pack(policed.read_bytes()))
        assert tg.identify(place).to_dict()["limits"] == plain


def test_two_connections_share_a_policer(tmp_path: Path) -> None:
    second = POLICED[POLICED.index("[flow.a]") :].replace("[flow.a]", '[flow.b]\nstart = "1 s"')
    found = tg.identify(captured(POLICED + second, tmp_path / "shared.pcap"))
    assert [len(each.members) for each in found.limits] == [2]
    assert all(each.policed for each in found.directions)
    is_the_policer(found)


def test_hidden_traffic_takes_its_part(tmp_path: Path) -> None:
    cross = '[traffic.cross]\npath = ["link"]\nsource.poisson = { rate = "400 kbit/s", packet = "500 B" }\n'
    found = tg.identify(captured(POLICED + cross, tmp_path / "cross.pcap"))
    law = found.limits[0].law
    assert law.kind == "policer"
    assert law.rate_bps is not None
    # The rate is what the hidden traffic leaves.
    assert 3.5e6 < law.rate_bps.value < 3.9e6


def test_any_cut_and_any_spoiled_byte_gives_an_answer(policed: Path, tmp_path: Path) -> None:
    data = policed.read_bytes()[:400_000]
    dice = random.Random(1996)
    place = tmp_path / "spoiled.pcap"
    for _ in range(25):
        spoiled = bytearray(data[: dice.randrange(24, len(data))])
        for _ in range(dice.randrange(0, 30)):
            spoiled[dice.randrange(24, len(spoiled))] = dice.randrange(256)
        place.write_bytes(spoiled)
        found = tg.identify(place)
        assert found.limits or found.notes
        assert found.report()


def test_only_the_first_packets_of_a_large_capture_are_looked_at(policed: Path) -> None:
    found = tg.identify(policed, most_packets=3000)
    assert found.limits[0].law.kind == "policer"
    assert found.directions[0].data_packets < 3000
    assert "looked at are the first" in " ".join(found.notes)


def test_connections_that_wait_for_one_queue_share_it(tmp_path: Path) -> None:
    text = POLICED.replace(LINE, 'rate = "4 Mbit/s"\nqueue = "4 MB"')
    second = text[text.index("[flow.a]") :].replace("[flow.a]", '[flow.b]\nstart = "1 s"')
    found = tg.identify(captured(text + second, tmp_path / "shared.pcap"))
    # Nothing is lost, so that only the waits tell it.
    assert sum(each.lost for each in found.directions) == 0
    assert [len(each.members) for each in found.limits] == [2]
    law = found.limits[0].law
    assert law.kind == "constant"
    assert law.rate_bps is not None
    assert law.rate_bps.value == pytest.approx(4e6, rel=0.001)


def test_hidden_traffic_does_not_hide_the_rate_of_a_queue(tmp_path: Path) -> None:
    cross = '[traffic.cross]\npath = ["link"]\nsource.poisson = { rate = "800 kbit/s", packet = "500 B" }\n'
    text = POLICED.replace(LINE, 'rate = "4 Mbit/s"\nqueue = "60 kB"') + cross
    law = tg.identify(captured(text, tmp_path / "cross.pcap")).limits[0].law
    assert (law.kind, law.drops) == ("constant", "queue full")
    assert law.rate_bps is not None
    low, high = law.rate_bps.interval
    assert low <= 4e6 <= high
    # A fifth of the link is other traffic's.
    assert "takes 20% of the link" in " ".join(law.evidence) or "takes 19% of the link" in " ".join(
        law.evidence
    )


def test_a_clock_that_jumps_is_named(policed: Path, tmp_path: Path) -> None:
    head, packets = records(policed)
    place = tmp_path / "jump.pcap"
    late = [
        struct.pack("<I", struct.unpack("<I", each[:4])[0] + 1_700_000_000) + each[4:] for each in packets
    ]
    place.write_bytes(head + b"".join([*packets[:1000], *late[1000:]]))
    scenario = tmp_path / "link.toml"
    scenario.write_text(POLICED)
    for words in (("identify", place), ("regress", scenario, place)):
        done = tidegate(*words)
        assert done.returncode == 2
        assert f"{place}: time jumps by" in done.stderr
        assert "at packet 1001 of connection 1" in done.stderr
