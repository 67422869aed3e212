"""When each range of bytes was first reported as arrived, by cumulative ACKs and by SACK blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Reports:
    """What the reports say of packets with data, one entry a packet.

    Args:
        when: when the whole of its range was first reported; the largest number where it never was.
        echo: the timestamp that this report echoes; -1 where it has none.
        duplicates: when a duplicate was reported, and the first byte of its range.
    """

    when: Any
    echo: Any
    duplicates: list[tuple[int, int]]


def reports_of(packets: Any, from_client: bool, left: Any, right: Any) -> Reports:
    """Return the reports of the ranges from `left` to `right`."""
    # Both are nearly in order, which a stable sort makes use of.
    edges = np.sort(np.concatenate([left, right]), kind="stable")
    edges = edges[np.diff(edges, prepend=edges[0] - 1) > 0]
    acks = np.flatnonzero((packets.from_client != from_client) & packets.has_ack)
    if not len(acks):
        nothing = np.full(len(left), NEVER)
        return Reports(nothing, np.full(len(left), -1), [])
    # The first cumulative ACK beyond each edge, and the first SACK that holds it.
    first = np.searchsorted(np.maximum.accumulate(packets.ack[acks].astype(np.int64)), edges, side="right")
    known = first < len(acks)
    by = acks[np.minimum(first, len(acks) - 1)]
    when = np.where(known, packets.time_ns[by], NEVER)
    echo = np.where(known & packets.has_ts[by], packets.ts_echo[by].astype(np.int64), -1)
    blocks, duplicates = _blocks(packets, acks)
    if len(blocks[0]):
        sacked = _earliest(edges, *blocks)
        echo[sacked < when] = -1
        np.minimum(when, sacked, out=when)
    return _whole(edges, when, echo, left, right, duplicates)


def _blocks(packets: Any, acks: Any) -> tuple[tuple[Any, Any, Any], list[tuple[int, int]]]:
    """Return time, first and last byte of the SACK blocks, and the duplicates that were reported.

    RFC 2883 §4: the first block reports a duplicate when it lies below the ACK or inside the second.
    """
    low, count = packets.sack_first[acks].astype(np.int64), np.diff(packets.sack_first)[acks].astype(np.int64)
    rows = np.repeat(acks, count)
    if not len(rows):
        empty = np.zeros(0, dtype=np.int64)
        return (empty, empty, empty), []
    part = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    place = np.repeat(low, count) + part
    begin, end = packets.sack_left.astype(np.int64), packets.sack_right.astype(np.int64)
    following = np.minimum(place + 1, len(begin) - 1)
    inside = (
        (np.repeat(count, count) > 1) & (begin[place] >= begin[following]) & (end[place] <= end[following])
    )
    twice = (part == 0) & ((end[place] <= packets.ack[rows].astype(np.int64)) | inside)
    time = packets.time_ns[rows]
    duplicates = list(zip(time[twice].tolist(), begin[place[twice]].tolist(), strict=True))
    return (time[~twice], begin[place[~twice]], end[place[~twice]]), duplicates


def _earliest(edges: Any, time: Any, begin: Any, end: Any) -> Any:
    """Return of each edge the earliest time of a block that holds it.

    A block of n edges is two overlapping stretches of 2^k edges, k as large as it can be; then stretches
    hand their times down to their halves.
    """
    one, two = np.searchsorted(edges, begin), np.searchsorted(edges, end)
    there = two > one
    one, two, time = one[there], two[there], time[there]
    best = np.full(len(edges), NEVER)
    if not len(one):
        return best
    level = np.frexp((two - one).astype(float))[1] - 1
    for each in range(int(level.max()), -1, -1):
        now = level == each
        np.minimum.at(best, one[now], time[now])
        np.minimum.at(best, two[now] - (1 << each), time[now])
        if each:
            half = 1 << (each - 1)
            best[half:] = np.minimum(best[half:], best[:-half])
    return best


def _whole(
    edges: Any, when: Any, echo: Any, left: Any, right: Any, duplicates: list[tuple[int, int]]
) -> Reports:
    """Return when the whole of each packet's range was reported, and the echo of that report."""
    one, two = np.searchsorted(edges, left), np.searchsorted(edges, right)
    found, by = when[one], echo[one]
    for at in np.flatnonzero(two - one > 1):
        part = when[one[at] : two[at]]
        last = int(np.argmax(part))
        found[at], by[at] = part[last], echo[one[at] + last]
    return Reports(found, by, duplicates)
