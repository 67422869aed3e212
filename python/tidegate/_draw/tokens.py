"""Colours of pictures, greys and one accent, and how names are cut; without any library that draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Marks; the last three have no inside.
Shape = Literal[
    "circle", "square", "up", "diamond", "down", "ex", "plus", "star", "cross", "upright", "level"
]

INK = "#1a1a1a"
MID = "#707070"
SOFT = "#b4b4b4"
FILL = "#e4e4e4"
ACCENT = "#0b5fa5"
#: Lines of the grid.
GRID = "#ececec"

#: (colour, dashes, mark) of curves: told apart without colour, too.
LINES: tuple[tuple[str, tuple[float, ...], Shape], ...] = (
    (ACCENT, (), "circle"),
    (INK, (5, 1.6), "square"),
    (MID, (), "up"),
    (INK, (1, 1.2), "diamond"),
    (ACCENT, (5, 1.6), "down"),
    (MID, (1, 1.2), "ex"),
    (SOFT, (), "plus"),
    (SOFT, (5, 1.6), "star"),
)

#: Flows drawn one by one; more become a median and a band.
SINGLE = 4
#: (colour, dashes) of the flows drawn one by one; told apart without colour, too.
FLOW_STYLES: tuple[tuple[str, tuple[float, ...]], ...] = (
    (ACCENT, ()),
    (INK, (5, 1.6)),
    (MID, ()),
    (INK, (1, 1.2)),
)


def between(colours: Sequence[str], share: float) -> str:
    """Return the colour at a share, from 0 to 1, of the way through some colours."""
    way = min(max(share, 0.0), 1.0) * (len(colours) - 1)
    first = min(int(way), len(colours) - 2)
    ends = [[int(each[at : at + 2], 16) for at in (1, 3, 5)] for each in colours[first : first + 2]]
    return "#" + "".join(f"{round(a + (b - a) * (way - first)):02x}" for a, b in zip(*ends, strict=True))


def fit(text: str, limit: int) -> str:
    """Return the text on one line, cut to so many letters."""
    text = " ".join(part.strip() for part in text.replace("\t", "\n").splitlines())
    return text if len(text) <= limit else text[: limit - 1] + "…"
