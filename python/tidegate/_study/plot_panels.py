"""Small multiples of a study: panels in rows, words above, a legend beside them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from tidegate._draw.drawing import Drawing
from tidegate._draw.parts import Legend, Line, Points, Words
from tidegate._draw.tokens import INK, LINES, MID, fit
from tidegate._run.words import value_words
from tidegate._study.layout import key_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidegate._draw.drawing import Panel
    from tidegate._draw.parts import Dash, Entry
    from tidegate._draw.tokens import Shape
    from tidegate._study.layout import Keys, Layout
    from tidegate._study.numbers import StudyNumbers
    from tidegate._study.points import Point

    #: A curve: its values of the keys that make curves, and its points.
    Curves = dict[tuple[str, ...], list[Point]]
    #: Draws a panel's curves, and returns what the legend shows of each; equal curves have one and the same.
    Draw = Callable[[Panel, Curves], dict[tuple[str, ...], Entry]]

#: Inches.
_ONE, _SMALL = (4.9, 3.1), (2.9, 2.25)
_LEFT, _TOP, _BOTTOM, _GAP_X, _GAP_Y = 0.72, 0.76, 0.62, 0.34, 0.52
_LETTER = 0.066


def style_of(layout: Layout, line: tuple[str, ...]) -> tuple[str, Dash, Shape]:
    """Return (colour, dashes, mark) of a curve: the same in every panel."""
    known = list(dict.fromkeys(tuple(p.values[key] for key in layout.lines) for p in layout.points))
    return LINES[known.index(line) % len(LINES)]


def panels_drawing(
    study: StudyNumbers, layout: Layout, draw: Draw, x: str, y: str, notes: Sequence[str]
) -> Drawing:
    """Draw every panel, with the legend outside; ``x`` and ``y`` are the axes' labels."""
    panels = layout.grouped()
    columns = 2 if len(panels) == 4 else min(len(panels), 4 if len(panels) > 6 else 3)
    rows = -(-len(panels) // columns)
    wide, high = _ONE if len(panels) == 1 else _SMALL
    words = _curve_words(layout)
    beside = _LETTER * max([len(_legend_title(layout.lines)), *map(len, words.values())]) + 0.75
    beside = min(beside, 3.6) if len(words) > 1 else 0.15
    width = max(_LEFT + columns * wide + (columns - 1) * _GAP_X + beside, 5.6)
    note_lines = _wrapped(notes, width)
    top = _TOP + 0.15 * (len(note_lines) - 1) + (0.2 if layout.panels else 0.0)
    height = top + rows * high + (rows - 1) * _GAP_Y + _BOTTOM
    drawing = Drawing(width, height, study.title, dots=160)
    entries: dict[tuple[str, ...], Entry] = {}
    for place, (values, curves) in enumerate(panels.items()):
        row, column = divmod(place, columns)
        low = height - top - (row + 1) * high - row * _GAP_Y
        panel = drawing.panel(_LEFT + column * (wide + _GAP_X), low, wide, high)
        panel.x.most = panel.y.most = 6
        if layout.panels:
            panel.title, panel.title_size = fit(key_values(layout.panels, values), 46), 8
        entries |= draw(panel, curves)
        panel.x.labelled = place + columns >= len(panels)
        panel.y.labelled = column == 0
        if panel.x.labelled and len(x) <= wide * 15:
            panel.x_label = x
        if column == 0:
            panel.y_label = "\n".join(textwrap.wrap(y, int(high * 16)))
    if len(x) > wide * 15:
        middle = _LEFT + (columns * wide + (columns - 1) * _GAP_X) / 2
        label = "\n".join(textwrap.wrap(x, int(width * 13)))
        drawing.words.append(Words(middle, 0.08, label, across="center", up="bottom"))
    if len(words) > 1:
        drawing.legend = _legend(layout, entries, words, width - beside + 0.1, height - top)
    drawing.words += [
        Words(0.1, height - 0.1, fit(study.title, int(width * 10.4)), 11.5, INK, up="top", bold=True),
        Words(0.1, height - 0.36, "\n".join(note_lines), 8.2, MID, up="top", spacing=1.35),
    ]
    return drawing


def reach_of_x(drawing: Drawing) -> None:
    """Give all panels one scale of x, on which everything that is drawn has room."""
    drawn = [mark.x for panel in drawing.panels for mark in panel.marks if isinstance(mark, Line | Points)]
    every = np.concatenate(drawn or [np.zeros(0)])
    every = every[~np.isnan(every)]
    low, high = (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)
    room = 0.05 * (high - low) or 0.05 * abs(high) or 0.5
    for panel in drawing.panels:
        panel.x.span(low - room, high + room)


def _curve_words(layout: Layout) -> dict[tuple[str, ...], str]:
    lines = dict.fromkeys(tuple(p.values[key] for key in layout.lines) for p in layout.points)
    if len(layout.lines) == 1:
        return {line: value_words(line[0], 48) for line in lines}
    return {line: key_values(layout.lines, line) for line in lines}


def _legend_title(keys: Keys) -> str:
    from tidegate._run.words import key_words

    return key_words(keys[0]) if len(keys) == 1 else ""


def _legend(
    layout: Layout, entries: dict[tuple[str, ...], Entry], words: dict[tuple[str, ...], str],
    left: float, top: float,
) -> Legend:  # fmt: skip
    """Return the legend right of the panels; curves that are one drawn line are one entry."""
    found: dict[int, tuple[Entry, list[str]]] = {}
    for line, entry in entries.items():
        found.setdefault(id(entry), (entry, []))[1].append(words[line])
    named = [(entry, fit(_same(names), 48)) for entry, names in found.values()]
    return Legend(left, top, _legend_title(layout.lines), named)


def _same(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{' = '.join(names)} (equal)"


def _wrapped(notes: Sequence[str], width: float) -> list[str]:
    return textwrap.wrap("  ·  ".join(notes), int((width - 0.2) / 0.064)) or [""]
