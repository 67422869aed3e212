"""The smallest conversation that still differs in the same way, and how it is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance import beside, ours
from conformance.script import ACTS, WINDOW, Conversation, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance import live
    from conformance.judge import Said

#: Rounds of trying at most; each takes about a second.
ROUNDS = 60


def possible(talk: Conversation) -> bool:
    """Whether nothing is acknowledged before it was sent."""
    held = ours.Talk(replace(talk, partner="linux"))
    held.shake_hands()
    newest = 1
    for step in talk.steps:
        if step.what not in ("<", *ACTS):
            continue
        held.hear(max(held.now_ms, step.at_ms - 0.001))
        newest = max([newest, *(said.end for said in held.record.said)])
        edges = [step.of.get("ack", 0), *(edge for block in step.of.get("sack", []) for edge in block)]
        if step.what == "<" and max(edges) > newest:
            return False
        held.now_ms = step.at_ms
        if step.what in ACTS:
            held.act(step.at_ms, step)
        else:
            held.say(step.at_ms, step)
        held.hear(step.at_ms)
    return True


def smallest(programs: live.Programs, held: beside.Held, *, at_once: int = 12) -> beside.Held:
    """Leave out what is not needed, as long as kernel and endpoint differ in the same way."""
    assert held.difference is not None
    way = held.difference.way()
    best = held
    seen: set[str] = set()
    for _ in range(ROUNDS):
        tries = []
        for talk in _smaller(best):
            if len(tries) < at_once and (text := str(talk)) not in seen:
                seen.add(text)
                if possible(talk):
                    tries.append(talk)
        if not tries:
            break
        fit = [each for each in beside.hold(programs, tries) if _same(each, way)]
        # What differs once may be by chance.
        twice = beside.hold(programs, [each.talk for each in fit[:3]]) if fit else []
        best = next((each for each in twice if _same(each, way)), best)
    return best


def _same(held: beside.Held | str, way: tuple[str, ...]) -> bool:
    return not isinstance(held, str) and held.difference is not None and held.difference.way() == way


def _smaller(held: beside.Held) -> Iterator[Conversation]:
    """Each conversation that is a little less, the least first."""
    talk, difference = held.talk, held.difference
    assert difference is not None
    lines = beside.said_lines(talk)
    if len(lines) > difference.after:
        yield _of(talk, lines[: difference.after])
    lines = lines[: difference.after]
    size = max(1, len(lines) // 2)
    while size:
        for start in range(0, len(lines), size):
            yield _of(talk, lines[:start] + lines[start + size :])
        size //= 2
    for key in talk.tcp:
        yield replace(_of(talk, lines), tcp={name: value for name, value in talk.tcp.items() if name != key})
    if talk.rtt_ms != 40:
        yield replace(_of(talk, lines), rtt_ms=40.0)
    for index, step in enumerate(lines):
        for of in _simpler(step.of):
            yield _of(talk, [*lines[:index], replace(step, of=of), *lines[index + 1 :]])
    for grain in (20, 10, 4, 1):
        rounded = [replace(step, at_ms=round(step.at_ms / grain) * grain) for step in lines]
        if [step.at_ms for step in rounded] != [step.at_ms for step in lines]:
            yield _of(talk, rounded)


def _simpler(of: dict[str, Any]) -> Iterator[dict[str, Any]]:
    blocks = of.get("sack", [])
    for index in range(len(blocks)):
        rest = blocks[:index] + blocks[index + 1 :]
        yield {name: value for name, value in of.items() if name != "sack"} | ({"sack": rest} if rest else {})
    for name in ("win", "flags", "echo"):
        if name in of:
            yield {key: value for key, value in of.items() if key != name}
    if of.get("bytes", 0) > 1000:
        yield of | {"bytes": of["bytes"] // 2000 * 1000 or 1000}
        yield of | {"bytes": max(1000, (of["bytes"] - 1000) // 1000 * 1000)}


def _of(talk: Conversation, lines: list[Step]) -> Conversation:
    lines = [replace(step, until_ms=step.at_ms) for step in lines]
    # Time for a timer.
    last = lines[-1].at_ms if lines else 0.0
    end = max(last, min(talk.end_ms, last + 400))
    return replace(talk, steps=[*lines, Step(end, end, "quiet", {}, "")], newest_ms=end)


def written(held: beside.Held) -> str:
    """Return a conversation as ``conversations`` has them, with what kernel and endpoint say."""
    talk, difference = held.talk, held.difference
    lines = [f"== {talk.title}", "with linux kernel"]
    if talk.tcp:
        lines.append("tcp " + ", ".join(f"{key}={_toml(value)}" for key, value in talk.tcp.items()))
    role = f"role {talk.role}" + (f" rtt {talk.rtt_ms:g}" if talk.rtt_ms != 40 else "")
    role += " reads" if talk.reads else ""
    role += f" window {talk.window}" if talk.window != WINDOW else ""
    lines += [role] if role != "role active" else []
    last = difference.after if difference else len(held.kernel.times_ms)
    kernel, mine = (_by_line(record.said, record.afters) for record in (held.kernel, held.ours))
    said = beside.said_lines(talk)
    for after in range(last + 1):
        if after:
            lines.append(_line(said[after - 1]))
        both = [
            (prompt, kernel.get((after, prompt), []), mine.get((after, prompt), []))
            for prompt in (True, False)
        ]
        for prompt, theirs, ours_ in both:
            if after < last or [beside.plain(each) for each in theirs] == [
                beside.plain(each) for each in ours_
            ]:
                lines += _answers(theirs, said[after - 1] if prompt and after else None, "")
            else:
                lines += _answers(theirs, said[after - 1] if prompt and after else None, "[kernel] ")
                lines += _answers(ours_, said[after - 1] if prompt and after else None, "[ours] ")
    if difference:
        lines.append(f"# {difference}")
        for who, record in (("kernel", held.kernel), ("ours", held.ours)):
            if 0 < difference.after <= len(record.states):
                lines.append(f"#   {who}: {_words(record.states[difference.after - 1])}")
    return "\n".join(lines) + "\n"


def _words(state: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
                     for name, value in state.items())  # fmt: skip


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'


def _by_line(said: list[Said], afters: list[tuple[int, bool]]) -> dict[tuple[int, bool], list[Said]]:
    found: dict[tuple[int, bool], list[Said]] = {}
    for each, key in zip(said, afters, strict=True):
        found.setdefault(key, []).append(each)
    return found


def _line(step: Step) -> str:
    of = step.of
    if step.what in ("write", "read"):
        return f"{step.at_ms:g} {step.what} {of['bytes']}"
    if step.what in ACTS:
        return f"{step.at_ms:g} {step.what}"
    parts = [*of.get("flags", [])]
    parts += [f"{of['data'][0]}:{of['data'][1]}"] if "data" in of else []
    parts += [f"ack {of['ack']}"] if "ack" in of else []
    parts += ["sack", *(f"{left}:{right}" for left, right in of["sack"])] if "sack" in of else []
    parts += [f"{name} {of[name]}" for name in ("win", "echo") if name in of]
    return f"{step.at_ms:g} < " + " ".join(parts)


def _answers(said: list[Said], step: Step | None, audience: str) -> list[str]:
    """Write what was sent, neighbours in one line."""
    found: list[tuple[float, list[str], int, int, Said]] = []
    for each in said:
        flags = [flag for flag in each.flags if flag not in ("ACK", "PSH")]
        at = step.at_ms if step else round(each.at_ms)
        if (
            found
            and each.payload
            and not {"FIN", "RST"} & set(each.flags)
            and found[-1][3] == each.seq
            and found[-1][:2] == (at, flags)
            and found[-1][2] != found[-1][3]
        ):
            found[-1] = (at, flags, found[-1][2], each.seq + each.payload, each)
        else:
            found.append((at, flags, each.seq, each.seq + each.payload, each))
    lines = []
    for at, flags, start, end, each in found:
        parts = [
            *flags,
            *([f"{start}:{end}"] if end > start or {"FIN", "RST"} & set(flags) else [f"ack {each.ack}"]),
        ]
        parts += ["sack", *(f"{left}:{right}" for left, right in each.sack)] if each.sack else []
        lines.append(f"{audience}{at:g} > " + " ".join(parts))
    return lines
