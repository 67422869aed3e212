"""Colours of pictures, greys and one accent, and how names are cut; without any library that draws."""

from __future__ import annotations

INK = "#1a1a1a"
MID = "#707070"
SOFT = "#b4b4b4"
FILL = "#e4e4e4"
ACCENT = "#0b5fa5"
#: Lines of the grid.
GRID = "#ececec"

#: Flows drawn one by one; more become a median and a band.
SINGLE = 4
#: (colour, dashes) of the flows drawn one by one; told apart without colour, too.
FLOW_STYLES: tuple[tuple[str, tuple[float, ...]], ...] = (
    (ACCENT, ()),
    (INK, (5, 1.6)),
    (MID, ()),
    (INK, (1, 1.2)),
)


def fit(text: str, limit: int) -> str:
    """Return the text, cut to so many letters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
