"""Small multiples of a study: panels in rows, words above, a legend beside them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from tidegate._draw.figure import Figure
from tidegate._draw.style import LINES, STYLE
from tidegate._draw.tokens import INK, MID, fit
from tidegate._run.words import value_words
from tidegate._study.layout import told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from tidegate._study.layout import Keys, Layout
    from tidegate._study.numbers import StudyNumbers
    from tidegate._study.point import Point

    #: A curve: its values of the keys that make curves, and its points.
    Curves = dict[tuple[str, ...], list[Point]]
    #: Draws a panel's curves into its axes, and returns what the legend shows of each.
    Draw = Callable[[Axes, Curves], dict[tuple[str, ...], Artist]]

#: Inches.
_ONE, _SMALL = (4.9, 3.1), (2.9, 2.25)
_LEFT, _TOP, _BOTTOM, _GAP_X, _GAP_Y = 0.72, 0.76, 0.62, 0.34, 0.52
_LETTER = 0.066


def style_of(layout: Layout, line: tuple[str, ...]) -> tuple[str, Any, str]:
    """Return (colour, line, marker) of a curve: the same in every panel."""
    known = list(dict.fromkeys(tuple(p.values[key] for key in layout.lines) for p in layout.points))
    return LINES[known.index(line) % len(LINES)]


def panels_figure(
    study: StudyNumbers, layout: Layout, draw: Draw, x: str, y: str, notes: Sequence[str]
) -> Figure:
    """Draw every panel on the same scales, with the legend outside; ``x`` and ``y`` are the axes' labels."""
    panels = layout.grouped()
    columns = 2 if len(panels) == 4 else min(len(panels), 4 if len(panels) > 6 else 3)
    rows = -(-len(panels) // columns)
    wide, high = _ONE if len(panels) == 1 else _SMALL
    with mpl.rc_context(STYLE):
        words = _curve_words(layout)
        beside = _LETTER * max([len(_legend_title(layout.lines)), *map(len, words.values())]) + 0.75
        beside = min(beside, 3.6) if len(words) > 1 else 0.15
        width = max(_LEFT + columns * wide + (columns - 1) * _GAP_X + beside, 5.6)
        note_lines = _wrapped(notes, width)
        top = _TOP + 0.15 * (len(note_lines) - 1) + (0.2 if layout.panels else 0.0)
        height = top + rows * high + (rows - 1) * _GAP_Y + _BOTTOM
        figure = Figure(figsize=(width, height), dpi=160)
        first: Axes | None = None
        handles: dict[tuple[str, ...], Artist] = {}
        for place, (values, curves) in enumerate(panels.items()):
            row, column = divmod(place, columns)
            left = _LEFT + column * (wide + _GAP_X)
            low = height - top - (row + 1) * high - row * _GAP_Y
            axes = figure.add_axes(
                (left / width, low / height, wide / width, high / height), sharex=first, sharey=first
            )
            first = first or axes
            if layout.panels:
                axes.set_title(fit(told(layout.panels, values), 46), fontsize=8)
            handles |= draw(axes, curves)
            lowest = place + columns >= len(panels)
            axes.tick_params(labelbottom=lowest, labelleft=column == 0)
            if lowest and len(x) <= wide * 15:
                axes.set_xlabel(x)
            if column == 0:
                axes.set_ylabel("\n".join(textwrap.wrap(y, int(high * 16))))
        if len(x) > wide * 15:
            middle = (_LEFT + (columns * wide + (columns - 1) * _GAP_X) / 2) / width
            words_x = "\n".join(textwrap.wrap(x, int(width * 13)))
            figure.text(middle, 0.08 / height, words_x, fontsize=8.5, ha="center", va="bottom", color=INK)
        if len(words) > 1:
            _legend(figure, layout, handles, words, (width - beside + 0.1) / width, 1 - top / height)
        _words(figure, study.title, note_lines, width, height)
    return figure


def _curve_words(layout: Layout) -> dict[tuple[str, ...], str]:
    lines = dict.fromkeys(tuple(p.values[key] for key in layout.lines) for p in layout.points)
    if len(layout.lines) == 1:
        return {line: value_words(line[0], 48) for line in lines}
    return {line: told(layout.lines, line) for line in lines}


def _legend_title(keys: Keys) -> str:
    from tidegate._run.words import key_words

    return key_words(keys[0]) if len(keys) == 1 else ""


def _legend(
    figure: Figure,
    layout: Layout,
    handles: dict[tuple[str, ...], Artist],
    words: dict[tuple[str, ...], str],
    x: float,
    y: float,
) -> None:
    """Write the legend right of the panels; curves that are one drawn line are one entry."""
    entries: dict[int, tuple[Artist, list[str]]] = {}
    for line, handle in handles.items():
        entries.setdefault(id(handle), (handle, []))[1].append(words[line])
    figure.legend(
        [handle for handle, _ in entries.values()],
        [fit(_same(names), 48) for _, names in entries.values()],
        title=_legend_title(layout.lines) or None,
        frameon=False,
        fontsize=8,
        title_fontsize=8,
        alignment="left",
        loc="upper left",
        bbox_to_anchor=(x, y),
        borderaxespad=0.0,
        handlelength=3.0,
    )


def _same(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{' = '.join(names)} (equal)"


def _wrapped(notes: Sequence[str], width: float) -> list[str]:
    return textwrap.wrap("  ·  ".join(notes), int((width - 0.2) / 0.064)) or [""]


def _words(figure: Figure, title: str, notes: Sequence[str], width: float, height: float) -> None:
    x = 0.1 / width
    figure.text(
        x, 1 - 0.1 / height, fit(title, int(width * 10.4)), fontsize=11.5, weight="bold", color=INK, va="top"
    )
    figure.text(x, 1 - 0.36 / height, "\n".join(notes), fontsize=8.2, color=MID, va="top", linespacing=1.35)
