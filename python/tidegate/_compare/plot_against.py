"""One number of a comparison against another, such as goodput against delay: a mark for each variant."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from tidegate._base.text import HEADERS_SHORT
from tidegate._draw.drawing import Drawing
from tidegate._draw.parts import Words
from tidegate._draw.places import words_beside
from tidegate._draw.tokens import INK, LINES, MID, fit
from tidegate._run.words import key_words, metric_label, scale_of, value_words
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._compare.variants import Variants
    from tidegate._draw.drawing import Panel

    Mark = tuple[str, float, float]

#: Inches.
_WIDTH, _HEIGHT = 7.4, 5.2
#: Largest over least x from which the scale is logarithmic.
_LOGARITHMIC = 20
#: Characters of a label.
_LABEL = 44


def against_drawing(comparison: Variants, x: str, y: str) -> Drawing:
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
    drawing = Drawing(_WIDTH, _HEIGHT, comparison.title, foot=HEADERS_SHORT, foot_left=0.22)
    panel = drawing.panel(0.74, 0.78, 0.86 * _WIDTH, _HEIGHT - 0.78 - top)
    panel.x_label, panel.y_label = (metric_label(name, comparison.gate) for name in (x, y))
    _scales(panel, marks)
    for number, (_, across, up) in enumerate(marks):
        colour, _, shape = LINES[number % len(LINES)]
        panel.points([across], up, shape, colour, 6, over=True, width=1.0, order=2.6)
    words_beside(panel, [(fit(label, _LABEL), across, up, INK) for label, across, up in marks])
    drawing.words += [
        Words(0.22, _HEIGHT - 0.12, fit(comparison.title, 76), 12.5, INK, up="top", bold=True),
        Words(0.22, _HEIGHT - 0.39, "\n".join(notes), 8.2, MID, up="top", spacing=1.3),
    ]
    return drawing


def _scales(panel: Panel, marks: Sequence[Mark]) -> None:
    across, up = [mark[1] for mark in marks], [mark[2] for mark in marks]
    panel.x.most = panel.y.most = 6
    if min(across) > 0 and max(across) > _LOGARITHMIC * min(across):
        panel.x.log = True
        panel.x.span(min(across) / 1.4, max(across) * 2.2)
    else:
        panel.x.span(*_limits(across, 0.25))
    panel.y.span(*_limits(up, 0.12))


def _limits(values: Sequence[float], above: float) -> tuple[float, float]:
    """Return a scale from 0 where the least value is far below the largest; ``above``: room for labels."""
    low, high = min(values), max(values)
    room = (high - low) or abs(high) or 1.0
    return (0.0 if 0 <= low < 0.5 * high else low - 0.12 * room), high + above * room
