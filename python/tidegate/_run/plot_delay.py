"""Delays in milliseconds and the level of a bucket, for the picture of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._base.text import number
from tidegate._draw.labels import Label
from tidegate._draw.thin import last, thin
from tidegate._draw.tokens import ACCENT, FILL, FLOW_STYLES, INK, MID, SINGLE
from tidegate._run.history import spread_of
from tidegate._run.idle import idle_paths

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tidegate._draw.drawing import Panel
    from tidegate._run.history import History

    Floats = NDArray[np.float64]


def has_delays(data: History) -> bool:
    """Tell whether there is a delay to draw."""
    rows = [*data.rtt.values(), *data.one_way.values()]
    rows += [] if rows else [data.wait]
    return any(len(row) and not np.all(np.isnan(row)) for row in rows)


def delay_panel(panel: Panel, data: History) -> None:
    """Draw round trips and one-way delays of the flows, in ms; of many flows a median and a band.

    A round trip is as TCP measures it, with the time for which a receiver holds an ACK back; one way is the
    path's delay with the waits alone. Dashed is the round trip of a path while nothing waits there.

    Without flows, the waits at the gate.
    """
    panel.y_label = "ms"
    labels: list[Label] = []
    if not data.names:
        panel.title = "Queueing delay" if data.gate is None else f"Queueing delay at gate {data.gate}"
        time, wait = thin(data.gate_time, data.wait)
        panel.line(time, wait, INK, 0.8)
    elif len(data.names) <= SINGLE:
        alone = len(data.names) == 1
        panel.title = "Delay: round trip in TCP and one way" if data.one_way else "Round trip in TCP"
        if not alone and data.one_way:
            panel.title = "Delay: round trip in TCP (lines), one way (thin)"
        for (colour, dash), name in zip(FLOW_STYLES, data.names, strict=False):
            if name in data.one_way:
                time, value = thin(data.time[name], data.one_way[name])
                grey = INK if alone else colour
                panel.line(time, value, grey, 0.9 if alone else 0.5, order=1.9)
                if alone:
                    labels.append(Label(last(value), "one way", INK))
            if name in data.rtt:
                time, value = thin(data.time[name], data.rtt[name])
                panel.line(time, value, colour, 1.1, dash)
                labels.append(Label(last(value), "round trip\nin TCP" if alone else name, colour))
        labels += _idle_paths(panel, data)
    else:
        panel.title = f"Delay of {len(data.names)} flows: round trip in TCP and one way"
        grid = np.linspace(0, data.duration, 600)
        low, middle, high = _band(data, data.rtt, grid)
        panel.area(grid, high, FILL, low, steps=False)
        for edge in (high, low):
            panel.line(grid, edge, MID, 0.6, steps=False)
        panel.line(grid, middle, ACCENT, 1.2, steps=False)
        labels += [Label(last(high), "90% below", MID), Label(last(middle), "median\nround trip", ACCENT)]
        if data.one_way:
            _, way, _ = _band(data, data.one_way, grid)
            panel.line(grid, way, INK, 0.9, steps=False)
            labels.append(Label(last(way), "median\none way", INK))
        labels += _idle_paths(panel, data)
    panel.y.span(0, 1.08 * panel.top(otherwise=1.0))
    panel.beside(labels)


def _idle_paths(panel: Panel, data: History) -> list[Label]:
    """Draw the round trip of each flow's path while nothing waits there; return what stands beside them.

    Flows with one path have one line; of many paths it is the median.
    """
    paths = idle_paths(data.path_rtt, data.names)
    if len(paths) > SINGLE:
        each = [data.path_rtt[name] for name in data.names if name in data.path_rtt]
        paths = [(float(np.median(each)), data.names)]
        words = "median path,\nidle"
    else:
        words = "path, idle"
    # Of more flows than have lines of their own none has a colour.
    few = data.names if len(data.names) <= SINGLE else []
    colours = dict(zip(few, (colour for colour, _ in FLOW_STYLES), strict=False))
    for path, names in paths:
        colour = colours.get(names[0], MID) if len(names) == 1 < len(data.names) else MID
        panel.level(path, colour, 0.8, (4, 2))
    if not paths:
        return []
    if len(paths) == 1:
        return [Label(paths[0][0], words, MID)]
    panel.title = f"{panel.title}, idle paths (dashed)"
    return []


def _band(data: History, values: Mapping[str, Floats], grid: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the 10th, 50th and 90th percentile over the flows at each instant of the grid."""
    rows = []
    for name, value in values.items():
        place = np.searchsorted(data.time[name], grid, side="right") - 1
        rows.append(np.where(place >= 0, value[np.maximum(place, 0)], np.nan))
    return spread_of(np.array(rows))


def tokens_panel(panel: Panel, data: History) -> None:
    """Draw how many bytes are in the gate's bucket; at 0 the next packet waits, or is policed."""
    what = "Bucket" if data.bucket else "Policer's bucket"
    panel.title = f"{what} at gate {data.gate}: what may still pass at once"
    depth = data.bucket.get("burst_bytes") or (float(np.nanmax(data.tokens)) if len(data.tokens) else 1.0)
    factor, unit = (1e6, "MB") if depth >= 1e6 else (1e3, "kB") if depth >= 1e3 else (1.0, "bytes")
    time, tokens = thin(data.gate_time, data.tokens)
    panel.area(time, tokens / factor, FILL)
    panel.line(time, tokens / factor, INK, 0.8)
    panel.y_label = unit
    panel.y.span(min(0.0, float(np.nanmin(tokens / factor))), 1.12 * depth / factor)
    if data.bucket.get("burst_bytes"):
        panel.level(depth / factor, MID, 0.8, (4, 2))
        panel.beside([Label(depth / factor, f"full\n{number(depth / factor)} {unit}", MID)])
    panel.y.most = 4
