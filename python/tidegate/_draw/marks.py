"""What is drawn on axes in every picture: words beside lines, steps, marks above the scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from tidegate._draw.style import ACCENT, INK, MID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_POINTS = 4000
#: Flows drawn one by one; more become a median and a band.
SINGLE = 4
#: (colour, line style) of the flows drawn one by one; told apart without colour, too.
FLOW_STYLES: tuple[tuple[str, Any], ...] = (
    (ACCENT, "-"),
    (INK, (0, (5, 1.6))),
    (MID, "-"),
    (INK, (0, (1, 1.2))),
)


@dataclass(frozen=True)
class Label:
    """A word beside the end of a line."""

    y: float
    text: str
    colour: str


def label_right(axes: Axes, labels: Sequence[Label], size: float = 8, *, log: bool = False) -> None:
    """Write labels right of the axes at their heights, moved apart where they would touch.

    ``log``: the axes are logarithmic, and heights are given as powers of ten.
    """
    if not labels:
        return
    low, high = np.log10(axes.get_ylim()) if log else axes.get_ylim()
    span = (high - low) or 1.0
    height = axes.get_window_extent().height or 1.0
    figure = axes.get_figure()
    dpi = figure.dpi if isinstance(figure, Figure) else 100.0
    lines = [1 + label.text.count("\n") for label in labels]
    line = size * 1.25 * dpi / 72 / height
    order = sorted(range(len(labels)), key=lambda i: labels[i].y)
    places = [min(max((labels[i].y - low) / span, 0.0), 1.0) for i in order]
    for k in range(1, len(order)):
        gap = line * (lines[order[k]] + lines[order[k - 1]]) / 2
        places[k] = max(places[k], places[k - 1] + gap)
    over = places[-1] - 1.0
    if over > 0:
        places[-1] -= over
        for k in range(len(order) - 2, -1, -1):
            gap = line * (lines[order[k]] + lines[order[k + 1]]) / 2
            places[k] = min(places[k], places[k + 1] - gap)
    for place, i in zip(places, order, strict=True):
        axes.text(
            1.012,
            place,
            labels[i].text,
            transform=axes.transAxes,
            va="center",
            ha="left",
            fontsize=size,
            color=labels[i].colour,
            linespacing=1.15,
        )


def last(values: Floats) -> float:
    """Return the last value that is there; 0 where none is."""
    good = values[~np.isnan(values)]
    return float(good[-1]) if len(good) else 0.0


def thin(time: Floats, value: Floats, points: int = _POINTS) -> tuple[Floats, Floats]:
    """Return fewer points that look the same: the least and the largest of every stretch."""
    if len(time) <= points:
        return time, value
    size = -(-len(time) // (points // 2))
    keep: list[int] = []
    for begin in range(0, len(time), size):
        part = value[begin : begin + size]
        if np.all(np.isnan(part)):
            keep.append(begin)
            continue
        keep.extend(sorted({begin + int(np.nanargmin(part)), begin + int(np.nanargmax(part))}))
    return time[keep], value[keep]


def steps(axes: Axes, edges: Floats, value: Floats, **style: Any) -> None:
    """Draw a line that keeps its height over each bin."""
    axes.stairs(value, edges, baseline=None, **style)


def above(axes: Axes, edges: Floats, value: Floats, colour: str) -> None:
    """Mark the bins whose value lies above the axes."""
    top = axes.get_ylim()[1]
    out = value > top
    middle = (edges[:-1] + edges[1:])[out] / 2
    axes.plot(middle, np.full(len(middle), top), ls="", marker="^", ms=4, mew=0, color=colour, clip_on=False)
