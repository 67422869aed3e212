"""The lines above the picture of a run: whose numbers they are, and what they count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate import _text
from tidegate._numbers import figures_of

if TYPE_CHECKING:
    from tidegate._plot_history import History
    from tidegate._run_record import Recorded


def spikes_note(run: Recorded) -> str:
    """Say when goodput counts a byte."""
    if "in_order_bytes" in run.table("flows").columns:
        return "Goodput counts a byte when it first arrives (▲: above the scale)."
    return "It counts once in order: a repaired hole is a spike (▲: above the scale)."


def flows_line(run: Recorded) -> str:
    """Return what all flows have together: goodput, round trip, fairness, completion."""
    flows = run.summary["flows"]
    if not flows:
        return ""
    figures = figures_of(run.summary, None)
    words = [f"goodput {_text.rate(figures['goodput_bps'])}"]
    if len(flows) == 1:
        words.append(
            f"round trip p50 {_text.number(flows[0]['rtt_p50_ms'])} ms, "
            f"p99 {_text.number(flows[0]['rtt_p99_ms'])} ms"
        )
    else:
        trips = [row["rtt_p99_ms"] for row in flows if row["rtt_p99_ms"] is not None]
        if trips:
            words.append(f"round trip p99 {_text.number(min(trips))} to {_text.number(max(trips))} ms")
        # Who asks more gets more: its share says nothing of the network.
        if figures["fairness"] is not None and not run.summary.get("requests"):
            words.append(f"fairness {_text.number(figures['fairness'])}")
    if figures["completion_s"] is not None:
        words.append(
            f"{'last ' if len(flows) > 1 else ''}done after {_text.number(figures['completion_s'])} s"
        )
    if figures.get("response_mean_s") is not None:
        words.append(f"mean response {_text.number(figures['response_mean_s'])} s")
    who = {1: f"Flow {flows[0]['name']}", 2: "Both flows"}.get(len(flows), f"All {len(flows)} flows")
    return f"{who}: {'  ·  '.join(words)}"


def gate_line(run: Recorded, data: History) -> str:
    """Return the numbers of the gate that is drawn, and whose goodput passes it."""
    if data.gate is None:
        return ""
    row = run.gates.row(data.gate).summary
    words = []
    if row.get("utilisation") is not None:
        words.append(f"used {_text.percent(row['utilisation'])}%")
    words.append(
        f"queueing delay p50 {_text.number(row.get('queue_delay_p50_ms'))} ms, "
        f"p99 {_text.number(row.get('queue_delay_p99_ms'))} ms"
    )
    words.append(f"loss {_text.percent(_text.loss(row), 2)}%")
    if len(data.through) < len(run.flows) and data.through:
        passing = sum(float(run.flows.row(name)["goodput_bps"]) for name in data.through)
        count = len(data.through)
        words.append(f"passed by {count} of the {len(run.flows)} flows, goodput {_text.rate(passing)}")
    return f"Gate {data.gate}: {'  ·  '.join(words)}"
