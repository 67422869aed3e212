"""Raw IPv4 and TCP through a TUN device, with numbers that are relative: each end's SYN is 0."""

from __future__ import annotations

import os
import socket
import struct
from typing import Any

HERE, THERE = "10.77.9.1", "10.77.9.2"
#: The script's own initial sequence number and window scale.
ISN, SCALE = 10_000_000, 7
FLAGS = {"FIN": 1, "SYN": 2, "RST": 4, "PSH": 8, "ACK": 16, "URG": 32, "ECE": 64, "CWR": 128}
ECN = {"Not-ECT": 0, "ECT(1)": 1, "ECT(0)": 2, "CE": 3}


def checksum(data: bytes) -> int:
    """Return the sum of RFC 1071."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data)) if len(data) % 2 == 0 else 0
    if len(data) % 2:
        return checksum(data + b"\0")
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def options_of(segment: dict[str, Any]) -> bytes:
    """Return TCP options, padded as stacks do; the kernel predicts only such headers."""
    parts = b""
    if "mss" in segment:
        parts += struct.pack("!BBH", 2, 4, segment["mss"])
        if segment["sack_ok"]:
            parts += bytes((4, 2))
        parts += bytes((3, 3, SCALE))
    if segment.get("stamps"):
        parts += struct.pack("!BBBBII", 1, 1, 8, 10, *segment["stamps"])
    if segment.get("sack"):
        edges = [edge & 0xFFFFFFFF for block in segment["sack"] for edge in block]
        parts += struct.pack(f"!BBBB{len(edges)}I", 1, 1, 5, 2 + 4 * len(edges), *edges)
    return parts + b"\1" * (-len(parts) % 4)


class Wire:
    """The raw packets of one connection, with relative numbers."""

    def __init__(self, tun: int, ports: tuple[int, int]) -> None:
        self.tun = tun
        self.ports = ports
        self.isn = 0
        self.scale = 0

    def send(self, segment: dict[str, Any]) -> None:
        options = options_of(segment)
        flags = sum(FLAGS[name] for name in segment["flags"])
        ack = (segment["ack"] + self.isn) & 0xFFFFFFFF if "ACK" in segment["flags"] else 0
        window = segment["window"] if "SYN" in segment["flags"] else segment["window"] >> SCALE
        head = struct.pack(
            "!HHIIBBHHH", *self.ports, (segment["seq"] + ISN) & 0xFFFFFFFF, ack,
            (20 + len(options)) << 2, flags, min(window, 65_535), 0, 0,
        )  # fmt: skip
        body = head + options + bytes(segment["payload"])
        there, here = socket.inet_aton(THERE), socket.inet_aton(HERE)
        total = checksum(there + here + struct.pack("!HH", 6, len(body)) + body)
        body = body[:16] + struct.pack("!H", total) + body[18:]
        ip = struct.pack(
            "!BBHHHBBH4s4s", 0x45, ECN[segment["ecn"]], 20 + len(body), 0, 0x4000, 64, 6, 0, there, here
        )
        os.write(self.tun, ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + body)

    def receive(self) -> dict[str, Any] | None:
        """Return the next TCP segment that the kernel sent, if one is there."""
        while True:
            try:
                packet = os.read(self.tun, 70_000)
            except BlockingIOError:
                return None
            if packet[0] >> 4 == 4 and packet[9] == 6 and self.mine(packet):
                return self.read(packet)

    def mine(self, packet: bytes) -> bool:
        """Whether a packet is of this connection, and not of an earlier one."""
        return struct.unpack_from("!HH", packet, (packet[0] & 15) * 4) == self.ports[::-1]

    def read(self, packet: bytes) -> dict[str, Any]:
        tcp = packet[(packet[0] & 15) * 4 :]
        _, _, seq, ack, offset, bits, window = struct.unpack_from("!HHIIBBH", tcp)
        head = (offset >> 4) * 4
        flags = [name for name, bit in FLAGS.items() if bits & bit]
        if "SYN" in flags:
            self.isn = seq
        found = {
            "seq": (seq - self.isn) & 0xFFFFFFFF,
            "ack": (ack - ISN) & 0xFFFFFFFF if "ACK" in flags else 0,
            "payload": len(tcp) - head,
            "flags": flags,
            "sack": [],
            "stamp": None,
            "echo": None,
            "ecn": next(name for name, bit in ECN.items() if bit == packet[1] & 3),
        }
        options = tcp[20:head]
        while options and options[0] != 0:
            kind, size = options[0], 1 if options[0] == 1 else options[1]
            if kind == 3:
                self.scale = options[2]
            elif kind == 8:
                found["stamp"], found["echo"] = struct.unpack_from("!II", options, 2)
            elif kind == 5:
                edges = struct.unpack_from(f"!{(size - 2) // 4}I", options, 2)
                edges = [(edge - ISN) & 0xFFFFFFFF for edge in edges]
                found["sack"] = [edges[i : i + 2] for i in range(0, len(edges), 2)]
            options = options[size:]
        found["window"] = window << (0 if "SYN" in flags else self.scale)
        return found
