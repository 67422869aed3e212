"""What an interactive page draws of a comparison: every variant over time, and its numbers as marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._page.view import Cloud, Instants, View, line
from tidegate._run.history import history
from tidegate._run.words import metric_label, scale_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tidegate._compare.variants import Variants
    from tidegate._run.history import History

    Floats = NDArray[np.float64]

#: Variants that have lines.
SHOWN = 8


def comparison_view(comparison: Variants) -> View | None:
    """Return the panels of a comparison: a line for each variant. None: some variant kept no time series."""
    shown = comparison.variants[:SHOWN]
    if not all(each.run.has("gates") and each.run.has("flows") for each in shown):
        return None
    names = [each.label(comparison.axes) for each in shown]
    data = [history(each.run, comparison.gate_of(each)) for each in shown]
    instants = Instants.of([t for each in data for t in [*each.time.values(), each.gate_time]], 5 * len(data))
    view = View(max(each.duration for each in data), min(each.begin for each in data))
    x = view.column(instants.at, time=True)

    def panel(name: str, title: str, unit: str, values: Callable[[History], Floats | None], of: str) -> None:
        lines = []
        for place, (label, each) in enumerate(zip(names, data, strict=True)):
            found = values(each)
            if found is not None:
                lines.append(line(label, view.column(found), place, of=of))
        view.panel(name, title, unit, x, lines)

    def at_gate(each: History, values: Floats) -> Floats | None:
        known = len(values) and not np.all(np.isnan(values))
        return instants.values(each.gate_time, values) if known else None

    def goodput(each: History) -> Floats | None:
        if not each.names:
            return None
        every = [instants.values(each.time[n], each.delivered[n]) for n in each.names]
        return _together(every)

    def window(each: History) -> Floats:
        every = [instants.values(each.time[n], each.cwnd[n]) for n in each.names]
        return _together(every)

    place = comparison.place
    together = "" if all(len(each.names) == 1 for each in data) else ", all flows together"
    panel("rate", f"Goodput{together}", "Mbit/s", goodput, "count")
    panel("wait", f"Wait at {place}", "ms", lambda each: at_gate(each, each.wait), "numbers")
    panel("queue", f"Queue at {place}", data[0].queue_unit, lambda e: at_gate(e, e.queue), "numbers")
    if all(each.names for each in data):
        panel("cwnd", f"Congestion window{together}", "segments", window, "numbers")
    if len(comparison.variants) > SHOWN:
        view.notes.append(f"Lines of the first {SHOWN} of {len(comparison.variants)} variants.")
    return view


def _together(every: list[Floats]) -> Floats:
    total: Floats = np.sum(np.nan_to_num(every), axis=0)
    return total


def comparison_cloud(comparison: Variants) -> Cloud | None:
    """Return each variant's numbers as marks; None where no two numbers are known."""
    rows = comparison.rows()
    names = [
        name
        for name in rows[0]
        if name not in comparison.axes and any(isinstance(row.get(name), int | float) for row in rows)
    ]
    if len(names) < 2 or "goodput_bps" not in names:
        return None
    delay = next((n for n in ("queue_delay_p99_ms", "completion_s", "loss") if n in names), names[-1])
    points = [
        (
            variant.label(comparison.axes),
            [None if row.get(n) is None else (float(row[n]) / scale_of(n)[0], None, None) for n in names],
        )
        for variant, row in zip(comparison.variants, rows, strict=True)
    ]
    labels = [(name, metric_label(name, comparison.gate)) for name in names]
    return Cloud(labels, delay, "goodput_bps", points)
