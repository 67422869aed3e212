"""The picture of a link trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import MaxNLocator

from tidegate._base import text
from tidegate._draw.figure import Figure
from tidegate._draw.labels import Label
from tidegate._draw.marks import label_right, steps
from tidegate._draw.style import STYLE
from tidegate._draw.tokens import ACCENT, FILL, INK, MID, fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def trace_figure(name: str, info: dict[str, Any], rates: str, window: str) -> Figure:
    """Draw a trace. ``rates``: its rates over windows of a length, as a CSV trace in seconds and bit/s."""
    edges, bps = _read(rates)
    factor, unit = text.rate_scale(float(bps.max()))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.2, 4.6), dpi=100)
        over, below = figure.subplots(
            2, 1, gridspec_kw={
                "height_ratios": [1.7, 1], "left": 0.08, "right": 0.87, "top": 0.785, "bottom": 0.11,
                "hspace": 0.55,
            },
        )  # fmt: skip
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
        for up, line, size, colour in (
            (0.97, fit(name, 88), 12.5, INK), (0.91, facts, 8.5, MID), (0.875, stalls, 8.5, MID),
        ):  # fmt: skip
            figure.text(
                0.08,
                up,
                line,
                fontsize=size,
                color=colour,
                va="top",
                weight="bold" if size > 10 else "normal",
            )
    return figure


def _read(rates: str) -> tuple[Floats, Floats]:
    """Return the edges of the windows in seconds, and the rate in each in bit/s."""
    rows = [line.split(",") for line in rates.splitlines()[1:]]
    edges = np.array([float(row[0]) for row in rows])
    return edges, np.array([float(row[1]) for row in rows[:-1]])


def _over_time(axes: Axes, edges: Floats, rate: Floats, mean: float, unit: str, window: str) -> None:
    axes.set_title(f"Rate, mean over {window}, headers included")
    axes.set_ylabel(unit)
    axes.stairs(rate, edges, fill=True, color=FILL, lw=0)
    steps(axes, edges, rate, color=ACCENT, lw=0.9)
    axes.axhline(mean, color=INK, lw=0.8, ls=(0, (5, 1.6)))
    axes.set_xlim(0, float(edges[-1]))
    axes.set_ylim(0, 1.08 * float(rate.max()))
    axes.set_xlabel("time, s")
    axes.yaxis.set_major_locator(MaxNLocator(5))
    label_right(axes, [Label(mean, f"mean\n{text.number(mean)}", INK)])


def _distribution(axes: Axes, width: Floats, rate: Floats, unit: str) -> None:
    axes.set_title("Share of the time in which the rate is at most so much")
    axes.set_ylabel("%")
    axes.set_xlabel(unit)
    order = np.argsort(rate, kind="stable")
    share = 100 * np.cumsum(width[order]) / width.sum()
    top = 1.02 * float(rate.max())
    axes.step([0, *rate[order], top], [0, *share, 100], where="post", color=ACCENT, lw=1.2)
    axes.set_xlim(0, top)
    axes.set_ylim(0, 103)
    axes.set_yticks([0, 25, 50, 75, 100])
