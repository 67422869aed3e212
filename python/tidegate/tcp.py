"""One TCP endpoint by itself, driven by hand: calls and segments in, segments out.

The very endpoint that flows use, without network and clock: you say what its application writes and
which segments reach it, and read what it sends. For teaching, and for tests of a single rule.

Sequence numbers are relative: the SYN of either end is 0 and its first user byte is 1. Times are
seconds, or texts such as ``"20 ms"``, counted from when the endpoint was made.

>>> import tidegate as tg
>>> end = tg.tcp.Endpoint("active", mss="1000 B", handshake=False)
>>> end.write(0, 20_000)
>>> len(end.poll("10 ms"))
10
>>> end.receive("40 ms", ack=1001)
>>> [segment.seq for segment in end.poll("40 ms")]
[10001, 11001]
>>> end.state.cwnd_segments, end.state.phase
(11.0, 'slow start')
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tidegate import _core
from tidegate._ask.scenario import Scenario
from tidegate._base.arguments import PICOS, instant, text, whole
from tidegate._base.calls import shown
from tidegate.errors import ArgumentError

__all__ = ["Endpoint", "Segment", "State"]

#: The bits of flags (RFC 9293 §3.1, RFC 9768 §3.1), in the order in which they are named.
_FLAGS = {
    "FIN": 0x01,
    "SYN": 0x02,
    "RST": 0x04,
    "PSH": 0x08,
    "ACK": 0x10,
    "ECE": 0x40,
    "CWR": 0x80,
    "AE": 0x100,
}
#: The codepoints of ECN in an IP header, in the order of their bits (RFC 3168 §5).
_ECN = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"]
_LARGEST = 2**32 - 1
#: The fields of the AccECN Option in its two orders (RFC 9768 §3.2.3), and the largest value of one.
_ORDERS = (("EE0B", "ECEB", "EE1B"), ("EE1B", "ECEB", "EE0B"))
_LARGEST_FIELD = 2**24 - 1
#: The largest IP packet.
_LONGEST = 65_535


@dataclass(frozen=True)
class Segment:
    """A segment that an endpoint sent. As text it is one line, as a capture shows it."""

    #: When it was sent, seconds.
    time_s: float
    #: The number of its first user byte; 0 for a SYN.
    seq: int
    #: The next byte that is expected from the other end; 0 without the flag ACK.
    ack: int
    #: User bytes.
    payload: int
    #: The names of its flags, such as ``"ACK"`` or ``"SYN ACK"``.
    flags: str
    #: The codepoint of ECN in its IP header: ``"Not-ECT"``, ``"ECT(1)"``, ``"ECT(0)"`` or ``"CE"``.
    ecn: str
    #: Receive window, bytes after scaling; None: no limit.
    window: int | None
    #: SACK blocks (RFC 2018): the first number of each, and the number behind it; newest first.
    sack: tuple[tuple[int, int], ...]
    #: Timestamp value and echo reply (RFC 7323), milliseconds; None without timestamps.
    timestamps: tuple[int, int] | None
    #: The AccECN Option (RFC 9768 §3.2.3): names and values of its fields in their order, such as
    #: ``(("EE0B", 1001), ("ECEB", 0))``; None without one.
    accecn: tuple[tuple[str, int], ...] | None
    #: Sent before.
    retransmission: bool

    def __str__(self) -> str:
        words = [f"{self.time_s:.6f} s", self.flags, f"{self.seq}:{self.seq + self.payload}({self.payload})"]
        if "ACK" in self.flags:
            words.append(f"ack {self.ack}")
        if self.window is not None:
            words.append(f"window {self.window}")
        if self.sack:
            words.append("sack " + " ".join(f"{left}:{right}" for left, right in self.sack))
        if self.timestamps:
            words.append("timestamps {} {}".format(*self.timestamps))
        if self.accecn is not None:
            words.append(" ".join(["accecn", *(f"{name} {value}" for name, value in self.accecn)]))
        if self.ecn != "Not-ECT":
            words.append(self.ecn)
        return " ".join(words) + (" again" if self.retransmission else "")


@dataclass(frozen=True)
class State:
    """What an endpoint is doing. Segments are full ones, of the endpoint's MSS."""

    #: How far its time has come, seconds.
    time_s: float
    #: The state of the connection by its name in RFC 9293 §3.3.2: ``"ESTABLISHED"``, ``"FIN-WAIT-1"``.
    connection: str
    #: What the sender is doing: ``"slow start"``, ``"congestion avoidance"``, ``"recovery"`` or ``"loss"``.
    phase: str
    #: User bytes in a full segment.
    mss_bytes: int
    #: Congestion window, fractions included; without the inflation by duplicate ACKs (RFC 5681 §3.2).
    cwnd_segments: float
    #: Slow-start threshold; None: no limit.
    ssthresh_segments: float | None
    #: Data leave no faster than this, bits per second of user data; None: they are not paced.
    pacing_bps: int | None
    #: Retransmission time-out in force, back-off included.
    rto_s: float
    #: Smoothed round-trip time (RFC 6298); None before the first sample.
    srtt_s: float | None
    #: What is taken to be on its way: bytes sent and not acknowledged, or RFC 6675's pipe.
    in_flight_bytes: int
    #: Segments sent and not cumulatively acknowledged.
    outstanding_segments: int
    #: Those of them that SACK reports as received.
    sacked_segments: int
    #: Those taken for lost, whether sent again or not.
    lost_segments: int
    #: Those sent again whose copy is taken to be on its way.
    retransmitted_segments: int
    #: The state of congestion control as Linux names it (``tcpi_ca_state``): ``"Open"``, ``"Disorder"``,
    #: ``"CWR"``, ``"Recovery"`` or ``"Loss"``.
    ca_state: str
    #: By how many segments some came late at most, three at least (``tcpi_reordering``); None: this end does
    #: not count.
    reordering_segments: int | None
    #: Segments sent of which ACKs say that they arrived marked (``tcpi_delivered_ce``).
    delivered_ce_segments: int
    #: For how long something written was not sent or not acknowledged, seconds (``tcpi_busy_time``).
    busy_s: float
    #: For how long the other end's receive window held data back, seconds (``tcpi_rwnd_limited``).
    receiver_limited_s: float
    #: For how long all that was written had been sent and the application could have written more, seconds.
    #: No send buffer holds an application back here, which is ``tcpi_sndbuf_limited`` of Linux.
    application_limited_s: float
    #: The other end's receive window: bytes that it takes beyond what it has acknowledged; None: no limit.
    peer_window_bytes: int | None
    #: Probes of that window, while it lets nothing go, since the other end was heard last (``tcpi_probes``).
    window_probes: int
    #: This end's receive window as it said it last, less what has come since; None: no limit.
    receive_window_bytes: int | None
    #: User bytes received in order that its application has not read.
    unread_bytes: int
    #: What holds it back: ``"application"``, ``"congestion window"``, ``"receiver window"`` or
    #: ``"pacing"``.
    held_by: str
    #: What the controller thinks of its path, such as ``"alpha 0.0625"`` of DCTCP; None: no more to tell.
    cc_detail: str | None
    #: User bytes sent and cumulatively acknowledged.
    acked_bytes: int
    #: User bytes received in order.
    in_order_bytes: int
    #: Retransmission time-outs so far, those of SYNs included.
    timeouts: int
    #: Recoveries so far that duplicate ACKs or SACK started.
    fast_retransmits: int
    #: Reductions so far for which marks (ECN) were the reason.
    ecn_reductions: int
    #: Data segments sent again so far.
    segments_retransmitted: int
    #: When its next timer is due; None: none is set.
    next_timer_s: float | None


