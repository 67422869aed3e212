"""Conversations with one TCP endpoint, as text; ``README.md`` has the notation."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "conversations"
#: Who a conversation is held with: our endpoint with a base, or this machine's kernel.
PARTNERS = ("rfc", "linux", "kernel")
#: What a line in brackets is for.
AUDIENCES = {
    "rfc": {"rfc"},
    "linux": {"linux", "kernel"},
    "ours": {"linux"},
    "kernel": {"kernel"},
    "simulated": {"rfc", "linux"},
}
#: The receive window that the script's end announces unless a conversation says so.
WINDOW = 1_024_000
#: User bytes in a full segment, unless a conversation says so.
MSS = 1000

#: What the application does.
ENDINGS = ("shutdown", "close", "abort")
ACTS = ("write", "read", *ENDINGS)

_LINE = re.compile(
    r"(\d+(?:\.\d+)?)(?:\.\.(\d+(?:\.\d+)?))?(?:\+(\d+))?\s+"
    r"(<|>|=|write|read|shutdown|close|abort|quiet|rest)\s*(.*)"
)
_WORDS = re.compile(r"\s+")


class ScriptError(ValueError):
    """A script is wrong; the message names file and line."""


@dataclass
class Step:
    """One line: when, what (``<``, ``>``, ``=``, one of `ACTS`, ``quiet``, ``rest``), and its particulars."""

    at_ms: float
    until_ms: float
    what: str
    of: dict[str, Any]
    where: str


@dataclass
class Conversation:
    """What is said to one partner, and what it must answer."""

    title: str
    partner: str
    tcp: dict[str, Any] = field(default_factory=dict)
    #: ``active`` or ``passive``; ``scripted`` handshakes are lines of the conversation.
    role: str = "active"
    scripted: bool = False
    rtt_ms: float = 40.0
    #: The receive window that the script's end announces unless a line says another.
    window: int = WINDOW
    #: The partner's application reads when a line says so; else at once.
    reads: bool = False
    note: str = ""
    #: Why our endpoint is known to fail; empty: it must not.
    fails: str = ""
    steps: list[Step] = field(default_factory=list)
    #: The time of the line that was read last.
    newest_ms: float = 0.0

    @property
    def name(self) -> str:
        """What a test is called."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")[:70] + f"-{self.partner}"

    @property
    def end_ms(self) -> float:
        """When the last thing is done or awaited."""
        return max(step.until_ms for step in self.steps)


def conversations() -> list[Conversation]:
    """Return all conversations, one for each partner."""
    return [each for path in sorted(FOLDER.glob("*.txt")) for each in read(path)]


def read(path: Path) -> list[Conversation]:
    """Return the conversations in a file."""
    found: list[Conversation] = []
    current: list[Conversation] = []
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = raw.split("#")[0].rstrip()
        where = f"{path.name}:{number}"
        if line.startswith("== "):
            current = [Conversation(line[3:].strip(), "")]
        elif not line.strip():
            continue
        elif not current:
            raise ScriptError(f"{where}: a title comes first: == TITLE")
        elif line.startswith("with "):
            wanted = line.split()[1:]
            if set(wanted) - set(PARTNERS):
                raise ScriptError(f"{where}: with whom? some of {', '.join(PARTNERS)}")
            title = current[0].title
            current = [Conversation(title, partner) for partner in wanted]
            found += current
        else:
            _spread(line, where, current)
    return found


def _spread(line: str, where: str, current: list[Conversation]) -> None:
    """Give a line to those conversations that it is for."""
    bracket = re.match(r"\[(\w+)\]\s*", line)
    audience = set(PARTNERS)
    if bracket:
        if bracket[1] not in AUDIENCES:
            raise ScriptError(f"{where}: [{bracket[1]}] is none of {', '.join(AUDIENCES)}")
        audience = AUDIENCES[bracket[1]]
        line = line[bracket.end() :]
    if any(not each.partner for each in current):
        raise ScriptError(f"{where}: say with whom first: with rfc linux kernel")
    for each in current:
        if each.partner in audience:
            _add(line.strip(), where, each)


