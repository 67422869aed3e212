"""Captures of one connection at both ends: which belong together, and near which end each was taken."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from tidegate._base.text import number
from tidegate._capture.place import answered
from tidegate.errors import CaptureError

#: Numbers of the same connection differ by less than this, where its SYN is in one capture or in none.
_NEAR = 1 << 30
#: Two captures are of one place if both see the far end answer in nearly the same time, as a share of it.
_SAME = 0.02
#: Connections of one measurement begin in so many days.
_MOST_DAYS = 30
_DAY_NS = 86_400 * 1_000_000_000


@dataclass(frozen=True)
class Pair:
    """One connection in two captures.

    Args:
        client: the connection as captured near the client.
        server: as captured near the server.
        shift: what to add to the server capture's numbers of the client's data, and of the server's.
    """

    client: Any
    server: Any
    shift: tuple[int, int]


def paired(connections: list[Any], notes: list[str]) -> tuple[list[Any], list[Pair]]:
    """Return the connections that were captured once, and those that were captured at both ends."""
    by_name: dict[tuple[int | None, ...] | tuple[str, str], list[Any]] = {}
    for each in connections:
        by_name.setdefault(_name(each), []).append(each)
    alone, pairs = [], []
    for several in by_name.values():
        left: dict[str, deque[Any]] = {}
        for each in several:
            left.setdefault(each.file, deque()).append(each)
        while left:
            file = next(iter(left))
            one = left[file].popleft()
            elsewhere = (each for name, more in left.items() if name != file for each in more)
            other = next((each for each in elsewhere if _same(one, each)), None)
            if other is not None:
                left[other.file].remove(other)
            left = {name: more for name, more in left.items() if more}
            if other is None:
                alone.append(one)
                continue
            order = _order(one, other)
            if order is None:
                notes.append(
                    f"Connection {other.name} in {other.file} is connection {one.number} of {one.file}, "
                    "captured at the same place: it is left out."
                )
                alone.append(one)
            else:
                pairs.append(Pair(*order, _shift(*order)))
    return sorted(alone, key=lambda each: each.number), pairs


def each_once(connections: list[Any], at: str = "sender") -> tuple[list[Any], list[str]]:
    """Return each transfer once, as captured nearest to this end of it, and say which were captured twice."""
    notes: list[str] = []
    alone, pairs = paired(connections, notes)
    kept = list(alone)
    for pair in pairs:
        near_client = (pair.client.sender == pair.client.client_host) == (at == "sender")
        one, other = (pair.client, pair.server) if near_client else (pair.server, pair.client)
        kept.append(one)
        notes.append(
            f"connection {other.name} in {other.file} is connection {one.number} of {one.file}, captured at "
            f"the other end: it counts once, as its {at} saw it"
        )
    return sorted(kept, key=lambda each: each.number), [note.removesuffix(".") for note in notes]


def of_one_time(connections: list[Any]) -> None:
    """Refuse connections whose captures tell times that are too far apart to be of one measurement.

    Raises:
        CaptureError: they are.
    """
    first = min(connections, key=lambda each: each.first_ns)
    last = max(connections, key=lambda each: each.first_ns)
    days = (last.first_ns - first.first_ns) / _DAY_NS
    if days > _MOST_DAYS:
        raise CaptureError(
            f"by the times in the captures connection {last.number} ({last.file}) begins {number(days)} days "
            f"after connection {first.number} ({first.file}), more than {_MOST_DAYS}: give captures of one "
            "measurement whose clocks agree, or name connections of one time (--connection)"
        )


def _name(connection: Any) -> tuple[int | None, ...] | tuple[str, str]:
    """Return what the two captures of a connection have in common.

    Where both SYNs were seen, their numbers: an address translator leaves them as they are.
    """
    ends = (connection.client_host, connection.server_host)
    if all(each.opened for each in ends):
        return tuple(each.first_sequence for each in ends)
    return (connection.client, connection.server)


def _same(one: Any, other: Any) -> bool:
    return all(abs(each) < _NEAR for each in _shift(one, other))


def _shift(one: Any, other: Any) -> tuple[int, int]:
    """Return how much higher the numbers of the second begin, for the client's data and the server's."""
    return (
        _signed(other.client_host.first_sequence, one.client_host.first_sequence),
        _signed(other.server_host.first_sequence, one.server_host.first_sequence),
    )


def _signed(one: int | None, other: int | None) -> int:
    if one is None or other is None:
        return _NEAR
    return (one - other + (1 << 31)) % (1 << 32) - (1 << 31)


def _order(one: Any, other: Any) -> tuple[Any, Any] | None:
    """Return the capture near the client first; None where both were taken at one place.

    Near the client, the server's answers take the longer, and near the server the client's do.
    """
    seen = [
        (_syn_answered(each.packets), answered(each.packets, True), answered(each.packets, False))
        for each in (one, other)
    ]
    for at, sign in ((0, 1), (1, 1), (2, -1)):
        first, second = seen[0][at], seen[1][at]
        if first is None or second is None:
            continue
        if abs(first - second) > _SAME * max(first, second):
            return (one, other) if sign * (first - second) > 0 else (other, one)
    return None


def _syn_answered(packets: Any) -> int | None:
    """Return the time from the client's last SYN to the answer, in nanoseconds."""
    syn = (packets.flags & 2) > 0
    first = np.flatnonzero(syn & packets.from_client)
    second = np.flatnonzero(syn & ~packets.from_client)
    if not len(first) or not len(second):
        return None
    return int(packets.time_ns[second[-1]] - packets.time_ns[first[-1]])
