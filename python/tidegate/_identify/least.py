"""The least that a link carries: the most of the connections' packets that came within 100 ms."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.text import rate
from tidegate._identify.sent import ARRIVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.sent import Sent

_SPAN_NS = 100_000_000


def least_carried(streams: Sequence[Sent]) -> str:
    """Return the highest rate at which packets came in any whole 100 ms of the capture, as a sentence."""
    begin = min(int(each.time_ns[0]) for each in streams)
    came = [_came(each, begin) for each in streams]
    time, size = (np.concatenate(each) for each in zip(*came, strict=True))
    if len(time):
        place = (time - begin) // _SPAN_NS
        inside = (place >= 0) & (place < (int(time.max()) - begin) // _SPAN_NS)
        time, size, place = time[inside], size[inside], place[inside]
    if not len(time):
        return "How much it carries cannot be told: the capture holds no whole 100 ms of arrivals."
    order = np.lexsort((time, place))
    size, place = size[order], place[order]
    # Connections may be days apart: only spans in which something came are counted. The first packet of each
    # may have come in before it.
    first = np.diff(place, prepend=-1) > 0
    sums = np.bincount(np.cumsum(first) - 1, weights=np.where(first, 0.0, size))
    top = _down(80.0 * float(sums.max()))
    return (
        f"It carries at least {rate(top)}, the most that arrived in 100 ms."
        if top > 0
        else "How much it carries cannot be told: no two packets came within 100 ms."
    )


def _came(stream: Sent, begin: int) -> tuple[Any, Any]:
    """Return when packets came to the receiver, up to a constant, and their bytes.

    Near the sender only the report of a packet is seen, which may wait. So a packet counts only if it came
    in the same 100 ms as it was sent, both without the base round trip: then no report that waited brings
    more together than the link carried.
    """
    known = (stream.fate == ARRIVED) & (stream.payload > 0)
    time = stream.time_ns
    if stream.received:
        time = stream.report_ns
    elif stream.arrival_ns is not None and not stream.stamped:
        time = stream.arrival_ns
    else:
        came = np.where(known, stream.report_ns - stream.base_round_trip_ns, 0)
        known = known & ((came - begin) // _SPAN_NS <= (time - begin) // _SPAN_NS)
    return time[known], stream.ip_bytes[known].astype(float)


def _down(value: float) -> float:
    """Return the number with two digits, rounded down: jitter brings packets a little closer together."""
    if value <= 0:
        return 0.0
    unit = 10.0 ** (floor(log10(value)) - 1)
    return floor(value / unit + 1e-9) * unit
