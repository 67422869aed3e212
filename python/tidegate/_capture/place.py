"""Near which end a capture was taken: the end that answers at once is the near one."""

from __future__ import annotations

from typing import Any

import numpy as np

_SYN, _ACK = 2, 16


def near_client(packets: Any) -> bool | None:
    """Tell whether the capture was taken near the client; None where nothing tells.

    The handshake tells: the far end's answer takes the longer. Without it, data and their ACKs do.
    """
    syn = (packets.flags & _SYN) > 0
    ack = (packets.flags & _ACK) > 0
    time = packets.time_ns
    first = np.flatnonzero(syn & packets.from_client)
    second = np.flatnonzero(syn & ~packets.from_client)
    if len(first) and len(second):
        third = np.flatnonzero(ack & packets.from_client & (time >= time[second[-1]]))
        if len(third):
            to_server = int(time[second[-1]] - time[first[-1]])
            to_client = int(time[third[0]] - time[second[-1]])
            if to_server != to_client:
                return to_server > to_client
    up, down = answered(packets, True), answered(packets, False)
    if up is None or down is None:
        known, side = (down, False) if up is None else (up, True)
        # One direction has data: an ACK within 2 ms comes from a near receiver.
        return None if known is None else (known > 2_000_000) == side
    return up > down


def answered(packets: Any, from_client: bool) -> int | None:
    """Return the shortest time, in nanoseconds, from data of one side to an ACK of it; None without any."""
    data = np.flatnonzero((packets.from_client == from_client) & (packets.payload > 0))
    acks = np.flatnonzero((packets.from_client != from_client) & packets.has_ack)
    if not len(data) or not len(acks):
        return None
    end = (packets.seq[data] + packets.payload[data]).astype(np.int64)
    # Of a range sent twice it is not known which was acknowledged; the later one makes the time shorter,
    # not longer.
    covered = np.searchsorted(np.maximum.accumulate(packets.ack[acks].astype(np.int64)), end)
    known = covered < len(acks)
    if not known.any():
        return None
    times = packets.time_ns[acks][covered[known]] - packets.time_ns[data][known]
    # An ACK may come in the tick of its data, behind them.
    times = times[(acks[covered[known]] > data[known]) & (times >= 0)]
    return int(times.min()) if len(times) else None
