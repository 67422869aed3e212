"""The rows of `docs/specification.md`: what a row says, the files and items that it names, its tests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "specification.md"
#: Columns that say where a rule stands.
_FILES = ("file", "here")
#: Columns that say which rule it is.
_RULES = (
    "section",
    "rule",
    "function of the kernel",
    "kernel function (Linux 6.18)",
    "what",
    "equation",
    "statement",
)

_FILE = re.compile(r"`([\w/.-]+\.(?:rs|py))`(?: \(([^)]*)\))?")


@dataclass(frozen=True)
class Row:
    """One row: its line, the rule, `files` with the items named beside each, the names of its tests."""

    line: int
    heading: str
    rule: str
    files: tuple[tuple[str, tuple[str, ...]], ...]
    items: tuple[str, ...]
    tests: tuple[str, ...]
    conversations: tuple[str, ...]

    def cited(self) -> list[tuple[str, str]]:
        """Return what the code may cite for this row: (document, section) or ("", function of the kernel)."""
        found: list[tuple[str, str]] = []
        heading = re.findall(r"RFC (\d+)", self.heading)
        document = heading[0] if len(heading) == 1 else ""
        for number, section in re.findall(r"(?:RFC )?(?<!\d)(\d{4})?[^§\d|]{0,3}§(\d+(?:\.\d+)*)", self.rule):
            document = number or document
            found.append((document, section))
        return found + [("", name) for name in re.findall(r"`(_*[a-z]+_\w+)`", self.rule)]


def rows() -> list[Row]:
    """Return the rows of all tables of the page."""
    found = []
    heading, columns = "", None
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("## "):
            heading = line[3:]
        if not line.startswith("|"):
            columns = None
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if columns is None:
            columns = cells
        elif not set(line) <= set("|-: "):
            found.append(_row(number, heading, dict(zip(columns, cells, strict=False))))
    return found


def _row(line: int, heading: str, cells: dict[str, str]) -> Row:
    rule = " ".join(cells[name] for name in _RULES if name in cells)
    where = next((cells[name] for name in _FILES if name in cells), "")
    tests, _, conversations = cells.get("test", "").partition("conversation")
    files = tuple((file, tuple(re.findall(r"`(\w+)`", items))) for file, items in _FILE.findall(where))
    bare = tuple(re.findall(r"`([\w.]+)`", _FILE.sub("", where)))
    names = tuple(name for name in re.findall(r"`([\w…]+)`", _FILE.sub("", tests)) if "_" in name)
    return Row(line, heading, rule, files, bare, names, tuple(_conversations(conversations)))


def _conversations(text: str) -> list[str]:
    _, _, names = text.partition(":")
    return [name.strip() for name in names.split(",") if name.strip()]
