"""What is found in a capture: directions, the limits that they met, and the law of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate._identify.clocks import Clocks

Interval = tuple[float, float]

#: Clocks of computers are off by up to 50 millionths each (the usual tolerance of their crystals), and the
#: capture's and the device's are two: no rate is known better.
_CLOCK = 1e-4


@dataclass(frozen=True)
class Number:
    """A number that was estimated, with its 95% interval."""

    value: float
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """Return value and interval; the upper end is None where nothing bounds the number."""
        high = self.interval[1]
        return {"value": self.value, "low": self.interval[0], "high": high if isfinite(high) else None}


def clocked(value: float, interval: tuple[float, float]) -> Number:
    """Return a rate whose interval is not narrower than the clocks of two machines allow."""
    return Number(value, (min(interval[0], value * (1 - _CLOCK)), max(interval[1], value * (1 + _CLOCK))))


@dataclass(frozen=True)
class Law:
    """The law of a limit.

    Attributes:
        kind: "policer", "constant", "token bucket", "two rates", "steps", "varying", "none" (no limit was
            reached) or "cannot tell".
        rate_bps: the rate, in bits of what `counts` says.
        burst_bytes: the bucket of a policer, or what a shaper lets pass at once.
        queue_bytes: what the queue holds, in the same bytes.
        peak_bps: of two rates: the rate at which a shaper lets its burst pass, or a policer's faster rate.
        peak_burst_bytes: the bucket of a policer's faster rate.
        ahead_bps: the rate of a queue in which packets wait before they come to a policer.
        fair: whether its queue serves connections in turn (fair queueing).
        queue_packets: what the queue holds, where it counts packets and not bytes.
        pieces: of steps, and of a policer whose contract changed: when each begins in seconds, and its rate.
        trace: of a varying rate: when each train of packets began, and its rate in bit/s.
        counts: what the device counts.
        header_bytes: what that is more than the IP packet.
        counts_known: whether the capture tells what the device counts.
        drops: "policer", "queue full", "early" (an AQM), "random" or "none".
        random_loss: share of packets lost at random, where drops are, all of them or those that no bucket
            explains.
        loss_bursts: where these losses come in bursts: the probabilities to go from good to bad and from bad
            to good at each packet, of a chain that loses every packet while it is bad.
        loss_every: where they are periodic: packets from one to the next.
        marks: share of packets that were marked (ECN); near the sender with classic ECN at least so many.
        mark_threshold_s: the wait above which packets are marked, where one wait parts marked ones from
            others.
        aqm: of early drops or marks: "codel", "at random" (PIE, RED), or None where that cannot be told.
        standing_delay_s: median wait, where packets waited.
        sentence: the law in words.
        evidence: sentences, each with its numbers.
    """

    kind: str
    sentence: str
    evidence: list[str]
    rate_bps: Number | None = None
    burst_bytes: Number | None = None
    queue_bytes: Number | None = None
    peak_bps: Number | None = None
    peak_burst_bytes: Number | None = None
    ahead_bps: Number | None = None
    fair: bool = False
    queue_packets: Number | None = None
    pieces: list[tuple[float, Number]] = field(default_factory=list)
    trace: list[tuple[float, float]] = field(default_factory=list, repr=False)
    counts: str = "IP packets"
    header_bytes: int = 0
    counts_known: bool = False
    drops: str = "none"
    random_loss: Number | None = None
    loss_bursts: tuple[Number, Number] | None = None
    loss_every: int | None = None
    marks: Number | None = None
    mark_threshold_s: Number | None = None
    aqm: str | None = None
    standing_delay_s: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return {
            "kind": self.kind,
            "policed": self.kind == "policer",
            "sentence": self.sentence,
            "evidence": self.evidence,
            "rate_bps": _or_none(self.rate_bps),
            "burst_bytes": _or_none(self.burst_bytes),
            "queue_bytes": _or_none(self.queue_bytes),
            "peak_bps": _or_none(self.peak_bps),
            "peak_burst_bytes": _or_none(self.peak_burst_bytes),
            "ahead_bps": _or_none(self.ahead_bps),
            "fair": self.fair,
            "queue_packets": _or_none(self.queue_packets),
            "trace": [{"start_s": start, "rate_bps": rate} for start, rate in self.trace],
            "pieces": [{"start_s": start, "rate_bps": rate.to_dict()} for start, rate in self.pieces],
            "counts": self.counts,
            "header_bytes": self.header_bytes,
            "counts_known": self.counts_known,
            "drops": self.drops,
            "random_loss": _or_none(self.random_loss),
            "loss_bursts": None
            if self.loss_bursts is None
            else dict(zip(("good_to_bad", "bad_to_good"), map(_or_none, self.loss_bursts), strict=True)),
            "loss_every": self.loss_every,
            "marks": _or_none(self.marks),
            "mark_threshold_s": _or_none(self.mark_threshold_s),
            "aqm": self.aqm,
            "standing_delay_s": self.standing_delay_s,
        }


def _or_none(number: Number | None) -> dict[str, Any] | None:
    return None if number is None else number.to_dict()


@dataclass(frozen=True)
class Congestion:
    """The congestion control of a sender.

    Attributes:
        name: "reno", "cubic", "bbr", or None where it cannot be told.
        sentence: why.
        share_left: what a reduction left of the data in flight, the median with a 95% interval; None where
            too few were seen.
        reductions: episodes of loss that were measured.
    """

    name: str | None
    sentence: str
    share_left: Number | None = None
    reductions: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return {
            "name": self.name,
            "sentence": self.sentence,
            "share_left": _or_none(self.share_left),
            "reductions": self.reductions,
        }


@dataclass(frozen=True)
class Direction:
    """One direction of one connection that carries data.

    Attributes:
        connection: number in the capture, from 1.
        sender: address and port of the end that sends.
        receiver: of the other end.
        from_client: whether the client sends.
        seen_at: "sender", "receiver" or "both": near which end it was captured.
        data_packets: packets with data, repeated ones included.
        data_bytes: distinct bytes, those of packets that were not captured included.
        uncaptured_packets: packets with data that the capture missed and the receiver had, about; they count
            for goodput and not as lost.
        lost: packets lost.
        spurious: packets sent again although the first had arrived.
        base_round_trip_s: the shortest round trip with its interval; None where none was seen.
        goodput_bps: distinct bits over the time from the first packet to the last.
        limited_by: shares of that time, by what held the sender back.
        limit: number of the limit that it met, from 1.
        policed: whether that limit is a policer, and this direction lost packets at it.
        congestion: the sender's congestion control, as far as its reductions after losses tell it.
        clocks: how the receiver's clock differs, where it was captured at both ends; else None.
        losses_s: when each lost packet left, in seconds from the capture's first packet.
    """

    connection: int
    sender: str
    receiver: str
    from_client: bool
    seen_at: str
    data_packets: int
    data_bytes: int
    uncaptured_packets: int
    lost: int
    spurious: int
    base_round_trip_s: Number | None
    goodput_bps: float
    limited_by: dict[str, float]
    limit: int
    policed: bool
    congestion: Congestion
    clocks: Clocks | None
    losses_s: list[float] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return {
            "connection": self.connection,
            "sender": self.sender,
            "receiver": self.receiver,
            "from_client": self.from_client,
            "seen_at": self.seen_at,
            "data_packets": self.data_packets,
            "data_bytes": self.data_bytes,
            "uncaptured_packets": self.uncaptured_packets,
            "lost": self.lost,
            "spurious": self.spurious,
            "base_round_trip_s": _or_none(self.base_round_trip_s),
            "goodput_bps": self.goodput_bps,
            "limited_by": self.limited_by,
            "limit": self.limit,
            "policed": self.policed,
            "congestion": self.congestion.to_dict(),
            "clocks": None if self.clocks is None else self.clocks.to_dict(),
            "losses_s": self.losses_s,
        }


@dataclass(frozen=True)
class Limit:
    """What one or more directions met together.

    Attributes:
        number: from 1.
        law: its law.
        members: places in `Identification.directions`, from 0.
    """

    number: int
    law: Law
    members: list[int]