class Endpoint:
    """One end of a TCP connection, opened at time 0.

    Time never goes back: each call may name the time of the one before, or a later one. The endpoint's
    timers run by themselves, each at its time; at one instant what happens comes before timers.

    Args:
        role: ``"active"`` sends the SYN, ``"passive"`` waits for it. With ``handshake=False`` both are
            ESTABLISHED at time 0.
        tcp: the keys of ``[flow.NAME.tcp]`` in a scenario, with the same values and defaults, such as
            ``base="linux"``, ``cc="cubic"``, ``mss="1000 B"``, ``rto={"min": "200 ms"}``.
        read: how its application reads what arrives: ``"at once"``, at a rate such as ``"5 Mbit/s"``, or
            ``"by hand"``, when :meth:`read` says so. Where it does not read at once the receive buffer
            fills and the window closes; by the RFCs' rules the buffer is ``window``, 65 535 bytes if there
            is none.

    Raises:
        ScenarioError: a key or a value is wrong; the message names it.
        ArgumentError: the role is none of the two.
    """

    __slots__ = ("_inner",)

    def __init__(self, role: str = "active", *, read: str = "at once", **tcp: Any) -> None:
        text("role", role)
        text("read", read)
        # Nothing is sent over this link: it makes the scenario complete.
        document: dict[str, Any] = {
            "duration": "1 s",
            "gate": {"link": {"rate": "1 Gbit/s", "queue": "unlimited"}},
            "flow": {"endpoint": {"path": ["link"], "tcp": tcp}},
        }
        if read not in ("at once", "by hand"):
            document["flow"]["endpoint"]["app"] = {"read": read}
        scenario = Scenario.from_dict(document, name="tidegate.tcp.Endpoint")
        self._inner = _core.Endpoint(scenario._inner, role, by_hand=read == "by hand")

    def write(self, at: float | str, bytes: int) -> None:  # noqa: A002
        """Let the application add ``bytes`` user bytes at a time.

        Raises:
            ArgumentError: the time is before an earlier call's, the number is not positive, or the stream has
                ended.
        """
        self._inner.write(instant("at", at), whole("bytes", bytes, 1, 2**62))

    def read(self, at: float | str, bytes: int) -> int:  # noqa: A002
        """Let the application read ``bytes`` user bytes at most; return how many there were.

        An endpoint made with ``read="by hand"`` keeps what has arrived in order until then.

        Raises:
            ArgumentError: the time is before an earlier call's, or the number is not positive.
        """
        return self._inner.read(instant("at", at), whole("bytes", bytes, 1, 2**62))

    def shutdown(self, at: float | str) -> None:
        """Let the application end its stream at a time, and go on reading (``shutdown(SHUT_WR)``).

        A FIN goes with the last data, or alone where they have left. Where the stream has ended already,
        nothing happens.

        Raises:
            ArgumentError: the time is before an earlier call's.
        """
        self._inner.finish(instant("at", at), "shutdown")

    def close(self, at: float | str) -> None:
        """Let the application close at a time: it ends its stream, and reads no more.

        Data that come afterwards are answered by RST (RFC 1122 §4.2.2.13). What the application wrote
        before is still sent.

        Raises:
            ArgumentError: the time is before an earlier call's.
        """
        self._inner.finish(instant("at", at), "close")

    def abort(self, at: float | str) -> None:
        """Let the application end the connection at once, by a segment with RST.

        Raises:
            ArgumentError: the time is before an earlier call's.
        """
        self._inner.finish(instant("at", at), "abort")

    def receive(
        self,
        at: float | str,
        *,
        seq: int | None = None,
        ack: int | None = None,
        payload: int = 0,
        sack: Iterable[tuple[int, int]] = (),
        window: int | None = None,
        timestamps: tuple[int, int] = (0, 0),
        flags: str = "ACK",
        ecn: str = "Not-ECT",
        accecn: Iterable[tuple[str, int]] | None = None,
    ) -> None:
        """Let a segment arrive at a time. What is left out says nothing new.

        Args:
            at: when.
            seq: number of its first user byte; left out, the next in order (0 with SYN).
            ack: what it acknowledges: the next byte expected; left out, the oldest that is not acknowledged.
            payload: user bytes.
            sack: at most four blocks (first number, number behind it), newest first (RFC 2018 §4).
            window: receive window in bytes after scaling; left out, what it was.
            timestamps: value and echo reply in milliseconds (RFC 7323); 0 is none.
            flags: names with spaces between: ``FIN``, ``SYN``, ``RST``, ``PSH``, ``ACK``, ``ECE``, ``CWR``,
                ``AE``.
            ecn: the codepoint of its IP header: ``Not-ECT``, ``ECT(1)``, ``ECT(0)`` or ``CE``.
            accecn: the AccECN Option (RFC 9768 §3.2.3): names and values of its fields in one of the two
                orders, ``EE0B, ECEB, EE1B`` or ``EE1B, ECEB, EE0B``, of which the last may be missing;
                left out, it has none.

        Raises:
            ArgumentError: the time is before an earlier call's, or a value is none of these.
        """
        text("flags", flags)
        text("ecn", ecn)
        optional = {"seq": seq, "ack": ack, "window": window}
        numbers = {
            name: None if value is None else whole(name, value, 0, _LARGEST)
            for name, value in optional.items()
        }
        self._inner.receive(
            instant("at", at),
            flags=_bits(flags),
            ecn=_codepoint(ecn),
            payload=whole("payload", payload, 0, _LONGEST),
            timestamps=_pair("timestamps", timestamps),
            sack=_blocks(sack),
            accecn=None if accecn is None else _option(accecn),
            **numbers,
        )

    def poll(self, until: float | str) -> list[Segment]:
        """Let time pass, and return what was sent since the last call, in the order of time.

        Timers that are due at ``until`` run too.

        Raises:
            ArgumentError: the time is before an earlier call's.
        """
        return [_segment(sent) for sent in self._inner.poll(instant("until", until))]

    @property
    def state(self) -> State:
        """What it is doing, at the time of the last call."""
        values = self._inner.state()
        limits = ("busy", "receiver_limited", "application_limited")
        for name in ("time", "rto", "srtt", *limits):
            picos = values.pop(f"{name}_ps")
            values[f"{name}_s"] = None if picos is None else picos / PICOS
        wakeup = values.pop("wakeup_ps")
        values["next_timer_s"] = None if wakeup is None else wakeup / PICOS
        for name in ("cwnd", "ssthresh"):
            size = values.pop(f"{name}_bytes")
            values[f"{name}_segments"] = None if size is None else size / values["mss_bytes"]
        return State(**values)

    def __repr__(self) -> str:
        state = self.state
        return f"<Endpoint {state.connection}, {state.phase}, at {state.time_s:g} s>"


