"""Copies of one flow, taken together: sums, and how they spread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._run.completion import together

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Numbers of flows that have a sum.
_SUMS = (
    "segments_sent",
    "segments_delivered",
    "segments_retransmitted",
    "timeouts",
    "fast_retransmits",
)
_PERCENT = (10, 50, 90)


def group_of(name: str) -> str:
    """Return the name of the flow whose copy this is: ``user`` for ``user.17``."""
    return name.split(".", 1)[0]


def grouped(flows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of flows by the flow whose copies they are, in order."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in flows:
        groups.setdefault(group_of(row["name"]), []).append(row)
    return groups


def spread(values: Iterable[float | None]) -> list[float | None]:
    """Return the values below which 10, 50 and 90 of 100 are; None where there is none."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return [None] * len(_PERCENT)
    return [known[(len(known) - 1) * percent // 100] for percent in _PERCENT]


def group_rows(summary: dict[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row for each of these groups: flows, rates together, sums, the spread of goodput."""
    if not names:
        return []
    groups = grouped(summary["flows"])
    rows = []
    for name in names:
        members = groups.get(name, [])
        row: dict[str, Any] = {"name": name, "flows": len(members)}
        row |= {rate: together(summary, members, rate) for rate in ("goodput_bps", "throughput_bps")}
        row |= {key: sum(member[key] or 0 for member in members) for key in _SUMS}
        shares = spread(member["goodput_bps"] for member in members)
        row |= {f"goodput_p{p}_bps": share for p, share in zip(_PERCENT, shares, strict=True)}
        rows.append(row)
    return rows
