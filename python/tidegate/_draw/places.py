"""Words beside points: near their point, on no other word and on no other point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._draw.letters import width
from tidegate._draw.parts import Leader, Words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidegate._draw.drawing import Panel

    #: A word, its point in the panel's values, and its colour.
    Word = tuple[str, float, float, str]
    #: Left, bottom, right, top, in points of 1/72 inch.
    Box = tuple[float, float, float, float]

#: Points of 1/72 inch: from a mark to its word, between words, around a mark.
_AWAY, _BETWEEN, _MARK = 6.0, 1.5, 4.0
#: Lines above or below its mark at which a word may stand.
_MOST = 14


def words_beside(panel: Panel, words: Sequence[Word], size: float = 8) -> None:
    """Write each word beside its point, or near it with a line; the panel has its scales."""
    left, low, wide_in, high_in = (
        72 * each for each in (panel.left, panel.bottom, panel.width, panel.height)
    )
    inside = (left, low, left + wide_in, low + high_in)
    points = [tuple(map(float, panel.places(x, y))) for _, x, y, _ in words]
    marks = [(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in points]
    written: list[Box] = []
    for number, ((word, *_, colour), (x, y)) in enumerate(zip(words, points, strict=True)):
        wide = width(word, size) + 2
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
        panel.write(Words((box[0] - left) / wide_in, (middle - low) / high_in, word, size, colour))
        if abs(middle - y) > 0.9 * size:
            end = box[0] if box[0] > x else box[2]
            ends = [((at - left) / wide_in, (up - low) / high_in) for at, up in ((x, y), (end, middle))]
            panel.marks.append(Leader(ends[0], ends[1]))


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
