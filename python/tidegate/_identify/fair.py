"""A link whose queue serves its connections in turn (fair queueing: Nagle, RFC 970; FQ-CoDel, RFC 8290).

Then packets of one connection do not wait for those of another, so that waits do not tell that the link is
shared. But together the connections are delivered at one rate, whoever is busy, and those that are busy have
equal shares of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.dispersion import SHARP, fastest_mode, gaps
from tidegate._identify.found import Number, clocked
from tidegate._identify.sent import ARRIVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.sent import Sent

#: Connections that are compared at most.
_MOST = 12
#: A time slot holds so many packets on average, and is so long at least.
_PACKETS, _LEAST_NS = 200, 100_000_000
#: Slots that are needed; of all in which every connection sends, this share has the same total within that
#: share.
_SLOTS, _SAME, _WITHIN = 20, 0.7, 0.04
#: In so many of these the largest share is less than so many times the smallest.
_EVEN, _APART = 0.5, 1.15
#: No connection has this share of the whole in most slots: then it alone would show the rate.
_ALONE = 0.9
_NEVER = np.iinfo(np.int64).max


def shared_evenly(streams: Sequence[Sent]) -> Number | None:
    """Return the rate in bit/s of a link that these connections share evenly; None where they do not."""
    if not 2 <= len(streams) <= _MOST:
        return None
    came = [_came(each) for each in streams]
    if any(len(time) < _PACKETS for time, _ in came):
        return None
    begin, end = max(int(time[0]) for time, _ in came), min(int(time[-1]) for time, _ in came)
    inside = [(time >= begin) & (time < end) for time, _ in came]
    count = sum(int(np.count_nonzero(each)) for each in inside)
    if end <= begin or not count:
        return None
    slot = max(_LEAST_NS, _PACKETS * (end - begin) // count)
    slots = (end - begin) // slot
    if slots < _SLOTS:
        return None
    each = np.array(
        [
            np.bincount(((time[ok] - begin) // slot).astype(int), weights=size[ok], minlength=slots + 1)[
                :slots
            ]
            for (time, size), ok in zip(came, inside, strict=True)
        ]
    )
    total = each.sum(axis=0)
    middle = float(np.median(total))
    same = np.abs(total / middle - 1) < _WITHIN
    high, low = each.max(axis=0)[same], each.min(axis=0)[same]
    if (
        same.mean() < _SAME
        or np.median(high / total[same]) > _ALONE
        or np.mean(high < _APART * np.maximum(low, 1)) < _EVEN
    ):
        return None
    rates = total[same] * (8e9 / slot)
    if all(stream.arrival_ns is None for stream in streams):
        # One clock has seen all of them, so that neighbours of two connections tell the rate, too.
        mode = fastest_mode(gaps(streams), (1 - _WITHIN) * rates.mean(), (1 + _WITHIN) * rates.mean())
        if mode is not None and mode.sharp >= SHARP:
            return clocked(mode.rate_bps, mode.interval)
    # A slot has the link's rate, unless the link had nothing to send for a part of it.
    low, value, high = (float(part) for part in np.quantile(rates, (0.5, 0.75, 0.975)))
    packet = max(float(size.max()) for _, size in came) * 8e9 / slot
    return clocked(value, (low - packet, high + packet))


def _came(stream: Sent) -> tuple[Any, Any]:
    """Return when packets with data came, as far as it is known, and the bytes of each."""
    time = stream.report_ns if stream.arrival_ns is None else stream.arrival_ns
    known = (stream.fate == ARRIVED) & (stream.payload > 0) & (time < _NEVER)
    order = np.argsort(time[known], kind="stable")
    return time[known][order], stream.ip_bytes[known][order].astype(float)
