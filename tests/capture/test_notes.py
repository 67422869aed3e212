"""What a capture says beside its packets: the recorder's own count of what it dropped, and tunnels."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest
import tidegate as tg

if TYPE_CHECKING:
    from pathlib import Path


def udp(port: int, inside: bytes) -> bytes:
    """Return a frame of Ethernet with a packet of UDP to this port."""
    head = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, 28 + len(inside), 1, 0, 64, 17, 0, b"\x0a\0\0\1", b"\x0a\0\0\2"
    )
    return b"\2" * 12 + b"\x08\0" + head + struct.pack(">HHHH", 50_000, port, 8 + len(inside), 0) + inside


def block(order: str, kind: int, body: bytes) -> bytes:
    body += b"\0" * (-len(body) % 4)
    size = 12 + len(body)
    return struct.pack(f"{order}II", kind, size) + body + struct.pack(f"{order}I", size)


def section(order: str, dropped: list[int], system: int = 0) -> bytes:
    """Return a section of pcapng: an interface, a packet, and statistics one after another."""
    frame = udp(9, b"x" * 20)
    parts = [
        block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(order, 1, struct.pack(f"{order}HHI", 1, 0, 0)),
        block(order, 6, struct.pack(f"{order}IIIII", 0, 0, 5, len(frame), len(frame)) + frame),
    ]
    for count in dropped:
        options = struct.pack(f"{order}HHQHHQHH", 5, 8, count, 7, 8, system, 0, 0)
        parts.append(block(order, 5, struct.pack(f"{order}III", 0, 0, 5) + options))
    return b"".join(parts)


@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
def test_the_recorders_count_of_what_it_dropped_is_told(tmp_path: Path, order: str) -> None:
    place = tmp_path / "a.pcapng"
    # Statistics count from the beginning of their section, so the last of each counts: 30 + 2 and 5.
    place.write_bytes(section(order, [10, 30], system=2) + section(order, [5]))
    assert tg.read_capture(place).notes[-1] == (
        "not all packets were captured: the recorder counted 37 that it dropped for want of time or room"
    )
    place.write_bytes(section(order, [0]))
    assert not any("not all" in note for note in tg.read_capture(place).notes)


@pytest.mark.parametrize(
    ("port", "inside", "said"),
    [
        (4789, b"\x08\0\0\0\0\0\1\0" + b"\0" * 4, "VXLAN"),
        (6081, b"\0\x80\x65\x58\0\0\1\0" + b"\0" * 40, "Geneve"),
        (2152, b"\x34\xff\0\x20\0\0\0\1" + b"\0\0\0\x85", "GTP-U"),
        (3544, b"\x60\0\0\0", "Teredo"),
        (4790, b"\x08\0\0\0\0\0\1\0" + b"\0" * 40, None),
        # ARP in it is no TCP, and nothing is unread.
        (4789, b"\x08\0\0\0\0\0\1\0" + b"\0" * 12 + b"\x08\x06" + b"\0" * 28, None),
    ],
)
def test_tunnels_that_cannot_be_read_are_named(
    tmp_path: Path, port: int, inside: bytes, said: str | None
) -> None:
    frame = udp(port, inside)
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    place = tmp_path / "a.pcap"
    place.write_bytes(head + struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
    notes = " ".join(tg.identify(place).notes)
    assert "1 packet of UDP: counted as traffic" in notes
    if said is None:
        assert "TCP may be" not in notes
    else:
        assert f"1 packet of {said} whose inside cannot be read" in notes
