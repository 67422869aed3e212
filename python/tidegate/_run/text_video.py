"""Video of a run as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import TextTable, number, percent, rate_scale, shorten, table
from tidegate._run.words import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

VIDEOS_SHORT = (
    "Join: from the flow's start to the first picture. Stalled: time without video after that, and its share "
    "(rebuffering). Bitrate: the mean of the segments. QoE: the sum of the segments' Mbit/s, less weighted "
    "switches, stalls and join."
)


def videos_table(videos: Sequence[dict[str, Any]]) -> TextTable:
    """Return one line per flow with a player, or those that rebuffered most."""
    factor, unit = rate_scale(max((row["bitrate_mean_bps"] or 0.0) for row in videos))
    head = [
        ["video", "segments", "join", "stalls", "stalled", "", "bitrate", "switches", "QoE"],
        ["", "", "s", "", "s", "%", unit, "", ""],
    ]
    worst = sorted(videos, key=lambda row: -row["stalled_s"])
    shown = videos if len(videos) <= MOST_ROWS else worst[:MOST_ROWS]
    rows = [
        [
            shorten(row["name"], 14),
            number(row["segments"]),
            number(row["join_s"]),
            number(row["stalls"]),
            number(row["stalled_s"]),
            percent(row["rebuffering"]),
            number(None if row["bitrate_mean_bps"] is None else row["bitrate_mean_bps"] / factor),
            number(row["switches"]),
            number(row["qoe"]),
        ]
        for row in shown
    ]
    text = table(head, rows)
    if len(shown) < len(videos):
        text = text.with_note(
            f"(the {len(shown)} that rebuffered longest of {len(videos)}; --json prints all)"
        )
    return text


def players(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a run's players; none where a flow asks for anything but segments of video."""
    videos: list[dict[str, Any]] = summary.get("videos", [])
    # One row is of all requests together.
    return videos if len(videos) == len(summary.get("requests", [])) - 1 else []


def bitrate(videos: Sequence[dict[str, Any]]) -> float:
    """Return the mean bitrate of the segments of these players, in bit/s; 0 where none came."""
    segments = sum(row["segments"] for row in videos)
    summed = sum(row["segments"] * (row["bitrate_mean_bps"] or 0.0) for row in videos)
    return float(summed / segments) if segments else 0.0
