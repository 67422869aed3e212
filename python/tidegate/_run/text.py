"""A run as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import (
    HEADERS_SHORT,
    TextTable,
    counts_cells,
    facts,
    joined,
    loss,
    number,
    percent,
    rate,
    rate_scale,
    shorten,
    table,
    wrapped,
)
from tidegate._run.completion import (
    completion,
    done_cell,
    done_words,
    together,
    total_goodput,
    total_throughput,
    transfers,
    until_words,
)
from tidegate._run.flow_groups import grouped, spread
from tidegate._run.perturbed import perturbed_lines
from tidegate._run.police_text import (
    BUCKET_SHORT,
    POLICE_SHORT,
    drops_by_reason,
    gate_rates,
    has_policer,
    police_tables,
)
from tidegate._run.tcp_words import tcp_words
from tidegate._run.text_calls import REQUESTS_SHORT, calls_tables, requests_table
from tidegate._run.text_classes import classes_tables
from tidegate._run.text_traffic import TRAFFIC_SHORT, measures_delays, traffic_tables
from tidegate._run.text_video import VIDEOS_SHORT, videos_table
from tidegate._run.text_waiting import waiting_lines
from tidegate._run.words import MOST_ROWS, share_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def limited_by(shares: dict[str, Any] | None) -> str:
    """Say what limited a flow, largest share first: ``gate.bottleneck 71%, …``."""
    if not shares:
        return "–"
    ranked = sorted(shares.items(), key=lambda item: -(item[1] or 0))
    parts = [
        f"{what.replace('gate.', 'gate ')} {100 * share:.0f}%"
        for what, share in ranked
        if share and share >= 0.005
    ]
    return ", ".join(parts) or "–"


#: The place of the round trips in a row of the table of flows.
_RTT = 6


def flows_table(summary: dict[str, Any]) -> TextTable:
    """Return one line per flow, or the largest ones and what they have together."""
    flows: Sequence[dict[str, Any]] = summary["flows"]
    goodput, throughput = total_goodput(summary), total_throughput(summary)
    top = max((row["goodput_bps"] or 0 for row in flows), default=0)
    factor, unit = rate_scale(top)
    head = [
        ["flow", "cc", "goodput", "throughput", "resent", "timeouts", "RTT p50", "p99", "cwnd"],
        ["", "", unit, unit, "%", "", "ms", "ms", "segm."],
    ]
    finite = bool(transfers(flows))
    if finite:
        head[0].append("done")
        head[1].append("s")
    # One path stands below the table.
    apart = len({number(row.get("rtt_path_ms")) for row in flows}) > 1
    if apart:
        head[0].insert(_RTT, "path")
        head[1].insert(_RTT, "ms")
    shown = list(flows)
    if len(shown) > MOST_ROWS:
        shown = sorted(shown, key=lambda row: -(row["goodput_bps"] or 0))[:MOST_ROWS]
    rows = [
        [
            shorten(row["name"], 18),
            row["cc"],
            _scaled(row["goodput_bps"], factor),
            _scaled(row["throughput_bps"], factor),
            percent(share_of(row["segments_retransmitted"], row["segments_sent"]), 2),
            number(row["timeouts"]),
            *([number(row.get("rtt_path_ms"))] if apart else []),
            number(row["rtt_p50_ms"]),
            number(row["rtt_p99_ms"]),
            number(row["cwnd_mean_segments"]),
            *([done_cell(row)] if finite else []),
        ]
        for row in shown
    ]
    if len(shown) < len(flows):
        groups = grouped(flows)
        some = list(groups.items())[:MOST_ROWS] if len(groups) > 1 else []
        for name, members in some:
            if len(members) > 1:
                rates = (
                    together(summary, members, "goodput_bps"),
                    together(summary, members, "throughput_bps"),
                )
                rows.append(_together(f"{name}.1–{len(members)}", members, rates, factor, finite=finite))
    if len(flows) > 1:
        rows.append(_together(f"all {len(flows)}", flows, (goodput, throughput), factor, finite=finite))
    if apart:
        rows = [row if len(row) == len(head[0]) else [*row[:_RTT], "", *row[_RTT:]] for row in rows]
    text = table(head, rows, left=2)
    if len(shown) < len(flows):
        low, middle, high = (_scaled(value, factor) for value in spread(row["goodput_bps"] for row in flows))
        text = text.with_note(
            f"(the {len(shown)} flows with the highest goodput of {len(flows)}; a tenth has less than {low} "
            f"{unit}, half {middle}, nine tenths {high}; --json prints all)"
        )
    return text


def _sum(flows: Sequence[dict[str, Any]], key: str) -> float:
    return sum(float(row[key] or 0) for row in flows)


def _together(
    name: str,
    flows: Sequence[dict[str, Any]],
    rates: tuple[float | None, float | None],
    factor: float,
    *,
    finite: bool,
) -> list[str]:
    """Return the line of several flows together, with their goodput and throughput."""
    goodput, throughput = rates
    sent = _sum(flows, "segments_sent")
    return [
        shorten(name, 18),
        "",
        _scaled(goodput, factor),
        _scaled(throughput, factor),
        percent(share_of(_sum(flows, "segments_retransmitted"), sent), 2),
        number(sum(row["timeouts"] for row in flows)),
        "",
        "",
        "",
        *([number(completion(flows)[0])] if finite else []),
    ]


def _scaled(value: float | None, factor: float) -> str:
    return number(None if value is None else value / factor)


def gates_tables(gates: Sequence[dict[str, Any]]) -> list[str]:
    """Return one line per gate, or the busiest ones, in a table; gates that count cells in one of their own.

    A blank line stands before each.
    """
    of_cells = [row for row in gates if counts_cells(row)]
    of_packets = [row for row in gates if not counts_cells(row)]
    parts = [(of_packets, "packets"), (of_cells, "cells")]
    return [line for rows, what in parts if rows for line in ("", _gates_table(rows, what))]


def _gates_table(gates: Sequence[dict[str, Any]], what: str) -> TextTable:
    # A peak stands beside the rate, however large it is.
    top = max((value for row in gates for value in gate_rates(row)[:2] if value), default=0)
    factor, unit = rate_scale(top)
    has = [True, *(any(each) for each in list(zip(*map(gate_rates, gates), strict=True))[1:])]
    rates = [name for name, present in zip(("rate", "line", "peak"), has, strict=True) if present]
    head = [
        ["gate", *rates, "used", "dropped", "loss", "queue", "max", "wait p50", "p99"],
        ["", *(unit for _ in rates), "%", what, "%", "mean", what, "ms", "ms"],
    ]
    shown = list(gates)
    if len(shown) > MOST_ROWS:
        shown = sorted(shown, key=lambda row: -(row[f"queue_mean_{what}"] or 0))[:MOST_ROWS]
    rows = [
        [
            shorten(row["name"], 18),
            *(_scaled(value, factor) for value, present in zip(gate_rates(row), has, strict=True) if present),
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
        text = text.with_note(
            f"(the {len(shown)} gates with the longest queues of {len(gates)}; --json prints all)"
        )
    return text


def _limits(flows: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line per flow; of many flows, their mean."""
    shares = [row.get("limited_by") or {} for row in flows]
    if not any(shares):
        return []
    if len(flows) <= MOST_ROWS:
        return [f"{row['name']}: {limited_by(share)}" for row, share in zip(flows, shares, strict=True)]
    return [f"mean of {len(flows)} flows: {limited_by(mean_shares(shares))}"]


