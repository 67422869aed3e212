"""The rate of a link from neighbours that left its queue one after the other.

Two packets of which the second waited for the first leave as far apart as the second takes to send (packet
pairs: Keshav 1991). Traffic that the capture does not show makes some of these gaps longer, so the shortest
usual gap tells the link's rate, and the mean over long times what that traffic leaves (Dovrolis, Ramanathan
and Moore 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.sent import ARRIVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.sent import Sent

#: Gaps of one rate differ by less than this share, and so many of them make a rate.
_WIDTH, _LEAST = 0.01, 30
#: Gaps are near a rate within so many times that width on each side.
_NEAR = 5
#: A rate is a mode if it has this share of the gaps that the largest mode has.
_SHARE = 0.3
#: A mode tells the link's rate if so many of the gaps near it are of it.
SHARP = 0.6
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Gaps:
    """Gaps between neighbours at the receiver, or between their ACKs, of which the second waited.

    Args:
        bytes: IP bytes that came at the end of each gap.
        seconds: how long each was.
    """

    bytes: Any
    seconds: Any

    @property
    def rate_bps(self) -> Any:
        """The rate of each."""
        return 8 * self.bytes / self.seconds


def gaps(streams: Sequence[Sent]) -> Gaps:
    """Return the gaps of all packets that waited for the one before them.

    Streams whose times are coarse have none. Of several packets that one ACK reports, all
    but the last may have come before another connection's ACK: only a gap behind an ACK of their own
    connection counts.
    """
    streams = [each for each in streams if not (each.stamped or each.tick_ns)]
    if not streams:
        return Gaps(np.zeros(0), np.zeros(0))
    time = np.concatenate(
        [each.report_ns if each.arrival_ns is None else each.arrival_ns for each in streams]
    )
    size = np.concatenate([each.ip_bytes for each in streams])
    wait = np.concatenate(
        [
            np.where(each.round_trip_ns > 0, each.round_trip_ns - each.base_round_trip_ns, -1)
            for each in streams
        ]
    )
    arrived = np.concatenate([(each.fate == ARRIVED) & (each.payload > 0) for each in streams])
    known = np.flatnonzero(arrived & (time < _NEVER))
    known = known[np.argsort(time[known], kind="stable")]
    if len(known) < 2:
        return Gaps(np.zeros(0), np.zeros(0))
    begin = np.flatnonzero(np.diff(time[known], prepend=time[known[0]] - 1))
    owner = np.repeat(np.arange(len(streams)), [len(each.time_ns) for each in streams])[known[begin]]
    alone = np.diff(begin, append=len(known)) == 1
    came = np.add.reduceat(size[known].astype(float), begin)
    waited = np.maximum.reduceat(wait[known], begin)
    at = time[known[begin]]
    gap = np.diff(at)
    # Who waited for longer than the gap was there before it began.
    there = np.flatnonzero((waited[1:] > gap) & (alone[1:] | (owner[1:] == owner[:-1])))
    return Gaps(came[1:][there], gap[there] / 1e9)


@dataclass(frozen=True)
class Mode:
    """A rate that many gaps have.

    Args:
        rate_bps: bit/s, over all of these gaps together.
        interval: 95%.
        share: of all gaps.
        sharp: of those that are near it.
        count: how many.
    """

    rate_bps: float
    interval: tuple[float, float]
    share: float
    sharp: float
    count: int


def fastest_mode(found: Gaps, low: float = 0.0, high: float = np.inf) -> Mode | None:
    """Return the highest mode of the rates between two bounds in bit/s; None where there is none."""
    rate = found.rate_bps
    inside = np.flatnonzero((rate > low) & (rate < high))
    if len(inside) < _LEAST:
        return None
    order = inside[np.argsort(rate[inside])]
    ordered = rate[order]
    ends = np.searchsorted(ordered, ordered * (1 + _WIDTH), side="right")
    count = ends - np.arange(len(ordered))
    many = max(_LEAST, _SHARE * float(count.max()))
    modes = np.flatnonzero(count >= many)
    if not len(modes):
        return None
    # Of the windows near the highest mode, the fullest.
    near = modes[ordered[modes] > ordered[modes[-1]] / (1 + _WIDTH)]
    begin = int(near[int(np.argmax(count[near]))])
    members = order[begin : ends[begin]]
    return _together(found, members, len(rate))


def _together(found: Gaps, members: Any, total: int) -> Mode:
    size, span = found.bytes[members], found.seconds[members]
    rate = 8 * float(size.sum()) / float(span.sum())
    # What each gap is off, as if the rate were right: the error of a ratio of sums.
    off = span - 8 * size / rate
    error = float(np.sqrt((off**2).sum())) / float(span.sum())
    reach = rate * (2.5 * error)
    near = np.abs(found.rate_bps / rate - 1) < _NEAR * _WIDTH
    sharp = len(members) / max(1, int(np.count_nonzero(near)))
    return Mode(rate, (rate - reach, rate + reach), len(members) / total, sharp, len(members))
