"""What stands on a picture: marks in panels, words, the legend.

Values are those of the panel's axes, and NaN is a gap. Letters, marks and widths of lines are measured in
points of 1/72 inch.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tidegate._draw.tokens import INK, Shape

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Lengths of dashes and of the gaps behind them, times the width of the line; none: a whole line.
Dash = tuple[float, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Line:
    """A line; ``steps``: each value stands until the next."""

    x: Floats
    y: Floats
    colour: str
    width: float
    dash: Dash
    steps: bool
    #: What has more lies above.
    order: float
    #: What the curve is called; "" where it is no curve.
    name: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Area:
    """What lies between two lines, filled."""

    x: Floats
    low: Floats
    high: Floats
    colour: str
    steps: bool
    order: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Marks; ``over``: whole where they lie on the panel's edge."""

    x: Floats
    y: Floats
    shape: Shape
    colour: str
    size: float
    opacity: float
    over: bool
    #: Of the line around a mark, or of the lines that it is made of; 0: none.
    width: float
    #: White inside.
    hollow: bool = False
    #: Points to the right of its place.
    aside: float = 0.0
    order: float = 2.0
    name: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Level:
    """A line across the panel at a value."""

    y: float
    colour: str
    width: float
    dash: Dash
    order: float


@dataclass(frozen=True, eq=False, repr=False)
class Uprights:
    """Upright lines from one value to another."""

    x: Floats
    low: Floats
    high: Floats
    colour: str
    width: float
    #: Points to the right of its place.
    aside: float = 0.0
    order: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Bars:
    """Bars around their places, from a value up."""

    x: Floats
    heights: Floats
    wide: float
    colour: str
    foot: float = 0.0
    #: The colour of the line around a bar; "": none.
    edge: str = ""
    order: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Hatched:
    """The part of the panel between two values of x, hatched."""

    begin: float
    end: float
    order: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """A table of numbers as colours: columns around 0, 1, … of x, rows around 0, 1, … of y.

    ``low`` has the first of the colours and ``high`` the last; a number that is not there is white.
    """

    table: Floats
    low: float
    high: float
    colours: Sequence[str]
    order: float = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class Leader:
    """A thin line between two places, in shares of the panel; it may leave it."""

    begin: tuple[float, float]
    end: tuple[float, float]
    order: float = 1.0


Mark = Cells | Leader | Line | Area | Points | Level | Uprights | Bars | Hatched


@dataclass(frozen=True, eq=False, repr=False)
class Words:
    """Words on the canvas, in inches, or in a panel, in shares of it or at its values (``at_values``)."""

    x: float
    y: float
    text: str
    size: float = 8.5
    colour: str = INK
    across: Literal["left", "center", "right"] = "left"
    up: Literal["top", "center", "bottom"] = "center"
    bold: bool = False
    #: Upwards, from bottom to top.
    turned: bool = False
    at_values: bool = False
    #: Points to the right and up from that place.
    away: tuple[float, float] = (0.0, 0.0)
    #: Between two lines, in heights of a letter.
    spacing: float = 1.2


@dataclass(frozen=True, eq=False, repr=False)
class Entry:
    """What stands beside a name in the legend; without dashes and width there is no line."""

    colour: str
    width: float = 0.0
    dash: Dash = ()
    shape: Shape | None = None
    hollow: bool = False
    size: float = 4.4


@dataclass(frozen=True, eq=False, repr=False)
class Legend:
    """Names of curves, from a place on the canvas down: what stands beside each, and its name."""

    left: float
    top: float
    title: str
    entries: Sequence[tuple[Entry, str]]
