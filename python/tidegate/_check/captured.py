"""Transfers of a capture. Simulated captures are measured by the same code, so numbers mean the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._capture.delivery import deliveries, place_of
from tidegate._capture.ends import each_once, of_one_time
from tidegate._capture.uncaptured import missed_words, uncaptured
from tidegate._check.measured import Measurement, Transfer
from tidegate.errors import CaptureError
from tidegate.traces._captured import chosen_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._capture.value import Capture, Connection

    Column = np.ndarray[Any, Any]

#: A pause of the application: nothing outstanding for at least this long.
LEAST_PAUSE_S = 0.05
#: An ACK of one last segment that comes this long behind the one before was delayed (RFC 9293 §3.8.6.3 allows
#: 0.5 s; systems wait 40 to 200 ms).
DELAYED_S = 0.03
#: Connections with less user data say nothing of a link; they are left out unless they are named.
LEAST_BYTES = 10_000


def measured(capture: Capture, numbers: Sequence[int] | None) -> Measurement:
    """Measure the connections of a capture.

    Raises:
        CaptureError: there is no data.
        ArgumentError: there is no connection of a number.
    """
    if numbers is None:
        big = [each.number for each in capture.connections if each.sender.payload_bytes >= LEAST_BYTES]
        numbers = big or None
    named = chosen_of(capture, numbers)
    single, at_both = each_once(named)
    chosen = [each for each in single if _answered(each)]
    if not chosen:
        raise CaptureError(
            f"{', '.join(capture.files)}: only one direction was captured, so nothing of it can be compared; "
            "capture both"
        )
    of_one_time(chosen)
    found = sorted((transfer(each) for each in chosen), key=lambda each: each.start_s)
    begin = found[0].start_s
    left = len(capture.connections) - len(chosen) - (len(named) - len(single))
    notes = [*capture.notes, *at_both, *_uncaptured(chosen)]
    if left:
        notes.append(
            f"{left} of {len(capture.connections)} connections left out (too little data, one direction "
            "alone, or not named)"
        )
    # Starts count from the first data of all.
    moved = tuple(Transfer(**{**vars(each), "start_s": each.start_s - begin}) for each in found)
    return Measurement(", ".join(capture.files), moved, tuple(notes))


def _answered(connection: Connection) -> bool:
    """Tell whether the ACKs of the sender's data were captured."""
    packets = connection.packets
    back = packets.from_client != (connection.sender == connection.client_host)
    return bool((back & packets.has_ack).any())


def _uncaptured(connections: Sequence[Connection]) -> list[str]:
    """Say of each connection whether the capture missed data of its sender."""
    notes = []
    for each in connections:
        from_client = each.sender == each.client_host
        _, missed = uncaptured(each.packets, from_client=from_client, base_ns=1)
        if missed.packets:
            notes.append(missed_words(each, from_client, missed).removesuffix("."))
    return notes


