"""One number of a comparison against another, such as goodput against delay: a mark for each variant."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.ticker import LogLocator, MaxNLocator

from tidegate._base.errors import ArgumentError
from tidegate._base.text import HEADERS_SHORT
from tidegate._draw.figure import Figure
from tidegate._draw.places import words_beside
from tidegate._draw.style import LINES, STYLE
from tidegate._draw.tokens import INK, MID, fit
from tidegate._run.words import key_words, metric_label, scale_of, value_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from tidegate._compare.variants import Variants

    Mark = tuple[str, float, float]

#: Inches.
_WIDTH, _HEIGHT = 7.4, 5.2
#: Largest over least x from which the scale is logarithmic.
_LOGARITHMIC = 20
#: Characters of a label.
_LABEL = 44


def against_figure(comparison: Variants, x: str, y: str) -> Figure:
    """Draw each variant at two of its numbers; its values stand beside it.

    Raises:
        UnknownNameError: a variant has no such number.
        ArgumentError: no variant has both numbers.
    """
    marks: list[Mark] = []
    without = []
    for variant in comparison.variants:
        label = " · ".join(value_words(variant.changes[key], 30) for key in comparison.axes)
        found = [comparison.number_of(variant, name) for name in (x, y)]
        if found[0] is None or found[1] is None:
            without.append(label)
        else:
            marks.append((label, found[0] / scale_of(x)[0], found[1] / scale_of(y)[0]))
    if not marks:
        raise ArgumentError(f"x and y: no variant has both {x} and {y}")
    facts = [
        f"beside each point: {', '.join(map(key_words, comparison.axes))}",
        comparison.seeds,
        f"engine {comparison.variants[0].run.summary['engine']}",
        *filter(None, [comparison.tcp]),
    ]
    if comparison.gate is None:
        facts.append(comparison.place)
    if without:
        facts.append(f"without these numbers: {', '.join(without)}")
    notes = textwrap.wrap("  ·  ".join(facts), 100)
    top = 0.62 + 0.15 * len(notes)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH, _HEIGHT), dpi=100)
        axes = figure.add_axes((0.1, 0.15, 0.86, 1 - 0.15 - top / _HEIGHT))
        axes.set_xlabel(metric_label(x, comparison.gate))
        axes.set_ylabel(metric_label(y, comparison.gate))
        _scales(axes, marks)
        for number, (_, across, up) in enumerate(marks):
            colour, _, marker = LINES[number % len(LINES)]
            axes.plot([across], [up], ls="", marker=marker, ms=6, color=colour, zorder=2.6, clip_on=False)
        words_beside(axes, [(fit(label, _LABEL), across, up, INK) for label, across, up in marks])
        figure.text(
            0.03,
            1 - 0.12 / _HEIGHT,
            fit(comparison.title, 76),
            fontsize=12.5,
            weight="bold",
            color=INK,
            va="top",
        )
        figure.text(
            0.03, 1 - 0.39 / _HEIGHT, "\n".join(notes), fontsize=8.2, color=MID, va="top", linespacing=1.3
        )
        figure.text(0.03, 0.08 / _HEIGHT, HEADERS_SHORT, fontsize=7, color=MID, va="bottom")
    return figure


def _scales(axes: Axes, marks: Sequence[Mark]) -> None:
    across, up = [mark[1] for mark in marks], [mark[2] for mark in marks]
    if min(across) > 0 and max(across) > _LOGARITHMIC * min(across):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.minorticks_off()
        axes.set_xlim(min(across) / 1.4, max(across) * 2.2)
    else:
        axes.set_xlim(*_limits(across, 0.25))
        axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.set_ylim(*_limits(up, 0.12))
    axes.yaxis.set_major_locator(MaxNLocator(6))


def _limits(values: Sequence[float], above: float) -> tuple[float, float]:
    """Return a scale from 0 where the least value is far below the largest; ``above``: room for labels."""
    low, high = min(values), max(values)
    room = (high - low) or abs(high) or 1.0
    return (0.0 if 0 <= low < 0.5 * high else low - 0.12 * room), high + above * room
