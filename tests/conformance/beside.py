"""One conversation with the kernel and with our endpoint, and where the two differ first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from conformance import live, ours

if TYPE_CHECKING:
    from conformance.judge import Record, Said
    from conformance.script import Conversation, Step

#: Milliseconds within which two clocks agree, and within which ticks of the kernel's may differ.
EXACT_MS, TICKS_MS = 0.6, 13.0
#: What is compared of a state, whether or not timers have rung.
COUNTS = ("cwnd", "ssthresh", "lost", "sacked", "retrans", "out")
TIMES = ("srtt", "rto")


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
            if step.what == "write":
                self.end.write(self.at(at_ms), step.of["bytes"])
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
    return [step for step in talk.steps if step.what in ("<", "write")]


def hold(programs: live.Programs, talks: list[Conversation]) -> list[Held | str]:
    """Hold conversations with both; a text says why there is no comparison."""
    records = programs.hold([replace(talk, partner="kernel") for talk in talks], watched=True)
    return [
        record if isinstance(record, str) else compare(talk, record)
        for talk, record in zip(talks, records, strict=True)
    ]


def compare(talk: Conversation, kernel: Record) -> Held:
    """Hold a conversation with ours at the times of the kernel's, and compare."""
    same = replace(talk, partner="linux", rtt_ms=round(kernel.rtt_ms, 6))
    mine = Watched(same).hold_at(kernel.times_ms)
    held = Held(talk, kernel, mine, None)
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
        for prompt in (True, False):
            key = (after, prompt)
            wrong = _segments(held, kernel.get(key, []), mine.get(key, []), prompt=prompt)
            if wrong is None and prompt and after:
                wrong = _state(held, state, held.ours.states[after - 1])
            sent = max([sent, *(said.seq + said.payload for said in kernel.get(key, []))])
            if wrong is not None:
                return Difference(after, *wrong, state["ca"])
    return None


def newest(step: Step) -> int:
    """The newest byte that a line speaks of."""
    edges = [edge for block in step.of.get("sack", []) for edge in block]
    return max([step.of.get("ack", 0), *edges]) if step.what == "<" else 0


def _by_line(record: Record) -> dict[tuple[int, bool], list[Said]]:
    found: dict[tuple[int, bool], list[Said]] = {}
    for said, (after, prompt) in zip(record.said, record.afters, strict=True):
        # The kernel may have gone on a little after the line.
        soon = prompt or (after > 0 and said.at_ms - record.times_ms[after - 1] < EXACT_MS)
        found.setdefault((after, soon), []).append(said)
    return found


def _segments(
    held: Held, kernel: list[Said], mine: list[Said], *, prompt: bool
) -> tuple[str, str, str] | None:
    for one, other in zip(kernel, mine, strict=False):
        if plain(one) != plain(other):
            return "segment", _short(one), _short(other)
        apart = abs(one.at_ms - other.at_ms)
        if not prompt and apart > EXACT_MS:
            held.ticks = True
            if apart > TICKS_MS + _coarse(held, one.at_ms):
                return "time", f"{one.at_ms:.1f} ms", f"{other.at_ms:.1f} ms"
    longer = [*kernel[len(mine) :], *mine[len(kernel) :]]
    # Near the end one of the two may have gone on for longer.
    if not longer or (not prompt and longer[0].at_ms > held.talk.end_ms - TICKS_MS):
        return None
    what = "more" if len(kernel) > len(mine) else "less"
    return what, *(
        ", ".join(map(_short, sent[min(len(kernel), len(mine)) :])) or "nothing" for sent in (kernel, mine)
    )


def _coarse(held: Held, at_ms: float) -> float:
    """The timer wheel's steps are an eighth of what is waited for."""
    since = max((time for time in held.kernel.times_ms if time < at_ms), default=0.0)
    return (at_ms - since) / 8 if at_ms - since > 256 else 0.0


def plain(said: Said) -> tuple[Any, ...]:
    """Return what must be the same of a segment."""
    return said.seq, said.payload, said.ack, set(said.flags) - {"PSH"}, said.sack, said.ecn


def _short(said: Said) -> str:
    return str(said).split(">", 1)[1].strip() + ("" if said.ecn == "Not-ECT" else f" {said.ecn}")


def _state(held: Held, kernel: dict[str, Any], mine: dict[str, Any]) -> tuple[str, str, str] | None:
    for name in COUNTS:
        if kernel[name] != mine[name]:
            return name, str(kernel[name]), str(mine[name])
    phases = [
        phase if phase in ("recovery", "loss") else "open" for phase in (kernel["phase"], mine["phase"])
    ]
    if phases[0] != phases[1]:
        return "phase", *phases
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
