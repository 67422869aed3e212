"""What a capture shows of a link, told to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._base.text import number, percent, plain, rate, table, wrapped

if TYPE_CHECKING:
    from tidegate.traces._captured import CapturedTrace

#: Stretches that the report lists: the longest.
LISTED = 8


def captured_report(found: CapturedTrace) -> str:
    """Return what ``tidegate traces from`` prints."""
    full = [each for each, sat in zip(found.rates_bps, found.saturated, strict=True) if sat]
    rows = [
        ["connection", ", ".join(found.connections)],
        ["captured at", f"the {found.at}"],
        ["duration", f"{number(len(found.saturated) * found.window_s, 4)} s"],
        ["saturated", f"{percent(found.saturated_share)}% of the time"],
        ["mean rate where saturated", rate(found.mean_bps)],
    ]
    if full:
        low, high = rate(min(full)), rate(max(full))
        rows.append([f"    lowest, highest over {number(1e3 * found.window_s)} ms", f"{low}, {high}"])
    left = max(len(row[0]) for row in rows)
    lines = ["Capacity seen by a capture", *(f"  {name.ljust(left)}  {value}" for name, value in rows)]
    short = [each for each in found.stretches if not each.saturated]
    if short:
        longest = sorted(
            sorted(short, key=lambda each: each.begin_s - each.end_s)[:LISTED], key=lambda each: each.begin_s
        )
        body = [[f"{number(each.begin_s, 4)} to {number(each.end_s, 4)}", each.why] for each in longest]
        lines += ["", table([["not saturated, s", "because"]], body, left=2)]
        if len(short) > LISTED:
            lines.append(f"… and {len(short) - LISTED} shorter ones")
    lines += ["", *(wrapped(f"{note[0].upper()}{note[1:]}.") for note in found.notes)] if found.notes else []
    return plain("\n".join(lines))
