"""One conversation with the kernel and with our endpoint, and where the two differ first."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from conformance import live, ours
from conformance.script import ACTS

if TYPE_CHECKING:
    from conformance.judge import Record, Said
    from conformance.script import Conversation, Step

#: Milliseconds within which two clocks agree, and within which ticks of the kernel's may differ.
EXACT_MS, TICKS_MS = 0.6, 18.0
TICK_MS = 4.0
#: How long the kernel may take to see what is said or to answer, and how many ways of it are tried.
NUDGE_MS, NUDGES = 0.05, 6
#: So near the end what only one of the two has sent is not judged: the other's timer may be late.
END_MS = 70.0
#: What leaves so soon after another segment was paced.
PACED_MS = 20.0
#: What is compared of a state, whether or not timers have rung.
COUNTS = ("cwnd", "ssthresh", "lost", "sacked", "retrans", "out", "ca", "reordering", "delivered_ce")
TIMES = ("srtt", "rto")
#: Sums of times, which the kernel counts in its ticks, and ticks in which one may be off.
SUMS, SUM_TICKS = ("busy", "receiver_limited"), 4


@dataclass(frozen=True)
class Difference:
    """The first thing that is not the same."""

    #: After how many lines.
    after: int
    #: ``more``, ``less``, ``segment``, ``time`` or the name of a number of the state.
    what: str
    kernel: str
    ours: str
    #: The kernel's congestion state then.
    ca: str

    def __str__(self) -> str:
        return f"after line {self.after} {self.what}: kernel {self.kernel}, ours {self.ours} ({self.ca})"

    def way(self) -> tuple[str, ...]:
        """Two conversations that differ in the same way have this in common."""
        both = self.kernel + self.ours
        return (
            self.what,
            self.ca,
            "sack" if "sack" in both else "ack" if "ack" in both and ":" not in both else "",
        )


@dataclass
class Held:
    """A conversation that was held with both."""

    talk: Conversation
    kernel: Record
    ours: Record
    difference: Difference | None
    #: Something was late by no more than ticks explain.
    ticks: bool = False
    #: How much later the kernel's last timer rang than ours.
    late_ms: float = 0.0


class Watched(ours.Talk):
    """Our endpoint, to which everything is said when it was said to the kernel."""

    def hold_at(self, times_ms: list[float]) -> Record:
        """Say every line; note what each brought about and the state behind it."""
        self.record.times_ms = times_ms
        self.shake_hands()
        for step, at_ms in zip(said_lines(self.talk), times_ms, strict=True):
            self.hear(max(self.now_ms, at_ms - 0.0005))
            self.mark()
            self.now_ms = at_ms
            if step.what in ACTS:
                self.act(at_ms, step)
            else:
                self.say(at_ms, step)
            self.lines += 1
            self.hear(at_ms)
            self.mark(prompt=True)
            self.record.states.append(self.state())
        self.hear(max(self.now_ms, self.talk.end_ms) + TICKS_MS)
        self.mark()
        return self.record

    lines = 0

    def mark(self, *, prompt: bool = False) -> None:
        """Note after which line what is new was sent."""
        said = self.record.said
        self.record.afters += [(self.lines, prompt)] * (len(said) - len(self.record.afters))


def said_lines(talk: Conversation) -> list[Step]:
    """Return the lines that are said, in order."""
    return [step for step in talk.steps if step.what in ("<", *ACTS)]


def hold(programs: live.Programs, talks: list[Conversation]) -> list[Held | str]:
    """Hold conversations with both; a text says why there is no comparison."""
    records = programs.hold([replace(talk, partner="kernel") for talk in talks], watched=True)
    return [
        record if isinstance(record, str) else compare(talk, record)
        for talk, record in zip(talks, records, strict=True)
    ]


def compare(talk: Conversation, kernel: Record) -> Held:
    """Hold a conversation with ours at the times of the kernel's, and compare."""
    held = _beside(talk, kernel, kernel.times_ms)
    for _ in range(3 if held.difference else 0):
        other = _beside(talk, kernel, _counted(held))
        if not held.difference or (other.difference and other.difference.after <= held.difference.after):
            break
        other.ticks = True
        held = other
    rng = random.Random(0)
    for _ in range(NUDGES if held.difference else 0):
        nudged: list[float] = []
        for at_ms in kernel.times_ms:
            nudged.append(max(at_ms + rng.uniform(-NUDGE_MS, NUDGE_MS), *nudged[-1:], 0.0))
        other = _beside(talk, kernel, nudged)
        if held.difference and (not other.difference or other.difference.after > held.difference.after):
            other.ticks = True
            held = other
    return held


