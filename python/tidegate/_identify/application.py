"""What the application did, as its sender's packets show: data in one go, or in several with pauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: A pause is at least this many base round trips, and this long, with nothing in flight.
_TRIPS, _LEAST_NS = 1.2, 50_000_000
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Application:
    """Data sent in one go, or in several with pauses.

    Args:
        start_s: when the first began, from the capture's first packet.
        bytes: of each.
        pauses_s: before each but the first, from the report of the last byte.
    """

    start_s: float
    bytes: list[int]
    pauses_s: list[float]


def application(sent: Any, first_ns: int) -> Application:
    """Return what the application of this sender did."""
    data = np.flatnonzero(sent.payload > 0)
    time = sent.time_ns[data]
    end = np.maximum.accumulate(sent.start[data] + sent.payload[data])
    report = np.where(sent.report_ns[data] == _NEVER, -1, sent.report_ns[data])
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
    return Application(
        start_s=float(time[0] - first_ns) / 1e9,
        bytes=[high - low for low, high in zip(bottoms, tops, strict=True)],
        pauses_s=[float(pause[at - 1]) / 1e9 for at in begins[1:]],
    )
