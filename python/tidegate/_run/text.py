"""A run as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import (
    HEADERS_SHORT,
    counts_cells,
    loss,
    number,
    percent,
    plain,
    rate,
    rate_scale,
    seconds,
    shorten,
    table,
    wrapped,
)
from tidegate._run.police_text import (
    POLICE_SHORT,
    drops_by_reason,
    has_policer,
    limiting_rate,
    police_tables,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Flows or gates shown by name; the rest is one line.
_SHOWN = 12


def limited_by(shares: dict[str, Any] | None) -> str:
    """Say what limited a flow, largest share first: ``gate.bottleneck 71%, …``."""
    if not shares:
        return "–"
    ranked = sorted(shares.items(), key=lambda item: -(item[1] or 0))
    told = [
        f"{what.replace('gate.', 'gate ')} {100 * share:.0f}%"
        for what, share in ranked
        if share and share >= 0.005
    ]
    return ", ".join(told) or "–"


def flows_table(flows: Sequence[dict[str, Any]]) -> str:
    """Return one line per flow, or the largest ones and the sum."""
    top = max((row["goodput_bps"] or 0 for row in flows), default=0)
    factor, unit = rate_scale(top)
    head = [
        ["flow", "cc", "goodput", "throughput", "resent", "timeouts", "RTT p50", "p99", "cwnd"],
        ["", "", unit, unit, "%", "", "ms", "ms", "segm."],
    ]
    shown = list(flows)
    if len(shown) > _SHOWN:
        shown = sorted(shown, key=lambda row: -(row["goodput_bps"] or 0))[:_SHOWN]
    rows = [
        [
            shorten(row["name"], 18),
            row["cc"],
            number(row["goodput_bps"] / factor),
            number(row["throughput_bps"] / factor),
            percent(_ratio(row["segments_retransmitted"], row["segments_sent"]), 2),
            number(row["timeouts"]),
            number(row["rtt_p50_ms"]),
            number(row["rtt_p99_ms"]),
            number(row["cwnd_mean_segments"]),
        ]
        for row in shown
    ]
    if len(flows) > 1:
        sent = sum(row["segments_sent"] for row in flows)
        rows.append(
            [
                f"all {len(flows)}",
                "",
                number(sum(row["goodput_bps"] for row in flows) / factor),
                number(sum(row["throughput_bps"] for row in flows) / factor),
                percent(_ratio(sum(r["segments_retransmitted"] for r in flows), sent), 2),
                number(sum(row["timeouts"] for row in flows)),
                "",
                "",
                "",
            ]
        )
    text = table(head, rows, left=2)
    if len(shown) < len(flows):
        text += f"\n(the {len(shown)} flows with the highest goodput of {len(flows)}; --json prints all)"
    return text


def gates_table(gates: Sequence[dict[str, Any]]) -> str:
    """Return one line per gate, or the busiest ones; gates that count cells in a table of their own."""
    of_cells = [row for row in gates if counts_cells(row)]
    of_packets = [row for row in gates if not counts_cells(row)]
    parts = [(of_packets, "packets"), (of_cells, "cells")]
    return "\n\n".join(_gates_table(rows, what) for rows, what in parts if rows)


def _gates_table(gates: Sequence[dict[str, Any]], what: str) -> str:
    top = max((limiting_rate(row) or 0 for row in gates), default=0)
    factor, unit = rate_scale(top)
    head = [
        ["gate", "rate", "used", "dropped", "loss", "queue", "max", "wait p50", "p99"],
        ["", unit, "%", what, "%", "mean", what, "ms", "ms"],
    ]
    shown = list(gates)
    if len(shown) > _SHOWN:
        shown = sorted(shown, key=lambda row: -(row[f"queue_mean_{what}"] or 0))[:_SHOWN]
    rows = [
        [
            shorten(row["name"], 18),
            number(None if (limit := limiting_rate(row)) is None else limit / factor),
            percent(row["utilisation"]),
            number(row[f"dropped_{what}"]),
            percent(loss(row), 2),
            number(row[f"queue_mean_{what}"]),
            number(row[f"queue_max_{what}"]),
            number(row.get("queue_delay_p50_ms")),
            number(row["queue_delay_p99_ms"]),
        ]
        for row in shown
    ]
    text = table(head, rows)
    if len(shown) < len(gates):
        text += f"\n(the {len(shown)} gates with the longest queues of {len(gates)}; --json prints all)"
    return text


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
    kept = dict(shown[:_SHOWN]) if len(shown) > _SHOWN else groups
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
    cells = [shorten(name, 18), str(len(rows)), number(sum(rates)), percent(_ratio(arrived, sent))]
    return [*cells, number(min(rates)), number(max(rates))] if several else cells


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


def _calls_table(head: list[list[str]], rows: list[list[str]], told: Sequence[dict[str, Any]]) -> str:
    """Return a table with what became of the calls at its right."""
    more = (
        ["calls", "carried", "refused", "waited", "blocked", "wait mean", "p99"],
        ["", "", "", "", "%", "s", "s"],
    )
    columns = ["calls_offered", "calls_carried", "calls_refused", "calls_waited"]
    if any(row.get("calls_abandoned") for row in told):
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
        for left, row in zip(rows, told, strict=True)
    ]
    text = table(head, rows[:_SHOWN])
    if len(rows) > _SHOWN:
        text += f"\n(the first {_SHOWN} of {len(rows)}; --json prints all)"
    return text


def requests_table(requests: Sequence[dict[str, Any]]) -> str:
    """Return one line per flow with requests, or the slowest ones, and one of all together."""
    *flows, every = requests
    head = [
        ["requests", "asked", "finished", "response", "p50", "p95", "p99", "all"],
        ["", "", "", "mean, s", "s", "s", "s", "mean, s"],
    ]
    shown = (
        flows if len(flows) <= _SHOWN else sorted(flows, key=lambda r: -(r["response_mean_s"] or 0))[:_SHOWN]
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
        text += f"\n(the {len(shown)} slowest flows of {len(flows)}; --json prints all)"
    return text


def _mean(mean: float | None, half: float | None) -> str:
    return number(mean) if half is None else f"{number(mean)} ±{number(half, 2)}"


REQUESTS_SHORT = (
    "A response time runs from the request until the last byte of the response has arrived in order. "
    "Means and percentiles are of finished requests; all: the mean that includes unfinished requests, with "
    "their age at the end of the run. ±: half of the 95% interval, if requests are independent."
)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _limits(flows: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line per flow; of many flows, their mean."""
    shares = [row.get("limited_by") or {} for row in flows]
    if not any(shares):
        return []
    if len(flows) <= _SHOWN:
        return [f"{row['name']}: {limited_by(share)}" for row, share in zip(flows, shares, strict=True)]
    whats = list(dict.fromkeys(what for share in shares for what in share))
    mean = {what: sum(share.get(what) or 0 for share in shares) / len(shares) for what in whats}
    return [f"mean of {len(flows)} flows: {limited_by(mean)}"]