def mean_shares(shares: Sequence[Mapping[str, float | None]]) -> dict[str, float]:
    """Return the mean share of each cause over flows; a flow that a cause is not told of has none of it."""
    by_cause: dict[str, list[float]] = {}
    for share in shares:
        for what, part in share.items():
            by_cause.setdefault(what, []).append(part or 0)
    return {what: sum(parts) / len(shares) for what, parts in by_cause.items()}


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


#: What stands above the lines of what limited each flow.
LIMITED_BY = "What limited each flow (share of the time)"


def _path_words(flows: Sequence[dict[str, Any]]) -> str:
    """Say what RTT is, and how long the path's round trips are without it."""
    paths = sorted(flow["rtt_path_ms"] for flow in flows if "rtt_path_ms" in flow)
    if not paths:
        return ""
    words = " RTT is as TCP measures it, with waits and delayed ACKs; "
    if len({*map(number, paths)}) > 1:
        return f"{words}path: the round trip while nothing waits."
    return f"{words}while nothing waits the path takes {number(paths[0])} ms."


def _advice(flow: dict[str, Any]) -> str:
    """Say what advice a flow has heard."""
    if not flow["advice_signals"]:
        return f"{flow['name']}: heard none"
    in_force = (
        "none in force at the end" if flow["advice_bps"] is None else f"{rate(flow['advice_bps'])} at the end"
    )
    return f"{flow['name']}: heard {number(flow['advice_signals'])} rate signals, {in_force}"


