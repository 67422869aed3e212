"""What a report shows, part by part; the template says how it looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tidegate._base.text import TextTable


@dataclass(frozen=True)
class Grid:
    """A table: a head whose cells may have a unit, rows, and a line below."""

    kind: ClassVar[str] = "grid"
    table: TextTable

    @property
    def head(self) -> list[tuple[str, str]]:
        """Each column's name and unit."""
        lines = [*self.table.head, [""] * len(self.table.head[0])]
        return list(zip(lines[0], lines[1], strict=True))


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    kind: ClassVar[str] = "paragraph"
    text: str


@dataclass(frozen=True)
class Picture:
    """A picture as SVG, and what it shows in words."""

    kind: ClassVar[str] = "picture"
    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Image:
    """A picture as PNG in base64: smaller than SVG where there are many lines."""

    kind: ClassVar[str] = "image"
    data: str


@dataclass(frozen=True)
class Shares:
    """One bar for each row, parted by what it was spent on: (name, [(what, share from 0 to 1)], in words)."""

    kind: ClassVar[str] = "shares"
    rows: Sequence[tuple[str, Sequence[tuple[str, float]], str]]

    @property
    def whats(self) -> list[str]:
        """What there is to spend on, the largest in all rows together first."""
        sums: dict[str, float] = {}
        for _, parts, _ in self.rows:
            for what, share in parts:
                sums[what] = sums.get(what, 0.0) + share
        return sorted(sums, key=lambda what: -sums[what])


@dataclass(frozen=True)
class Listing:
    """Text as it stands in a file, folded away."""

    kind: ClassVar[str] = "listing"
    title: str
    text: str


@dataclass(frozen=True)
class Stage:
    """Where scripts draw: ``board`` over time, ``cloud`` one number against another."""

    kind: ClassVar[str] = "stage"
    id: str


@dataclass(frozen=True)
class Lines:
    """Text whose lines and columns stand as in a terminal."""

    kind: ClassVar[str] = "lines"
    text: str


Item = Grid | Lines | Paragraph | Picture | Image | Shares | Listing | Stage


@dataclass(frozen=True)
class Section:
    """A part of a page that can be linked to by its id."""

    id: str
    title: str
    items: Sequence[Item]
    #: Closed until it is asked for.
    folded: bool = False

    @property
    def scripted(self) -> bool:
        """Whether scripts alone draw what it shows, so that on paper there is nothing."""
        return any(item.kind == "stage" for item in self.items) and all(
            item.kind in ("stage", "paragraph") for item in self.items
        )


@dataclass(frozen=True)
class Sheet:
    """A whole report."""

    title: str
    facts: str
    sections: Sequence[Section]
    warnings: Sequence[str] = ()
    #: The numbers as JSON, for programs that read the page.
    json: str = ""
    #: What the scripts draw, as :mod:`tidegate._page.view` says it.
    series: str = ""
    points: str = ""
    version: str = field(default="")


def items_of(lines: Sequence[str]) -> list[Item]:
    """Return tables and paragraphs of a report's lines, which have blank ones between them."""
    items: list[Item] = []
    paragraph: list[str] = []

    def end() -> None:
        if paragraph:
            items.append(Paragraph(" ".join(paragraph)))
            paragraph.clear()

    for line in lines:
        if isinstance(line, TextTable):
            end()
            items.append(Grid(line))
        elif line:
            paragraph.append(line.strip())
        else:
            end()
    end()
    return items
