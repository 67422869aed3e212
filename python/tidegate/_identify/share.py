"""Which connections crossed the same limit: those whose drops one bucket explains better than several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.bucket import Bucket, Point, point, with_intervals
from tidegate._identify.crossings import Crossings
from tidegate._identify.likelihood import random_likelihood
from tidegate._identify.sent import LOST, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.sent import Sent

#: Of the deviance of its drops, a joint bucket that explains so much needs no other grouping to be tried.
_ENOUGH = 0.75
#: Groupings are tried for at most so many connections, in pairs; the others stand alone.
_MOST = 12


def crossings(streams: Sequence[Sent]) -> tuple[Crossings, Any]:
    """Return the packets of these connections in order of time, and their round trips in seconds (or -1)."""
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
    )
    return packets, _above_base(column("round_trip_ns"), owner, streams)


def _above_base(trip: Any, owner: Any, streams: Sequence[Sent]) -> Any:
    """Return round trips in seconds, shifted so that all connections have the base of the first."""
    base = np.array([each.base_round_trip_ns for each in streams])
    shifted = trip - base[owner] + max(1, int(base.max()))
    return np.where(trip > 0, shifted / 1e9, -1.0)


def groups(streams: Sequence[Sent]) -> list[tuple[list[int], Bucket | None]]:
    """Return which of these connections share a bucket, and the bucket of each group."""
    everything = list(range(len(streams)))
    if len(streams) > 1:
        joint = point(_of(streams, everything))
        if joint is not None and joint.explained >= _ENOUGH:
            return [(everything, with_intervals(_of(streams, everything), joint))]
    parts = [([each], point(_of(streams, [each]))) for each in everything]
    while 1 < len(parts) <= _MOST:
        merged = _best_merger(streams, parts)
        if merged is None:
            break
        one, two, members, bucket = merged
        parts = [part for at, part in enumerate(parts) if at not in (one, two)]
        parts.append((members, bucket))
    return [
        (members, None if found is None else with_intervals(_of(streams, members), found))
        for members, found in sorted(parts, key=lambda part: part[0])
    ]


def _of(streams: Sequence[Sent], members: list[int]) -> Crossings:
    return crossings([streams[each] for each in members])[0]


def _best_merger(
    streams: Sequence[Sent], parts: list[tuple[list[int], Point | None]]
) -> tuple[int, int, list[int], Point] | None:
    best = None
    for one in range(len(parts)):
        for two in range(one + 1, len(parts)):
            if parts[one][1] is None and parts[two][1] is None:
                continue
            members = sorted(parts[one][0] + parts[two][0])
            bucket = point(_of(streams, members))
            if bucket is None:
                continue
            apart = _gain(streams, parts[one]) + _gain(streams, parts[two])
            more = _total(streams, members, bucket) - apart
            if more > 0 and (best is None or more > best[0]):
                best = (more, one, two, members, bucket)
    return None if best is None else best[1:]


def _gain(streams: Sequence[Sent], part: tuple[list[int], Point | None]) -> float:
    """Return the log likelihood of a part's drops, by its bucket or by chance, less what parameters cost."""
    return _total(streams, *part)


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
