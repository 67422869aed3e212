"""The picture of a link trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base import text
from tidegate._draw.drawing import Drawing, Panel
from tidegate._draw.labels import Label
from tidegate._draw.parts import Words
from tidegate._draw.tokens import ACCENT, FILL, INK, MID, fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Inches.
_WIDTH, _HEIGHT, _LEFT, _RIGHT = 9.2, 4.6, 0.75, 1.2
_OVER, _BELOW = (2.08, 1.53), (0.51, 0.9)


def trace_drawing(name: str, info: dict[str, Any], rates: str, window: str) -> Drawing:
    """Draw a trace. ``rates``: its rates over windows of a length, as a CSV trace in seconds and bit/s."""
    edges, bps = _read(rates)
    factor, unit = text.rate_scale(float(bps.max()))
    drawing = Drawing(_WIDTH, _HEIGHT, name)
    over, below = (drawing.panel(_LEFT, low, _WIDTH - _LEFT - _RIGHT, high) for low, high in (_OVER, _BELOW))
    _over_time(over, edges, bps / factor, info["mean_bps"] / factor, unit, window)
    _distribution(below, np.diff(edges), bps / factor, unit)
    longest = text.number(info["outage_longest_s"])
    facts = (
        f"{text.number(info['duration_s'])} s  ·  mean {text.rate(info['mean_bps'])}  ·  "
        f"p5 {text.rate(info['p5_bps'])}, p95 {text.rate(info['p95_bps'])} over "
        f"{text.number(1e3 * info['window_s'])} ms"
    )
    stalls = f"outages of {text.number(1e3 * info['outage_threshold_s'])} ms or more: {info['outages']}"
    if info["outages"]:
        stalls += f", the longest {longest} s, {text.percent(info['outage_share'])}% of the time"
    drawing.words += [
        Words(_LEFT, _HEIGHT - down, line, size, colour, up="top", bold=size > 10)
        for down, line, size, colour in (
            (0.14, fit(name, 88), 12.5, INK), (0.41, facts, 8.5, MID), (0.58, stalls, 8.5, MID),
        )
    ]  # fmt: skip
    return drawing


def _read(rates: str) -> tuple[Floats, Floats]:
    """Return the edges of the windows in seconds, and the rate in each in bit/s."""
    rows = [line.split(",") for line in rates.splitlines()[1:]]
    edges = np.array([float(row[0]) for row in rows])
    return edges, np.array([float(row[1]) for row in rows[:-1]])


def _over_time(panel: Panel, edges: Floats, rate: Floats, mean: float, unit: str, window: str) -> None:
    panel.title = f"Rate, mean over {window}, headers included"
    panel.y_label, panel.x_label = unit, "time, s"
    panel.x.span(0, float(edges[-1]))
    panel.y.span(0, 1.08 * float(rate.max()))
    panel.filled_bins(edges, rate, FILL)
    panel.bins(edges, rate, ACCENT, 0.9)
    panel.level(mean, INK, 0.8, (5, 1.6))
    panel.beside([Label(mean, f"mean\n{text.number(mean)}", INK)])


def _distribution(panel: Panel, width: Floats, rate: Floats, unit: str) -> None:
    panel.title = "Share of the time in which the rate is at most so much"
    panel.y_label, panel.x_label = "%", unit
    order = np.argsort(rate, kind="stable")
    share = 100 * np.cumsum(width[order]) / width.sum()
    panel.x.span(0, 1.02 * float(rate.max()))
    panel.y.span(0, 103)
    panel.y.named = [(each, f"{each}") for each in (0, 25, 50, 75, 100)]
    panel.line([0, *rate[order], panel.x.high], [0, *share, 100], ACCENT, 1.2)
