"""Checks the links of the built site: every file and every heading that a page of ours names is there."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from pathlib import Path

#: Folders whose pages other programs wrote; links into them are checked, links in them are not.
FOREIGN = ("rust", "reports")
#: Of its page an address has a scenario behind #, and no heading.
LABORATORY = "laboratory"


class _Page(HTMLParser):
    """The names and the links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of what has a name and of what names a file."""
        for key, value in attrs:
            if value and (key == "id" or (key == "name" and tag == "a")):
                self.names.add(value)
            elif value and key in ("href", "src"):
                self.links.append(value)


@cache
def _read(file: Path) -> _Page:
    page = _Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def problems(built: Path) -> list[str]:
    """Return a line for each link that leads nowhere."""
    found = []
    for file in sorted(built.rglob("*.html")):
        shown = file.relative_to(built)
        if shown.parts[0] in FOREIGN:
            continue
        for link in dict.fromkeys(_read(file).links):
            if re.match(r"[a-z]+:|//", link):
                continue
            place, _, heading = link.partition("#")
            target = (file.parent / unquote(place.partition("?")[0])).resolve() if place else file
            if not target.is_file():
                found.append(f"{shown}: {link}: there is no such file")
            elif target.parent == built / LABORATORY:
                if not re.match(r"(x=[\w-]+|e=[\w-]+)?$", heading):
                    found.append(f"{shown}: {link}: the laboratory has no such scenario")
            elif heading and target.suffix == ".html" and unquote(heading) not in _read(target).names:
                found.append(f"{shown}: {link}: there is no such heading")
    return found
