"""The classes of gates as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import TextTable, number, percent, rate_scale, shorten, table
from tidegate._run.words import MOST_ROWS, share_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = dict[str, Any]


def classes_tables(summary: Row) -> list[str]:
    """Return a table of the classes of each gate that has some; none, no table."""
    seconds = summary["duration_s"] - summary["measured_from_s"]
    gates = [gate for gate in summary["gates"] if gate.get("classes")]
    lines: list[str] = []
    for gate in gates[:MOST_ROWS]:
        lines += ["", _classes_table(gate, seconds)]
    if len(gates) > MOST_ROWS:
        lines += ["", f"(the first {MOST_ROWS} of {len(gates)} gates with classes; --json prints all)"]
    return lines


def _classes_table(gate: Row, seconds: float) -> TextTable:
    classes: Sequence[Row] = gate["classes"]
    rates = [8 * row["delivered_bytes"] / seconds for row in classes]
    factor, unit = rate_scale(max(rates))
    what = "cells" if "offered_cells" in classes[0] else "packets"
    head = [
        [
            f"class of {shorten(gate['name'], 18)}",
            "rate",
            "dropped",
            "loss",
            "queue",
            "max",
            "wait mean",
            "p99",
            "max",
        ],
        ["", unit, what, "%", "mean", what, "ms", "ms", "ms"],
    ]
    rows = [
        [
            shorten(row["name"], 18),
            number(rate / factor),
            number(row[f"dropped_{what}"]),
            percent(share_of(row[f"dropped_{what}"], row[f"offered_{what}"]), 2),
            number(row[f"queue_mean_{what}"]),
            number(row[f"queue_max_{what}"]),
            number(row["queue_delay_mean_ms"]),
            number(row["queue_delay_p99_ms"]),
            number(row["queue_delay_max_ms"]),
        ]
        for row, rate in zip(classes, rates, strict=True)
    ]
    text = table(head, rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        text = text.with_note(f"(the first {MOST_ROWS} of {len(rows)} classes; --json prints all)")
    return text
