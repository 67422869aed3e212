"""Background traffic of a run as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import (
    number,
    percent,
    rate_scale,
    shorten,
    table,
)
from tidegate._run.words import MOST_ROWS, share_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def traffic_table(traffic: Sequence[dict[str, Any]]) -> str:
    """Return one line per source of background packets, of copies (``bg.1``, ``bg.2``) one for all."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in traffic:
        base, _, copy = str(row["name"]).rpartition(".")
        groups.setdefault(base if copy.isdigit() and base else str(row["name"]), []).append(row)
    top = max(sum(row["throughput_bps"] for row in rows) for rows in groups.values())
    factor, unit = rate_scale(top)
    # Only copies have a slowest and a fastest.
    several = any(len(rows) > 1 for rows in groups.values())
    head = [["traffic", "sources", "arrived", "packets"], ["", "", unit, "arrived, %"]]
    if several:
        for line, words in zip(head, (["slowest", "fastest"], [unit, unit]), strict=True):
            line += words
    shown = sorted(groups.items(), key=lambda group: -sum(row["throughput_bps"] for row in group[1]))
    kept = dict(shown[:MOST_ROWS]) if len(shown) > MOST_ROWS else groups
    body = [_traffic_row(name, rows, factor, several=several) for name, rows in kept.items()]
    if len(groups) > 1:
        body.append(_traffic_row("all", traffic, factor, several=several))
    text = table(head, body)
    if len(kept) < len(groups):
        text += (
            f"\n(the {len(kept)} groups with the highest rates of {len(groups)}; all: the sum of every "
            "group; --json prints each source)"
        )
    return text


def _traffic_row(name: str, rows: Sequence[dict[str, Any]], factor: float, *, several: bool) -> list[str]:
    rates = [row["throughput_bps"] / factor for row in rows]
    sent, arrived = (sum(row[column] for row in rows) for column in ("packets_sent", "packets_delivered"))
    cells = [shorten(name, 18), str(len(rows)), number(sum(rates)), percent(share_of(arrived, sent))]
    return [*cells, number(min(rates)), number(max(rates))] if several else cells
