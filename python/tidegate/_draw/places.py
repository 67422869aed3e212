"""Words beside points: near their point, on no other word and on no other point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.textpath import TextPath

from tidegate._draw.tokens import SOFT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    #: A word, its point in the axes' data, and its colour.
    Word = tuple[str, float, float, str]
    #: Left, bottom, right, top, in points of 1/72 inch.
    Box = tuple[float, float, float, float]

#: Points of 1/72 inch: from a mark to its word, between words, around a mark.
_AWAY, _BETWEEN, _MARK = 6.0, 1.5, 4.0
#: Lines above or below its mark at which a word may stand.
_MOST = 14


def words_beside(axes: Axes, words: Sequence[Word], size: float = 8) -> None:
    """Write each word beside its point, or near it with a line; the axes have their scales."""
    figure = axes.get_figure(root=True)
    if figure is None:
        return
    scale = 72 / figure.dpi
    panel = axes.get_window_extent()
    inside = (panel.x0 * scale, panel.y0 * scale, panel.x1 * scale, panel.y1 * scale)
    found = [axes.transData.transform((x, y)) * scale for _, x, y, _ in words]
    points = [(float(x), float(y)) for x, y in found]
    marks = [(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in points]
    written: list[Box] = []
    for number, ((word, *_, colour), (x, y)) in enumerate(zip(words, points, strict=True)):
        wide = TextPath((0, 0), word, size=size).get_extents().x1 + 2
        others = [box for place, box in enumerate(marks) if place != number]
        boxes = list(_choices(x, y, wide, 1.25 * size))
        free = (
            box
            for box in boxes
            if _within(box, inside) and not any(_touch(box, other) for other in (*written, *others))
        )
        # Without room on the panel a word may stand beyond its edge: the canvas grows.
        beyond = (box for box in boxes if not any(_touch(box, other) for other in (*written, *others)))
        box = next(free, None) or next(beyond, boxes[0])
        written.append(box)
        middle = (box[1] + box[3]) / 2
        axes.annotate(
            word, (box[0] - inside[0], middle - inside[1]), xycoords="axes points", fontsize=size,
            color=colour, va="center", ha="left", annotation_clip=False, zorder=3,
        )  # fmt: skip
        if abs(middle - y) > 0.9 * size:
            end = box[0] if box[0] > x else box[2]
            to_axes = axes.transAxes.inverted().transform
            ends = [to_axes((at / scale, up / scale)) for at, up in ((x, y), (end, middle))]
            axes.plot(
                *zip(*ends, strict=True), transform=axes.transAxes, color=SOFT, lw=0.7, zorder=1,
                clip_on=False, label="_leader",
            )  # fmt: skip


def _choices(x: float, y: float, wide: float, high: float) -> Iterator[Box]:
    """Yield where a word may stand, the nearest first."""
    for step in (0, *(way * n for n in range(1, _MOST) for way in (1, -1))):
        for left in (x + _AWAY, x - _AWAY - wide):
            yield left, y + high * (step - 0.5), left + wide, y + high * (step + 0.5)


def _within(box: Box, panel: Box) -> bool:
    return box[0] >= panel[0] and box[1] >= panel[1] and box[2] <= panel[2] and box[3] <= panel[3]


def _touch(one: Box, other: Box) -> bool:
    return (
        one[0] < other[2] + _BETWEEN
        and other[0] < one[2] + _BETWEEN
        and one[1] < other[3]
        and other[1] < one[3]
    )
