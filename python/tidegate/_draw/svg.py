"""The writer of SVG: a drawing as text, without a library that draws."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from tidegate._draw.beyond import beyond
from tidegate._draw.frame import BAR_EDGE, EDGE, FRAME, HANDLE, LONG, all_words, entry_heights
from tidegate._draw.parts import Area, Bars, Cells, Hatched, Leader, Level, Line, Points, Uprights
from tidegate._draw.paths import area_path, hatch_path, line_path, mark_path
from tidegate._draw.tokens import GRID, MID, SOFT, between

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tidegate._draw.drawing import Drawing, Panel
    from tidegate._draw.frame import Placed
    from tidegate._draw.parts import Mark

    Floats = NDArray[np.float64]

#: Units of the picture's own coordinates in a point: whole numbers are short.
FINE = 10
_FONTS = "DejaVu Sans, Verdana, sans-serif"
#: The share of a letter that stands above its line, and of the digits' half height.
_RISE, _HALF = 0.76, 0.36


def svg_text(drawing: Drawing) -> str:
    """Return a drawing as SVG; it grows where words would leave it. The same drawing is the same text."""
    words = all_words(drawing)
    low = min([0.0, *(each.bottom - EDGE for each in words)])
    left = min([0.0, *(each.left - EDGE for each in words)])
    right = max([72 * drawing.width, *(each.right + EDGE for each in words)])
    top = max([72 * drawing.height, *(each.top + EDGE / 2 for each in words)])
    wide, high = right - left, top - low
    size = f'width="{wide:.1f}pt" height="{high:.1f}pt" viewBox="{left:.1f} {-top:.1f} {wide:.1f} {high:.1f}"'
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} font-family="{_FONTS}">',
        f"<title>{escape(drawing.title)}</title>",
        f'<rect x="{left:.1f}" y="{-top:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="#fff"/>',
    ]
    for number, panel in enumerate(drawing.panels):
        parts += _panel(panel, number)
    parts += _legend(drawing)
    parts += [line for each in words for line in _written(each)]
    return "\n".join(filter(None, [*parts, "</svg>", ""])) + "\n"


def _panel(panel: Panel, number: int) -> Iterator[str]:
    """Yield grid, marks and axes; the words are written above everything."""
    left, low = FINE * 72 * panel.left, -FINE * 72 * panel.bottom
    wide, high = FINE * 72 * panel.width, FINE * 72 * panel.height
    inner = f"M{left:.0f} {low:.0f}v{-high:.0f}h{wide:.0f}v{high:.0f}z"
    inside = sorted((mark for mark in panel.marks if not _over(mark)), key=lambda mark: mark.order)
    clipped = any(beyond(panel, mark) for mark in inside)
    if clipped:
        yield f'<clipPath id="p{number}"><path d="{inner}"/></clipPath>'
    yield f'<g transform="scale({1 / FINE:g})" fill="none" stroke-linejoin="round">'
    across = [left + wide * panel.x.share(value) for value, _ in panel.x.ticks()]
    upwards = [low - high * panel.y.share(value) for value, _ in panel.y.ticks()]
    lines = [f"M{x:.0f} {low:.0f}v{-high:.0f}" for x in across if panel.x.grid]
    lines += [f"M{left:.0f} {y:.0f}h{wide:.0f}" for y in upwards if panel.y.grid]
    if lines:
        yield f'<path d="{"".join(lines)}" stroke="{GRID}" stroke-width="6"/>'
    if clipped:
        yield f'<g clip-path="url(#p{number})">'
    for mark in inside:
        yield from _mark(mark, panel)
    if clipped:
        yield "</g>"
    frame = [f"M{x:.0f} {low:.0f}v{FINE * LONG:.0f}" for x in across if panel.ticked]
    if panel.floor:
        frame.append(f"M{left:.0f} {low:.0f}h{wide:.0f}")
    if panel.spine:
        side, out = (left + wide, LONG) if panel.right else (left, -LONG)
        frame.append(f"M{side:.0f} {low:.0f}v{-high:.0f}")
        frame += [f"M{side:.0f} {y:.0f}h{FINE * out:.0f}" for y in upwards if panel.ticked]
    if frame:
        yield f'<path d="{"".join(frame)}" stroke="{MID}" stroke-width="{FINE * FRAME:g}"/>'
    for mark in panel.marks:
        if _over(mark):
            yield from _mark(mark, panel)
    yield "</g>"


def _over(mark: Mark) -> bool:
    return isinstance(mark, Leader) or (isinstance(mark, Points) and mark.over)


def _mark(mark: Mark, panel: Panel) -> Iterator[str]:
    to_x, to_y = panel.pixels(72 * FINE)
    match mark:
        case Line():
            path = line_path(to_x(mark.x), to_y(mark.y), steps=mark.steps)
            yield f'<path d="{path}"{_stroke(mark.colour, mark.width, mark.dash)}/>' if path else ""
        case Level():
            end = FINE * 72 * (panel.left + panel.width)
            path = f"M{FINE * 72 * panel.left:.0f} {float(to_y(mark.y)):.0f}H{end:.0f}"
            yield f'<path d="{path}"{_stroke(mark.colour, mark.width, mark.dash)}/>'
        case Area():
            path = area_path(to_x(mark.x), to_y(mark.low), to_y(mark.high), steps=mark.steps)
            yield f'<path d="{path}" fill="{mark.colour}"/>' if path else ""
        case Bars():
            ends = to_x(mark.x - mark.wide / 2), to_x(mark.x + mark.wide / 2)
            foot = float(to_y(max(mark.foot, panel.y.low)))
            path = "".join(
                f"M{begin:.0f} {foot:.0f}V{top:.0f}H{end:.0f}V{foot:.0f}z"
                for begin, end, top in zip(*ends, to_y(mark.foot + mark.heights), strict=True)
            )
            edge = _stroke(mark.edge, BAR_EDGE, ()) if mark.edge else ""
            yield f'<path d="{path}" fill="{mark.colour}"{edge}/>'
        case Cells():
            rows, columns = mark.table.shape
            x, y = to_x(np.arange(columns + 1) - 0.5), to_y(np.arange(rows + 1) - 0.5)
            for row, column in np.argwhere(~np.isnan(mark.table)).tolist():
                colour = between(mark.colours, (mark.table[row, column] - mark.low) / (mark.high - mark.low))
                path = f"M{x[column]:.0f} {y[row]:.0f}H{x[column + 1]:.0f}V{y[row + 1]:.0f}H{x[column]:.0f}z"
                # Else what is behind shines through between two cells.
                yield f'<path d="{path}" fill="{colour}" shape-rendering="crispEdges"/>'
        case Leader():
            shares = (*mark.begin, *mark.end)
            x = [FINE * 72 * (panel.left + panel.width * share) for share in shares[::2]]
            y = [-FINE * 72 * (panel.bottom + panel.height * share) for share in shares[1::2]]
            path = f"M{x[0]:.0f} {y[0]:.0f}L{x[1]:.0f} {y[1]:.0f}"
            yield f'<path d="{path}"{_stroke(SOFT, 0.7, ())}/>'
        case Uprights():
            at = to_x(mark.x) + FINE * mark.aside
            each = zip(at, to_y(mark.low), to_y(mark.high), strict=True)
            path = "".join(f"M{place:.0f} {low:.0f}V{high:.0f}" for place, low, high in each)
            yield f'<path d="{path}"{_stroke(mark.colour, mark.width, ())}/>' if path else ""
        case Hatched():
            low, high = FINE * 72 * panel.bottom, FINE * 72 * (panel.bottom + panel.height)
            path = hatch_path(to_x(mark.begin), to_x(mark.end), -high, -low)
            yield f'<path d="{path}" fill="{SOFT}"/>' if path else ""
        case Points():
            yield _points(mark, to_x(mark.x) + FINE * mark.aside, to_y(mark.y))


def _points(mark: Points, x: Floats, y: Floats) -> str:
    look = f' opacity="{mark.opacity:g}"' if mark.opacity < 1 else ""
    if mark.width:
        look += _stroke(mark.colour, mark.width, ())
    if mark.shape not in ("cross", "upright", "level"):
        look += f' fill="{"#fff" if mark.hollow else mark.colour}"'
    return f'<path d="{mark_path(x, y, mark.shape, FINE * mark.size)}"{look}/>'


def _legend(drawing: Drawing) -> Iterator[str]:
    """Yield what stands beside the names of the legend."""
    if drawing.legend is None:
        return
    yield f'<g transform="scale({1 / FINE:g})" fill="none">'
    left = FINE * 72 * drawing.legend.left
    heights = entry_heights(drawing.legend)
    for (entry, _), up in zip(drawing.legend.entries, heights, strict=True):
        y = -FINE * up
        if entry.width:
            path = f"M{left:.0f} {y:.0f}h{FINE * HANDLE:.0f}"
            yield f'<path d="{path}"{_stroke(entry.colour, entry.width, entry.dash)}/>'
        if entry.shape is not None:
            middle = np.array([left + FINE * HANDLE / 2]), np.array([y])
            mark = Points(*middle, entry.shape, entry.colour, entry.size, 1.0, True, 1.0, entry.hollow)
            yield _points(mark, *middle)
    yield "</g>"


def _stroke(colour: str, width: float, dash: tuple[float, ...]) -> str:
    """Return what a line looks like; dashes are in widths of the line."""
    attributes = f' stroke="{colour}" stroke-width="{FINE * width:g}"'
    if dash:
        attributes += f' stroke-dasharray="{" ".join(f"{FINE * width * each:g}" for each in dash)}"'
    return attributes


_ANCHORS = {"left": "", "center": ' text-anchor="middle"', "right": ' text-anchor="end"'}


def _written(each: Placed) -> Iterator[str]:
    """Yield the lines of what is written somewhere."""
    words = each.words
    look = f'font-size="{words.size:g}" fill="{words.colour}"{_ANCHORS[words.across]}'
    if words.bold:
        look += ' font-weight="bold"'
    lines = words.text.split("\n")
    step = words.spacing * words.size
    block = step * (len(lines) - 1)
    first = {
        "top": _RISE * words.size,
        "center": _HALF * words.size - block / 2,
        "bottom": -block - (1 - _RISE) * words.size,
    }[words.up]
    for number, line in enumerate(lines):
        down = first + step * number
        if each.angle:
            place = (
                f'transform="translate({each.x:.1f} {-each.y:.1f}) rotate({-each.angle:g})" y="{down:.1f}"'
            )
        else:
            place = f'x="{each.x:.1f}" y="{-each.y + down:.1f}"'
        # Else two spaces would be one.
        letters = escape(line, quote=False).replace("  ", "\u00a0 ")
        yield f"<text {place} {look}>{letters}</text>"
