"""What stands above a shell behind the gates, and the tag in its prompt."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._ask.plan import RATE_WORDS, plan_of
from tidegate._base import text

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Gate, Plan
    from tidegate._ask.scenario import Scenario

#: Addresses of the two ends: that of the flow's sender, and that of its receiver.
SENDER, RECEIVER = "10.77.0.1", "10.77.0.2"


def banner(scenario: Scenario, *, peer: str | None, uploads: bool, nat: bool, root: bool) -> str:
    """Return four lines: which link, which addresses, what to try, how to leave."""
    plan = plan_of(scenario)
    here, there = (SENDER, RECEIVER) if uploads else (RECEIVER, SENDER)
    path, back = _way(plan, "path"), _way(plan, "back")
    incoming, outgoing = (back, path) if uploads else (path, back)
    if peer is not None:
        other = f'{there} is the peer, "{peer}"'
    elif root:
        other = f"{there} is this machine"
    else:
        other = f"{there} is an empty network (without root there is no way to this machine)"
    world = (
        "; other hosts are reached through this machine"
        if nat
        else ""
        if peer is not None or not root
        else "; no other host can be reached (--nat connects this machine's network)"
    )
    rows = [
        ("incoming", incoming),
        ("outgoing", outgoing),
        ("addresses", f"{here} is this shell, {other}{world}"),
        ("try", f"ping -c 3 {there}" + (", curl -o /dev/null https://www.example.org/" if nat else "")),
        ("leave", "exit, or Ctrl-D; then follows what passed the gates"),
    ]
    title = f"tidegate live shell: {scenario.title or scenario.name}"
    return "\n".join([title, *(text.wrapped(f"  {name:<10} {words}", " " * 13) for name, words in rows)])


def _way(plan: Plan, way: str) -> str:
    """Return the gates of the first flow's path, or of its way back."""
    flow = plan["flows"][0]
    gates = [plan["gates"][number] for number in (flow["path"] if way == "path" else flow["back"])]
    words = [_gate(gate) for gate in gates]
    if way == "back" and flow["back_delay_ps"]:
        words.append(f"a delay of {flow['back_delay_ps'] / 1e9:g} ms")
    return ", then ".join(words) or "nothing in between"


def _gate(gate: Gate) -> str:
    rate = gate["rate"]
    facts = [text.rate(rate["bps"]) if "bps" in rate else f"rate: {RATE_WORDS[rate['kind']]}"]
    limit = gate["queue_limit"]
    if limit is not None:
        facts.append(f"queue {limit['count']} {limit['unit']}")
    if gate["discipline"] != "drop-tail":
        facts.append(gate["discipline"])
    if gate["delay_ps"]:
        facts.append(f"delay {gate['delay_ps'] / 1e9:g} ms")
    if gate["loses"]:
        facts.append("random loss")
    return f"gate {gate['name']} ({', '.join(facts)})"


def with_tag(shell: str, tag: str, folder: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command that starts a shell whose prompt begins with a tag, and what its environment needs.

    The user's own settings are read first. ``folder`` takes the files that this needs, as long as the
    shell runs. A shell that is not known starts as it is.
    """
    name = Path(shell).name
    variables = {"TIDEGATE_SHELL": tag}
    if name == "bash":
        file = folder / "bashrc"
        # With --rcfile bash reads no ~/.bashrc by itself (bash(1), INVOCATION).
        file.write_text(f"[ -r ~/.bashrc ] && . ~/.bashrc\nPS1={shlex.quote(f'[{tag}] ')}$PS1\n", "utf-8")
        return [shell, "--rcfile", str(file)], variables
    if name == "zsh":
        # zsh looks for its settings in ZDOTDIR, else in HOME (zsh(1), STARTUP/SHUTDOWN FILES).
        for part in (".zshenv", ".zshrc"):
            read = (
                f'[ -r "${{TIDEGATE_ZDOTDIR:-$HOME}}/{part}" ] && . "${{TIDEGATE_ZDOTDIR:-$HOME}}/{part}"\n'
            )
            (folder / part).write_text(read, "utf-8")
        with (folder / ".zshrc").open("a", encoding="utf-8") as file_:
            file_.write('ZDOTDIR="${TIDEGATE_ZDOTDIR:-$HOME}"\n')
            file_.write(f"PROMPT={shlex.quote(f'[{tag}] '.replace('%', '%%'))}$PROMPT\n")
        own = {"TIDEGATE_ZDOTDIR": os.environ["ZDOTDIR"]} if os.environ.get("ZDOTDIR") else {}
        return [shell], {**variables, **own, "ZDOTDIR": str(folder)}
    if name == "fish":
        begin = (
            "functions --copy fish_prompt tidegate_own_prompt; "
            f"function fish_prompt; echo -n {shlex.quote(f'[{tag}] ')}; tidegate_own_prompt; end"
        )
        return [shell, "--init-command", begin], variables
    # POSIX shells take the prompt of their environment (POSIX.1-2017, sh, PS1).
    return [shell], {**variables, "PS1": f"[{tag}] $ "}
