"""What a capture holds: connections, their packets as columns, traffic beside them, notes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._base.lazy import Lazy

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

#: What the names of columns mean; one row a packet, in the order of the capture.
COLUMNS = {
    "time_ns": "nanoseconds since the capture's first packet (int64)",
    "from_client": "whether the client sent it",
    "seq": "sequence number without wrap, from the direction's first: that of the SYN, where it was seen",
    "ack": "ACK without wrap, from the other direction's first number; 0 without ACK",
    "has_ack": "whether the flag ACK is set",
    "payload": "bytes of user data, by the length in the IP header",
    "ip_bytes": "bytes of the IP packet",
    "wire": "bytes of the frame before the capture cut it",
    "flags": "TCP's flags, from FIN (1) to AE (256)",
    "window": "receive window in bytes, scaled where `scale_known`",
    "ecn": "IP's ECN bits: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE",
    "dscp": "IP's codepoint",
    "ttl": "time to live, or hop limit",
    "ip_id": "IPv4's identification; 0 for IPv6",
    "has_ts": "whether there are timestamps",
    "ts_value": "the timestamp's value",
    "ts_echo": "the timestamp's echo",
    "sack_first": "place of the packet's first SACK block in the next two columns; one entry more than rows",
    "sack_left": "left edges of SACK blocks, as `ack` counts",
    "sack_right": "right edges of SACK blocks",
}


class Packets(Mapping[str, "np.ndarray[Any, Any]"]):
    """The packets of one connection: numpy columns, each made when it is first asked for.

    ``packets.seq`` and ``packets["seq"]`` are the same. `COLUMNS` of this class says what each means.
    """

    COLUMNS = COLUMNS

    def __init__(self, data: _core.CaptureData, connection: int, rows: int) -> None:
        self._data = data
        self._connection = connection
        self._rows = rows
        self._made: dict[str, np.ndarray[Any, Any]] = {}

    @property
    def rows(self) -> int:
        """How many packets."""
        return self._rows

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        if name not in COLUMNS:
            raise KeyError(name)
        if name not in self._made:
            self.make(name)
        return self._made[name]

    def make(self, *names: str) -> None:
        """Make several columns at once, which takes less time than one after the other."""
        found = self._data.some(self._connection, names, self._rows)
        self._made.update((name, array(*each)) for name, each in zip(names, found, strict=True))

    def forget(self) -> None:
        """Give the columns back that were made; they are made again when they are asked for."""
        self._made.clear()

    def __getattr__(self, name: str) -> np.ndarray[Any, Any]:
        if name in COLUMNS:
            return self[name]
        raise AttributeError(f"packets have no column {name!r}; there are {', '.join(COLUMNS)}")

    def __iter__(self) -> Iterator[str]:
        return iter(COLUMNS)

    def __len__(self) -> int:
        return len(COLUMNS)

    def __repr__(self) -> str:
        return f"<Packets: {self._rows}>"


@dataclass(frozen=True)
class Host:
    """One end of a connection, as far as the capture shows it.

    Attributes:
        address: such as ``"192.0.2.1:443"``.
        opened: its SYN or SYN-ACK was seen.
        first_sequence: the number on the wire that its sequence numbers count from.
        mss: the maximum segment size that it announced, in bytes.
        scale: how many bits its windows are shifted by; None where the capture does not show it.
        sack_permitted: it announced SACK.
        packets: how many it sent.
        payload_bytes: user data in them, repeated data counted again.
        largest_payload_bytes: the most in one packet.
        super_segments: packets with more data than the other end's maximum segment size.
    """

    address: str
    opened: bool
    first_sequence: int | None
    mss: int | None
    scale: int | None
    sack_permitted: bool
    packets: int
    payload_bytes: int
    largest_payload_bytes: int
    super_segments: int


@dataclass(frozen=True)
class Connection:
    """One TCP connection of a capture.

    Attributes:
        number: its number in the capture, from 1.
        file: the file that it is in.
        client_host: the end that opened it; where that was not seen, the one with the higher port.
        server_host: the other.
        first_ns: time of its first packet, in nanoseconds since the capture's first.
        last_ns: time of its last packet.
        cut_packets: packets whose TCP header the snap length cut.
        packets: their columns.
    """

    number: int
    file: str
    client_host: Host
    server_host: Host
    first_ns: int
    last_ns: int
    cut_packets: int
    packets: Packets = field(repr=False)

    @property
    def client(self) -> str:
        """Address and port of the client."""
        return self.client_host.address

    @property
    def server(self) -> str:
        """Address and port of the server."""
        return self.server_host.address

    @property
    def handshake(self) -> bool:
        """Whether a SYN was seen, so that client and server are certain."""
        return self.client_host.opened or self.server_host.opened

    @property
    def scale_known(self) -> bool:
        """Whether the windows of both ends are in bytes."""
        return self.client_host.scale is not None and self.server_host.scale is not None

    @property
    def sack_permitted(self) -> bool:
        """Whether both ends announced SACK."""
        return self.client_host.sack_permitted and self.server_host.sack_permitted

    @property
    def truncated(self) -> bool:
        """Whether the TCP header of a packet is cut."""
        return self.cut_packets > 0

    @property
    def duration_s(self) -> float:
        """Seconds from the first packet to the last."""
        return (self.last_ns - self.first_ns) / 1e9

    @property
    def sender(self) -> Host:
        """The end that sent more user data."""
        pair = (self.client_host, self.server_host)
        return max(pair, key=lambda host: host.payload_bytes)

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"{self.number} ({self.client} to {self.server})"


@dataclass(frozen=True)
class Traffic:
    """UDP packets from one address and port to another.

    Attributes:
        source: such as ``"192.0.2.1:443"``.
        target: whom they were sent to.
        file: the file that they are in.
        packets: how many.
        bytes: of their IP packets.
    """

    source: str
    target: str
    file: str
    packets: int
    bytes: int
    _data: _core.CaptureData = field(repr=False, compare=False)
    _index: int = field(repr=False, compare=False)

    def columns(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return ``time_ns`` and ``ip_bytes`` of each packet."""
        return {name: array(*column) for name, column in self._data.traffic(self._index).items()}


@dataclass(frozen=True)
class Capture:
    """What one or several capture files hold.

    Attributes:
        files: their names.
        connections: every TCP connection, file by file, in the order of their first packets.
        traffic: UDP, by sender and receiver.
        notes: what could not be used or is odd, in words.
        packets: packets of all kinds.
        start_ns: when the first packet was captured, in nanoseconds since 1970; None without packets.
    """

    files: tuple[str, ...]
    connections: list[Connection]
    traffic: list[Traffic]
    notes: list[str]
    packets: int
    start_ns: int | None

    @property
    def biggest(self) -> Connection | None:
        """The connection with the most user data; None where there is none."""
        size = {each.number: each.sender.payload_bytes for each in self.connections}
        return max(self.connections, key=lambda each: size[each.number], default=None)


def array(kind: str, data: bytes) -> np.ndarray[Any, Any]:
    """Return a column that crossed as little-endian bytes."""
    values = np.frombuffer(data, dtype=kind)
    return values if sys.byteorder == "little" else values.astype(values.dtype.newbyteorder("="))