def _counted(held: Held) -> list[float]:
    """Return the lines' times, counted from when ours rang where the kernel's timer rang late before."""
    kernel, mine = _by_line(held.kernel), _by_line(held.ours)
    late, times_ms = 0.0, [0.0]
    for after, at_ms in enumerate(held.kernel.times_ms):
        pairs = zip(kernel.get(after, []), mine.get(after, []), strict=False)
        for (one, at_once), (other, also) in pairs:
            if not (at_once or also) and abs(one.at_ms - other.at_ms) < TICKS_MS + coarse(held, one.at_ms):
                late = one.at_ms - other.at_ms
        times_ms.append(max(at_ms - late, times_ms[-1]))
    return times_ms[1:]


def _beside(talk: Conversation, kernel: Record, times_ms: list[float]) -> Held:
    same = replace(talk, partner="linux", rtt_ms=round(kernel.rtt_ms, 6))
    held = Held(talk, kernel, Watched(same).hold_at(times_ms), None)
    held.difference = _first(held)
    return held


def _first(held: Held) -> Difference | None:
    kernel, mine = _by_line(held.kernel), _by_line(held.ours)
    sent = 1
    for after in range(len(held.kernel.times_ms) + 1):
        if after and newest(said_lines(held.talk)[after - 1]) > sent:
            # A timer of the kernel's was so late that the peer acknowledges what has not been sent yet.
            held.ticks = True
            return None
        state = held.kernel.states[after - 1] if 0 < after <= len(held.kernel.states) else {"ca": "Open"}
        theirs, ours_ = kernel.get(after, []), mine.get(after, [])
        wrong = _segments(held, theirs, ours_)
        if after and (wrong is None or wrong[0] == "time"):
            wrong = _state(held, state, held.ours.states[after - 1]) or wrong
        sent = max([sent, *(said.end for said, _ in theirs)])
        if wrong is not None:
            return Difference(after, *wrong, state.get("ca", "closed"))
    return None


def newest(step: Step) -> int:
    """The newest byte that a line speaks of."""
    edges = [edge for block in step.of.get("sack", []) for edge in block]
    return max([step.of.get("ack", 0), *edges]) if step.what == "<" else 0


def _by_line(record: Record) -> dict[int, list[tuple[Said, bool]]]:
    """Return what was sent after each line, and whether at once."""
    found: dict[int, list[tuple[Said, bool]]] = {}
    for said, (after, prompt) in zip(record.said, record.afters, strict=True):
        found.setdefault(after, []).append((said, prompt))
    return found


