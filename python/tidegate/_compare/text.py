"""A comparison of variants as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import (
    counts_cells,
    number,
    percent,
    plain,
    rate,
    rate_scale,
    seconds,
    table,
    wrapped,
)
from tidegate._run.summary import short_keys

if TYPE_CHECKING:
    from tidegate._compare.variants import Variants


def report(comparison: Variants) -> str:
    """Return one line per variant: what was varied, then its figures."""
    rows = comparison.rows()
    asks = any(row.get("response_mean_s") is not None for row in rows)
    # Who asks more gets more: its share says nothing of the network.
    several = len(comparison.variants[0].run.flows) > 1 and not asks
    factor, unit = rate_scale(max((row["goodput_bps"] for row in rows), default=0.0))
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
            number(row["goodput_bps"] / factor),
            number(row["queue_delay_p50_ms"]),
            number(row["queue_delay_p99_ms"]),
            percent(row["loss"], 2),
            percent(row["utilisation"]),
            number(row["timeouts"]),
        ]
        if several:
            cells.append(number(row["fairness"]))
        if finite:
            cells.append(number(row["completion_s"], 4))
        if asks:
            cells += [number(row.get(name)) for name in ("response_mean_s", "response_p95_s")]
        body.append(cells)
    first = comparison.variants[0].run.summary
    at = f"gate {comparison.gate}" if comparison.gate else "no gate in common"
    gates = [row for row in first["gates"] if row["name"] == comparison.gate]
    units = "cells" if any(map(counts_cells, gates)) else "whole packets"
    lines = [
        comparison.title,
        wrapped(
            f"engine {first['engine']} · {comparison.seeds} · {at} · measured from "
            f"{first['measured_from_s']:g} to {seconds(first['duration_s'])}"
        ),
        "",
        table(head, body, left=count),
        *_chosen(comparison),
        "",
        wrapped(
            "wait: queueing delay; used: share of the capacity. Goodput counts payload only; "
            f"rates, queues and loss count {units}."
        ),
    ]
    return plain("\n".join(lines))


def _chosen(comparison: Variants) -> list[str]:
    """Return the numbers that were asked for as a table of their own, if any were."""
    if not comparison.columns:
        return []
    short = short_keys(comparison.axes)
    parts = [name.rpartition(".") for name in comparison.columns]
    head = [[*short, *(element for element, _, _ in parts)], [""] * len(short) + [last for *_, last in parts]]
    body = [
        [
            *(str(row[key]) for key in comparison.axes),
            *(_cell(name, row[name]) for name in comparison.columns),
        ]
        for row in comparison.rows()
    ]
    return ["", table(head, body, left=len(short))]


def _cell(name: str, value: Any) -> str:
    """Return a number of the summary; a rate with its own unit, since it may be large."""
    return rate(value) if name.endswith("_bps") and value is not None else number(value)
