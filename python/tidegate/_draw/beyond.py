"""Whether a mark is drawn beyond its panel: only then it needs a clip path, which takes resvg long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._draw.frame import BAR_EDGE, FRAME
from tidegate._draw.parts import Area, Bars, Cells, Hatched, Level, Line, Points, Uprights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from tidegate._draw.drawing import Panel
    from tidegate._draw.parts import Mark

    Floats = NDArray[np.float64]

#: Points that nobody sees: beyond a panel; high, of what is half a line wide.
_UNSEEN, _STUB = 0.1, 2.0


def beyond(panel: Panel, mark: Mark) -> bool:
    """Return whether a mark would be seen beyond the panel and the lines of its frame."""
    left, low = 72 * panel.left, 72 * panel.bottom
    right, high = left + 72 * panel.width, low + 72 * panel.height
    if panel.spine:
        left, right = (left, right + FRAME / 2) if panel.right else (left - FRAME / 2, right)
    if panel.floor:
        low -= FRAME / 2
    aside = mark.aside if isinstance(mark, Points | Uprights) else 0.0
    for across, up, wide, tall in _reaches(panel, mark):
        x, y = panel.places(across, up)
        if _leaves(x + aside, wide, left, right) or _leaves(y, tall, low, high):
            return True
    return False


def _leaves(places: Floats, around: float, low: float, high: float) -> bool:
    # NaN is not drawn, and neither less nor more.
    low, high = low + around - _UNSEEN, high - around + _UNSEEN
    return bool(((places < low) | (places > high)).any())


def _reaches(panel: Panel, mark: Mark) -> Iterator[tuple[ArrayLike, ArrayLike, float, float]]:
    """Yield values of both axes, and how many points around them is drawn: beside, and above and below."""
    match mark:
        case Line():
            half = mark.width / 2
            yield mark.x, mark.y, 0.0, half
            # Lines end without caps: they are wide only where they go up or down.
            turns = np.abs(np.diff(panel.places(mark.x, mark.y)[1])) > _STUB
            yield mark.x[1:][turns], mark.y[1:][turns], half, half
            if not mark.steps:
                yield mark.x[:-1][turns], mark.y[:-1][turns], half, half
        case Area():
            yield mark.x, mark.low, 0.0, 0.0
            yield mark.x, mark.high, 0.0, 0.0
        case Level():
            yield panel.x.low, mark.y, 0.0, mark.width / 2
        case Uprights():
            yield mark.x, mark.low, mark.width / 2, 0.0
            yield mark.x, mark.high, mark.width / 2, 0.0
        case Points():
            # No shape reaches further than the corners of a diamond.
            beside = {"upright": 0.0, "level": mark.size / 2}.get(mark.shape, 0.7 * mark.size)
            above = {"upright": mark.size / 2, "level": 0.0}.get(mark.shape, 0.7 * mark.size)
            yield mark.x, mark.y, beside + mark.width / 2, above + mark.width / 2
        case Bars():
            edge = BAR_EDGE / 2 if mark.edge else 0.0
            yield mark.x - mark.wide / 2, mark.foot + mark.heights, edge, edge
            yield mark.x + mark.wide / 2, np.full(mark.x.shape, max(mark.foot, panel.y.low)), edge, edge
        case Cells():
            rows, columns = mark.table.shape
            yield [-0.5, columns - 0.5], [-0.5, rows - 0.5], 0.0, 0.0
        case Hatched():
            yield [mark.begin, mark.end], [panel.y.low] * 2, 0.0, 0.0
