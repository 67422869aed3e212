"""What is on a picture, said once, for :mod:`tidegate._draw.svg` and :mod:`tidegate._draw.onto`.

Places on the canvas are inches from its left and its bottom; sizes of letters, widths of lines and marks are
points of 1/72 inch. Values are those of the panel's axes; NaN is a gap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._draw.axis import Scale
from tidegate._draw.labels import Label, apart
from tidegate._draw.parts import Area, Bars, Dash, Hatched, Legend, Level, Line, Mark, Points, Uprights, Words
from tidegate._draw.tokens import MID, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    To = Callable[[Any], Any]


@dataclass
class Panel:
    """Axes and what is drawn on them."""

    left: float
    bottom: float
    width: float
    height: float
    x: Scale = field(default_factory=lambda: Scale(most=10))
    y: Scale = field(default_factory=Scale)
    title: str = ""
    title_size: float = 9.0
    x_label: str = ""
    y_label: str = ""
    label_size: float = 8.5
    #: Points between the panel and its title.
    title_away: float = 6.0
    #: Whether y has its words and its name at the right.
    right: bool = False
    #: Whether ticks are drawn.
    ticked: bool = True
    #: Whether there is a line at the left, and one at the bottom.
    spine: bool = True
    floor: bool = True
    marks: list[Mark] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)

    def line(
        self, x: ArrayLike, y: ArrayLike, colour: str, width: float, dash: Dash = (), *,
        steps: bool = True, order: float = 2.0, name: str = "",
    ) -> None:  # fmt: skip
        """Draw a line; each value stands until the next, unless ``steps`` is false."""
        self.marks.append(Line(_floats(x), _floats(y), colour, width, dash, steps, order, name))

    def bins(self, edges: Floats, values: Floats, colour: str, width: float, dash: Dash = ()) -> None:
        """Draw a line that keeps its height over each bin."""
        self.line(edges, np.append(values, values[-1:]), colour, width, dash)

    def area(
        self, x: ArrayLike, high: ArrayLike, colour: str, low: ArrayLike = 0.0, *, steps: bool = True
    ) -> None:
        """Fill what is below a line, down to another or to 0."""
        top = _floats(high)
        self.marks.append(Area(_floats(x), np.broadcast_to(_floats(low), top.shape), top, colour, steps))

    def filled_bins(self, edges: Floats, values: Floats, colour: str) -> None:
        """Fill what is below a line that keeps its height over each bin."""
        self.area(edges, np.append(values, values[-1:]), colour)

    def points(
        self, x: ArrayLike, y: ArrayLike | float, shape: Shape, colour: str, size: float, *,
        opacity: float = 1.0, over: bool = False, width: float = 0.0, hollow: bool = False,
        aside: float = 0.0, order: float = 2.0, name: str = "",
    ) -> None:  # fmt: skip
        """Draw marks; one height is that of all of them."""
        at = _floats(x)
        up = np.broadcast_to(_floats(y), at.shape)
        if len(at):
            style = (opacity, over, width, hollow, aside, order, name)
            self.marks.append(Points(at, up, shape, colour, size, *style))

    def above(self, edges: Floats, values: Floats, colour: str) -> None:
        """Mark the bins whose value lies above the axes."""
        out = values > self.y.high
        self.points(((edges[:-1] + edges[1:]) / 2)[out], self.y.high, "up", colour, 4, over=True)

    def level(self, y: float, colour: str, width: float, dash: Dash = (), order: float = 2.0) -> None:
        """Draw a line across at a value."""
        self.marks.append(Level(float(y), colour, width, dash, order))

    def uprights(
        self, x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: str, width: float,
        *, aside: float = 0.0, order: float = 1.0,
    ) -> None:  # fmt: skip
        """Draw upright lines from one value to another."""
        at = _floats(x)
        bottom, top = (np.broadcast_to(_floats(each), at.shape) for each in (low, high))
        self.marks.append(Uprights(at, bottom, top, colour, width, aside, order))

    def bars(
        self, x: Iterable[float], heights: Sequence[float], wide: float, colour: str,
        foot: float = 0.0, *, edge: str = "",
    ) -> None:  # fmt: skip
        """Draw bars from a value up."""
        self.marks.append(Bars(_floats(list(x)), _floats(heights), wide, colour, foot, edge))

    def hatch(self, begin: float, end: float) -> None:
        """Hatch a stretch of time."""
        self.marks.append(Hatched(begin, end))

    def write(self, words: Words) -> None:
        """Write words into the panel."""
        self.words.append(words)

    def beside(self, labels: Sequence[Label], size: float = 8.0) -> None:
        """Write labels right of the panel at their heights, moved apart where they would touch."""
        line = size * 1.25 / 72 / self.height
        shares = [self.y.share(label.y) for label in labels]
        for label, place in zip(labels, apart(shares, labels, line), strict=True):
            self.write(Words(1.012, place, label.text, size, label.colour, spacing=1.15))

    def places(self, x: Any, y: Any) -> tuple[Floats, Floats]:
        """Return where values lie, in points from the left and the bottom of the canvas."""
        to_x, to_y = self.pixels(72)
        return np.asarray(to_x(x)), -np.asarray(to_y(y))

    def pixels(self, scale: float) -> tuple[To, To]:
        """Return what makes places of values, ``scale`` units to an inch; upwards is negative, as in SVG."""

        def to(axis: Scale, begin: float, length: float) -> To:
            low, high = (np.log10([axis.low, axis.high])) if axis.log else (axis.low, axis.high)

            def place(values: Any) -> Any:
                known = np.log10(values) if axis.log else np.asarray(values)
                return begin + length * ((known - low) / (high - low))

            return place

        return (
            to(self.x, scale * self.left, scale * self.width),
            to(self.y, -scale * self.bottom, -scale * self.height),
        )

    def bare(self) -> None:
        """Leave out everything around the panel but its title: it is a column of numbers."""
        self.spine = self.floor = False
        self.x.named, self.y.named = [], []

    def top(self, *, otherwise: float) -> float:
        """Return the largest value of the lines that are drawn, or ``otherwise`` where there is none."""
        lines = [mark.y for mark in self.marks if isinstance(mark, Line)]
        lines += [np.array([mark.y]) for mark in self.marks if isinstance(mark, Level)]
        tops = [float(np.nanmax(y)) for y in lines if np.any(~np.isnan(y))]
        return max(tops, default=otherwise)


@dataclass
class Drawing:
    """A picture: panels on a canvas, and what is written around them."""

    width: float
    height: float
    #: What it is, for those who do not see it.
    title: str
    panels: list[Panel] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    legend: Legend | None = None
    #: Dots per inch of its figure, where nothing else is said.
    dots: int = 100
    #: What stands at the very bottom, below everything.
    foot: str = ""
    foot_left: float = 0.1

    def panel(self, left: float, bottom: float, width: float, height: float) -> Panel:
        """Add a panel."""
        self.panels.append(Panel(left, bottom, width, height))
        return self.panels[-1]

    def foot_words(self) -> Words:
        """Return the foot as it stands on the canvas."""
        return Words(self.foot_left, 0.1, self.foot, 7, MID, up="bottom")


def _floats(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64)
