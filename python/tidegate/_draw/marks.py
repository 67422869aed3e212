"""What is drawn on axes in every picture: words beside lines, steps, marks above the scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from tidegate._draw.labels import Label, apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


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
    line = size * 1.25 * dpi / 72 / height
    places = apart([(label.y - low) / span for label in labels], labels, line)
    for place, label in zip(places, labels, strict=True):
        axes.text(
            1.012,
            place,
            label.text,
            transform=axes.transAxes,
            va="center",
            ha="left",
            fontsize=size,
            color=label.colour,
            linespacing=1.15,
        )


def steps(axes: Axes, edges: Floats, value: Floats, **style: Any) -> None:
    """Draw a line that keeps its height over each bin."""
    axes.stairs(value, edges, baseline=None, **style)


def above(axes: Axes, edges: Floats, value: Floats, colour: str) -> None:
    """Mark the bins whose value lies above the axes."""
    top = axes.get_ylim()[1]
    out = value > top
    middle = (edges[:-1] + edges[1:])[out] / 2
    axes.plot(middle, np.full(len(middle), top), ls="", marker="^", ms=4, mew=0, color=colour, clip_on=False)
