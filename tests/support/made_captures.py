"""Captures made for tests: simulated ones, and changes of their bytes."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import tidegate as tg

if TYPE_CHECKING:
    from pathlib import Path

#: TCP option kinds: SACK (RFC 2018 §3) and timestamps (RFC 7323 §3.2).
_SACK, _STAMPS = 5, 8

POLICED = """
duration = "12 s"
seed = 3
[gate.link]
rate = "1 Gbit/s"
police = { rate = "4 Mbit/s", burst = "60 kB" }
delay = "20 ms"
[flow.a]
path = ["link"]
rtt = "40 ms"
app = "bulk"
tcp.base = "linux"
tcp.cc = "cubic"
"""


def captured(text: str, place: Path) -> Path:
    """Run a scenario and return the capture at its senders."""
    tg.run(tg.Scenario.from_toml(text), record="summary", pcap=place)
    return place


def records(place: Path) -> tuple[bytes, list[bytes]]:
    """Return the head of a pcap file, and its records."""
    data = place.read_bytes()
    head, at, found = data[:24], 24, []
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        found.append(data[at : at + 16 + length])
        at += 16 + length
    return head, found


def coarse(place: Path, to: Path, tick_ns: int) -> Path:
    """Write a capture again as a clock with such a tick takes it."""
    head, found = records(place)
    for at, record in enumerate(found):
        seconds, rest = struct.unpack_from("<II", record)
        time = (seconds * 10**9 + rest) // tick_ns * tick_ns
        found[at] = struct.pack("<II", *divmod(time, 10**9)) + record[8:]
    to.write_bytes(head + b"".join(found))
    return to


def numbered(place: Path, to: Path) -> Path:
    """Write a capture again with an identification in each IP packet, as hosts count them."""
    head, found = records(place)
    for at, record in enumerate(found):
        packet = bytearray(record)
        struct.pack_into(">H", packet, 16 + 4, 1 + at % 0xFFFF)
        found[at] = bytes(packet)
    to.write_bytes(head + b"".join(found))
    return to


def doubled(place: Path, to: Path, every: int, later_us: int) -> Path:
    """Write a capture again in which every so many packets stand twice, the copy so much later."""
    head, found = records(place)
    found += [moved(each, 1000 * later_us, 0, 0) for each in found[::every]]
    found.sort(key=lambda each: struct.unpack_from("<II", each))
    to.write_bytes(head + b"".join(found))
    return to


def moved(record: bytes, nanos: int, data: int, stamps: int) -> bytes:
    """Return a record so much later, its numbers of data and its timestamps so much higher.

    ``data`` is added where the first flow's client sends them, and where its server acknowledges them.
    """
    out = bytearray(record)
    seconds, rest = struct.unpack_from("<II", out, 0)
    seconds, rest = divmod(seconds * 10**9 + rest + nanos, 10**9)
    struct.pack_into("<II", out, 0, seconds, rest)
    tcp = 16 + 20
    from_client = struct.unpack_from(">H", out, tcp)[0] == 40000
    field = tcp + (4 if from_client else 8)
    _add(out, field, data)
    at, end = tcp + 20, tcp + 4 * (out[tcp + 12] >> 4)
    while at < end and out[at] != 0:
        if out[at] == 1:
            at += 1
            continue
        kind, length = out[at], out[at + 1]
        if kind == _STAMPS:
            _add(out, at + 2, stamps)
            _add(out, at + 6, stamps)
        elif kind == _SACK and not from_client:
            for edge in range(at + 2, at + length, 4):
                _add(out, edge, data)
        at += length
    return bytes(out)


def _add(out: bytearray, at: int, more: int) -> None:
    struct.pack_into(">I", out, at, (struct.unpack_from(">I", out, at)[0] + more) % 2**32)


def joined(first: Path, second: Path, place: Path) -> Path:
    """Write one connection that is that of the first capture, and goes on as that of the second."""
    head, before = records(first)
    _, after = records(second)
    syn = struct.unpack_from(">I", before[0], 16 + 20 + 4)[0]
    again = struct.unpack_from(">I", after[0], 16 + 20 + 4)[0]
    top = max(
        struct.unpack_from(">I", each, 16 + 20 + 8)[0]
        for each in before
        if struct.unpack_from(">H", each, 16 + 20)[0] != 40000
    )
    # What was not acknowledged at the end of the first part was never sent, as far as the capture tells.
    kept = [each for each in before if not _beyond(each, top)]
    last = struct.unpack_from("<II", before[-1], 0)
    start = struct.unpack_from("<II", after[0], 0)
    nanos = (last[0] - start[0]) * 10**9 + last[1] - start[1] + 10**9
    rest = [moved(each, nanos, top - again - 1, 20_000) for each in after[3:]]
    assert syn < top
    place.write_bytes(head + b"".join(kept + rest))
    return place


def _beyond(record: bytes, top: int) -> bool:
    tcp = 16 + 20
    from_client = struct.unpack_from(">H", record, tcp)[0] == 40000
    return from_client and struct.unpack_from(">I", record, tcp + 4)[0] >= top


def coalesced(place: Path, target: Path) -> Path:
    """Write the capture as a host with GSO sees it: neighbours in one direction as one large packet."""
    head, found = records(place)
    out: list[bytes] = []
    for each in found:
        before = out[-1] if out else b""
        if _follows(before, each):
            out[-1] = _merged(before, each)
        else:
            out.append(each)
    target.write_bytes(head + b"".join(out))
    return target


def _parts(record: bytes) -> tuple[int, int, int, int]:
    """Return port, sequence number, place of the data, and bytes of data, by the IP length."""
    tcp = 16 + 20
    port, seq = struct.unpack_from(">HxxI", record, tcp)
    begin = tcp + 4 * (record[tcp + 12] >> 4)
    return port, seq, begin, struct.unpack_from(">H", record, 16 + 2)[0] - (begin - 16)


def _follows(before: bytes, after: bytes) -> bool:
    if not before:
        return False
    one, two = _parts(before), _parts(after)
    near = struct.unpack_from("<II", after, 0), struct.unpack_from("<II", before, 0)
    nanos = (near[0][0] - near[1][0]) * 10**9 + near[0][1] - near[1][1]
    return (
        one[0] == two[0] == 40000
        and one[3] > 1000
        and two[3] > 1000
        and one[1] + one[3] == two[1]
        and one[3] + two[3] < 60_000
        and nanos < 50_000
    )


def _merged(before: bytes, after: bytes) -> bytes:
    _, _, begin, data = _parts(before)
    _, _, other, more = _parts(after)
    out = bytearray(before[: begin + data] + after[other : other + more])
    struct.pack_into("<II", out, 8, len(out) - 16, len(out) - 16)
    struct.pack_into(">H", out, 16 + 2, len(out) - 16)
    return bytes(out)


def at_one_host(near: Path, far: Path, place: Path) -> Path:
    """Write what one host captures that receives the first flow's data, and sends those of the second.

    ``near``, ``far``: the run's captures at its senders and at its receivers.
    """
    head, sent = records(near)
    _, received = records(far)
    client, server, other = (bytes([10, net, 0, host]) for net, host in ((1, 0), (2, 0), (1, 1)))
    found = [each for each in received if client in (each[28:32], each[32:36])]
    for each in sent:
        if other == each[28:32]:
            found.append(each[:28] + server + client + each[36:])
        elif other == each[32:36]:
            found.append(each[:28] + client + server + each[36:])
    found.sort(key=lambda each: struct.unpack_from("<II", each))
    place.write_bytes(head + b"".join(found))
    return place