def _segment(sent: dict[str, Any]) -> Segment:
    time_s = sent.pop("time_ps") / PICOS
    sent["flags"] = " ".join(name for name, bit in _FLAGS.items() if sent["flags"] & bit)
    sent["ecn"] = _ECN[sent["ecn"]]
    sent["window"] = None if sent["window"] == _LARGEST else sent["window"]
    sent["sack"] = tuple(sent["sack"])
    if sent["accecn"] is not None:
        order, fields = sent["accecn"]
        sent["accecn"] = tuple(zip(_ORDERS[order], fields, strict=False))
    return Segment(time_s, **sent)


def _blocks(sack: Any) -> list[tuple[int, int]]:
    if isinstance(sack, str) or not hasattr(sack, "__iter__"):
        raise ArgumentError(f"sack: {shown(sack)} is not a list of pairs of numbers")
    return [_pair("sack", block) for block in sack]


def _bits(flags: str) -> int:
    bits = 0
    for name in flags.split():
        if name not in _FLAGS:
            raise ArgumentError(f"flags: {shown(name)} is not known; some of {', '.join(_FLAGS)}")
        bits |= _FLAGS[name]
    return bits


def _codepoint(ecn: str) -> int:
    if ecn not in _ECN:
        raise ArgumentError(f"ecn: {shown(ecn)} is not known; one of {', '.join(_ECN)}")
    return _ECN.index(ecn)


def _option(fields: Iterable[tuple[str, int]]) -> tuple[int, list[int]]:
    try:
        given = list(fields)
        names = tuple(name for name, _ in given)
        values = [whole(f"accecn: {name}", value, 0, _LARGEST_FIELD) for name, value in given]
    except (TypeError, ValueError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"accecn: {shown(fields)} is not pairs of a name and a number") from None
    for order, known in enumerate(_ORDERS):
        if names == known[: len(names)]:
            return order, values
    raise ArgumentError(
        f"accecn: read {', '.join(names)}; write EE0B, ECEB, EE1B or EE1B, ECEB, EE0B, or the first of them"
    )


def _pair(name: str, value: Any) -> tuple[int, int]:
    try:
        first, second = value
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: {shown(value)} is not a pair of numbers") from None
    return whole(name, first, 0, _LARGEST), whole(name, second, 0, _LARGEST)
