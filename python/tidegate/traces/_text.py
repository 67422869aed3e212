"""A link trace described for people."""

from __future__ import annotations

from typing import Any

from tidegate._base.text import (
    number,
    percent,
    plain,
    rate,
)


def trace_report(file: str, info: dict[str, Any]) -> str:
    """Return what ``tidegate traces info`` prints."""
    window = number(1e3 * info["window_s"])
    stall = number(1e3 * info["outage_threshold_s"])
    rows = [
        ["duration", f"{number(info['duration_s'], 6)} s"],
        ["mean rate", rate(info["mean_bps"])],
        [f"rate over {window} ms: p5", rate(info["p5_bps"])],
        ["    median", rate(info["p50_bps"])],
        ["    p95", rate(info["p95_bps"])],
        ["    lowest, highest", f"{rate(info['min_bps'])}, {rate(info['max_bps'])}"],
        ["    standard deviation / mean", number(info["variation"])],
        [
            f"outages of {stall} ms or more",
            "{}, the longest {} s, {}% of the time".format(
                info["outages"], number(info["outage_longest_s"]), percent(info["outage_share"])
            ),
        ],
        ["capacity", f"{info['deliverable_bytes']} bytes (headers included)"],
    ]
    if info.get("opportunities") is not None:
        rows.append(
            ["delivery opportunities", f"{info['opportunities']} of {info['opportunity_bytes']} bytes"]
        )
    if info.get("points") is not None:
        rows.append(["recorded rates", str(info["points"])])
    left = max(len(row[0]) for row in rows)
    notes = [f"Note: {remark}." for remark in info.get("remarks", [])]
    return plain("\n".join([file, *(f"  {name.ljust(left)}  {value}" for name, value in rows), *notes]))
