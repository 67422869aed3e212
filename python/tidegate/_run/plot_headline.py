"""The lines above the picture of a run: whose numbers they are, and what they count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._base.text import loss, number, percent, rate
from tidegate._run.completion import done_words, together
from tidegate._run.record import flows_through
from tidegate._run.summary import figures_of

if TYPE_CHECKING:
    from tidegate._run.history import History
    from tidegate._run.record import Recorded


def spikes_note(run: Recorded) -> str:
    """Say when goodput counts a byte."""
    if "in_order_bytes" in run.arrays("flows").columns:
        return "Goodput counts a byte when it first arrives (▲: above the scale)."
    return "It counts once in order: a repaired hole is a spike (▲: above the scale)."


def flows_line(run: Recorded) -> str:
    """Return what all flows have together: goodput, round trip, fairness, completion."""
    flows = run.summary["flows"]
    if not flows:
        return ""
    figures = figures_of(run.summary, None)
    words = [f"goodput {rate(figures['goodput_bps'])}"]
    if len(flows) == 1:
        words.append(
            f"round trip p50 {number(flows[0]['rtt_p50_ms'])} ms, p99 {number(flows[0]['rtt_p99_ms'])} ms"
        )
    else:
        trips = [row["rtt_p99_ms"] for row in flows if row["rtt_p99_ms"] is not None]
        if trips:
            words.append(f"round trip p99 {number(min(trips))} to {number(max(trips))} ms")
        # Who asks more gets more: its share says nothing of the network.
        if figures["fairness"] is not None and not run.summary.get("requests"):
            words.append(f"fairness {number(figures['fairness'])}")
    if done := done_words(flows):
        words.append(done)
    if figures.get("response_mean_s") is not None:
        words.append(f"mean response {number(figures['response_mean_s'])} s")
    who = {1: f"Flow {flows[0]['name']}", 2: "Both flows"}.get(len(flows), f"All {len(flows)} flows")
    return f"{who}: {'  ·  '.join(words)}"


def gate_line(run: Recorded, data: History) -> str:
    """Return the numbers of the gate that is drawn, and whose goodput passes it.

    Where no gate was recorded they are those of the gate that holds flows back most.
    """
    gate = data.gate or data.unrecorded
    if gate is None:
        return ""
    row = run.gates.row(gate).summary
    words = []
    if row.get("utilisation") is not None:
        words.append(f"used {percent(row['utilisation'])}%")
    words.append(
        f"queueing delay p50 {number(row.get('queue_delay_p50_ms'))} ms, "
        f"p99 {number(row.get('queue_delay_p99_ms'))} ms"
    )
    words.append(f"loss {percent(loss(row), 2)}%")
    passing = flows_through(run, gate)
    if 0 < len(passing) < len(run.flows):
        rows = [run.flows.row(name).summary for name in passing]
        goodput = together(run.summary, rows, "goodput_bps")
        words.append(f"passed by {len(passing)} of the {len(run.flows)} flows, goodput {rate(goodput)}")
    return f"Gate {gate}: {'  ·  '.join(words)}"
