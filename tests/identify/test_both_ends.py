"""Captures at both ends of one connection: losses located exactly, one answer, clocks compared."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.made_captures import POLICED, records

if TYPE_CHECKING:
    from pathlib import Path

QUEUED = POLICED.replace(
    'rate = "1 Gbit/s"\npolice = { rate = "4 Mbit/s", burst = "60 kB" }', 'rate = "4 Mbit/s"\nqueue = "60 kB"'
)


def run(text: str, folder: Path) -> tuple[Path, Path, int]:
    """Run a scenario; return the captures near its sender and its receiver, and the packets dropped."""
    near = folder / "near.pcap"
    result = tg.run(tg.Scenario.from_toml(text), record="summary", pcap=near)
    return near, near.with_name("near-receiver.pcap"), dict(result.gates[0])["dropped_packets"]


def with_clock(place: Path, ahead_s: float, drift: float) -> Path:
    """Write the capture as a host takes it whose clock is ahead and runs faster."""
    head, found = records(place)
    first = None
    out = []
    for each in found:
        seconds, rest = struct.unpack_from("<II", each, 0)
        time = seconds * 10**9 + rest
        first = time if first is None else first
        time += round(ahead_s * 1e9 + drift * (time - first))
        out.append(struct.pack("<II", *divmod(time, 10**9)) + each[8:])
    target = place.with_name("clock.pcap")
    target.write_bytes(head + b"".join(out))
    return target


def translated(place: Path) -> Path:
    """Write the capture as it is behind an address translator: another client address and port."""
    head, found = records(place)
    out = []
    for each in found:
        packet = bytearray(each)
        address, port = (28, 36) if struct.unpack_from(">H", packet, 36)[0] == 40000 else (32, 38)
        packet[address : address + 4] = bytes([192, 0, 2, 9])
        struct.pack_into(">H", packet, port, 61000)
        out.append(bytes(packet))
    target = place.with_name("translated.pcap")
    target.write_bytes(head + b"".join(out))
    return target


@pytest.mark.parametrize("text", [POLICED, QUEUED], ids=["policer", "queue"])
def test_one_connection_with_exact_losses(text: str, tmp_path: Path) -> None:
    near, far, dropped = run(text, tmp_path)
    found = tg.identify([near, far])
    assert len(found.directions) == 1
    direction = found.directions[0]
    assert direction.seen_at == "both"
    # What is on its way at the end of the captures is not judged.
    assert abs(direction.lost - dropped) <= 3
    assert direction.congestion.name == "cubic"
    law = found.limits[0].law
    assert law.kind == ("policer" if text == POLICED else "constant")
    assert law.rate_bps is not None
    low, high = law.rate_bps.interval
    assert low <= 4e6 <= high
    assert "are one, captured at both ends" in " ".join(found.notes)


def test_the_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    near, far, _ = run(POLICED, tmp_path)
    one, other = tg.identify([near, far]), tg.identify([far, near])
    assert one.limits[0].law.to_dict() == other.limits[0].law.to_dict()


def test_clocks_that_differ_are_found_and_taken_off(tmp_path: Path) -> None:
    near, far, _ = run(QUEUED, tmp_path)
    plain = tg.identify([near, far])
    found = tg.identify([near, with_clock(far, 2.5, 40e-6)])
    clocks = found.directions[0].clocks
    assert clocks is not None
    assert clocks.offset_s == pytest.approx(2.5, abs=clocks.unsure_s)
    assert clocks.unsure_s == pytest.approx(0.02, abs=0.002)
    assert clocks.drift == pytest.approx(40e-6, rel=0.1)
    one, two = plain.limits[0].law, found.limits[0].law
    assert one.kind == two.kind == "constant"
    assert one.rate_bps is not None
    assert two.rate_bps is not None
    # Times are the sender's: the other clock does not change the rate.
    assert two.rate_bps.value == pytest.approx(one.rate_bps.value, rel=2e-4)
    assert found.directions[0].lost == plain.directions[0].lost


def test_an_address_translator_between_the_captures(tmp_path: Path) -> None:
    near, far, _ = run(POLICED, tmp_path)
    found = tg.identify([near, translated(far)])
    assert [each.seen_at for each in found.directions] == ["both"]


def test_two_captures_of_one_place_are_one(tmp_path: Path) -> None:
    near, _, _ = run(POLICED, tmp_path)
    again = near.with_name("again.pcap")
    again.write_bytes(near.read_bytes())
    found = tg.identify([near, again])
    assert [each.seen_at for each in found.directions] == ["sender"]
    assert "captured at the same place" in " ".join(found.notes)


def test_other_connections_stay_two(tmp_path: Path) -> None:
    near, _, _ = run(POLICED, tmp_path)
    (tmp_path / "other").mkdir()
    text = POLICED.replace("seed = 3", "seed = 4").replace('"12 s"', '"5 s"')
    _, far, _ = run(text.replace("[flow.a]", "[flow.b]"), tmp_path / "other")
    head, found = records(far)
    moved = []
    for each in found:
        packet = bytearray(each)
        port = 36 if struct.unpack_from(">H", packet, 36)[0] == 40000 else 38
        struct.pack_into(">H", packet, port, 40007)
        # Other sequence numbers, too.
        seq = 40 if port == 36 else 44
        struct.pack_into(">I", packet, seq, (struct.unpack_from(">I", packet, seq)[0] + 123_456_789) % 2**32)
        moved.append(bytes(packet))
    far.write_bytes(head + b"".join(moved))
    seen = [each.seen_at for each in tg.identify([near, far]).directions]
    assert seen == ["sender", "receiver"]


def test_losses_shortly_before_the_end_count_too(tmp_path: Path) -> None:
    text = """
    duration = "5.6 s"
    seed = 1
    [gate.l]
    rate = "10 Mbit/s"
    queue = "200 packets"
    delay = "10 ms"
    loss = 0.005
    [flow.x]
    path = ["l"]
    rtt = "40 ms"
    """
    near, far, dropped = run(text, tmp_path)
    # Packets waited for up to 240 ms; what came behind a lost one shows that it is not on its way.
    end = tg.read_capture(far).connections[0].last_ns / 1e9
    (found,) = tg.identify([near, far]).directions
    assert found.lost == dropped
    assert max(found.losses_s) > end - 0.2
