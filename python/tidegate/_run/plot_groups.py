"""Flows that were recorded together, drawn: a median and a band of the flows at each instant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._draw.labels import Label
from tidegate._draw.thin import last, thin
from tidegate._draw.tokens import ACCENT, FILL, FLOW_STYLES, MID, SINGLE

if TYPE_CHECKING:
    from tidegate._draw.drawing import Panel
    from tidegate._run.history import History


def group_window_panel(panel: Panel, data: History) -> None:
    """Draw the congestion windows of groups, in segments."""
    _bands(
        panel,
        data,
        "Congestion window",
        "segments",
        ("cwnd_p10_segments", "cwnd_p50_segments", "cwnd_p90_segments"),
    )


def group_delay_panel(panel: Panel, data: History) -> None:
    """Draw the round trips of groups, in ms."""
    _bands(panel, data, "Round trip", "ms", ("rtt_p10_ms", "rtt_p50_ms", "rtt_p90_ms"))


def _bands(panel: Panel, data: History, title: str, unit: str, columns: tuple[str, str, str]) -> None:
    """Draw one group as a median and a band, several as a median each."""
    panel.y_label = unit
    labels: list[Label] = []
    tops = [1e-9]
    alone = len(data.groups) == 1
    for (colour, dash), name in zip(FLOW_STYLES, list(data.groups)[:SINGLE], strict=False):
        time = data.groups[name]["time_s"]
        low, middle, high = (data.groups[name][column] for column in columns)
        tops += [float(top) for top in (high if alone else middle)[~np.isnan(high if alone else middle)]]
        if alone:
            panel.area(time, high, FILL, low)
            for edge in (low, high):
                panel.line(*thin(time, edge), MID, 0.6)
            labels += [Label(last(high), "90% below", MID), Label(last(low), "10% below", MID)]
        panel.line(*thin(time, middle), ACCENT if alone else colour, 1.2, () if alone else dash)
        labels.append(Label(last(middle), "median" if alone else name, ACCENT if alone else colour))
    flows = sum(data.copies.values())
    panel.title = f"{title} of {flows} flows" + ("" if alone else ": median of each group")
    panel.y.span(0, 1.08 * max(tops))
    panel.beside(labels)
