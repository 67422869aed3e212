"""The end of a finite transfer in a capture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tidegate as tg

FIN, ACK = 0x01, 0x10


def link(app: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario of one flow."""
    flow = {"path": ["link"], "rtt": "40 ms", "app": app}
    gate = {"rate": "10 Mbit/s", "queue": "20 packets"}
    return {"duration": "3 s", "gate": {"link": gate}, "flow": {"load": flow}}


def packets(path: Path) -> list[tuple[int, int, int, int]]:
    """Return user bytes, sequence number, ACK number and flags of each packet of a raw IPv4 capture."""
    data, at, found = path.read_bytes(), 24, []
    while at < len(data):
        length = int.from_bytes(data[at + 8 : at + 12], "little")
        tcp = data[at + 36 : at + 16 + length]
        head = (tcp[12] >> 4) * 4
        numbers = (int.from_bytes(tcp[place : place + 4], "big") for place in (4, 8))
        found.append((len(tcp) - head, *numbers, tcp[13]))
        at += 16 + length
    return found


def test_a_finite_transfer_ends_with_fin(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    run = tg.run(link({"transfer": "300 kB"}), seed=1, pcap=path)
    seen = packets(path)
    data = [packet for packet in seen if packet[0]]
    (last,) = [packet for packet in data if packet[3] & FIN]
    assert last == max(data, key=lambda packet: packet[1] - data[0][1])
    assert last[1] + last[0] - data[0][1] == 300_000
    # The other end acknowledges the number of the FIN, and closes too.
    answers = [packet for packet in seen if not packet[0] and packet[3] & FIN]
    assert answers
    assert all(packet[2] == last[1] + last[0] + 1 for packet in answers)
    # The run is the same without a capture.
    again = tg.run(link({"transfer": "300 kB"}), seed=1)
    assert run.summary == again.summary


def test_what_has_not_ended_has_no_fin(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    tg.run(link({"transfer": "300 MB"}), pcap=path)
    assert not [packet for packet in packets(path) if packet[3] & FIN]