def run_report(summary: dict[str, Any], title: str) -> str:
    """Return what ``tidegate run`` prints."""
    return joined(run_lines(summary, title))


def run_lines(summary: dict[str, Any], title: str) -> list[str]:
    """Return the title, the facts, tables and paragraphs of a run, with blank lines between them."""
    begin, end = summary["measured_from_s"], summary["duration_s"]
    lines = [
        title,
        facts(
            [
                f"engine {summary['engine']}",
                tcp_words(summary["flows"]),
                f"seed {summary['seed']}",
                f"measured from {begin:g} to {until_words(end, end)}",
                done_words(summary["flows"]),
            ]
        ),
    ]
    if summary["flows"]:
        lines += ["", flows_table(summary)]
    lines += gates_tables(summary["gates"])
    if summary.get("requests"):
        lines += ["", requests_table(summary["requests"]), wrapped(REQUESTS_SHORT)]
    if summary.get("videos"):
        lines += ["", videos_table(summary["videos"]), wrapped(VIDEOS_SHORT)]
    lines += classes_tables(summary)
    lines += waiting_lines(summary["gates"])
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
        for text in texts[:MOST_ROWS]:
            lines += ["", wrapped(text, "  ")]
        if len(texts) > MOST_ROWS:
            lines += ["", f"(the first {MOST_ROWS} of {len(texts)} {what}; --json prints all)"]
    groups = summary.get("traffic_groups", [])
    lines += traffic_tables(groups)
    limits = _limits(summary["flows"])
    if limits:
        lines += ["", LIMITED_BY]
        lines += [wrapped(f"  {line}", "    ") for line in limits]
    advised = [_advice(flow) for flow in summary["flows"] if "advice_signals" in flow]
    if advised:
        lines += ["", "Throughput advice"]
        lines += [wrapped(f"  {line}", "    ") for line in advised[:MOST_ROWS]]
        if len(advised) > MOST_ROWS:
            lines += [f"  (the first {MOST_ROWS} of {len(advised)} flows; --json prints all)"]
    if summary.get("perturbed"):
        lines += perturbed_lines(summary["perturbed"])
    note = HEADERS_SHORT if summary["flows"] or summary["gates"] else ""
    if any(map(counts_cells, summary["gates"])):
        note += " A cell is 53 bytes."
    if any(map(has_policer, summary["gates"])):
        note += f" {POLICE_SHORT}"
    if any("bucket_bps" in gate for gate in summary["gates"]):
        note += f" {BUCKET_SHORT}"
    note += _path_words(summary["flows"])
    if measures_delays(groups):
        note = f"{note} {TRAFFIC_SHORT}".strip()
    if note:
        lines += ["", wrapped(note)]
    return lines
