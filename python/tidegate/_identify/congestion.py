"""Which congestion control the sender used, as far as its reductions after losses tell it.

A sender that takes a loss as congestion sets its window to a share of what was in flight: Reno to a half
(RFC 5681 §3.1), CUBIC to 0.7 (RFC 9438 §4.6). BBR of version 1 does not reduce its window in the long run
(Cardwell et al., 2016), and once in about ten seconds it empties the path: 200 ms with four segments in
flight. TBIT (Padhye and Floyd, SIGCOMM 2001) and CAAI (Yang et al., 2011) tell senders by this share, too;
they make the losses, a capture has to wait for them.

An episode begins with the first resent packet, and ends when what had been sent until then is acknowledged.
In flight is what was sent and not acknowledged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.chances import median
from tidegate._identify.found import Congestion, Number

if TYPE_CHECKING:
    from tidegate._identify.acks import Acks
    from tidegate._identify.sent import Sent

#: Episodes that are needed, and segments in flight: below these a share is a matter of rounding.
_EPISODES, _SEGMENTS = 3, 8
#: A resend is an answer to ACKs if it came within this many base round trips and milliseconds of the last
#: one, and else a time-out's, which sets the window to one segment whatever the controller (RFC 6298 §5).
_TRIPS, _LEAST_NS = 1.0, 150_000_000
#: Shares of a window left, what leaves them, and where that stands. Between them nothing is told.
_SHARES = (
    ("reno", "Reno", 0.42, 0.56, "half, as with Reno (RFC 5681)"),
    ("cubic", "CUBIC", 0.60, 0.78, "0.7, as with CUBIC (RFC 9438)"),
)
#: The interval of the share may reach so far beyond, and the middle half of all shares is no wider than this.
_BEYOND, _WIDEST = 0.08, 0.15
#: From this share on, with an interval from the second on, a sender hardly reduces its window for losses.
_HARDLY, _HARDLY_LOW = 0.88, 0.8
#: BBR's probe for the shortest round trip: so little in flight for so long, at such distances, in seconds.
_PROBE_SEGMENTS, _PROBE_S, _PROBE_MOST_S, _PROBE_EVERY = 5, 0.15, 1.0, (8.0, 14.0)


def congestion(acks: Acks, stream: Sent, *, seen_at: str) -> Congestion:
    """Return the congestion control of the sender of this direction."""
    if seen_at == "receiver":
        return _unknown("the capture was taken near the receiver, which does not see what was in flight")
    flight = _Flight.of(acks, stream)
    if flight is None:
        return _unknown("there are too few packets with data and ACKs")
    probes = _probes(flight, stream.base_round_trip_ns)
    shares = _shares(flight, stream.base_round_trip_ns)
    if probes >= 2:
        return Congestion(
            "bbr",
            f"The sender uses BBR: {probes} times, about ten seconds apart, it had hardly anything in flight "
            "for 200 ms, as BBR has when it looks for the shortest round trip.",
            _median(shares) if len(shares) >= _EPISODES else None,
            len(shares),
        )
    if len(shares) < _EPISODES:
        return _unknown(
            f"it reduced its window after losses {len(shares)} times where that can be measured, and "
            f"{_EPISODES} are needed",
            shares,
        )
    middle = _median(shares)
    left = f"{len(shares)} reductions after losses left {100 * middle.value:.0f}% of the data in flight"
    low, high = middle.interval
    if float(np.ptp(np.quantile(shares, (0.25, 0.75)))) <= _WIDEST:
        for name, word, least, most, why in _SHARES:
            inside = least - _BEYOND <= low and high <= most + _BEYOND
            if least <= middle.value <= most and inside:
                sentence = f"The sender most likely uses {word}: {left}, about {why}."
                return Congestion(name, sentence, middle, len(shares))
    if middle.value >= _HARDLY and low >= _HARDLY_LOW and not probes:
        return _unknown(
            f"{left}: BBR hardly reduces its window, nor does a sender that the receiver's holds back",
            shares,
        )
    if middle.value >= _HARDLY and low >= _HARDLY_LOW:
        return Congestion(
            "bbr",
            f"The sender most likely uses BBR: {left}, and once it emptied the path for 200 ms.",
            middle,
            len(shares),
        )
    return _unknown(
        f"{left} (95%: {100 * low:.0f} to {100 * high:.0f}%), which is neither surely Reno's half nor surely "
        "CUBIC's 0.7",
        shares,
    )


def hidden() -> Congestion:
    """Return the answer for a capture that lacks too many packets."""
    return _unknown("not all packets were captured")


def _unknown(why: str, shares: Any = ()) -> Congestion:
    return Congestion(
        None, f"The sender's congestion control cannot be told, because {why}.", reductions=len(shares)
    )


@dataclass(frozen=True)
class _Flight:
    """Data packets and ACKs of one direction: times in ns, bytes as offsets in the stream."""

    time: Any
    start: Any
    top: Any
    fresh: Any
    ack_time: Any
    ack: Any
    segment: int

    @staticmethod
    def of(acks: Acks, stream: Sent) -> _Flight | None:
        data = np.flatnonzero(stream.payload > 0)
        if len(data) < 20 or len(acks.ack) < 10:
            return None
        end = stream.start[data] + stream.payload[data]
        top = np.maximum.accumulate(end)
        fresh = np.concatenate([[True], stream.start[data][1:] >= top[:-1]])
        return _Flight(
            stream.time_ns[data], stream.start[data], top, fresh, acks.time_ns,
            acks.ack, int(stream.payload[data].max()),
        )  # fmt: skip

    def acked(self, time: Any) -> Any:
        """Return what had been acknowledged at these times."""
        at = np.searchsorted(self.ack_time, time, side="right") - 1
        return np.where(at >= 0, self.ack[np.maximum(at, 0)], self.start[0])


def _shares(flight: _Flight, base_ns: int) -> Any:
    """Return of each episode of loss what it left of the data in flight."""
    again = np.flatnonzero(~flight.fresh)
    found = []
    reached = -1
    for at in again:
        if flight.start[at] < reached:
            continue
        now, sent_until = int(flight.time[at]), int(flight.top[at - 1])
        before = sent_until - int(flight.acked(now))
        last = int(np.searchsorted(flight.ack_time, now, side="right")) - 1
        done = int(np.searchsorted(flight.ack, sent_until))
        reached = sent_until
        if last < 0 or done >= len(flight.ack) or before < _SEGMENTS * flight.segment:
            continue
        if now - int(flight.ack_time[last]) > max(_LEAST_NS, _TRIPS * base_ns) / 2:
            continue
        after = _after(flight, done, base_ns)
        if after is not None:
            found.append(after / before)
    return np.array(found)


def _after(flight: _Flight, done: int, base_ns: int) -> float | None:
    """Return the bytes in flight in the half round trip after an episode; None where it has time-outs.

    An application that has no more data leaves less in flight: then the last packet sent is not fresh, or
    nothing is sent at all.
    """
    end = int(flight.ack_time[done])
    inside = slice(
        int(np.searchsorted(flight.time, end)), int(np.searchsorted(flight.time, end + base_ns // 2))
    )
    if inside.stop - inside.start < 2 or not flight.fresh[inside].all():
        return None
    return float((flight.top[inside] - flight.acked(flight.time[inside])).max())


def _median(shares: Any) -> Number:
    """Return the median of shares with its 95% interval."""
    return Number(*median(shares))


def _probes(flight: _Flight, base_ns: int) -> int:
    """Return how many times, about ten seconds apart, hardly anything was in flight for a while."""
    outstanding = flight.top - flight.acked(flight.time)
    low = outstanding <= _PROBE_SEGMENTS * flight.segment
    if np.median(outstanding) <= 2 * _PROBE_SEGMENTS * flight.segment:
        return 0
    edges = np.flatnonzero(np.diff(np.concatenate([[False], low, [False]]).astype(int)))
    # After a loss little is in flight as well, with any sender: a probe comes out of the blue, and is short.
    again = flight.time[~flight.fresh]
    times = []
    for begin, end in zip(edges[::2], edges[1::2] - 1, strict=True):
        since, until = int(flight.time[begin]), int(flight.time[end])
        near = np.searchsorted(again, until, side="right") > np.searchsorted(again, since - 2 * base_ns)
        if not near and _PROBE_S * 1e9 < until - since < _PROBE_MOST_S * 1e9:
            times.append(since / 1e9)
    return max((_chain(times[at:]) for at in range(len(times))), default=0)


def _chain(times: list[float]) -> int:
    """Return how many of these times follow one another at the distance of BBR's probes."""
    count, last = 1, times[0]
    for each in times[1:]:
        if _PROBE_EVERY[0] <= each - last <= _PROBE_EVERY[1]:
            count, last = count + 1, each
    return count
