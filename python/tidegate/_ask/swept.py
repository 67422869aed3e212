"""Where the keys of ``[[sweep]]`` stand in a file, and what is wrong with one, said with its line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._ask.changes import changed, spelled_key
from tidegate.errors import ScenarioError

if TYPE_CHECKING:
    from tidegate._ask.scenario import Scenario

_AXIS = re.compile(r"\s*\[\[\s*sweep\s*\]\]")
#: A table that is no part of an axis.
_OTHER = re.compile(r"\s*\[\[?\s*(?!sweep\s*\.)[\w\"']")


def place(scenario: Scenario, axis: int, key: str) -> tuple[str, int | None]:
    """Return the file of an axis, and the line of a key in it; None where a line cannot be told.

    Of a key that is there twice it is the last line.
    """
    moved = any(each.split(".")[0] == "sweep" for each in changed(scenario._sets))
    lines = [] if moved else _text(scenario).splitlines()
    begins = [number for number, line in enumerate(lines) if _AXIS.match(line)]
    if axis >= len(begins):
        return scenario.name, None
    found = begins[axis]
    for number in range(found + 1, len(lines)):
        if _OTHER.match(lines[number]):
            break
        written = spelled_key(lines[number].partition("=")[0])
        if key == written or key.endswith(f".{written}"):
            found = number
    return scenario.name, found + 1


def told(where: tuple[str, int | None]) -> str:
    """Return a place as messages name it."""
    name, line = where
    return name if line is None else f"{name}, line {line}"


def wrong(where: tuple[str, int | None], key: str, read: str, problem: str, remedy: str) -> ScenarioError:
    """Return the error that says what is wrong with a key."""
    error = ScenarioError(f"{told(where)}: {key}: {problem}; {remedy}")
    error.file, error.line = where
    error.key, error.read, error.problem, error.help = key, read, problem, remedy
    return error


def _text(scenario: Scenario) -> str:
    if scenario._text is not None:
        return scenario._text
    try:
        return Path(scenario.name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