def transfer(connection: Connection, window_s: tuple[float, float] | None = None) -> Transfer:
    """Measure one connection.

    Args:
        connection: it.
        window_s: measure a part: from when on, from the first data, and for how long.
    """
    place = place_of(connection)
    packets = connection.packets
    from_sender = packets.from_client == (connection.sender == connection.client_host)
    data = np.flatnonzero(from_sender & (packets.payload > 0))
    time = packets.time_ns[data] / 1e9
    left = packets.seq[data].astype(np.int64)
    right = left + packets.payload[data]
    top = np.maximum.accumulate(right)
    before = np.concatenate([[left[0]], top[:-1]])
    again = int(np.clip(np.minimum(right, before) - left, 0, None).sum())
    sent = int(packets.payload[data].sum())
    acks = np.flatnonzero(~from_sender & packets.has_ack & ((packets.flags & 4) == 0))
    known = np.maximum.accumulate(packets.ack[acks].astype(np.int64)) if len(acks) else np.array([], np.int64)
    ack_time = packets.time_ns[acks] / 1e9
    # The first ACK that covers everything sent so far.
    at = np.searchsorted(known, top)
    reported = (
        np.where(at < len(known), ack_time[np.minimum(at, len(known) - 1)], np.inf) if len(known) else time
    )
    arrived_s = _without_delayed_acks(
        reported, at, ack_time, known, top, connection.sender.largest_payload_bytes
    )
    pause = time[1:] - np.maximum(arrived_s[:-1], time[:-1])
    cuts = np.flatnonzero((left[1:] >= top[:-1]) & (pause > LEAST_PAUSE_S)) + 1
    begins, ends = [0, *cuts], [*cuts, len(data)]
    bottoms = [int(left.min()), *(int(top[end - 1]) for end in ends[:-1])]
    sizes = [int(top[end - 1]) - bottom for end, bottom in zip(ends, bottoms, strict=True)]
    finite = reported[np.isfinite(reported)]
    end = float(max(finite[-1] if len(finite) else time[-1], time[-1]))
    arrived = int(min(known[-1], top[-1]) - left.min()) if len(known) else int(top[-1] - left.min())
    span = end - float(time[0])
    at_sender = place == "sender"
    if window_s is not None:
        return _part(connection, window_s)
    trips = _round_trips(connection) if at_sender else np.array([])
    return Transfer(
        label=f"connection {connection.number}",
        start_s=float(time[0]),
        sizes=tuple(sizes),
        pauses_s=tuple(float(pause[begin - 1]) for begin in begins[1:]),
        goodput_bps=8 * arrived / span if span > 0 else None,
        resent=again / sent if at_sender and sent else None,
        rtt_mean_ms=1e3 * float(trips.mean()) if len(trips) else None,
        completion_s=span if len(finite) and np.isfinite(reported[-1]) else None,
    )


def _part(connection: Connection, window_s: tuple[float, float]) -> Transfer:
    """Measure what a connection, captured at its sender, did in a part of its time."""
    packets = connection.packets
    from_sender = packets.from_client == (connection.sender == connection.client_host)
    data = np.flatnonzero(from_sender & (packets.payload > 0))
    acks = np.flatnonzero(~from_sender & packets.has_ack & ((packets.flags & 4) == 0))
    begin = float(packets.time_ns[data[0]]) / 1e9 + window_s[0]
    end = begin + window_s[1]
    right = packets.seq[data].astype(np.int64) + packets.payload[data]
    before = np.concatenate([[0], np.maximum.accumulate(right)[:-1]])
    again = np.clip(np.minimum(right, before) - packets.seq[data], 0, None)
    inside = (packets.time_ns[data] >= begin * 1e9) & (packets.time_ns[data] < end * 1e9)
    sent = int(packets.payload[data][inside].sum())
    known = np.concatenate([[0], np.maximum.accumulate(packets.ack[acks].astype(np.int64))])
    first, last = known[np.searchsorted(packets.time_ns[acks] / 1e9, (begin, end))]
    trips = _round_trips(connection, (begin, end))
    return Transfer(
        label=f"connection {connection.number}",
        start_s=float(packets.time_ns[data[0]]) / 1e9,
        sizes=(int(last - first),),
        pauses_s=(),
        goodput_bps=8 * float(last - first) / window_s[1],
        resent=int(again[inside].sum()) / sent if sent else None,
        rtt_mean_ms=1e3 * float(trips.mean()) if len(trips) else None,
        window_s=window_s,
    )


def _without_delayed_acks(
    reported: Column, at: Column, ack_time: Column, known: Column, top: Column, segment: int
) -> Column:
    """Return when data had come, where the ACK of one last segment was delayed: with the ACK before it."""
    there = np.flatnonzero((at > 0) & (at < len(known)))
    behind = at[there]
    late = (ack_time[behind] - ack_time[behind - 1] > DELAYED_S) & (top[there] - known[behind - 1] <= segment)
    earlier: Column = reported.copy()
    earlier[there[late]] = ack_time[behind[late] - 1]
    return earlier


def _round_trips(connection: Connection, part_s: tuple[float, float] | None = None) -> Column:
    """Return round trips of data that was sent once, of a part of the time if asked."""
    found = deliveries(connection, "sender")
    trips = found.waited_s + found.least_s
    inside = np.isfinite(trips)
    if part_s is not None:
        inside &= (found.time_s >= part_s[0]) & (found.time_s < part_s[1])
    return trips[inside]
