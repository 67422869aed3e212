"""The report of an answer that is text: of ``identify``, ``size`` and ``tune``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tidegate import _core
from tidegate._page.render import sheet_page
from tidegate._page.sheet import Lines, Listing, Picture, Section, Sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def answer_page(
    title: str,
    text: str,
    numbers: str,
    command: Sequence[str],
    *,
    svg: str | None = None,
    texts: Mapping[str, str] | None = None,
    scenarios: Mapping[str, str] | None = None,
    warnings: Sequence[str] = (),
) -> str:
    """Return an answer as one page that loads nothing: its text, its picture, scenario and command.

    ``numbers``: the answer as JSON, for programs that read the page. ``texts``: sections behind the picture,
    by title. ``scenarios``: texts by what they are.
    """
    sections = [Section("results", "Results", [Lines(text)])]
    if svg is not None:
        sections.append(Section("picture", "Picture", [Picture(svg)]))
    sections += [
        Section(title.lower().replace(" ", "-"), title, [Lines(lines)])
        for title, lines in (texts or {}).items()
    ]
    again = [Listing("The command", shlex.join(command))]
    again += [Listing(name, scenario) for name, scenario in (scenarios or {}).items()]
    sections.append(Section("again", "Run it again", again))
    version = _core.build_info()["tidegate"]
    facts = f"tidegate {command[1]}" if len(command) > 1 else "tidegate"
    return sheet_page(Sheet(title, facts, sections, warnings, numbers, version=version))
