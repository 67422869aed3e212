"""``tidegate.Network``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, Literal

from tidegate import _core
from tidegate._ask.changes import Sets
from tidegate._ask.seed import choose
from tidegate._ask.source import Source, as_scenario
from tidegate._base.arguments import LATEST_S, PICOS, whole
from tidegate._base.calls import checked, shown
from tidegate._base.files import file_beside
from tidegate._base.written import check_target
from tidegate._programs.network_step import End, Step
from tidegate._run.folder import receiver_pcap
from tidegate._run.start import assemble
from tidegate._run.value import Run
from tidegate.errors import ArgumentError

#: What had held a packet back, or holds a sender back, in the order of their codes.
HELD_BY = ("application", "congestion window", "receiver window", "pacing")
HeldBy = Literal["application", "congestion window", "receiver window", "pacing"]

#: Bytes of the headers of UDP and IPv4.
_UDP = 28
_LARGEST = 65_535


class Network:
    """The gates of a scenario for transports of your own, in virtual time.

    The flows of the scenario say which way packets go; what is sent, and when, you say. Nothing waits for a
    clock: ``for step in net`` gives what happens next, and what you do meanwhile happens at :attr:`now`.

    >>> net = tg.Network("link.toml")
    >>> for step in net:
    ...     if step.kind == "start":
    ...         net.send(step.flow, "sender", b"hello")
    ...     elif step.kind == "packet":
    ...         net.delivered(step.flow, len(step.data))
    >>> run = net.finish()

    Args:
        scenario: a scenario, its path, or its keys. One that lasts until all is done keeps in memory what you
            do.
        flows: the flows that are yours, by name; left out, all. The others are of the scenario's TCP.
        seed: as for :func:`run`.
        replication: likewise.
        record: likewise.
        pcap: likewise; packets of yours are in it as UDP with their bytes.
        changes: to the scenario before.

    Raises:
        ScenarioError: the scenario is wrong.
        ArgumentError: there is no such flow.
        RunError: a flow of yours has requests.
    """

    @checked
    def __init__(
        self,
        scenario: Source,
        *,
        flows: Sequence[str] | str | None = None,
        seed: int | None = None,
        replication: int = 0,
        record: str | None = None,
        pcap: str | os.PathLike[str] | None = None,
        changes: Sets = None,
    ) -> None:
        check_target(pcap)
        self._scenario = as_scenario(scenario, changes, seed=seed)
        names, self._gates = _core.Network.names(self._scenario._inner)
        self._names = names
        chosen = names if flows is None else ([flows] if isinstance(flows, str) else list(flows))
        known = ", ".join(names)
        for name in chosen:
            if name not in names:
                raise ArgumentError(f"flows: there is no flow {shown(name)}; one of {known}")
        if not chosen:
            raise ArgumentError(f"flows: name one at least; there is {known or 'none in the scenario'}")
        self._numbers = {name: names.index(name) for name in chosen}
        self._seed = choose(seed, self._scenario.seed)
        self._replication = whole("replication", replication, 0, 2**64 - 1)
        self._inner = _core.Network(
            self._scenario._inner,
            list(self._numbers.values()),
            seed=self._seed,
            replication=self._replication,
            record=record,
            capture=pcap is not None,
        )
        self._pcap = None if pcap is None else Path(pcap)
        #: By flow, bytes that came to its receiver in packets, and those that it said could be read.
        self._arrived: dict[str, int] = {}
        self._delivered: dict[str, int] = {}

    @property
    def flows(self) -> tuple[str, ...]:
        """The flows that are yours."""
        return tuple(self._numbers)

    @property
    def now(self) -> float:
        """Seconds since the run began."""
        return self._inner.now_ps() / PICOS

    @property
    def now_ns(self) -> int:
        """Nanoseconds since the run began, rounded up: an alarm set in nanoseconds is never early."""
        return -(-self._inner.now_ps() // 1000)

    def send(
        self,
        flow: str,
        end: End,
        data: bytes,
        *,
        ecn: int = 0,
        headers: int = _UDP,
        held_by: HeldBy = "congestion window",
        at: float | None = None,
    ) -> None:
        """Let a packet leave an end of a flow.

        Args:
            flow: its name.
            end: ``"sender"`` or ``"receiver"``.
            data: its bytes; what the other end gets.
            ecn: 0 none, 1 ECT(1), 2 ECT(0).
            headers: bytes on the wire beside ``data``, as of UDP and IPv4; 0: ``data`` is an IP packet.
            held_by: why it was not sent earlier.
            at: the instant at which it leaves, in seconds; left out, now. No other leaves this end before.

        Raises:
            ArgumentError: one of these is wrong, or the run is over.
            RunError: packets are sent without end.
        """
        number, receiver = self._end(flow, end)
        headers = whole("headers", headers, 0, _LARGEST)
        if not isinstance(data, bytes | bytearray | memoryview):
            raise ArgumentError(f"data: {shown(data)} is no bytes")
        if not 1 <= len(data) + headers <= _LARGEST:
            raise ArgumentError(
                f"data: a packet of {len(data) + headers} bytes; from 1 to {_LARGEST} with headers"
            )
        self._inner.send(
            number,
            receiver,
            bytes(data),
            ecn=whole("ecn", ecn, 0, 3),
            headers=headers,
            held_by=_held_by(held_by),
            at=0 if at is None else _picos("at", at),
        )

    def alarm(self, flow: str, end: End, at: float | None) -> None:
        """Set the alarm of an end, in place of the one before; it is never early. None: it has none.

        Args:
            flow: the flow's name.
            end: ``"sender"`` or ``"receiver"``.
            at: seconds since the run began; what is past rings now.

        Raises:
            ArgumentError: one of these is wrong, or the run is over.
        """
        number, receiver = self._end(flow, end)
        self._inner.alarm(number, receiver, None if at is None else _picos("at", at))

    def delivered(self, flow: str, count: int) -> None:
        """Say that so many user bytes more could be read at the receiver of a flow: its goodput.

        Raises:
            ArgumentError: there is no such flow, it would be more than has arrived, or the run is over.
        """
        number, count = self._number(flow), whole("count", count, 0, 2**63 - 1)
        arrived = self._arrived.get(flow, 0)
        if self._delivered.get(flow, 0) + count > arrived:
            raise ArgumentError(
                f"count: {count} bytes more are more than have arrived; of the {arrived} bytes that came to "
                f"the receiver of {flow}, {self._delivered.get(flow, 0)} were delivered before"
            )
        self._inner.delivered(number, count)
        self._delivered[flow] = self._delivered.get(flow, 0) + count

    def report(
        self,
        flow: str,
        *,
        window: float | None = None,
        ssthresh: int | None = None,
        in_flight: int | None = None,
        srtt: float | None = None,
        rto: float | None = None,
        rtt: float | None = None,
        lost: int | None = None,
        timeouts: int | None = None,
        held_by: HeldBy | None = None,
    ) -> None:
        """Say what the sender of a flow knows; columns and pictures show it. What is left out stays.

        Args:
            flow: its name.
            window: congestion window, bytes.
            ssthresh: slow-start threshold, bytes.
            in_flight: bytes sent and neither acknowledged nor deemed lost.
            srtt: smoothed round trip, seconds.
            rto: retransmission or probe time-out, seconds.
            rtt: a round trip that was just measured, seconds.
            lost: packets sent again or deemed lost so far.
            timeouts: time-outs so far.
            held_by: what holds the sender back now.

        Raises:
            ArgumentError: one of these is wrong, or the run is over.
        """

        def time(name: str, value: float | None) -> int | None:
            if value is not None and _seconds(name, value) < 0:
                raise ArgumentError(f"{name}: {shown(value)} s is below 0")
            return None if value is None else _picos(name, value)

        def count(name: str, value: int | None) -> int | None:
            return None if value is None else whole(name, value, 0, 2**63 - 1)

        bytes_ = 0.0 if window is None else _float(window)
        if bytes_ is None or not 0 <= bytes_ < 2**63:
            raise ArgumentError(f"window: {shown(window)} bytes; give a number from 0 on")
        self._inner.report(
            self._number(flow),
            window=None if window is None else bytes_,
            ssthresh=count("ssthresh", ssthresh),
            in_flight=count("in_flight", in_flight),
            srtt=time("srtt", srtt),
            rto=time("rto", rto),
            rtt=time("rtt", rtt),
            lost=count("lost", lost),
            timeouts=count("timeouts", timeouts),
            held_by=None if held_by is None else _held_by(held_by),
        )

    def __iter__(self) -> Iterator[Step]:
        """Give what happens, one thing after the other, to the end of the run; it may be left and resumed.

        Raises:
            RunError: a limit of the scenario ended the run, or an end rings its alarm again and again.
        """
        while (step := self._inner.step()) is not None:
            kind, at, flow, receiver, data, ecn, gate, reason = step
            if kind == "packet" and receiver:
                name = self._names[flow]
                self._arrived[name] = self._arrived.get(name, 0) + len(data or b"")
            yield Step(
                kind,  # type: ignore[arg-type]
                at / PICOS,
                self._names[flow],
                "receiver" if receiver else "sender",
                data or b"",
                ecn,
                None if gate is None else self._gates[gate],
                reason,
            )

    def finish(self) -> Run:
        """Let the rest of the run pass, in which nobody answers, and return the whole of it.

        Goodput counts what :meth:`delivered` was told; all else of gates and flows is measured at the gates.
        A flow whose ``app`` is a transfer ends when that many bytes have been delivered.

        Raises:
            ArgumentError: the run is over.
            RunError: as in a ``for`` loop.
        """
        with contextlib.ExitStack() as stack:
            both = None
            if self._pcap is not None:
                names = (self._pcap, receiver_pcap(self._pcap))
                sender, receiver = (os.fspath(stack.enter_context(file_beside(each))) for each in names)
                both = (sender, receiver)
            data = self._inner.finish(both)
        return assemble(
            self._scenario,
            data,
            seed=self._seed,
            replication=self._replication,
            pcap=self._pcap,
            quiet=True,
        )

    def _number(self, flow: str) -> int:
        if flow not in self._numbers:
            raise ArgumentError(f"flow: {shown(flow)} is none of yours; one of {', '.join(self._numbers)}")
        return self._numbers[flow]

    def _end(self, flow: str, end: End) -> tuple[int, bool]:
        if end not in ("sender", "receiver"):
            raise ArgumentError(f'end: {shown(end)}; give "sender" or "receiver"')
        return self._number(flow), end == "receiver"

    def __repr__(self) -> str:
        return f"<Network {self._scenario.name!r}, {', '.join(self._numbers)}>"


def _held_by(word: Any) -> int:
    if word not in HELD_BY:
        raise ArgumentError(f"held_by: {shown(word)}; one of {', '.join(HELD_BY)}")
    return HELD_BY.index(word)


def _float(value: Any) -> float | None:
    return None if isinstance(value, bool) or not isinstance(value, Real) else float(value)


def _seconds(name: str, value: Any) -> float:
    seconds = _float(value)
    if seconds is None:
        raise ArgumentError(f"{name}: {shown(value)} is no number of seconds")
    if not -LATEST_S <= seconds <= LATEST_S:
        raise ArgumentError(f"{name}: {shown(value)} s is out of range; up to {LATEST_S} s")
    return seconds


def _picos(name: str, seconds: float) -> int:
    """Return picoseconds, so many that they are not before ``seconds`` when read as seconds again."""
    seconds = _seconds(name, seconds)
    picos = max(round(seconds * PICOS), 0)
    while picos / PICOS < seconds:
        picos += 1
    return picos
