"""What the application did, as its sender's packets show: data in one go, or in several with pauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tidegate._identify.held import Held

#: A pause is at least this many base round trips, and this long, with nothing in flight.
_TRIPS, _LEAST_NS = 1.2, 50_000_000
#: An application writes at a rate of its own if it let the sender wait so many times.
_WRITES = 8
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Application:
    """Data sent in one go, or in several with pauses.

    Args:
        start_s: when the first began, from the capture's first packet.
        bytes: of each.
        pauses_s: before each but the first, from the report of the last byte.
        lasted_s: how long the sending of each took.
        write_bytes: what was sent between times in which the sender had nothing to send, the median.
        paced: whether there are such times with data in flight, so that the application writes at a rate.
    """

    start_s: float
    bytes: list[int]
    pauses_s: list[float]
    lasted_s: list[float]
    write_bytes: int
    paced: bool

    @property
    def rate_bps(self) -> float:
        """The rate at which the application wrote, outside of the pauses."""
        return 8 * sum(self.bytes) / max(sum(self.lasted_s), 1e-3)


def application(sent: Any, first_ns: int, held: Held | None, *, reckoned: bool) -> Application:
    """Return what the application of this sender did; `reckoned`: as the receiver saw it."""
    data = np.flatnonzero(sent.payload > 0)
    time = sent.time_ns[data]
    end = np.maximum.accumulate(sent.start[data] + sent.payload[data])
    report = np.where(sent.report_ns[data] == _NEVER, -1, sent.report_ns[data])
    if reckoned:
        # What arrived is reported to the sender, and what that lets go arrives, a round trip later.
        report = np.where(report >= 0, sent.answered_ns(report), -1)
    latest = np.maximum.accumulate(report)
    fresh = sent.start[data][1:] >= end[:-1]
    pause = time[1:] - latest[:-1]
    all_reported = np.minimum.accumulate((report > 0)[::-1])[::-1] | (latest > 0)
    least = max(_LEAST_NS, int((_TRIPS - 1) * sent.base_round_trip_ns))
    cuts = np.flatnonzero(fresh & (pause > least) & all_reported[:-1]) + 1
    begins = np.concatenate([[0], cuts]).astype(int)
    ends = np.concatenate([cuts, [len(data)]]).astype(int)
    tops = [int(end[at - 1]) for at in ends]
    bottoms = [int(sent.start[data][0]), *tops[:-1]]
    waits = np.zeros(0, dtype=int) if held is None else np.flatnonzero(held.application)
    written = np.diff(end[waits]) if len(waits) > 1 else np.zeros(0)
    return Application(
        start_s=float(time[0] - first_ns) / 1e9,
        bytes=[high - low for low, high in zip(bottoms, tops, strict=True)],
        pauses_s=[float(pause[at - 1]) / 1e9 for at in begins[1:]],
        lasted_s=[float(time[last - 1] - time[at]) / 1e9 for at, last in zip(begins, ends, strict=True)],
        write_bytes=max(1, int(np.median(written))) if len(written) else int(sent.payload[data].max()),
        paced=len(written) > _WRITES,
    )
