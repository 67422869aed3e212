"""Heat maps: a number over two keys whose values are numbers, a cell for each pair of values."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.ticker import MaxNLocator

from tidegate._base.text import number
from tidegate._draw.cells import Axis, Panel
from tidegate._draw.figure import Figure
from tidegate._draw.style import STYLE
from tidegate._draw.tokens import ACCENT, INK, MID, fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

#: More cells have no number written into them.
_WRITTEN = 200
#: Inches.
_CELL, _CELL_HIGH, _LEFT, _TOP, _BOTTOM, _BAR, _GAP = 0.58, 0.36, 0.95, 0.62, 0.66, 0.95, 0.35
_MOST, _MOST_HIGH, _LEAST = 6.4, 4.6, 2.6
#: From little to much, also in black and white.
_COLOURS = LinearSegmentedColormap.from_list("tidegate", ["#f3f6fa", "#9cc3e4", ACCENT, "#06243f"])


def heat_figure(
    title: str, notes: Sequence[str], x: Axis, y: Axis, panels: Sequence[Panel], *, shared: bool
) -> Figure:
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
    with mpl.rc_context({**STYLE, "axes.grid": False}):
        figure = Figure(figsize=(width, height), dpi=120)
        for place, panel in enumerate(panels):
            row, column = divmod(place, columns)
            left, low = _LEFT + column * each, height - top - row * (high + 0.6) - high
            axes = figure.add_axes((left / width, low / height, wide / width, high / height))
            scale = limits if shared else _limits([panel])
            drawn = _cells(axes, x, y, panel, scale, wide)
            axes.set_title("\n".join(titles[place]), fontsize=8)
            axes.tick_params(labelleft=column == 0)
            axes.set_xlabel("\n".join(textwrap.wrap(x.label(), int(wide * 13))) if row == rows - 1 else "")
            axes.set_ylabel("\n".join(textwrap.wrap(y.label(), int(high * 14))) if column == 0 else "")
            if not shared or place == 0:
                at = left + wide + 0.12 if not shared else _LEFT + columns * each - _GAP + 0.12
                bar = figure.add_axes((at / width, low / height, 0.14 / width, high / height))
                figure.colorbar(drawn, cax=bar, ticks=MaxNLocator(5))
                bar.set_ylabel("\n".join(textwrap.wrap(panel.label, int(high * 14))))
        figure.text(
            0.1 / width, 1 - 0.1 / height, fit(title, int(width * 10.4)), fontsize=11.5, weight="bold",
            color=INK, va="top",
        )  # fmt: skip
        figure.text(
            0.1 / width, 1 - 0.36 / height, "\n".join(lines), fontsize=8.2, color=MID, va="top",
            linespacing=1.35,
        )  # fmt: skip
    return figure


def _limits(panels: Sequence[Panel]) -> Normalize:
    found = [value for panel in panels for value in panel.values.values() if value is not None]
    low, high = (min(found), max(found)) if found else (0.0, 1.0)
    # From 0 unless all numbers lie far above it, as with lines.
    low = 0.0 if 0 <= low < 0.45 * high else low
    return Normalize(low, high if high > low else low + 1.0)


def _cells(axes: Axes, x: Axis, y: Axis, panel: Panel, scale: Normalize, wide: float) -> mpl.image.AxesImage:
    table = np.array([[_at(panel, a, b) for a in x.values] for b in y.values], dtype=float)
    axes.set_facecolor("white")
    drawn = axes.imshow(
        table, origin="lower", aspect="auto", cmap=_COLOURS, norm=scale, interpolation="nearest"
    )
    axes.set_xticks(range(len(x.values)), x.ticks())
    axes.set_yticks(range(len(y.values)), y.ticks())
    _thin(axes, len(x.values), max(map(len, x.ticks())) * 0.075, wide)
    axes.tick_params(length=0)
    written = table.size <= _WRITTEN and wide / len(x.values) > 0.42
    for (row, column), value in np.ndenumerate(table):
        if np.isnan(value):
            axes.text(column, row, "–", ha="center", va="center", fontsize=7.5, color=MID)
        elif written:
            colour = "white" if scale(value) > 0.5 else INK
            axes.text(column, row, number(value), ha="center", va="center", fontsize=7.5, color=colour)
    return drawn


def _thin(axes: Axes, count: int, letter: float, wide: float) -> None:
    """Leave out the words of ticks that would lie on each other."""
    each = max(1, int(np.ceil(count * (letter + 0.08) / wide)))
    for place, tick in enumerate(axes.xaxis.get_major_ticks()):
        tick.label1.set_visible(place % each == 0)


def _at(panel: Panel, x: str, y: str) -> float:
    found = panel.values.get((x, y))
    return float("nan") if found is None else found
