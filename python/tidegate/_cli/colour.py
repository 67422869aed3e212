"""Colour in a terminal: messages as compilers have them, verdicts; never in a file, nor with NO_COLOR."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

_RED, _YELLOW, _GREEN, _CYAN, _BOLD = "31;1", "33;1", "32", "36", "1"
#: What is coloured in a message, line by line: the pattern's first group.
_PARTS = (
    (re.compile(r"^(error(?:\[[^]]*\])?:)"), _RED),
    (re.compile(r"^(warning:)"), _YELLOW),
    (re.compile(r"^(\s*-->)"), _CYAN),
    (re.compile(r"^(\s*\d* \|)"), _CYAN),
    (re.compile(r"^(\s*= help:)"), _CYAN),
)
_CARETS = re.compile(r"(\^+|-{2,}(?!>))")

#: Verdicts of `check-run`, `regress`, `compare --engines`, `size`, `tune` and `reproduce`.
_VERDICTS = {
    **dict.fromkeys(("holds", "agree", "met", "reproduced"), _GREEN),
    **dict.fromkeys(("undecided", "open", "partly"), _YELLOW),
    **dict.fromkeys(("fails", "differ", "missed", "not met", "not reproduced"), _RED),
}
_ONE = "|".join(sorted(_VERDICTS, key=len, reverse=True))
#: Where verdicts stand: at the beginning of a line before a column, at the end of one behind a column or a
#: colon. Prose between is left alone.
_PLACES = (re.compile(rf"^(\s*)({_ONE})(?=  )", re.M), re.compile(rf"(  |: )({_ONE})$", re.M))


def wanted(stream: TextIO | None = None) -> bool:
    """Tell whether a stream, or standard error, is a terminal that shows colour (https://no-color.org)."""
    asked = stream or sys.stderr
    return asked.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def coloured(message: str) -> str:
    """Return a message with its words, places and marks in colour."""
    return "\n".join(_line(line) for line in message.split("\n"))


def with_verdicts(text: str) -> str:
    """Return a report with its verdicts in colour; the words stay, so nothing is said by colour alone."""
    for place in _PLACES:
        text = place.sub(lambda found: found[1] + _in(found[2], _VERDICTS[found[2]]), text)
    return text


def _line(line: str) -> str:
    for pattern, colour in _PARTS:
        found = pattern.match(line)
        if found is None:
            continue
        begin, rest = found[1], line[found.end() :]
        if colour in (_RED, _YELLOW):
            rest = _in(rest, _BOLD)
        elif begin.strip() == "|":
            rest = _CARETS.sub(lambda marks: _in(marks[1], _RED), rest)
        return _in(begin, colour) + rest
    return line


def _in(text: str, colour: str) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if text else ""
