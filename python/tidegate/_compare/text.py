"""A comparison of variants as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import (
    counts_cells,
    facts,
    joined,
    number,
    percent,
    rate,
    rate_scale,
    table,
    wrapped,
)
from tidegate._compare.changed import changed_lines
from tidegate._run.completion import IN_BRACKETS, begin_words, done_cell, lengths, until_words
from tidegate._run.summary import gate_row, short_keys
from tidegate._run.text_video import bitrate, players

if TYPE_CHECKING:
    from tidegate._compare.variants import Variants


def report(comparison: Variants) -> str:
    """Return one line per variant: what was varied, then its figures."""
    return joined(comparison_lines(comparison))


def comparison_lines(comparison: Variants) -> list[str]:
    """Return the title, the facts, tables and paragraphs of a comparison, with blank lines between them."""
    rows = comparison.rows()
    watched = [players(variant.run.summary) for variant in comparison.variants]
    plays = all(watched)
    asks = not plays and any(row.get("response_mean_s") is not None for row in rows)
    # Who asks more gets more: its share says nothing of the network.
    several = any(len(variant.run.flows) > 1 for variant in comparison.variants) and not (asks or plays)
    factor, unit = rate_scale(max((row["goodput_bps"] or 0.0 for row in rows), default=0.0))
    short = short_keys(comparison.axes)
    count = len(short)
    head = [
        [*short, "goodput", "wait p50", "p99", "loss", "used", "timeouts"],
        [""] * count + [unit, "ms", "ms", "%", "%", ""],
    ]
    if several:
        head[0].append("fairness")
        head[1].append("Jain")
    finite = any(row["completion_s"] is not None or "progress" in row for row in rows)
    is_open = any(row["completion_s"] is None and row.get("progress") is not None for row in rows)
    if finite:
        head[0].append("done")
        head[1].append("s")
    if asks:
        head[0] += ["response", "p95"]
        head[1] += ["mean, s", "s"]
    if plays:
        head[0] += ["bitrate", "stalled"]
        head[1] += [unit, "s"]
    body = []
    for row, videos in zip(rows, watched, strict=True):
        cells = [
            *(str(row[key]) for key in comparison.axes),
            number(None if row["goodput_bps"] is None else row["goodput_bps"] / factor),
            number(row["queue_delay_p50_ms"]),
            number(row["queue_delay_p99_ms"]),
            percent(row["loss"], 2),
            percent(row["utilisation"]),
            number(row["timeouts"]),
        ]
        if several:
            cells.append(number(row["fairness"]))
        if finite:
            cells.append(done_cell(row, 4))
        if asks:
            cells += [number(row.get(name)) for name in ("response_mean_s", "response_p95_s")]
        if plays:
            cells += [number(bitrate(videos) / factor), number(sum(video["stalled_s"] for video in videos))]
        body.append(cells)
    first = comparison.variants[0].run.summary
    summaries = [variant.run.summary for variant in comparison.variants]
    gates = [gate_row(v.run.summary, comparison.gate_of(v) or "") for v in comparison.variants]
    units = "cells" if any(map(counts_cells, filter(None, gates))) else "whole packets"
    return [
        comparison.title,
        facts(
            [
                f"engine {first['engine']}",
                comparison.tcp,
                comparison.seeds,
                comparison.place,
                f"measured from {begin_words(summaries)} to {until_words(*lengths(summaries))}",
            ]
        ),
        "",
        table(head, body, left=count),
        *_chosen(comparison),
        *changed_lines(comparison),
        "",
        wrapped(
            "wait: queueing delay; used: share of the capacity. Goodput counts payload only; "
            f"rates, queues and loss count {units}."
            + (f" {IN_BRACKETS}" if is_open else "")
            + (" bitrate: the mean of all segments; stalled: the sum of all players." if plays else "")
        ),
    ]


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
