"""Flows that were recorded together, drawn: a median and a band of the flows at each instant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from tidegate._draw.marks import FLOW_STYLES, SINGLE, Label, label_right, last, thin
from tidegate._draw.style import ACCENT, FILL, MID

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tidegate._run.history import History


def group_window_panel(axes: Axes, data: History) -> None:
    """Draw the congestion windows of groups, in segments."""
    _bands(
        axes,
        data,
        "Congestion window",
        "segments",
        ("cwnd_p10_segments", "cwnd_p50_segments", "cwnd_p90_segments"),
    )


def group_delay_panel(axes: Axes, data: History) -> None:
    """Draw the round trips of groups, in ms."""
    _bands(axes, data, "Round trip", "ms", ("rtt_p10_ms", "rtt_p50_ms", "rtt_p90_ms"))


def _bands(axes: Axes, data: History, title: str, unit: str, columns: tuple[str, str, str]) -> None:
    """Draw one group as a median and a band, several as a median each."""
    axes.set_ylabel(unit)
    labels: list[Label] = []
    tops = [1e-9]
    alone = len(data.groups) == 1
    for (colour, dash), name in zip(FLOW_STYLES, list(data.groups)[:SINGLE], strict=False):
        time = data.groups[name]["time_s"]
        low, middle, high = (data.groups[name][column] for column in columns)
        tops += [float(top) for top in (high if alone else middle)[~np.isnan(high if alone else middle)]]
        if alone:
            axes.fill_between(time, low, high, color=FILL, lw=0, step="post")
            for edge in (low, high):
                axes.plot(*thin(time, edge), color=MID, lw=0.6, drawstyle="steps-post")
            labels += [Label(last(high), "90% below", MID), Label(last(low), "10% below", MID)]
        axes.plot(
            *thin(time, middle), color=ACCENT if alone else colour, ls="-" if alone else dash, lw=1.2,
            drawstyle="steps-post",
        )  # fmt: skip
        labels.append(Label(last(middle), "median" if alone else name, ACCENT if alone else colour))
    flows = sum(data.copies.values())
    axes.set_title(f"{title} of {flows} flows" + ("" if alone else ": median of each group"))
    axes.set_ylim(0, 1.08 * max(tops))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    label_right(axes, labels)
