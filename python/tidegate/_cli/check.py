"""The command ``check``."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import click

from tidegate._cli.begin import SCENARIO
from tidegate._cli.command import Command
from tidegate._cli.options import JSON, SET_ONLY, count, epilog, plain, say, say_json, warn

if TYPE_CHECKING:
    from tidegate.theory import Fit, Miss


#: With more flows and gates than this, copies counted, no theory is looked for unasked: theories describe a
#: few connections, and to read the plan of 100,000 flows takes gigabytes.
_THEORY = 20_000


@click.command(
    cls=Command,
    epilog=epilog(
        "check scenario.toml",
        "check scenario.toml --explain --set flow.bulk.tcp.cc=cubic",
        "check scenario.toml --theories",
        page="start",
    ),
)
@SCENARIO
@SET_ONLY
@click.option(
    "--explain", is_flag=True, help="Print every setting with its default, and what follows from it."
)
@click.option("--theories", is_flag=True, help="Print which theories describe it, and why others do not.")
@JSON
def check(file: Any, sets: tuple[str, ...], explain: bool, theories: bool, as_json: bool) -> None:
    """Check a scenario without running it."""
    from tidegate._ask.source import as_scenario
    from tidegate._ask.swept import sweep_warnings

    scenario = as_scenario(file, sets)
    # The check is of every value; what is explained is of one.
    warnings = [*scenario.warnings, *(sweep_warnings(scenario) if explain or theories else [])]
    file = file if isinstance(file, str) else scenario.title
    if as_json:
        result: dict[str, Any] = {
            "ok": True,
            "file": file,
            "title": scenario.title,
            "duration_s": scenario.duration_s,
            **({"until_done": True} if scenario.until_done else {}),
            "measured_from_s": scenario.warmup_s,
            "seed": scenario.seed,
            "runs": scenario.runs,
            "flows": scenario.flow_names,
            "gates": scenario.gate_names,
            "inputs": scenario.inputs,
            "warnings": warnings,
        }
        if explain:
            result["explain"] = scenario.explain()
        if explain or theories:
            from tidegate.theory._match import match

            few = theories or sum(scenario.counts) <= _THEORY
            result["theories"] = [_judged(each) for each in match(scenario)] if few else None
        say_json(result)
    elif explain or theories:
        from tidegate._compare.theory_text import theory_line
        from tidegate.theory._match import match

        if explain:
            say(_explained(plain(scenario.explain().rstrip("\n"))) + "\n")
        say("theory")
        things = sum(scenario.counts)
        answers = [_judged(each) for each in match(scenario)] if things <= _THEORY or theories else []
        shown = [each for each in answers if theories or each["applies"]]
        for each in shown:
            say(plain(theory_line(each)))
        if not shown:
            why = f"none of them is about {things:,} flows and gates" if things > _THEORY else ""
            say(f"  {why or 'none describes this scenario'} (--theories says why)")
    else:
        flows, gates = len(scenario.flow_names), len(scenario.gate_names)
        say(
            f"{file}: no problems ({count(flows, 'flow')}, {count(gates, 'gate')}, "
            f"{scenario.length_told}; --explain prints every default)"
        )
    warn(warnings)


def _explained(text: str) -> str:
    """Fit an explanation into a terminal; what reads it from a pipe gets whole lines."""
    if not sys.stdout.isatty():
        return text
    from tidegate._base.text import wrapped

    fitted = []
    for line in text.split("\n"):
        setting = re.match(r" +(?:=> |not used: |[\w.]+ +)?", line)
        fitted.append(wrapped(line, " " * min(len(setting[0]), 30)) if setting else line)
    return "\n".join(fitted)


def _judged(answer: Fit | Miss) -> dict[str, Any]:
    """Return whether a theory applies, for people and programs."""
    if not answer:
        return {"theory": answer.theory, "applies": False, "because": getattr(answer, "reason", None)}
    return {"theory": answer.theory, "applies": True, "unmet": list(getattr(answer, "unmet", ()))}
