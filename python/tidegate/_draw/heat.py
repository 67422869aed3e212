"""Heat maps: a number over two keys whose values are numbers, a cell for each pair of values."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

import numpy as np

from tidegate._base.text import number
from tidegate._draw.drawing import Drawing
from tidegate._draw.letters import width as letters
from tidegate._draw.parts import Cells, Words
from tidegate._draw.tokens import ACCENT, INK, MID, fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._draw import drawing as canvas
    from tidegate._draw.cells import Axis, Panel

#: More cells have no number written into them.
_WRITTEN = 200
#: Inches.
_CELL, _CELL_HIGH, _LEFT, _TOP, _BOTTOM, _BAR, _GAP = 0.58, 0.36, 0.95, 0.62, 0.66, 0.95, 0.35
_MOST, _MOST_HIGH, _LEAST = 6.4, 4.6, 2.6
#: From little to much, also in black and white.
_COLOURS = ("#f3f6fa", "#9cc3e4", ACCENT, "#06243f")
#: Colours that the scale beside a map shows.
_SHADES = 64


def heat_drawing(
    title: str, notes: Sequence[str], x: Axis, y: Axis, panels: Sequence[Panel], *, shared: bool
) -> Drawing:
    """Draw maps side by side, with the number in each cell while there is room.

    ``shared``: all have one scale of colours, because they are of one number.
    """
    wide = min(max(_CELL * len(x.values), _LEAST), _MOST)
    high = min(max(_CELL_HIGH * len(y.values), _LEAST / 1.4), _MOST_HIGH)
    columns = min(len(panels), 2 if wide > _MOST / 2 else 3)
    rows = -(-len(panels) // columns)
    each = wide + _GAP + (0.0 if shared else _BAR)
    width = max(_LEFT + columns * each + (_BAR if shared else 0.1), 5.6)
    lines = textwrap.wrap("  ·  ".join(notes), int((width - 0.2) / 0.064)) or [""]
    titles = [textwrap.wrap(panel.title, int(wide * 15)) for panel in panels]
    named = max(len(each) for each in titles)
    top = _TOP - 0.2 + 0.17 * len(lines) + (0.1 + 0.15 * named if named else 0.0)
    height = top + rows * (high + 0.6) - 0.6 + _BOTTOM
    limits = _limits(panels)
    drawing = Drawing(width, height, title, dots=120)
    for place, shown in enumerate(panels):
        row, column = divmod(place, columns)
        left, low = _LEFT + column * each, height - top - row * (high + 0.6) - high
        panel = drawing.panel(left, low, wide, high)
        ends = limits if shared else _limits([shown])
        _cells(panel, x, y, shown, ends)
        panel.title, panel.title_size = "\n".join(titles[place]), 8
        panel.y.labelled = column == 0
        panel.x_label = "\n".join(textwrap.wrap(x.label(), int(wide * 13))) if row == rows - 1 else ""
        panel.y_label = "\n".join(textwrap.wrap(y.label(), int(high * 14))) if column == 0 else ""
        if not shared or place == 0:
            at = left + wide + 0.12 if not shared else _LEFT + columns * each - _GAP + 0.12
            _scale(
                drawing.panel(at, low, 0.14, high),
                ends,
                "\n".join(textwrap.wrap(shown.label, int(high * 14))),
            )
    drawing.words += [
        Words(0.1, height - 0.1, fit(title, int(width * 10.4)), 11.5, INK, up="top", bold=True),
        Words(0.1, height - 0.36, "\n".join(lines), 8.2, MID, up="top", spacing=1.35),
    ]
    return drawing


def _limits(panels: Sequence[Panel]) -> tuple[float, float]:
    found = [value for panel in panels for value in panel.values.values() if value is not None]
    low, high = (min(found), max(found)) if found else (0.0, 1.0)
    # From 0 unless all numbers lie far above it, as with lines.
    low = 0.0 if 0 <= low < 0.45 * high else low
    return low, high if high > low else low + 1.0


def _scale(panel: canvas.Panel, ends: tuple[float, float], label: str) -> None:
    """Draw which colour stands for which number."""
    low, high = ends
    shades = np.linspace(low, high, _SHADES).reshape(-1, 1)
    panel.marks.append(Cells(shades, low, high, _COLOURS))
    panel.right, panel.floor = True, False
    panel.x.named = []
    panel.x.span(-0.5, 0.5)
    panel.y.span(low, high)
    # Ticks stand at their numbers, which the shades have at their places.
    panel.y.named = [((value - low) / (high - low) * _SHADES - 0.5, word) for value, word in panel.y.ticks()]
    panel.y.span(-0.5, _SHADES - 0.5)
    panel.y.grid = False
    panel.y_label = label


def _cells(panel: canvas.Panel, x: Axis, y: Axis, shown: Panel, ends: tuple[float, float]) -> None:
    table = np.array([[_at(shown, a, b) for a in x.values] for b in y.values], dtype=float)
    low, high = ends
    panel.marks.append(Cells(table, low, high, _COLOURS))
    panel.ticked = panel.x.grid = panel.y.grid = False
    panel.x.span(-0.5, len(x.values) - 0.5)
    panel.y.span(-0.5, len(y.values) - 0.5)
    panel.y.named = list(enumerate(y.ticks()))
    # Words that would lie on each other are left out.
    room = panel.width / len(x.values)
    widest = max(letters(word, panel.x.size) for word in x.ticks()) / 72 + 0.08
    apart = max(1, math.ceil(widest / room))
    panel.x.named = [(place, word) for place, word in enumerate(x.ticks()) if place % apart == 0]
    written = table.size <= _WRITTEN and room > 0.42
    for (row, column), value in np.ndenumerate(table):
        if np.isnan(value):
            panel.write(Words(column, row, "–", 7.5, MID, "center", at_values=True))
        elif written:
            colour = "#ffffff" if (value - low) / (high - low) > 0.5 else INK
            panel.write(Words(column, row, number(value), 7.5, colour, "center", at_values=True))


def _at(panel: Panel, x: str, y: str) -> float:
    found = panel.values.get((x, y))
    return float("nan") if found is None else found
