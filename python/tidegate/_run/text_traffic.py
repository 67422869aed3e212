"""Background traffic of a run as tables for people."""

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
from tidegate._run.words import MOST_ROWS, share_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    Groups = Sequence[dict[str, Any]]

#: The columns of one-way delays, where they are measured.
_DELAYS = ("delay_mean_ms", "delay_p50_ms", "delay_p99_ms", "delay_max_ms", "interarrival_jitter_ms")
#: What the tables mean.
TRAFFIC_SHORT = "Delay: from the source to the end of the path; jitter: RFC 3550."


def traffic_tables(groups: Groups) -> list[str]:
    """Return one line per group of background sources, then one per group of media; blank lines before each.

    ``groups``: the summary's ``traffic_groups``, of which the last is all of them.
    """
    if not groups:
        return []
    *several, everything = groups
    shown = several
    if len(several) > MOST_ROWS:
        busiest = sorted(several, key=lambda row: -row["throughput_bps"])[:MOST_ROWS]
        shown = [row for row in several if row in busiest]
    rows = [*shown, everything] if len(several) > 1 else shown
    text = _packets(rows)
    if len(shown) < len(several):
        text = text.with_note(
            f"(the {len(shown)} groups with the highest rates of {len(several)}; all: the sum of every "
            "group; --json prints each source)"
        )
    tables = ["", text]
    if any("media_frames_sent" in row for row in rows):
        tables += ["", _media([row for row in rows if "media_frames_sent" in row])]
    return tables


def measures_delays(groups: Groups) -> bool:
    """Tell whether any group's one-way delays are measured."""
    return any(row["loss"] is not None for row in groups)


def _packets(rows: Groups) -> TextTable:
    factor, unit = rate_scale(max(row["throughput_bps"] for row in rows))
    head = [["traffic", "sources", "arrived"], ["", "", unit]]
    measured = measures_delays(rows)
    if measured:
        words = ["lost", "delay", "p50", "p99", "max", "jitter"], ["%", "mean, ms", "ms", "ms", "ms", "ms"]
    else:
        words = ["packets"], ["arrived, %"]
    # Only copies have a slowest and a fastest; beside delays there is no room for them.
    copies = not measured and any(row["sources"] > 1 for row in rows)
    spread = (["slowest", "fastest"], [unit, unit]) if copies else ([], [])
    for line, more, last in zip(head, words, spread, strict=True):
        line += [*more, *last]
    body = []
    for row in rows:
        cells = [shorten(row["name"], 18), str(row["sources"]), number(row["throughput_bps"] / factor)]
        if measured:
            cells += [percent(row["loss"], 2), *(number(row[name]) for name in _DELAYS)]
        else:
            cells.append(percent(share_of(row["packets_delivered"], row["packets_sent"])))
        if copies:
            cells += [number(row[f"throughput_{end}_bps"] / factor) for end in ("min", "max")]
        body.append(cells)
    return table(head, body)


def _media(rows: Groups) -> TextTable:
    head = [
        ["media", "frames", "lost", "late", "delay", "p50", "p99", "max"],
        ["", "", "%", "%", "mean, ms", "ms", "ms", "ms"],
    ]
    body = [
        [
            shorten(row["name"], 18),
            str(row["media_frames_sent"]),
            percent(share_of(row["media_frames_lost"], row["media_frames_sent"]), 2),
            _late(row),
            *(number(row[f"media_frame_delay_{what}_ms"]) for what in ("mean", "p50", "p99", "max")),
        ]
        for row in rows
    ]
    return table(head, body)


def _late(row: dict[str, Any]) -> str:
    late = row["media_frames_late"]
    return "–" if late is None else percent(share_of(late, row["media_frames_sent"]), 2)
