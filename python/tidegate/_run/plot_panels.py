"""The panels of a run's picture: windows, rate with goodput, queue, losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._base import text
from tidegate._draw.labels import Label
from tidegate._draw.thin import last, thin
from tidegate._draw.tokens import ACCENT, FILL, FLOW_STYLES, GRID, INK, MID, SINGLE, SOFT, fit
from tidegate._run.history import spread_of

if TYPE_CHECKING:
    from tidegate._draw.drawing import Panel
    from tidegate._run.history import History


def window_panel(panel: Panel, data: History) -> None:
    panel.title = "Congestion window"
    panel.y_label = "segments"
    labels: list[Label] = []
    tops: list[float] = []
    if len(data.names) <= SINGLE:
        for (colour, dash), name in zip(FLOW_STYLES, data.names, strict=False):
            time, cwnd = thin(data.time[name], data.cwnd[name])
            panel.line(time, cwnd, colour, 1.25, dash)
            t2, ssthresh = thin(data.time[name], data.ssthresh[name])
            alone = len(data.names) == 1
            look = (INK, 0.9, (3, 2)) if alone else (colour, 0.9, (1, 1.65))
            panel.line(t2, ssthresh, *look, order=1.9)
            if np.any(~np.isnan(cwnd)):
                tops.append(float(np.nanmax(cwnd)))
                labels.append(Label(last(cwnd), "cwnd" if alone else name, colour))
            if alone and np.any(~np.isnan(ssthresh)):
                labels.append(Label(last(ssthresh), "ssthresh\n(dashed)", INK))
        if len(data.names) > 1:
            panel.title = "Congestion window (dotted: ssthresh)"
    else:
        base = data.time[max(data.names, key=lambda n: len(data.time[n]))]
        grid = np.linspace(0, data.duration, min(len(base), 1200))
        every = np.array([np.interp(grid, data.time[n], data.cwnd[n], left=np.nan) for n in data.names])
        low, middle, high = spread_of(every)
        panel.area(grid, high, FILL, low, steps=False)
        for edge in (high, low):
            panel.line(grid, edge, MID, 0.6, steps=False)
        panel.line(grid, middle, ACCENT, 1.3, steps=False)
        panel.title = f"Congestion window of {len(data.names)} flows"
        labels += [
            Label(last(high), "90% below", MID),
            Label(last(middle), "median", ACCENT),
            Label(last(low), "10% below", MID),
        ]
        tops += [float(top) for top in high[~np.isnan(high)]]
    # An initial ssthresh far above every window would flatten what there is to see.
    panel.y.span(0, 1.08 * max(tops, default=1.0))
    panel.beside(labels)


def speed_panel(panel: Panel, data: History) -> None:
    known = data.rate_binned[~np.isnan(data.rate_binned)]
    limit = data.top_bps
    factor, unit = text.rate_scale(limit)
    panel.y.span(0, limit / factor)
    labels: list[Label] = []
    of = "" if data.gate is None else f" at gate {data.gate}"
    title = [] if data.through else ["No flow's data passes the gate"] if data.names else []
    # A link that never fills would be a grey wall: what a policer allows says more.
    if len(known) and not data.contract:
        filled = np.nan_to_num(data.rate_binned) / factor
        panel.filled_bins(data.edges, filled, FILL)
        panel.bins(data.edges, filled, SOFT, 0.9)
        word = "token rate" if data.bucket else "rate in force"
        labels.append(Label(float(filled[-1]), f"{word}\n(shaded)", MID))
        title.append(f"{word}{of} (shaded)")
    labels += _rate_lines(panel, data, factor)
    if data.contract:
        title.append(f"contract{of} (dashed)")
    if not data.through and len(data.carried):
        panel.bins(data.edges, data.carried / factor, ACCENT, 1.3)
        panel.above(data.edges, data.carried / factor, ACCENT)
        labels.append(Label(float(data.carried[-1] / factor), "carried by\nthe gate", ACCENT))
        title.append(f"what gate {data.gate} carried")
    elif 1 < len(data.names or data.groups) <= SINGLE:
        each = data.names or list(data.groups)
        for (colour, dash), name in zip(FLOW_STYLES, each, strict=False):
            if name in data.through:
                value = data.goodput[name] / factor
                panel.bins(data.edges, value, colour, 1.1, dash)
                panel.above(data.edges, value, colour)
                labels.append(Label(float(value[-1]), name, colour))
        every = len(data.through) == len(each)
        what = "flow" if data.names else "group"
        title.insert(0, f"goodput of each {what}" if every else f"goodput of {' and '.join(data.through)}")
    elif data.through:
        total = data.total_goodput / factor
        panel.bins(data.edges, total, ACCENT, 1.3)
        panel.above(data.edges, total, ACCENT)
        count = data.through_count
        several = count > 1
        of_some = f" of {data.through[0]}" if len(data.names) > 1 else ""
        labels.append(Label(float(total[-1]), f"goodput,\n{count} flows" if several else "goodput", ACCENT))
        title.insert(0, f"goodput of {count} flows together" if several else f"goodput{of_some}")
    words = "; ".join(title) or "goodput"
    panel.title = words[0].upper() + words[1:]
    panel.y_label = unit
    panel.beside(labels)


def _rate_lines(panel: Panel, data: History, factor: float) -> list[Label]:
    """Draw what a bucket's peak and a policer's contract allow, where it is inside the axes."""
    lines = [
        ("contract", data.contract.get("rate_bps"), (6, 2)),
        ("peak", data.contract.get("peak_bps") or data.bucket.get("peak_bps"), (2, 2)),
    ]
    labels = []
    for word, bps, dash in lines:
        if bps is not None and bps / factor <= panel.y.high:
            panel.level(bps / factor, INK, 0.9, dash)
            labels.append(Label(bps / factor, f"{word}\n{text.rate(bps)}", INK))
    return labels


def queue_panel(panel: Panel, data: History) -> None:
    panel.title = "Queue" if data.gate is None else f"Queue at gate {data.gate}"
    factor, unit = 1.0, data.queue_unit
    high = float(np.nanmax(data.queue)) if np.any(~np.isnan(data.queue)) else 0.0
    if unit == "bytes" and high >= 1e4:
        factor, unit = 1e3, "kB"
    panel.y_label = unit
    time, queue = thin(data.gate_time, data.queue / factor)
    panel.area(time, queue, FILL)
    panel.line(time, queue, INK, 0.8)
    top = 1.1 * high / factor or 1.0
    limit = None if data.queue_limit is None else data.queue_limit / factor
    limit_words = limit is not None and f"limit {text.number(limit if limit % 1 else int(limit))}"
    if limit is not None and limit <= 2.5 * top:
        top = max(top, 1.1 * limit)
        panel.level(limit, ACCENT, 0.9, (4, 2))
        panel.y.span(0, top)
        panel.beside([Label(limit, str(limit_words), ACCENT)])
    else:
        panel.y.span(0, top)
        word = (
            f"{limit_words} {unit},\nfar above" if limit is not None else "no limit" if data.has_law else ""
        )
        panel.beside([Label(top, word, MID)] if word else [])
    panel.y.whole = factor == 1.0


def events_panel(panel: Panel, data: History) -> None:
    rows = [
        ("drop", data.all_drops, INK),
        ("fast retransmit", data.fast, MID),
        ("time-out", data.timeouts, ACCENT),
    ]
    if not data.names:
        # When which flow did what is known of flows that are recorded by themselves.
        rows = rows[:1]
    panel.y.span(-0.6, len(rows) - 0.4)
    panel.y.named = []
    panel.spine = False
    labels = []
    for place, (word, times, colour) in enumerate(reversed(rows)):
        panel.level(place, GRID, 0.6, order=0.0)
        # A mark per pixel is enough.
        seen = np.unique(np.round(times / data.duration * 1600)) / 1600 * data.duration
        if word == "time-out":
            panel.points(seen, place, "cross", colour, 5, width=1.4)
        elif word == "fast retransmit":
            panel.points(seen, place, "down", colour, 4)
        else:
            panel.uprights(seen, place - 0.36, place + 0.36, colour, 0.7)
        plural = "" if len(times) == 1 else "s"
        where = _where(data) if word == "drop" else ""
        labels.append(Label(float(place), f"{len(times)} {word}{plural}{where}", colour))
    panel.beside(labels, size=7.5)


def _where(data: History) -> str:
    """Say at which gates packets were dropped, in few letters."""
    some = {gate: len(times) for gate, times in data.drops.items() if len(times)}
    if not some:
        return ""
    if len(some) == 1:
        return f"\nat {fit(next(iter(some)), 16)}"
    if len(some) == 2:
        return "\n" + ", ".join(f"{count} {fit(gate, 9)}" for gate, count in some.items())
    return f"\nat {len(some)} gates"
