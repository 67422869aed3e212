"""Which connections crossed the same limit: those whose drops one bucket explains better than several."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.bucket import Bucket, Point, fit, fit_at, point
from tidegate._identify.crossings import LONG, Crossings, fewest_wrong
from tidegate._identify.likelihood import random_likelihood
from tidegate._identify.search import near
from tidegate._identify.sent import LOST, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.sent import Sent

#: Of the deviance of its drops, a joint bucket that explains so much needs no other grouping to be tried.
_ENOUGH = 0.75
#: Groupings are tried for at most so many connections, in pairs; the others stand alone.
_MOST = 12
_NEVER = np.iinfo(np.int64).max
#: Packets of one group that are searched at least.
_LEAST = 20_000
#: Packets of all connections that are compared.
_COMPARED = 40_000
#: Waits are compared in times of this length, so many of them, if they differ by so much and are so alike.
_BIN_NS, _BINS, _SWING_S, _ALIKE = 50_000_000, 40, 0.003, 0.8


def crossings(streams: Sequence[Sent], parts: int = 1) -> tuple[Crossings, Any]:
    """Return the packets of these connections in order of time, and their round trips in seconds (or -1).

    ``parts``: how many groups the capture has; each is searched on its part of the packets.
    """
    time = np.concatenate([each.time_ns for each in streams])
    order = np.argsort(time, kind="stable")

    def column(name: str) -> Any:
        return np.concatenate([getattr(each, name) for each in streams])[order]

    fate = column("fate")
    owner = np.repeat(np.arange(len(streams)), [len(each.time_ns) for each in streams])[order]
    packets = Crossings(
        time_s=(time[order] - time[order[0]]) / 1e9,
        size=column("ip_bytes").astype(float),
        passed=fate != LOST,
        judged=(fate != UNKNOWN) & (column("payload") > 0),
        owner=owner,
        coarse_s=max(each.coarse_ns for each in streams) / 1e9,
        begun=min(streams, key=lambda each: int(each.time_ns[0]) if len(each.time_ns) else _NEVER).begun,
        searched=max(_LEAST, LONG // parts),
        marked=None if any(each.marked is None for each in streams) else column("marked"),
        tick_s=max(each.tick_ns for each in streams) / 1e9,
    )
    return packets, _above_base(column("round_trip_ns"), owner, streams)


def _above_base(trip: Any, owner: Any, streams: Sequence[Sent]) -> Any:
    """Return round trips in seconds, shifted so that all connections have the base of the first."""
    base = np.array([each.base_round_trip_ns for each in streams])
    shifted = trip - base[owner] + max(1, int(base.max()))
    return np.where(trip > 0, shifted / 1e9, -1.0)


def groups(streams: Sequence[Sent]) -> list[tuple[list[int], Bucket | None]]:
    """Return which of these connections share a limit, and the bucket of each group.

    They share one if one bucket explains their drops, or if their packets wait for the same queue.
    """
    everything = list(range(len(streams)))
    found = [everything]
    known: dict[tuple[int, ...], Point | None] = {}
    if len(streams) > 1:
        part = _stretch(streams)
        joint = point(_of(part, everything)) if _any(part, everything) else None
        known[tuple(everything)] = joint
        if joint is None or joint.explained < _ENOUGH:
            found = _by_waits(streams, _by_drops(part, known))
    return [
        (members, _fit(_of(streams, members, len(found)), known.get(tuple(members))))
        for members in sorted(found)
    ]


def _fit(packets: Crossings, part: Point | None) -> Bucket | None:
    """Return the bucket; `part`: the one of a part of the packets, which tells where to look in many."""
    if part is not None and part.explained >= _ENOUGH and len(packets.time_s) > packets.searched:
        rate = near(packets, part.rate_bps)
        if fewest_wrong(packets, [rate], 1)[0] <= (1 - _ENOUGH) * packets.drops:
            return fit_at(packets, rate, known=False)
    return fit(packets)


def _stretch(streams: Sequence[Sent]) -> Sequence[Sent]:
    """Return the streams in the time with the most losses, where they have too many packets to compare."""
    time = np.sort(np.concatenate([each.time_ns for each in streams]))
    lost = np.concatenate([each.time_ns[each.fate == LOST] for each in streams])
    if len(time) <= _COMPARED:
        return streams
    begins = time[: -_COMPARED + 1 : _COMPARED // 8]
    ends = time[_COMPARED - 1 :: _COMPARED // 8]
    count = np.searchsorted(np.sort(lost), ends) - np.searchsorted(np.sort(lost), begins)
    best = int(np.argmax(count))
    return [each.between(int(begins[best]), int(ends[best])) for each in streams]


def _any(streams: Sequence[Sent], members: list[int]) -> bool:
    return any(len(streams[each].time_ns) for each in members)


def _of(streams: Sequence[Sent], members: list[int], parts: int = 1) -> Crossings:
    return crossings([streams[each] for each in members], parts)[0]


def _by_drops(streams: Sequence[Sent], known: dict[tuple[int, ...], Point | None]) -> list[list[int]]:
    """Return groups whose drops one bucket explains better than several; `known` is given the buckets."""
    for each in range(len(streams)):
        known[(each,)] = point(_of(streams, [each])) if _any(streams, [each]) else None
    parts = [([each], known[(each,)]) for each in range(len(streams))]
    while 1 < len(parts) <= _MOST:
        best = None
        for one, two in combinations(range(len(parts)), 2):
            if parts[one][1] is None and parts[two][1] is None:
                continue
            members = sorted(parts[one][0] + parts[two][0])
            if tuple(members) not in known:
                known[tuple(members)] = point(_of(streams, members))
            bucket = known[tuple(members)]
            if bucket is None:
                continue
            more = (
                _total(streams, members, bucket) - _total(streams, *parts[one]) - _total(streams, *parts[two])
            )
            if more > 0 and (best is None or more > best[0]):
                best = (more, one, two, members, bucket)
        if best is None:
            break
        _, one, two, members, bucket = best
        parts = [part for at, part in enumerate(parts) if at not in (one, two)]
        parts.append((members, bucket))
    return [members for members, _ in parts]


def _by_waits(streams: Sequence[Sent], parts: list[list[int]]) -> list[list[int]]:
    """Join groups whose packets wait for the same queue: then they wait for as long at the same time.

    The test is that of shared congestion by delay (Rubenstein, Kurose and Towsley 2002).
    """
    first = min((int(each.time_ns[0]) for each in streams if len(each.time_ns)), default=0)
    waits = [_waits(streams, members, first) for members in parts]
    joined: list[list[int]] = []
    of: list[Any] = []
    for members, wait in sorted(zip(parts, waits, strict=True), key=lambda each: each[0]):
        for at, other in enumerate(of):
            if _together(wait, other):
                joined[at] = sorted([*joined[at], *members])
                break
        else:
            joined.append(members)
            of.append(wait)
    return joined


def _waits(streams: Sequence[Sent], members: list[int], first: int) -> dict[int, float]:
    """Return the mean wait, in seconds, in each short time that has packets."""
    parts = [streams[each] for each in members]
    seen = [each.round_trip_ns > 0 for each in parts]
    time = np.concatenate([each.time_ns[ok] for each, ok in zip(parts, seen, strict=True)])
    wait = np.concatenate(
        [each.round_trip_ns[ok] - each.base_round_trip_ns for each, ok in zip(parts, seen, strict=True)]
    )
    bins, place = np.unique((time - first) // _BIN_NS, return_inverse=True)
    mean = np.bincount(place, weights=wait / 1e9) / np.maximum(1, np.bincount(place))
    return dict(zip(bins.tolist(), mean.tolist(), strict=True))


def _together(one: dict[int, float], two: dict[int, float]) -> bool:
    common = sorted(one.keys() & two.keys())
    if len(common) < _BINS:
        return False
    here, there = (np.array([each[at] for at in common]) for each in (one, two))
    if min(np.ptp(here), np.ptp(there)) < _SWING_S:
        return False
    return bool(np.corrcoef(here, there)[0, 1] > _ALIKE)


def _total(streams: Sequence[Sent], members: list[int], bucket: Point | None) -> float:
    chance = 0.0
    judged = 0
    for each in members:
        known = (streams[each].fate != UNKNOWN) & (streams[each].payload > 0)
        count = int(known.sum())
        chance += random_likelihood(int((known & (streams[each].fate == LOST)).sum()), count)
        judged += count
    by_chance = chance - 0.5 * len(members) * np.log(max(judged, 2))
    if bucket is None:
        return float(by_chance)
    return float(max(by_chance, bucket.likelihood - 2 * np.log(max(judged, 2))))
