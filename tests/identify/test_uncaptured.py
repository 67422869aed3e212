"""Captures that missed packets: what was acknowledged and never seen is no loss, and is said."""

from __future__ import annotations

import random
import struct
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tidegate as tg
from support.made_captures import POLICED, records
from tidegate._capture.uncaptured import uncaptured

if TYPE_CHECKING:
    from pathlib import Path

#: Held by the receiver's window: nothing is lost.
CLEAN = """
duration = "8 s"
[gate.link]
rate = "20 Mbit/s"
queue = "60 packets"
delay = "20 ms"
[flow.f]
path = ["link"]
app = "bulk"
tcp.window = "90 kB"
"""


def is_data(record: bytes) -> bool:
    ip = record[16:]
    header = (ip[0] & 15) * 4
    return struct.unpack_from(">H", ip, 2)[0] > header + (ip[header + 12] >> 4) * 4


def dropped(place: Path, to: Path, share: float, *, acks: bool) -> int:
    """Write a capture without some of its records, as a recorder that is too slow does; return how many."""
    head, found = records(place)
    chance = random.Random(1)
    kept = [each for each in found if not (acks or is_data(each)) or chance.random() >= share]
    to.write_bytes(head + b"".join(kept))
    return sum(map(is_data, found)) - sum(map(is_data, kept))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return folders with both captures of a run that loses nothing, and of one behind a policer."""
    found = {}
    for name, text in (("clean", CLEAN), ("policed", POLICED)):
        folder = tmp_path_factory.mktemp(name)
        run = tg.run(tg.Scenario.from_toml(text), seed=1, record="summary", pcap=folder / "sender.pcap")
        assert run is not None
        found[name] = folder
    return found


def both_ends(folder: Path) -> tuple[Path, Path]:
    sender = folder / "sender.pcap"
    receiver = next(each for each in folder.iterdir() if "receiver" in each.name)
    return sender, receiver


@pytest.mark.parametrize("end", [0, 1], ids=["sender", "receiver"])
@pytest.mark.parametrize("acks", [False, True], ids=["data", "all"])
def test_what_the_recorder_lost_is_no_loss_and_goodput_stays(
    runs: dict[str, Path], tmp_path: Path, end: int, acks: bool
) -> None:
    whole = both_ends(runs["clean"])[end]
    truth = tg.identify(whole).directions[0]
    left_out = dropped(whole, tmp_path / "x.pcap", 0.05, acks=acks)
    found = tg.identify(tmp_path / "x.pcap")
    one = found.directions[0]
    assert one.lost == 0
    assert found.limits[0].law.kind == "none"
    # Near the sender what is not acknowledged at the end is not known to have been sent.
    assert one.uncaptured_packets == pytest.approx(left_out, rel=0.01)
    assert one.data_packets + one.uncaptured_packets == pytest.approx(truth.data_packets, abs=5)
    assert one.goodput_bps == pytest.approx(truth.goodput_bps, rel=0.002)
    for cause, share in truth.limited_by.items():
        assert one.limited_by.get(cause, 0.0) == pytest.approx(share, abs=0.02)
    assert any("not all packets were captured" in note for note in found.notes)
    assert "captured" in found.report().split("\n")[1]


@pytest.mark.parametrize("end", [0, 1], ids=["sender", "receiver"])
def test_a_policer_has_its_numbers_though_one_packet_of_twenty_is_missing(
    runs: dict[str, Path], tmp_path: Path, end: int
) -> None:
    whole = both_ends(runs["policed"])[end]
    dropped(whole, tmp_path / "x.pcap", 0.05, acks=True)
    truth, found = tg.identify(whole), tg.identify(tmp_path / "x.pcap")
    law = found.limits[0].law
    assert law.kind == "policer"
    assert law.rate_bps is not None
    assert law.burst_bytes is not None
    assert law.rate_bps.value == pytest.approx(4e6, rel=0.02)
    # Near the receiver bursts are seen spread, and what is put in is spread evenly: buckets are too small.
    assert law.burst_bytes.value == pytest.approx(60e3, rel=0.25 if end else 0.02)
    assert any("not captured" in each for each in law.evidence)
    # A hole that the receiver reported stays a loss. Near the sender a loss whose repair is missing too is
    # not seen, so there may be fewer.
    assert 0.75 * truth.directions[0].lost <= found.directions[0].lost <= 1.05 * truth.directions[0].lost


def test_both_ends_with_a_recorder_that_lost_packets(runs: dict[str, Path], tmp_path: Path) -> None:
    sender, receiver = both_ends(runs["clean"])
    for place, names in (
        (sender, (tmp_path / "x.pcap", receiver)),
        (receiver, (sender, tmp_path / "x.pcap")),
    ):
        dropped(place, tmp_path / "x.pcap", 0.05, acks=False)
        one = tg.identify(list(names)).directions[0]
        assert one.seen_at == "both"
        assert one.lost == 0


def gap(place: Path, bytes_: int) -> Path:
    """Write a capture whose middle was filtered away: a packet, and another so many bytes later."""
    ends = ((b"\x0a\0\0\1", 1000), (b"\x0a\0\0\2", 80))
    found = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]

    def add(at_us: int, client: bool, seq: int, ack: int, flags: int, size: int = 0) -> None:
        (src, sport), (dst, dport) = ends if client else ends[::-1]
        tcp = struct.pack(">HHIIBBHHH", sport, dport, seq % 2**32, ack % 2**32, 0x50, flags, 65535, 0, 0)
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + size, 1, 0, 64, 6, 0, src, dst)
        frame = b"\2" * 6 + b"\4" * 6 + b"\x08\0" + ip + tcp
        found.append(
            struct.pack("<IIII", at_us // 10**6, at_us % 10**6, len(frame), len(frame) + size) + frame
        )

    add(0, True, 0, 0, 2)
    add(100, False, 0, 1, 18)
    add(40_000, True, 1, 1, 16)
    add(41_000, False, 1, 1, 16, 14_480)
    add(81_000, True, 1, 14_481, 16)
    add(10_000_000, False, 14_481 + bytes_, 1, 16, 14_480)
    add(10_040_000, True, 1, 28_961 + bytes_, 16)
    place.write_bytes(b"".join(found))
    return place


@pytest.mark.parametrize("size", [10**6, 10**9])
def test_what_a_filter_took_away_costs_nothing_and_is_no_loss(tmp_path: Path, size: int) -> None:
    found = tg.identify(gap(tmp_path / "gap.pcap", size))
    one = found.directions[0]
    assert one.lost == 0
    assert one.uncaptured_packets == -(-size // 14_480)
    # Columns hold what was captured, whatever is missing.
    assert len(found.streams[0].sent.time_ns) < 100
    law = found.limits[0].law
    assert law.kind == "cannot tell"
    assert law.sentence.startswith("Cannot tell: not all packets were captured.")
    assert one.limited_by == {}
    assert one.congestion.name is None
    text = found.report()
    assert "e+0" not in text
    assert "100%" not in text


def columns(rows: list[dict[str, Any]]) -> Any:
    """Return packets of the columns that matter, from rows with only what differs."""
    usual = {
        "time_ns": 0, "from_client": True, "seq": 0, "ack": 1, "has_ack": True, "payload": 0, "ip_bytes": 40,
        "flags": 16, "window": 65535, "ip_id": 0, "ecn": 0, "has_ts": False, "ts_value": 0, "ts_echo": 0,
    }  # fmt: skip
    whole = [{**usual, **row} for row in rows]
    made = {name: np.array([row[name] for row in whole]) for name in usual}
    blocks = [row.get("sack", []) for row in rows]
    flat = [block for each in blocks for block in each]
    made["sack_first"] = np.cumsum([0, *map(len, blocks)])
    made["sack_left"] = np.array([left for left, _ in flat], dtype=np.int64)
    made["sack_right"] = np.array([right for _, right in flat], dtype=np.int64)
    return SimpleNamespace(**made)


def data(at: int, seq: int) -> dict[str, Any]:
    return {"time_ns": at, "seq": seq, "payload": 100, "ip_bytes": 140}


def ack(at: int, to: int, **more: Any) -> dict[str, Any]:
    return {"time_ns": at, "from_client": False, "ack": to, **more}


@pytest.mark.parametrize(
    ("rows", "ranges"),
    [
        # Acknowledged, never seen.
        ([data(0, 1), data(20, 201), ack(30, 301)], [(101, 201)]),
        # A SACK told of the hole, so that it was lost.
        ([data(0, 1), data(20, 201), ack(30, 101, sack=[(201, 301)]), ack(60, 301)], []),
        # Of two missing packets a SACK told of one.
        (
            [data(0, 1), data(20, 201), data(30, 401), ack(40, 301, sack=[(401, 501)]), ack(60, 501)],
            [(101, 201)],
        ),
        # Without SACK a duplicate ACK tells.
        ([data(0, 1), ack(5, 101), data(20, 201), ack(30, 101), ack(60, 301)], []),
        # An ACK that says another window is no duplicate.
        ([data(0, 1), ack(5, 101), data(20, 201), ack(30, 101, window=9), ack(60, 301)], [(101, 201)]),
        # Not acknowledged: nothing is known of it.
        ([data(0, 1), data(20, 201), ack(30, 101)], []),
        # At the end; and a FIN takes one number.
        ([data(0, 1), ack(30, 301)], [(101, 301)]),
        ([data(0, 1), ack(30, 102)], []),
        # Filled later.
        ([data(0, 1), data(20, 201), data(40, 101), ack(50, 301)], []),
    ],
)
def test_which_bytes_the_capture_missed(rows: list[dict[str, Any]], ranges: list[tuple[int, int]]) -> None:
    _, found = uncaptured(columns(rows), from_client=True, base_ns=10**9)
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == ranges


def test_small_gaps_are_filled_evenly_between_their_neighbours() -> None:
    rows = [data(0, 1), ack(1, 1), data(90, 301), ack(95, 301), data(100, 401), data(110, 501), ack(200, 601)]
    packets, found = uncaptured(columns(rows), from_client=True, base_ns=10**9)
    assert found.filled == found.packets == 2
    assert packets.time_ns.tolist() == [0, 1, 30, 60, 90, 95, 100, 110, 200]
    assert packets.seq.tolist() == [1, 0, 101, 201, 301, 0, 401, 501, 0]
    assert packets.made.tolist() == [False, False, True, True, False, False, False, False, False]
    assert packets.ip_bytes[2:4].tolist() == [140, 140]


@pytest.mark.parametrize("end", [0, 1], ids=["sender", "receiver"])
def test_the_capacity_of_a_link_is_what_it_was(tmp_path: Path, end: int) -> None:
    text = CLEAN.replace('tcp.window = "90 kB"', 'tcp.window = "300 kB"').replace("60 packets", "200 packets")
    tg.run(tg.Scenario.from_toml(text), seed=1, record="summary", pcap=tmp_path / "sender.pcap")
    whole = both_ends(tmp_path)[end]
    dropped(whole, tmp_path / "x.pcap", 0.05, acks=False)
    truth, found = tg.traces.from_capture(whole), tg.traces.from_capture(tmp_path / "x.pcap")
    assert found.mean_bps == pytest.approx(truth.mean_bps, rel=0.005)
    assert any("not all packets were captured" in note for note in found.notes)
    assert not any("not all packets" in note for note in truth.notes)


def test_windows_that_are_too_many_and_one_direction_alone_are_refused(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    sender, _ = both_ends(runs["clean"])
    with pytest.raises(tg.errors.ArgumentError, match=r"window: 100 ns gives .* take longer ones"):
        tg.traces.from_capture(sender, window="100 ns")
    head, found = records(sender)
    (tmp_path / "one.pcap").write_bytes(head + b"".join(filter(is_data, found)))
    with pytest.raises(tg.errors.CaptureError, match="only one direction was captured"):
        tg.regress(tg.Scenario.from_toml(CLEAN), tmp_path / "one.pcap", seed=1)