def _add(line: str, where: str, to: Conversation) -> None:
    word, _, rest = line.partition(" ")
    if word == "tcp":
        to.tcp |= tomllib.loads(f"x = {{ {rest} }}")["x"]
    elif word == "note":
        to.note = f"{to.note} {rest}".strip()
    elif word == "fails":
        to.fails = "" if to.partner == "kernel" else rest
    elif word == "role":
        to.role, *others = rest.split()
        to.scripted, to.reads = "scripted" in others, "reads" in others
        to.rtt_ms = float(others[others.index("rtt") + 1]) if "rtt" in others else to.rtt_ms
        to.window = int(others[others.index("window") + 1]) if "window" in others else to.window
    elif found := _LINE.fullmatch(line):
        at = float(found[1])
        until = float(found[2] or found[1])
        # The kernel's timers of 256 ms and more are coarse.
        until += float(found[3] or 0) if to.partner == "kernel" else 0
        if at < to.newest_ms:
            raise ScriptError(f"{where}: {at:g} ms comes after {to.newest_ms:g} ms")
        to.newest_ms = at
        to.steps += _steps(at, until, found[4], found[5].strip(), where)
        # ACKs every so often go on while other lines are said.
        to.steps.sort(key=lambda step: step.at_ms)
    else:
        raise ScriptError(f"{where}: cannot read {line!r}")


def _steps(at: float, until: float, what: str, rest: str, where: str) -> list[Step]:
    words = _WORDS.split(rest) if rest else []
    if what in ("write", "read"):
        return [Step(at, until, what, {"bytes": int(rest)}, where)]
    if what in ("quiet", "rest", *ENDINGS):
        return [Step(at, until, what, {}, where)]
    if what == "=":
        return [Step(at, until, what, _state(rest, where), where)]
    if what == "<" and words[0] == "acks":
        return _acks(at, words, where)
    return [Step(at, until, what, _segment(words, where), where)]


def _acks(at: float, words: list[str], where: str) -> list[Step]:
    """``acks 1001..5001 [step 1000] [every 2]``: an ACK for each number."""
    options = dict(zip(words[2::2], words[3::2], strict=True))
    first, last = (int(number) for number in words[1].split(".."))
    step, every = int(options.pop("step", MSS)), float(options.pop("every", 0))
    if options:
        raise ScriptError(f"{where}: acks has step and every")
    return [
        Step(at + every * index, at + every * index, "<", _segment(["ack", str(number)], where), where)
        for index, number in enumerate(range(first, last + 1, step))
    ]


def _segment(words: list[str], where: str) -> dict[str, Any]:
    """``[FLAGS] [1:1001] [ack N] [sack A:B …] [win N] [echo N] [accecn EE0B N …] [again]`` and the like."""
    found: dict[str, Any] = {}
    flags: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.isupper():
            flags.append(word)
        elif word in ("ack", "win", "echo", "stamp"):
            found[word] = int(rest.pop(0))
        elif word == "ecn":
            found[word] = rest.pop(0)
        elif word == "sack":
            found[word] = []
            while rest and ":" in rest[0]:
                found[word].append([int(edge) for edge in rest.pop(0).split(":")])
        elif word == "accecn":
            found[word] = []
            while rest and rest[0] in ("EE0B", "ECEB", "EE1B"):
                found[word].append((rest.pop(0), int(rest.pop(0))))
        elif word == "again":
            found[word] = True
        elif ":" in word:
            found["data"] = [int(edge) for edge in word.split(":")]
        else:
            raise ScriptError(f"{where}: cannot read {word!r}")
    if flags:
        found["flags"] = flags
    return found


def _state(rest: str, where: str) -> dict[str, Any]:
    """``cwnd 10, ssthresh none, phase slow start, rto 240..250``."""
    found: dict[str, Any] = {}
    for part in rest.split(","):
        name, _, value = part.strip().partition(" ")
        if name in ("phase", "connection"):
            found[name] = value
        elif name in ("cwnd", "ssthresh", "rto", "srtt", "lost", "sacked", "retrans", "out", "delivered_ce"):
            low, _, high = value.partition("..")
            found[name] = None if value == "none" else [float(low), float(high or low)]
        else:
            raise ScriptError(f"{where}: a state has no {name!r}")
    return found
