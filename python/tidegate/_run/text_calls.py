"""Calls and requests of a run as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import (
    TextTable,
    number,
    percent,
    rate_scale,
    shorten,
    table,
)
from tidegate._run.words import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence


def calls_tables(summary: dict[str, Any]) -> list[str]:
    """Return a table of the pools, of the circuits and of the sources of calls, where there are any."""
    circuits = [row for row in summary["gates"] if "open_share" in row and not row["name"].endswith("/back")]
    sources = summary.get("calls", [])
    pools = summary.get("pools", [])
    lines = []
    if pools:
        factor, unit = rate_scale(max(row["capacity_bps"] for row in pools))
        head = [["pool", "capacity", "used", "max"], ["", unit, "%", unit]]
        rows = [
            [
                shorten(row["name"], 18),
                number(row["capacity_bps"] / factor),
                percent(row["utilisation"]),
                number(None if row["reserved_max_bps"] is None else row["reserved_max_bps"] / factor),
            ]
            for row in pools
        ]
        lines += ["", _calls_table(head, rows, pools)]
    if circuits:
        head = [["circuit", "open"], ["", "%"]]
        rows = [[shorten(row["name"], 18), percent(row["open_share"])] for row in circuits]
        lines += ["", _calls_table(head, rows, circuits)]
    if sources:
        rows = [[shorten(row["name"], 18)] for row in sources]
        lines += ["", _calls_table([["source"], [""]], rows, sources)]
    return lines


def _calls_table(
    head: list[list[str]], rows: list[list[str]], summaries: Sequence[dict[str, Any]]
) -> TextTable:
    """Return a table with what became of the calls at its right."""
    more = (
        ["calls", "carried", "refused", "waited", "blocked", "wait mean", "p99"],
        ["", "", "", "", "%", "s", "s"],
    )
    columns = ["calls_offered", "calls_carried", "calls_refused", "calls_waited"]
    if any(row.get("calls_abandoned") for row in summaries):
        more[0].insert(4, "abandoned")
        more[1].insert(4, "")
        columns.append("calls_abandoned")
    head = [[*left, *right] for left, right in zip(head, more, strict=True)]
    rows = [
        [
            *left,
            *(number(row.get(column)) for column in columns),
            percent(row.get("calls_blocked"), 2),
            number(row.get("call_wait_mean_s")),
            number(row.get("call_wait_p99_s")),
        ]
        for left, row in zip(rows, summaries, strict=True)
    ]
    text = table(head, rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        text = text.with_note(f"(the first {MOST_ROWS} of {len(rows)}; --json prints all)")
    return text


def requests_table(requests: Sequence[dict[str, Any]]) -> TextTable:
    """Return one line per flow with requests, or the slowest ones, and one of all together."""
    *flows, every = requests
    head = [
        ["requests", "asked", "finished", "response", "p50", "p95", "p99", "all"],
        ["", "", "", "mean, s", "s", "s", "s", "mean, s"],
    ]
    shown = (
        flows
        if len(flows) <= MOST_ROWS
        else sorted(flows, key=lambda r: -(r["response_mean_s"] or 0))[:MOST_ROWS]
    )
    rows = [
        [
            shorten(row["name"], 18),
            number(row["asked"]),
            number(row["finished"]),
            _mean(row["response_mean_s"], row["response_half_width_s"]),
            number(row["response_p50_s"]),
            number(row["response_p95_s"]),
            number(row["response_p99_s"]),
            number(row["response_mean_with_unfinished_s"]),
        ]
        for row in ([*shown, every] if len(flows) > 1 else flows)
    ]
    text = table(head, rows)
    if len(shown) < len(flows):
        text = text.with_note(f"(the {len(shown)} slowest flows of {len(flows)}; --json prints all)")
    return text


def _mean(mean: float | None, half: float | None) -> str:
    return number(mean) if half is None else f"{number(mean)} ±{number(half, 2)}"


REQUESTS_SHORT = (
    "A response time runs from the request until the last byte of the response has arrived in order. "
    "Means and percentiles are of finished requests; all: the mean that includes unfinished requests, with "
    "their age at the end of the run. ±: half of the 95% interval, if requests are independent."
)