def _slots(gate: dict[str, Any]) -> str:
    """Return what an allocator gave a gate, in one sentence."""
    over = gate["overallocation_bps_mean"]
    return (
        f"Slots of gate {gate['name']}: {number(gate['slots_mean'])} on average, "
        f"from {number(gate['slots_min'])} to {number(gate['slots_max'])}, "
        f"{gate['allocation_changes']} changes. The mean allocation is {rate(abs(over))} "
        f"{'above' if over >= 0 else 'below'} the rate of arriving traffic"
    )


def _cells(gate: dict[str, Any]) -> str | None:
    """Return what became of a cell gate's packets, in one sentence; None where nothing was lost."""
    if not gate["dropped_packets"]:
        return None
    wasted = gate["wasted_cells"]
    more = f"; {number(wasted)} cells of lost packets were carried in vain" if wasted else ""
    return f"Packets lost at gate {gate['name']}: {number(gate['dropped_packets'])}{more}"


def run_report(summary: dict[str, Any], title: str) -> str:
    """Return what ``tidegate run`` prints."""
    begin, end = summary["measured_from_s"], summary["duration_s"]
    lines = [
        title,
        wrapped(
            f"engine {summary['engine']} · seed {summary['seed']} · measured from {begin:g} to {seconds(end)}"
        ),
    ]
    if summary["flows"]:
        lines += ["", flows_table(summary["flows"])]
    if summary["gates"]:
        lines += ["", gates_table(summary["gates"])]
    if summary.get("requests"):
        lines += ["", requests_table(summary["requests"]), wrapped(REQUESTS_SHORT)]
    lines += police_tables(summary)
    lines += calls_tables(summary)
    slots = [_slots(gate) for gate in summary["gates"] if "slots_mean" in gate]
    reasons = [text for text in map(drops_by_reason, summary["gates"]) if text]
    lost = [text for text in map(_cells, filter(counts_cells, summary["gates"])) if text]
    groups = (
        (slots, "channels"),
        (reasons, "gates that dropped packets"),
        (lost, "gates that lost packets in cells"),
    )
    for texts, what in groups:
        for text in texts[:_SHOWN]:
            lines += ["", wrapped(text, "  ")]
        if len(texts) > _SHOWN:
            lines += ["", f"(the first {_SHOWN} of {len(texts)} {what}; --json prints all)"]
    if summary.get("traffic"):
        lines += ["", traffic_table(summary["traffic"])]
    told = _limits(summary["flows"])
    if told:
        lines += ["", "What limited each flow (share of the time)"]
        lines += [wrapped(f"  {line}", "    ") for line in told]
    note = HEADERS_SHORT if summary["flows"] or summary["gates"] else ""
    if any(map(counts_cells, summary["gates"])):
        note += " A cell is 53 bytes."
    if any(map(has_policer, summary["gates"])):
        note += f" {POLICE_SHORT}"
    if note:
        lines += ["", wrapped(note)]
    return plain("\n".join(lines))
