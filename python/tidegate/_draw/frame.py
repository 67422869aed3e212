"""Where the words of a drawing stand: those around panels, and how much room each takes, in points."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tidegate._draw.letters import width
from tidegate._draw.parts import Words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidegate._draw.drawing import Drawing, Panel
    from tidegate._draw.parts import Legend

#: Points: a tick, from a tick to its word, from words to the name of an axis.
LONG, PAD, LABEL = 3.5, 3.5, 4.0
#: Widths of the lines left of a panel and below it, and of the line around a bar, points.
FRAME, BAR_EDGE = 0.7, 0.9
#: Points between words and the edge of the canvas, or the foot.
EDGE = 4.0
#: Degrees by which names stand slanted.
SLANT = 30.0


@dataclass(frozen=True)
class Placed:
    """Words at their place on the canvas: points from its left and its bottom, and the angle."""

    words: Words
    x: float
    y: float
    angle: float = 0.0

    @property
    def _box(self) -> tuple[float, float, float, float]:
        words = self.words
        wide = width(words.text, words.size, bold=words.bold)
        high = words.size * (1 + words.spacing * words.text.count("\n"))
        begin = {"left": 0.0, "center": -wide / 2, "right": -wide}[words.across]
        low = {"top": -high, "center": -high / 2, "bottom": 0.0}[words.up]
        turn = math.radians(self.angle)
        corners = [(begin + a * wide, low + b * high) for a in (0, 1) for b in (0, 1)]
        x = [self.x + a * math.cos(turn) - b * math.sin(turn) for a, b in corners]
        y = [self.y + a * math.sin(turn) + b * math.cos(turn) for a, b in corners]
        return min(x), min(y), max(x), max(y)

    @property
    def left(self) -> float:
        """Where it begins."""
        return self._box[0]

    @property
    def bottom(self) -> float:
        """How low it reaches."""
        return self._box[1]

    @property
    def right(self) -> float:
        """Where it ends."""
        return self._box[2]

    @property
    def top(self) -> float:
        """How high it reaches."""
        return self._box[3]


def all_words(drawing: Drawing) -> list[Placed]:
    """Return every word of a drawing at its place; the foot last, below all others."""
    words = [
        *_placed(drawing.words),
        *(each for panel in drawing.panels for each in _frame_words(panel) if each.words.text),
    ]
    words += _legend_words(drawing)
    if drawing.foot:
        (foot,) = _placed([drawing.foot_words()])
        # Slanted names may reach below where the foot would stand.
        lowest = min(each.bottom for each in words)
        words.append(replace(foot, y=foot.y - max(0.0, foot.top + EDGE - lowest)))
    return words


#: Of a legend, points: the length of a line, from it to its name, from one name to the next, the letters.
HANDLE, NAME, ROW, SMALL = 24.0, 6.4, 14.0, 8.0


def entry_heights(legend: Legend) -> list[float]:
    """Return the middle of each name, points from the bottom of the canvas."""
    first = 72 * legend.top - SMALL / 2 - (ROW if legend.title else 0.0)
    return [first - ROW * number for number in range(len(legend.entries))]


def _legend_words(drawing: Drawing) -> list[Placed]:
    legend = drawing.legend
    if legend is None:
        return []
    left = 72 * legend.left
    found = [
        Placed(Words(0, 0, name, SMALL), left + HANDLE + NAME, up)
        for (_, name), up in zip(legend.entries, entry_heights(legend), strict=True)
    ]
    if legend.title:
        found.append(Placed(Words(0, 0, legend.title, SMALL), left, 72 * legend.top - SMALL / 2))
    return found


def _placed(words: Sequence[Words]) -> list[Placed]:
    return [
        Placed(each, 72 * each.x + each.away[0], 72 * each.y + each.away[1], 90.0 if each.turned else 0.0)
        for each in words
        if each.text
    ]


def _frame_words(panel: Panel) -> Iterator[Placed]:
    """Yield what stands in and around a panel: title, names of axes, ticks, words."""
    left, low = 72 * panel.left, 72 * panel.bottom
    wide, high = 72 * panel.width, 72 * panel.height
    if panel.title:
        title = Words(0, 0, panel.title, panel.title_size, up="bottom", bold=True)
        yield Placed(title, left, low + high + panel.title_away - 0.24 * panel.title_size)
    below = low - LONG - PAD
    for value, text in panel.x.ticks() if panel.x.labelled else ():
        angle = SLANT if panel.x.slanted else 0.0
        words = Words(0, 0, text, panel.x.size, across="right" if angle else "center", up="top")
        yield Placed(words, left + wide * panel.x.share(value) + (4 if angle else 0), low - LONG - PAD, angle)
        tall = words.size * (1 + 1.2 * text.count("\n"))
        tall += math.sin(math.radians(angle)) * width(text, words.size) if angle else 0.0
        below = min(below, low - LONG - PAD - tall)
    if panel.x_label:
        label = Words(0, 0, panel.x_label, panel.label_size, across="center", up="top")
        yield Placed(label, left + wide / 2, below - LABEL)
    beside = 0.0
    out = left + wide + LONG + PAD if panel.right else left - LONG - PAD
    for value, text in panel.y.ticks() if panel.y.labelled and panel.spine else ():
        words = Words(0, 0, text, panel.y.size, across="left" if panel.right else "right")
        yield Placed(words, out, low + high * panel.y.share(value))
        beside = max(beside, width(text, words.size))
    if panel.y_label:
        label = Words(
            0, 0, panel.y_label, panel.label_size, across="center", up="top" if panel.right else "bottom"
        )
        away = beside + LABEL
        yield Placed(label, out + away if panel.right else out - away, low + high / 2, 90.0)
    for each in panel.words:
        if each.at_values:
            across, up = panel.x.share(each.x), panel.y.share(each.y)
        else:
            across, up = each.x, each.y
        place = (left + wide * across + each.away[0], low + high * up + each.away[1])
        yield Placed(each, *place, 90.0 if each.turned else 0.0)
