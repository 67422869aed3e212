"""A comparison of variants as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate import _text
from tidegate._numbers import short_keys

if TYPE_CHECKING:
    from tidegate._variants import Variants


def report(comparison: Variants) -> str:
    """Return one line per variant: what was varied, then its figures."""
    rows = comparison.rows()
    asks = any(row.get("response_mean_s") is not None for row in rows)
    # Who asks more gets more: its share says nothing of the network.
    several = len(comparison.variants[0].run.flows) > 1 and not asks
    factor, unit = _text.rate_scale(max((row["goodput_bps"] for row in rows), default=0.0))
    short = short_keys(comparison.axes)
    count = len(short)
    head = [
        [*short, "goodput", "wait p50", "p99", "loss", "used", "timeouts"],
        [""] * count + [unit, "ms", "ms", "%", "%", ""],
    ]
    if several:
        head[0].append("fairness")
        head[1].append("Jain")
    finite = any(row["completion_s"] is not None for row in rows)
    if finite:
        head[0].append("done")
        head[1].append("s")
    if asks:
        head[0] += ["response", "p95"]
        head[1] += ["mean, s", "s"]
    body = []
    for row in rows:
        cells = [
            *(str(row[key]) for key in comparison.axes),
            _text.number(row["goodput_bps"] / factor),
            _text.number(row["queue_delay_p50_ms"]),
            _text.number(row["queue_delay_p99_ms"]),
            _text.percent(row["loss"], 2),
            _text.percent(row["utilisation"]),
            _text.number(row["timeouts"]),
        ]
        if several:
            cells.append(_text.number(row["fairness"]))
        if finite:
            cells.append(_text.number(row["completion_s"], 4))
        if asks:
            cells += [_text.number(row.get(name)) for name in ("response_mean_s", "response_p95_s")]
        body.append(cells)
    first = comparison.variants[0].run.summary
    at = f"gate {comparison.gate}" if comparison.gate else "no gate in common"
    gates = [row for row in first["gates"] if row["name"] == comparison.gate]
    units = "cells" if any(map(_text.counts_cells, gates)) else "whole packets"
    lines = [
        comparison.title,
        _text.wrapped(
            f"engine {first['engine']} · {comparison.seeds} · {at} · measured from "
            f"{first['measured_from_s']:g} to {_text.seconds(first['duration_s'])}"
        ),
        "",
        _text.table(head, body, left=count),
        "",
        _text.wrapped(
            "wait: queueing delay; used: share of the capacity. Goodput counts payload only; "
            f"rates, queues and loss count {units}."
        ),
    ]
    return _text.plain("\n".join(lines))