def _segments(
    held: Held, kernel: list[tuple[Said, bool]], mine: list[tuple[Said, bool]]
) -> tuple[str, str, str] | None:
    before_ms, late = -1e9, held.late_ms
    for (one, at_once), (other, also) in zip(kernel, mine, strict=False):
        if plain(one) != plain(other):
            return "segment", _short(one), _short(other)
        apart = abs(one.at_ms - other.at_ms)
        # What the pacer lets leave is on no tick; a repeat of the oldest may be a time-out's.
        oldest = max(
            (step.of.get("ack", 1) for step in said_lines(held.talk) if step.at_ms < one.at_ms), default=1
        )
        again = one.seq == oldest and any(
            said.end > one.seq for said in held.kernel.said if said.at_ms < one.at_ms
        )
        paced = held.talk.tcp.get("cc") == "bbr" and one.at_ms - before_ms < PACED_MS and not again
        if apart > EXACT_MS and not (at_once and also):
            held.ticks = True
            # A timer that one before it has set is late by as much.
            apart = min(apart, abs(one.at_ms - other.at_ms - late))
            if at_once or also or paced or apart > TICKS_MS + coarse(held, one.at_ms):
                return "time", f"{one.at_ms:.1f} ms", f"{other.at_ms:.1f} ms"
            late = held.late_ms = one.at_ms - other.at_ms
        before_ms = one.at_ms
    longer = [*kernel[len(mine) :], *mine[len(kernel) :]]
    # Near the end one of the two may have gone on for longer.
    if not longer or (
        not longer[0][1] and longer[0][0].at_ms > held.talk.end_ms - END_MS - coarse(held, longer[0][0].at_ms)
    ):
        return None
    what = "more" if len(kernel) > len(mine) else "less"
    rest = min(len(kernel), len(mine))
    return what, *(", ".join(_short(said) for said, _ in sent[rest:]) or "nothing" for sent in (kernel, mine))


def coarse(held: Held, at_ms: float) -> float:
    """The timer wheel's steps are an eighth of what is waited for, which began with what was sent before."""
    since = max((said.at_ms for said in held.kernel.said if said.at_ms < at_ms - TICKS_MS), default=0.0)
    # A time-out in force may have been set before that.
    known = zip(held.kernel.times_ms, held.kernel.states, strict=False)
    rto = next((state.get("rto") or 0.0 for said, state in reversed(list(known)) if said < at_ms), 0.0)
    waited = max(at_ms - since, min(rto, at_ms))
    return waited / 8 if waited > 256 else 0.0


def plain(said: Said) -> tuple[Any, ...]:
    """Return what must be the same of a segment."""
    return said.seq, said.payload, said.ack, set(said.flags) - {"PSH"}, said.sack, said.ecn


def _short(said: Said) -> str:
    return str(said).split(">", 1)[1].strip() + ("" if said.ecn == "Not-ECT" else f" {said.ecn}")


def _state(held: Held, kernel: dict[str, Any], mine: dict[str, Any]) -> tuple[str, str, str] | None:
    if not kernel:
        # Nothing can be asked of a socket that is closed.
        return None
    # What is left of a connection in TIME-WAIT is no socket of the application's.
    known = mine["connection"].replace("TIME-WAIT", "CLOSED")
    over = kernel["connection"] == known == "CLOSED"
    for name in () if over else COUNTS:
        if kernel[name] != mine[name]:
            return name, str(kernel[name]), str(mine[name])
    if kernel["connection"] != known:
        return "connection", kernel["connection"], known
    if over:
        # Its numbers are no more than what was left of them.
        return None
    phases = [
        phase if phase in ("recovery", "loss") else "open" for phase in (kernel["phase"], mine["phase"])
    ]
    if phases[0] != phases[1]:
        return "phase", *phases
    for name in SUMS:
        if abs(kernel[name] - mine[name]) > SUM_TICKS * TICK_MS + (TICKS_MS if held.ticks else 0.0):
            return name, f"{kernel[name]:.0f} ms", f"{mine[name]:.1f} ms"
    for name in TIMES:
        one, other = kernel[name], mine[name]
        if one is None or other is None:
            continue
        apart = abs(one - other)
        # The time-out is a number of ticks, which a back-off doubles.
        slack = EXACT_MS + (4.0 * 2 ** kernel["backoff"] if name == "rto" else 0.0)
        if apart > slack and (not held.ticks or apart > max(TICKS_MS, one / 16)):
            return name, f"{one:.1f} ms", f"{other:.1f} ms"
    return None
