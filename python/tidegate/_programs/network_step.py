"""What happens to a transport in Python."""

from __future__ import annotations

from typing import Literal, NamedTuple

#: The ends of a flow.
End = Literal["sender", "receiver"]


class Step(NamedTuple):
    """Something that happens between the gates of a :class:`Network`.

    ``kind`` is ``"start"`` (the flow begins; its sender may connect), ``"packet"`` (one comes to ``end``),
    ``"alarm"`` (that of ``end`` rings), or ``"drop"`` (a gate dropped a packet that ``end`` had sent).
    """

    #: What happens.
    kind: Literal["start", "packet", "alarm", "drop"]
    #: Seconds since the run began.
    time: float
    #: The flow's name.
    flow: str
    #: Which end of the flow.
    end: End
    #: The packet's bytes; empty for a start and an alarm.
    data: bytes = b""
    #: The packet's two bits of ECN as it came: 0 none, 1 ECT(1), 2 ECT(0), 3 congestion experienced.
    ecn: int = 0
    #: The gate that dropped it.
    gate: str | None = None
    #: Why, in the words of tables: ``queue full``, ``random loss``, ``policed`` and so on.
    reason: str | None = None
