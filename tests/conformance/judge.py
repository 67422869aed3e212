"""Whether what an endpoint sent is what a conversation expects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.script import ACTS

if TYPE_CHECKING:
    from conformance.script import Conversation, Step


@dataclass(frozen=True)
class Said:
    """A segment that the partner sent; numbers relative, times from the beginning of the script."""

    at_ms: float
    seq: int
    ack: int
    payload: int
    flags: tuple[str, ...]
    sack: tuple[tuple[int, int], ...] = ()
    window: int | None = None
    ecn: str = ""
    #: The timestamp that it echoes.
    echo: int | None = None
    #: The fields of its AccECN Option, by name.
    accecn: tuple[tuple[str, int], ...] | None = None

    @property
    def end(self) -> int:
        """The number behind it; FIN takes one."""
        return self.seq + self.payload + ("FIN" in self.flags)

    def __str__(self) -> str:
        names = "".join(f"{flag} " for flag in self.flags if flag not in ("ACK", "PSH"))
        numbered = self.payload or {"FIN", "RST"} & set(self.flags)
        data = f"{self.seq}:{self.seq + self.payload} " if numbered else ""
        sack = "".join(f" {left}:{right}" for left, right in self.sack)
        return f"{self.at_ms:7.1f} > {names}{data}ack {self.ack}" + (f" sack{sack}" if sack else "")


@dataclass
class Record:
    """What came of a conversation."""

    said: list[Said] = field(default_factory=list)
    #: What each ``=`` line found, in their order.
    states: list[dict[str, Any]] = field(default_factory=list)
    #: How much too late the script's own end acted at most.
    late_ms: float = 0.0
    #: The handshake's round trip and the times at which the lines were said, as they came to be.
    rtt_ms: float = 0.0
    times_ms: list[float] = field(default_factory=list)
    #: Of each segment: after how many lines, and whether at once.
    afters: list[tuple[int, bool]] = field(default_factory=list)


#: How much earlier and later than the script a segment may come when something happens to the endpoint.
AT_ONCE_MS = {"rfc": (0.1, 0.1), "linux": (0.1, 0.1), "kernel": (2.0, 3.5)}
#: The same at other times, when a timer sends it: a tick of the kernel's clock may be 4 ms.
TIMER_MS = {"rfc": (1.0, 1.0), "linux": (1.0, 1.0), "kernel": (5.0, 13.0)}


def faults(talk: Conversation, record: Record) -> list[str]:
    """Return what is not as the conversation has it, in words; empty: all is."""
    found = []
    left = list(record.said)
    states = list(record.states)
    for step in talk.steps:
        if step.what == ">":
            found += _expect(talk, step, left)
        elif step.what == "rest":
            left.clear()
        elif step.what == "=":
            found += _compare(talk, step, states.pop(0))
        if found:
            break
    else:
        # The kernel is heard a little longer than the script says what comes: a timer may fire there.
        end_ms = talk.end_ms + AT_ONCE_MS[talk.partner][1]
        found += [f"unexpected: {said}" for said in left if said.at_ms <= end_ms]
    if not found:
        return []
    shown = [f"  {said}" for said in record.said]
    return [*found, f"{talk.partner} said, in ms:", *shown, *(f"  state {state}" for state in record.states)]


def _expect(talk: Conversation, step: Step, left: list[Said]) -> list[str]:
    """Take what a line expects from what was said."""
    happens = {other.at_ms for other in talk.steps if other.what in ("<", *ACTS)}
    early, late = (AT_ONCE_MS if step.at_ms in happens else TIMER_MS)[talk.partner]
    wanted = dict(step.of)
    start, end = wanted.get("data", (None, None))
    while True:
        if not left:
            return [f"{step.where}: nothing more came; expected {_words(step)}"]
        said = left.pop(0)
        wrong = []
        if not step.at_ms - early <= said.at_ms <= step.until_ms + late:
            wrong.append(f"time {said.at_ms:.1f} instead of {step.at_ms:g} ms")
        if start is None and said.payload:
            wrong.append("data")
        short = said.payload == 0 and start != end
        if start is not None and (said.seq != start or short or said.seq + said.payload > end):
            wrong.append(f"bytes {said.seq}:{said.seq + said.payload}")
        wrong += [name for name in ("ack",) if name in wanted and wanted[name] != said.ack]
        if "sack" in wanted and [list(block) for block in said.sack] != wanted["sack"]:
            wrong.append("sack")
        if "win" in wanted and said.window != wanted["win"]:
            wrong.append(f"window {said.window}")
        if "echo" in wanted and said.echo != wanted["echo"]:
            wrong.append(f"echo {said.echo}")
        if "ecn" in wanted and said.ecn != wanted["ecn"]:
            wrong.append(f"ecn {said.ecn}")
        if "accecn" in wanted and said.accecn != tuple(wanted["accecn"]):
            wrong.append(f"accecn {said.accecn}")
        flags = set(wanted.get("flags", ()))
        if start is not None and said.seq + said.payload < end:
            # It goes with the last one.
            flags -= {"FIN"}
        others = {"PSH", "ACK"} - flags
        if set(said.flags) - others != flags:
            wrong.append(f"flags {' '.join(said.flags)}")
        if wrong:
            return [f"{step.where}: expected {_words(step)}, and {', '.join(wrong)} came: {said}"]
        if start is None or said.seq + said.payload == end:
            return []
        start = said.seq + said.payload


def _words(step: Step) -> str:
    return f"{step.at_ms:g} > {step.of}"


#: How much a number of a state may differ: milliseconds of times, segments of windows.
_SLACK = {"rfc": {"ms": 1.0, "": 0.006}, "linux": {"ms": 1.0, "": 0.006}, "kernel": {"ms": 9.0, "": 0.0}}


def _compare(talk: Conversation, step: Step, state: dict[str, Any]) -> list[str]:
    found = []
    for name, wanted in step.of.items():
        value = state[name]
        if isinstance(wanted, list):
            slack = _SLACK[talk.partner]["ms" if name in ("rto", "srtt") else ""]
            fine = value is not None and wanted[0] - slack <= value <= wanted[1] + slack
        else:
            fine = value == wanted
        if not fine:
            found.append(f"{step.where}: at {step.at_ms:g} ms {name} is {value}, not {wanted}")
    return found
