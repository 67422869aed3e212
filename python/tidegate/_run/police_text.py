"""Policers and drops by reason as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import TextTable, number, percent, rate_scale, shorten, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = dict[str, Any]

#: Rows shown of a table; the rest is one line.
_SHOWN = 12

POLICE_SHORT = "For a policer, used is the share of the rate in its contract; line: the gate's own rate."
BUCKET_SHORT = (
    "For a token bucket, rate is that of its tokens, and peak is how fast it sends at most; used is the "
    "share of what it could pass in the measured time, burst included."
)


def has_policer(gate: Row) -> bool:
    """Tell whether a gate polices."""
    return "contract_bps" in gate


def gate_rates(gate: Row) -> tuple[float | None, float | None, float | None]:
    """Return a gate's rate, that of its line where a contract is the rate, and a bucket's peak; bit/s.

    The rate of a policer that allows less than the gate is its contract's, and that of a token bucket its
    tokens'.
    """
    line = gate.get("bucket_bps", gate["rate_mean_bps"])
    contract = gate.get("contract_bps")
    by_contract = contract is not None and gate["limit_bps"] == contract
    return contract if by_contract else line, None if contract is None else line, gate.get("bucket_peak_bps")


def police_tables(summary: dict[str, Any]) -> list[str]:
    """Return tables of policers, of markers, and of what they did to each flow and source."""
    gates = [gate for gate in summary["gates"] if has_policer(gate)]
    marking = [gate for gate in summary["gates"] if "green_packets" in gate]
    if not gates and not marking:
        return []
    senders = [(row["name"], row["segments_sent"], row) for row in summary["flows"]]
    senders += [(f"traffic {row['name']}", row["packets_sent"], row) for row in summary.get("traffic", [])]
    tables = [_policers(gates)] if gates else []
    tables += [_markers(marking)] if marking else []
    return [line for text in (*tables, _policed(senders)) for line in ("", text)]


def _markers(gates: Sequence[Row]) -> TextTable:
    head = [["marker", "green", "yellow", "red", "dropped"]]
    rows = [
        [
            shorten(gate["name"], 18),
            *(number(gate[f"{colour}_packets"]) for colour in ("green", "yellow", "red")),
            number((gate.get("drops") or {}).get("policed", 0)),
        ]
        for gate in gates[:_SHOWN]
    ]
    return _cut(table(head, rows), len(gates), "markers")


def _policers(gates: Sequence[Row]) -> TextTable:
    factor, unit = rate_scale(max(gate["contract_bps"] for gate in gates))
    counted = ["cells" if "policed_cells" in gate else "packets" for gate in gates[:_SHOWN]]
    one = counted[0] if len(set(counted)) == 1 else ""
    head = [["policer", "contract", "used", "dropped", "tagged"], ["", unit, "%", one, one]]
    rows = []
    for gate, what in zip(gates, counted, strict=False):
        unless = "" if one else f" {what}"
        rows.append(
            [
                shorten(gate["name"], 18),
                number(gate["contract_bps"] / factor),
                percent(gate["contract_utilisation"]),
                number(gate[f"policed_{what}"]) + unless,
                number(gate[f"tagged_{what}"]) + unless,
            ]
        )
    return _cut(table(head, rows), len(gates), "policers")


def _policed(senders: Sequence[tuple[str, int, Row]]) -> TextTable:
    head = [["packets of", "sent", "dropped", "policed", "tagged"]]
    worst = sorted(senders, key=lambda one: -one[2]["policed_packets"])
    shown = senders if len(senders) <= _SHOWN else worst[:_SHOWN]
    rows = [
        [
            shorten(name, 24),
            number(sent),
            number(row["dropped_packets"]),
            number(row["policed_packets"]),
            number(row["tagged_packets"]),
        ]
        for name, sent, row in shown
    ]
    return _cut(table(head, rows), len(senders), "flows and sources")


def _cut(text: TextTable, count: int, what: str) -> TextTable:
    if count <= _SHOWN:
        return text
    return text.with_note(f"({_SHOWN} of {count} {what}; --json prints all)")


def drops_by_reason(gate: Row) -> str | None:
    """Return why a gate dropped packets, in one sentence; None where another table says it."""
    drops = {reason: count for reason, count in (gate.get("drops") or {}).items() if count}
    if gate.get("filtered_packets"):
        count = number(gate["filtered_packets"])
        needless = f"Needless ACKs dropped at gate {gate['name']}, which are no losses: {count}"
        return needless if not drops else f"{needless}. {_reasons(gate, drops)}"
    if not drops or (len(drops) == 1 and set(drops) <= {"queue full", "policed"}):
        return None
    return _reasons(gate, drops)


def _reasons(gate: Row, drops: dict[str, int]) -> str:
    reasons = ", ".join(
        f"{reason} {number(count)}" for reason, count in sorted(drops.items(), key=lambda d: -d[1])
    )
    return f"Packets dropped at gate {gate['name']}: {reasons}"
