"""Packets that stand twice in a capture, as one of two interfaces or of a mirror port has them.

A copy has the same fields as a packet just before it, IP's identification too. A packet that TCP sends again
has another identification (RFC 6864 asks for it only of fragments, but stacks count), and comes a round trip
later. Where the identification is 0 a copy must be nearer, and most packets with data must stand twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

#: A copy comes within this time, in nanoseconds, and without an identification within this.
_SOON, _AT_ONCE = 1_000_000, 100_000
#: Share of the packets with data that must stand twice where nothing identifies them.
_MOST = 0.5
#: What a copy has as its packet has it. A router lowers the time to live and may change the ECN bits.
_FIELDS = (
    "from_client", "ip_id", "seq", "ack", "payload", "flags", "window", "ts_value", "ts_echo"
)  # fmt: skip
#: Columns that are made before anybody asks for them.
_MADE = ("time_ns", "ip_bytes", "has_ack", "has_ts", "sack_first", "sack_left", "sack_right", "ecn", *_FIELDS)
#: Fields become one number of 64 bits, as digits to this base (that of Knuth's generator MMIX).
_FACTOR = np.uint64(6364136223846793005)
#: Columns of SACK blocks, which are not one for each packet.
_BLOCKS = ("sack_first", "sack_left", "sack_right")


class Kept:
    """Some of a connection's packets, with the same columns."""

    def __init__(self, packets: Any, kept: Any) -> None:
        self._packets = packets
        self._kept = kept
        self._made: dict[str, Any] = {}

    @property
    def rows(self) -> int:
        """How many packets."""
        return len(self._kept)

    def forget(self) -> None:
        """Give the columns back that were made."""
        self._made.clear()
        self._packets.forget()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._made:
            whole = getattr(self._packets, name)
            self._made[name] = self._blocks(name) if name in _BLOCKS else whole[self._kept]
        return self._made[name]

    def _blocks(self, name: str) -> Any:
        first = self._packets.sack_first.astype(np.int64)
        count = np.diff(first)[self._kept]
        begins = np.concatenate([[0], np.cumsum(count)])
        if name == "sack_first":
            return begins
        places = np.arange(begins[-1]) + np.repeat(first[:-1][self._kept] - begins[:-1], count)
        return getattr(self._packets, name)[places]


def once(connection: Any) -> tuple[Any, int]:
    """Return the connection without its packets' copies, and how many they were."""
    packets = connection.packets
    packets.make(*_MADE)
    copy = _copies(packets) if packets.rows > 1 else np.zeros(0, dtype=bool)
    count = int(np.count_nonzero(copy))
    if not count:
        return connection, 0
    return replace(connection, packets=Kept(packets, np.flatnonzero(~copy))), count


def _copies(packets: Any) -> Any:
    """Tell of each packet whether it is the copy of one before."""
    key = np.diff(packets.sack_first).astype(np.uint64)
    for name in _FIELDS:
        key = key * _FACTOR + getattr(packets, name).astype(np.uint64)
    order = np.argsort(key, kind="stable")
    same = key[order][1:] == key[order][:-1]
    later = np.diff(packets.time_ns[order])
    unnamed = packets.ip_id[order][1:] == 0
    soon = same & (later >= 0) & (later <= np.where(unnamed, _AT_ONCE, _SOON))
    # Without an identification packets may be alike, as duplicate ACKs are: of a run every other is a copy.
    place = np.arange(1, len(key))
    nth = place - np.maximum.accumulate(np.where(soon, 0, place))
    copy = np.zeros(len(key), dtype=bool)
    copy[order[1:][soon & (~unnamed | (nth % 2 == 1))]] = True
    data = packets.payload > 0
    if np.count_nonzero(copy & data) < _MOST * np.count_nonzero(~copy & data):
        copy &= packets.ip_id != 0
    return copy
