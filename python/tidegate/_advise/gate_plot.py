"""The picture of a frontier: goodput, loss and wait against the size at a gate."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._advise.tune_result import MET
from tidegate._draw.drawing import Drawing, Panel
from tidegate._draw.tokens import ACCENT, INK, MID
from tidegate._draw.write import write_picture

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Any

    from tidegate._advise.gate_trials import Tried

#: Inches.
_WIDTH, _LEFT, _RIGHT, _BOTTOM, _GAP, _HIGH = 6.4, 0.8, 0.15, 0.55, 0.2, 1.45
#: Inches of a line of the title.
_LINE = 0.19


def draw(
    title: str, key: str, unit: str, size: int, frontier: Sequence[Tried], file: str | os.PathLike[str]
) -> Path:
    """Draw it."""
    by, shown = {"B": (1e3, "kB"), "cells": (1.0, "cells"), "bit/s": (1e6, "Mbit/s")}[unit]
    columns = (
        ("goodput, Mbit/s", [row.goodput_bps for row in frontier], 1e6),
        ("loss, %", [row.loss for row in frontier], 1e-2),
        ("wait p99, ms", [row.delay_ms for row in frontier], 1.0),
    )
    lines = textwrap.wrap(title, 72)
    top = _BOTTOM + 3 * _HIGH + 2 * _GAP
    drawing = Drawing(_WIDTH, top + 0.2 + _LINE * len(lines), title)
    sizes = [row.size / by for row in frontier]
    for number, (words, numbers, scale) in enumerate(columns):
        low = top - _HIGH * (number + 1) - _GAP * number
        panel = drawing.panel(_LEFT, low, _WIDTH - _LEFT - _RIGHT, _HIGH)
        panel.y_label = words
        panel.x.log, panel.x.labelled = True, number == len(columns) - 1
        panel.x.span(min(sizes) / 1.15, 1.15 * max(sizes))
        _curve(panel, sizes, numbers, scale, [row.verdict == MET for row in frontier])
        panel.line([size / by] * 2, [0, panel.y.high], INK, 0.8, (4, 2), steps=False)
    drawing.panels[0].title = "\n".join(lines)
    drawing.panels[-1].x_label = f"{key}, {shown}"
    return write_picture(drawing, Path(file))


def _curve(
    panel: Panel, sizes: Sequence[float], numbers: Sequence[Any], scale: float, met: Sequence[bool]
) -> None:
    """Draw means with their intervals; what meets the goal is filled."""
    values = [(each.mean or 0.0) / scale for each in numbers]
    lows = [value - each.arms[0] / scale for value, each in zip(values, numbers, strict=True)]
    highs = [value + each.arms[1] / scale for value, each in zip(values, numbers, strict=True)]
    panel.y.span(0, 1.08 * max(highs))
    panel.line(sizes, values, MID, 1.0, steps=False, order=1.0)
    panel.uprights(sizes, lows, highs, MID, 1.0)
    for hollow in (False, True):
        chosen = [at for at, each in enumerate(met) if each != hollow]
        panel.points(
            [sizes[at] for at in chosen], [values[at] for at in chosen], "circle", ACCENT, 5,
            width=1.0, hollow=hollow,
        )  # fmt: skip
