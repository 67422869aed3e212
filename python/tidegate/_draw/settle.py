"""Room for every word of a picture: a canvas grows where a long name would leave it, or cross the foot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.transforms import Bbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure
    from matplotlib.text import Text

#: Inches between a word and the edge, or the foot.
_EDGE = 0.05
#: A line of the foot stands so low, inches.
_FOOT = 0.3


def settle(figure: Figure) -> None:
    """Give every word room: the canvas grows, and what stands on it keeps its size.

    Words of axes that would lie on the foot, as slanted names do, move up with their axes.
    """
    if figure.get_layout_engine() is not None:
        return
    figure.draw_without_rendering()
    dpi, (wide, high) = figure.dpi, figure.get_size_inches()
    foot = [text for text in figure.texts if _is_foot(text, high)]
    boxes = [box for box in _boxes(figure, foot) if box.width > 0]
    if not boxes:
        return
    inner = Bbox.union(boxes)
    floor = max([0.0, *(text.get_window_extent().y1 for text in foot)]) / dpi
    feet = [text.get_window_extent().x1 / dpi for text in foot]
    left = max(0.0, _EDGE - inner.x0 / dpi)
    right = max(0.0, max([inner.x1 / dpi, *feet]) - (wide - _EDGE))
    top = max(0.0, inner.y1 / dpi - (high - _EDGE / 2))
    bottom = max(0.0, floor + _EDGE - inner.y0 / dpi)
    if max(left, right, top, bottom) > 1e-3:
        _grow(figure, foot, (left, right, top, bottom))


def _is_foot(text: Text, high: float) -> bool:
    low = text.get_verticalalignment() in ("bottom", "baseline")
    return low and text.get_text() != "" and text.get_position()[1] * high < _FOOT


def words_of(figure: Figure) -> Iterator[tuple[str, Bbox]]:
    """Yield every word that is seen but those at ticks, and where it stands, in dots."""
    from matplotlib.text import Text

    ticks = {
        id(part)
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        for part in (tick.label1, tick.label2)
    }
    for text in figure.findobj(Text):
        if id(text) not in ticks and text.get_visible() and text.get_text().strip():
            # Of an annotation without its arrow.
            yield text.get_text(), Text.get_window_extent(text)


def ticks_of(figure: Figure) -> Iterator[tuple[str, Bbox]]:
    """Yield the words at ticks, and where they stand, in dots."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            room = 1e-9 * (high - low)
            for tick in axis.get_major_ticks():
                seen = axes.get_visible() and low - room <= tick.get_loc() <= high + room
                if seen and tick.label1.get_visible() and tick.label1.get_text().strip():
                    yield tick.label1.get_text(), tick.label1.get_window_extent()


def _boxes(figure: Figure, foot: list[Text]) -> Iterator[Bbox]:
    low = {text.get_text() for text in foot}
    for words, box in (*words_of(figure), *ticks_of(figure)):
        if words not in low:
            yield box


def _grow(figure: Figure, foot: list[Text], by: tuple[float, float, float, float]) -> None:
    """Add inches at the left, right, top and bottom; the foot stays where it is above the bottom."""
    left, right, top, bottom = by
    wide, high = (float(each) for each in figure.get_size_inches())
    new_wide, new_high = wide + left + right, high + top + bottom

    def moved(x: float, y: float, up: float) -> tuple[float, float]:
        return (x * wide + left) / new_wide, (y * high + up) / new_high

    for axes in figure.axes:
        box = axes.get_position(original=True)
        x, y = moved(box.x0, box.y0, bottom)
        axes.set_position((x, y, box.width * wide / new_wide, box.height * high / new_high))
    for text in figure.texts:
        text.set_position(moved(*text.get_position(), 0.0 if text in foot else bottom))
    for legend in figure.legends:
        anchor = legend.get_bbox_to_anchor().transformed(figure.transFigure.inverted())
        legend.set_bbox_to_anchor(moved(anchor.x0, anchor.y0, bottom), transform=figure.transFigure)
    figure.set_size_inches(new_wide, new_high)
