"""The picture of a run: windows, rate with goodput, queue and losses on one time axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._base import text
from tidegate._base.nearest import nearest
from tidegate._draw.drawing import Drawing, Panel
from tidegate._draw.parts import Words
from tidegate._draw.tokens import INK, MID, fit
from tidegate._run.completion import transfers, until_words
from tidegate._run.history import history
from tidegate._run.plot_delay import delay_panel, has_delays, tokens_panel
from tidegate._run.plot_flows import bars_panel
from tidegate._run.plot_groups import group_delay_panel, group_window_panel
from tidegate._run.plot_headline import flows_line, gate_line, spikes_note
from tidegate._run.plot_panels import events_panel, queue_panel, speed_panel, window_panel
from tidegate._run.plot_requests import has_requests, response_panel
from tidegate._run.plot_video import bitrate_panel, buffer_panel, has_video, only_video
from tidegate._run.record import not_recorded
from tidegate._run.summary import figures_of
from tidegate._run.tcp_words import tcp_words
from tidegate._run.words import PANELS
from tidegate.errors import ArgumentError, NotRecordedError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._run.history import History
    from tidegate._run.record import Recorded

_LEFT, _RIGHT = 0.75, 1.3
_WIDTH = 9.2
_TOP, _BOTTOM, _GAP = 1.2, 0.62, 0.42
#: Heights of panels, inches.
_HEIGHTS = {"cwnd": 1.75, "goodput": 1.9, "delay": 1.7, "responses": 1.7, "queue": 1.55, "tokens": 1.2}
_HEIGHTS |= {"buffer": 1.6, "bitrate": 1.6}
_EVENTS, _BARS = 0.62, 1.3


def run_drawing(run: Recorded, *, gate: str | None = None, show: Sequence[str] | None = None) -> Drawing:
    """Draw the picture of a run on one time axis, and bars of its flows where there are several.

    ``show``: panels (:data:`tidegate._run.words.PANELS`); left out, those that say something of
    this run. Drops, fast retransmits and time-outs always stand below them.

    Raises:
        NotRecordedError: the run kept only its summary, or did not record this gate.
        UnknownNameError: there is no gate of this name.
        ArgumentError: a panel was asked for that this run has nothing for.
    """
    data = history(run, gate)
    if gate is not None and not data.gate_recorded:
        raise NotRecordedError(not_recorded(gate, [*run.arrays("gates").parts("gate")]))
    names = _chosen(run, data, show)
    bars = len(run.flows) > 1 and show is None
    heights = [*(_HEIGHTS[name] for name in names), _EVENTS]
    height = _TOP + sum(heights) + _GAP * (len(heights) - 1) - 0.28 + _BOTTOM + (_BARS + 0.75) * bars
    drawing = Drawing(
        _WIDTH, height, run.title, foot=f"{text.HEADERS_SHORT} {spikes_note(run)}", foot_left=_LEFT
    )
    at = height - _TOP
    for number, name in enumerate([*names, "events"]):
        at -= heights[number]
        panel = drawing.panel(_LEFT, at, _WIDTH - _LEFT - _RIGHT, heights[number])
        panel.x.span(0, data.duration)
        if data.begin > 0:
            panel.hatch(0, data.begin)
        _panel(panel, name, run, data)
        panel.x.labelled = name == "events"
        # The events stand close to the panel above: its time axis is theirs.
        at -= _GAP if number < len(names) - 1 else 0.14
    drawing.panels[-1].x_label = "time, s"
    if data.begin > 0:
        warmup = Words(1, 1, "hatched: warm-up, not counted", 7, MID, "right", "bottom", away=(0, 4))
        drawing.panels[0].write(warmup)
    if bars:
        _flow_bars(drawing, run)
    _titles(drawing, run, data)
    return drawing


def _chosen(run: Recorded, data: History, show: Sequence[str] | None) -> list[str]:
    """Return the panels to draw, in their order."""
    there = {
        "cwnd": bool(data.names or data.groups),
        "goodput": bool(data.names or data.groups) or data.gate_recorded,
        "delay": bool(data.groups) or has_delays(data),
        "buffer": has_video(run),
        "bitrate": has_video(run),
        # (Segments of videos have panels of their own.)
        "responses": has_requests(run) and (show is not None or not only_video(run)),
        "queue": len(data.queue) > 0 and (show is not None or bool(np.nanmax(data.queue) > 0)),
        "tokens": len(data.tokens) > 0,
    }
    if show is None:
        return [name for name in PANELS if there[name]]
    if not show:
        raise ArgumentError(f"show: the list is empty; name one or more of {', '.join(PANELS)}")
    for name in show:
        if name not in PANELS:
            raise UnknownNameError(nearest("panel", name, PANELS))
        if not there[name]:
            raise ArgumentError(f"{name}: this run has nothing to draw in that panel")
    return [name for name in PANELS if name in show]


def _panel(panel: Panel, name: str, run: Recorded, data: History) -> None:
    if name == "responses":
        response_panel(panel, run)
        return
    if name == "buffer":
        buffer_panel(panel, run, data.duration)
        return
    if name == "bitrate":
        bitrate_panel(panel, run, data.duration)
        return
    panels = {
        "cwnd": window_panel,
        "goodput": speed_panel,
        "delay": delay_panel,
        "queue": queue_panel,
        "tokens": tokens_panel,
        "events": events_panel,
    }
    if data.groups and not data.names:
        panels |= {"cwnd": group_window_panel, "delay": group_delay_panel}
    panels[name](panel, data)


def _flow_bars(drawing: Drawing, run: Recorded) -> None:
    """Draw goodput of each flow and, of finite transfers, how long each took."""
    flows = run.summary["flows"]
    finite = transfers(flows)
    whole = _WIDTH - _LEFT - _RIGHT
    fair = figures_of(run.summary, None)["fairness"]
    unit = text.rate_scale(max(row["goodput_bps"] or 0.0 for row in flows))[1]
    fairness = (
        "" if fair is None or run.summary.get("requests") else f" (Jain's fairness index {text.number(fair)})"
    )
    wide = whole / 2 - 0.41 if finite else whole
    panel = drawing.panel(_LEFT, _BOTTOM - 0.05, wide, _BARS)
    bars_panel(panel, flows, "goodput_bps", f"Goodput of each flow{fairness}", unit)
    if finite:
        panel = drawing.panel(_LEFT + whole / 2 + 0.41, _BOTTOM - 0.05, wide, _BARS)
        bars_panel(panel, finite, "completion_s", "Time until each transfer was done", "s")


def _titles(drawing: Drawing, run: Recorded, data: History) -> None:
    kinds = tcp_words(run.summary["flows"])
    flows = f"{len(run.flows)} flow{'s' if len(run.flows) != 1 else ''}"
    facts = [
        f"seed {run.seed}",
        f"{flows} ({kinds})" if kinds else flows,
        f"engine {run.summary['engine']}",
        f"counted from {data.begin:g} s to {until_words(data.duration, data.duration)}",
    ]
    if data.unrecorded is not None:
        facts.append(f"gate {fit(data.unrecorded, 24)} was not recorded")
    lines = [(0.2, fit(run.title, 88), 12.5, INK), (0.47, "  ·  ".join(facts), 8.5, MID)]
    headlines = [line for line in (flows_line(run), gate_line(run, data)) if line]
    lines += [(0.66 + 0.19 * n, fit(line, 150), 8.5, INK) for n, line in enumerate(headlines)]
    drawing.words += [
        Words(_LEFT, drawing.height - (down - 0.1), line, size, colour, up="top", bold=size > 10)
        for down, line, size, colour in lines
    ]
