"""What held a sender between two packets, whatever the link did: its application, or the receiver's window.

A sender that is held by its congestion window sends as soon as an ACK makes room. So it waited for something
else if it sent nothing although

- the receiver's window was full: no whole segment fitted below the edge that ACKs had announced (RFC 9293
  §3.8.6); or
- it had nothing to send: nothing was in flight, or the packet before was smaller than a segment without the
  window being the reason (RFC 9293 §3.7.4: Nagle's rule and its successors send full segments while there are
  data for them), or far less was in flight than just before and no ACK came to let the next packet go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.sent import LOST

if TYPE_CHECKING:
    from tidegate._identify.acks import Acks
    from tidegate._identify.sent import Sent

#: Data in flight of this share of the window fill it: a whole segment may not fit in the rest.
_FULL = 0.9
#: An ACK lets a packet go that leaves so soon after it, in nanoseconds: near the sender, and where the
#: sender's times are only reckoned; and at most this share of the base round trip.
_AT_ONCE_NS, _RECKONED_NS, _SHARE = 1_000_000, 3_000_000, 0.25
#: Options take so much of some segments: they are full all the same.
_OPTIONS = 40
#: A pause with data in flight is longer than so many usual gaps, and leaves room for so many segments and for
#: such a share of what was in flight before.
_PAUSE, _ROOM_SEGMENTS, _ROOM = 4, 2, 0.15
#: Nothing is in flight for longer than this share of the base round trip, or the ACK came at once.
_IDLE = 0.5
#: A sender whose flight did not grow by this share over so many round trips, although nothing was lost or
#: marked and nothing waited, was not held by its congestion window, which grows then.
_GREW, _TRIPS = 1.1, 20


@dataclass(frozen=True)
class Held:
    """What held a sender between its packets with data; one entry a gap between two of them.

    Args:
        gap_ns: how long it was.
        window: whether the receiver's window was full in it.
        application: whether the sender had nothing to send in it, though data were in flight.
        idle: likewise, and nothing was in flight.
    """

    gap_ns: Any
    window: Any
    application: Any
    idle: Any

    @property
    def share(self) -> float:
        """Share of the time in which the receiver or the application held the sender."""
        total = float(self.gap_ns.sum())
        some = self.window | self.application | self.idle
        return float(self.gap_ns[some].sum()) / total if total > 0 else 0.0


def held(acks: Acks, stream: Sent, *, reckoned: bool) -> Held | None:
    """Return what held a sender; None where there are too few packets.

    ``reckoned``: the packets' times are those at which they would have passed the receiver's end, so an ACK
    takes a base round trip to have its effect.
    """
    data = np.flatnonzero(stream.payload > 0)
    if len(data) < 2 or not len(acks.ack):
        return None
    time, size, start = stream.time_ns[data], stream.payload[data], stream.start[data]
    base = stream.base_round_trip_ns
    came = stream.answered_ns(acks.time_ns) if reckoned else acks.time_ns
    soon = min(_RECKONED_NS if reckoned else _AT_ONCE_NS, int(_SHARE * base))
    top = np.maximum.accumulate(start + size)
    fresh = np.concatenate([[True], start[1:] >= top[:-1]])
    gap = np.diff(time).astype(float)
    # The ACKs that had come in the gap, but for the one that ended it.
    first = np.searchsorted(came, time[:-1], side="right") - 1
    last = np.searchsorted(came, time[1:], side="right") - 1
    at = np.maximum(first, np.searchsorted(came, time[1:] - soon, side="right") - 1)
    acked = np.where(at >= 0, acks.ack[np.maximum(at, 0)], start[0])
    flight = np.maximum(0, top[:-1] - acked)
    full = _full(size)
    window = _window_full(acks, at, top[:-1], full)
    since = np.where(last >= 0, time[1:] - came[np.maximum(last, 0)], np.inf)
    not_by_ack = (since > soon) & fresh[1:]
    short = fresh[:-1] & (size[:-1] < full - _OPTIONS) & fresh[1:]
    acked_then = np.where(first >= 0, acks.ack[np.maximum(first, 0)], start[0])
    before = _since_resend(top[:-1] - acked_then, fresh[:-1])
    room = before - flight
    paused = (gap > _PAUSE * np.median(gap)) & not_by_ack
    paused &= (room >= _ROOM_SEGMENTS * full) & (room > _ROOM * before)
    if reckoned:
        # ACKs may wait on their way back, which is not seen here.
        paused[:] = False
    return Held(
        gap_ns=gap,
        window=window,
        application=(short | paused) & ~window & (gap > soon),
        idle=(flight == 0) & (gap > _IDLE * base),
    )


def _full(size: Any) -> int:
    """Return the bytes of data in a full segment: the most usual size among the larger ones."""
    most = int(size.max())
    return int(np.bincount(size[size > most // 2].astype(np.int64)).argmax())


def _window_full(acks: Acks, at: Any, top: Any, full: int) -> Any:
    if not acks.scaled:
        return np.zeros(len(top), dtype=bool)
    edge = np.maximum.accumulate(acks.ack + acks.window)[np.maximum(at, 0)]
    least = np.maximum(full, (1 - _FULL) * acks.window[np.maximum(at, 0)])
    return (at >= 0) & (edge - top < least)


def _since_resend(flight: Any, fresh: Any) -> Any:
    """Return the most that was in flight since the last resent packet, or the beginning."""
    part = np.cumsum(~fresh)
    # A running maximum that begins anew in each part: parts are lifted above one another.
    lift = part * (int(flight.max()) + 1)
    return np.maximum.accumulate(flight + lift) - lift


def without_growth(held: Held, acks: Acks, stream: Sent) -> bool:
    """Tell whether what was in flight stayed the same although nothing kept a congestion window from growing.

    For senders that lost nothing and whose packets did not wait.
    """
    data = np.flatnonzero(stream.payload > 0)
    time = stream.time_ns[data]
    span, base = int(time[-1] - time[0]), stream.base_round_trip_ns
    if base <= 0 or span < 2 * _TRIPS * base or np.any(stream.fate == LOST):
        return False
    top = np.maximum.accumulate(stream.start[data] + stream.payload[data])
    first = np.searchsorted(acks.time_ns, time, side="right") - 1
    flight = top - np.where(first >= 0, acks.ack[np.maximum(first, 0)], stream.start[data[0]])
    later = time > time[0] + span // 2
    early = (time > time[0] + _TRIPS * base // 2) & ~later
    if not early.any() or held.gap_ns.sum() <= 0:
        return False
    return bool(flight[later].max() <= _GREW * flight[early].max())
