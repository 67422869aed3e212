"""The numbers that engines are compared by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate._base.text import counts_cells, number
from tidegate._run.completion import total_goodput
from tidegate._run.summary import gate_row, jain

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Flows that have rows of their own.
SINGLE = 3


@dataclass(frozen=True)
class Quantity:
    """A number that engines are compared by.

    ``place`` says where it stands in a summary: ``flow NAME``, ``gate NAME`` or ``all``. ``scale``
    divides it for people, ``floor`` is a difference (not divided) too small to speak of. A number that
    is counted (``counted``) has no floor: :meth:`chance` says how far counting alone lets it vary.
    """

    name: str
    place: str
    column: str
    unit: str
    scale: float = 1.0
    floor: float = 0.0
    counted: bool = False

    def chance(self, summaries: Sequence[dict[str, Any]]) -> float:
        """Return the least variance of a counted number between runs: that of independent events.

        Their count has a variance of its mean (Poisson). One more event than was counted is taken,
        because none in these runs does not prove that there is none in the next.
        """
        if not self.counted:
            return 0.0
        found = [self._counts(summary) for summary in summaries]
        events = [count for count, _ in found if count is not None]
        wholes = [whole for _, whole in found if whole]
        if not events or not wholes:
            return 0.0
        return (sum(events) + 1) / len(events) / (sum(wholes) / len(wholes)) ** 2

    def _counts(self, summary: dict[str, Any]) -> tuple[float | None, float | None]:
        """Return the events behind the number, and what it divides them by."""
        kind, _, name = self.place.partition(" ")
        rows = list(summary.get("flows" if kind == "all" else f"{kind}s", []))
        rows = rows if kind == "all" else [row for row in rows if row["name"] == name]
        if self.column == "timeouts":
            return _sum(rows, "timeouts"), 1.0
        if self.column == "resent":
            return _sum(rows, "segments_retransmitted"), _sum(rows, "segments_sent")
        unit = "cells" if any(map(counts_cells, rows)) else "packets"
        return _sum(rows, f"dropped_{unit}"), _sum(rows, f"offered_{unit}")

    def of(self, summary: dict[str, Any]) -> float | None:
        """Return the number; None where an engine does not give it."""
        kind, _, name = self.place.partition(" ")
        if kind == "all":
            return _total(summary, self.column)
        rows: list[dict[str, Any]] = [row for row in summary.get(f"{kind}s", []) if row["name"] == name]
        row = rows[0] if rows else {}
        if self.column == "resent":
            return _share(row.get("segments_retransmitted"), row.get("segments_sent"))
        value = row.get(self.column)
        return None if value is None else float(value)


def quantities_of(first: dict[str, Any], gate: str | None) -> list[Quantity]:
    """Return what runs with a summary like this one are compared by: all flows, few flows, a gate."""
    flows = [row["name"] for row in first["flows"]]
    several = len(flows) > 1
    found = []
    if several:
        found += [
            Quantity("goodput of all", "all", "goodput_bps", "Mbit/s", 1e6),
            Quantity("fairness (Jain)", "all", "fairness", "", 1.0, 0.01),
            Quantity("resent of all", "all", "resent", "%", 0.01, counted=True),
            Quantity("time-outs of all", "all", "timeouts", "", counted=True),
        ]
    if len(flows) <= SINGLE:
        for name in flows:
            of = f" of {name}" if several else ""
            place = f"flow {name}"
            found += [
                Quantity(f"goodput{of}", place, "goodput_bps", "Mbit/s", 1e6),
                Quantity(f"RTT mean{of}", place, "rtt_mean_ms", "ms", 1.0, 0.05),
                Quantity(f"RTT p99{of}", place, "rtt_p99_ms", "ms", 1.0, 0.05),
                Quantity(f"window mean{of}", place, "cwnd_mean_segments", "segments", 1.0, 0.5),
                Quantity(f"resent{of}", place, "resent", "%", 0.01, counted=True),
                Quantity(f"time-outs{of}", place, "timeouts", "", counted=True),
                Quantity(f"completion{of}", place, "completion_s", "s", 1.0, 0.001),
            ]
    if gate is not None:
        row = gate_row(first, gate) or {}
        unit = "cells" if counts_cells(row) else "packets"
        place = f"gate {gate}"
        found += [
            Quantity("utilisation", place, "utilisation", "%", 0.01, 0.002),
            Quantity("loss", place, "loss", "%", 0.01, counted=True),
            Quantity("queue mean", place, f"queue_mean_{unit}", unit, 1.0, 0.5),
            Quantity("queue max", place, f"queue_max_{unit}", unit, 1.0, 1.5),
            Quantity("wait p50", place, "queue_delay_p50_ms", "ms", 1.0, 0.05),
            Quantity("wait p99", place, "queue_delay_p99_ms", "ms", 1.0, 0.05),
        ]
    return found + _of_calls(first)


def _of_calls(summary: dict[str, Any]) -> list[Quantity]:
    """Return what engines are compared by where there are calls: pools, and sources if several."""
    pools = [row for row in summary.get("pools", []) if "calls_blocked" in row][:SINGLE]
    sources = summary.get("calls", [])[:SINGLE]
    found = []
    for row in pools:
        of, place = f" of {row['name']}", f"pool {row['name']}"
        found += [
            Quantity(f"utilisation{of}", place, "utilisation", "%", 0.01, 0.002),
            *_calls(of, place, row),
        ]
        if row["calls_waited"]:
            found.append(Quantity(f"waiting{of}", place, "waiting_mean_calls", "calls", 1.0, 0.05))
    if len(sources) > 1:
        for row in sources:
            found += _calls(f" of {row['name']}", f"call {row['name']}", row)
    return found


def _calls(of: str, place: str, row: dict[str, Any]) -> list[Quantity]:
    found = [Quantity(f"blocked{of}", place, "calls_blocked", "%", 0.01, 0.001)]
    if row["calls_waited"]:
        found += [
            Quantity(f"call wait mean{of}", place, "call_wait_mean_s", "s", 1.0, 1e-6),
            Quantity(f"call wait p99{of}", place, "call_wait_p99_s", "s", 1.0, 1e-6),
        ]
    if row["calls_abandoned"]:
        found.append(Quantity(f"abandoned{of}", place, "calls_abandoned_share", "%", 0.01, 0.001))
    return found


def within_floor(quantity: Quantity) -> str:
    """Return "within 0.1 points": the difference too small to count."""
    return f"within {number(quantity.floor / quantity.scale, 2)} {_unit_of_floor(quantity)}".rstrip()


def _unit_of_floor(quantity: Quantity) -> str:
    # Of shares a difference is in percentage points.
    return "points" if quantity.unit == "%" else quantity.unit


def _total(summary: dict[str, Any], column: str) -> float | None:
    flows = summary["flows"]
    if column == "resent":
        sent = [row.get("segments_sent") for row in flows]
        again = [row.get("segments_retransmitted") for row in flows]
        return None if None in sent or None in again else _share(sum(again), sum(sent))
    if column in ("goodput_bps", "fairness"):
        if any("goodput_bps" not in row for row in flows):
            return None
        return total_goodput(summary) if column == "goodput_bps" else jain(flows)
    values = [value for row in flows if (value := row.get(column)) is not None]
    return float(sum(values)) if len(values) == len(flows) else None


def _sum(rows: Sequence[dict[str, Any]], column: str) -> float | None:
    values = [value for row in rows if (value := row.get(column)) is not None]
    return float(sum(values)) if rows and len(values) == len(rows) else None


def _share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole
