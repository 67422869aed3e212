"""What is read off a run's summary, for one run, a comparison or a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import loss
from tidegate._run.completion import completion, total_goodput
from tidegate._run.table import ALL

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    Summary = dict[str, Any]


#: What is said of all requests together, where there are any.
REQUESTS = (
    "response_mean_s",
    "response_p50_s",
    "response_p95_s",
    "response_p99_s",
    "response_mean_with_unfinished_s",
    "finished",
    "unfinished",
)

#: What is said of the gate among the numbers by which runs are compared.
OF_GATE = ("queue_delay_p50_ms", "queue_delay_p99_ms", "loss", "utilisation")

#: The names of all numbers that :func:`figures_of` gives; some scenarios have no progress and no requests.
FIGURES = (
    "goodput_bps",
    "fairness",
    *OF_GATE,
    "segments_retransmitted",
    "timeouts",
    "completion_s",
    "progress",
    *REQUESTS,
)


def gate_row(summary: Summary, name: str) -> dict[str, Any] | None:
    """Return a gate's row; None when there is no such gate."""
    return next((row for row in summary["gates"] if row["name"] == name), None)


def main_gate(summary: Summary, among: Container[str] | None = None) -> str | None:
    """Return the gate that holds the flows back most; None when there is no gate.

    Judged by the flows' shares of time limited by a gate or its policer, then by drops, then by the queue.
    ``among``: no other gates are looked at.
    """
    shares: dict[str, float] = {}
    for flow in summary["flows"]:
        for what, share in (flow.get("limited_by") or {}).items():
            name = limiting_gate(what)
            if name is not None:
                shares[name] = shares.get(name, 0.0) + float(share or 0.0)

    def weight(row: dict[str, Any]) -> tuple[float, float, float]:
        return (
            shares.get(row["name"], 0.0),
            float(row.get("dropped_packets") or 0),
            float(row.get("queue_mean_packets") or row.get("queue_mean_cells") or 0),
        )

    rows = [row for row in summary["gates"] if among is None or row["name"] in among]
    return max(rows, key=weight)["name"] if rows else None


def limiting_gate(what: str) -> str | None:
    """Return the gate of a share of ``limited_by``: it, or its policer; None of what holds the sender."""
    for prefix in ("gate.", "policer of "):
        if what.startswith(prefix):
            return what.removeprefix(prefix)
    return None


def common_gate(summaries: Sequence[Summary]) -> str | None:
    """Return the first run's main gate that every run has; None when there is none."""
    for candidate in [main_gate(summary) for summary in summaries]:
        if candidate is not None and all(gate_row(summary, candidate) for summary in summaries):
            return candidate
    return None


def figures_of(summary: Summary, gate: str | None) -> dict[str, Any]:
    """Return the numbers by which runs are compared: all flows together, and one gate.

    ``goodput_bps`` is that of all flows together (payload only, ``_run/completion.py`` says over which time),
    ``fairness`` Jain's index of their goodputs (:func:`jain`), ``completion_s`` the longest time from a
    finite transfer's start to its end (None while one is not done), ``progress`` the least share of one that
    arrived; queueing delays, loss and utilisation are the gate's. Response times are of all requests, where
    there are any.
    """
    flows = summary["flows"]
    row = (gate_row(summary, gate) if gate is not None else None) or {}
    done, progress = completion(flows)
    requests = next((row for row in summary.get("requests", []) if row["name"] == ALL), None)
    return {
        "goodput_bps": total_goodput(summary),
        "fairness": jain(flows),
        "queue_delay_p50_ms": row.get("queue_delay_p50_ms"),
        "queue_delay_p99_ms": row.get("queue_delay_p99_ms"),
        "loss": loss(row) if row else None,
        "utilisation": row.get("utilisation"),
        "segments_retransmitted": sum(flow["segments_retransmitted"] for flow in flows),
        "timeouts": sum(flow["timeouts"] for flow in flows),
        "completion_s": done,
        **({} if progress is None else {"progress": progress}),
        **({} if requests is None else {name: requests[name] for name in REQUESTS}),
    }


def jain(flows: Sequence[Mapping[str, Any]]) -> float | None:
    """Return Jain's index of the flows' goodputs; None where nothing arrived of any.

    Flows of which no time was measured have no part in it.
    """
    goodputs = [float(row["goodput_bps"]) for row in flows if row["goodput_bps"] is not None]
    squares = sum(each * each for each in goodputs)
    return sum(goodputs) ** 2 / (len(goodputs) * squares) if squares else None


def short_keys(keys: Sequence[str]) -> list[str]:
    """Return the last parts of dotted keys, as many as tell them apart."""
    for parts in range(1, 9):
        short = [".".join(key.split(".")[-parts:]) for key in keys]
        if len({*short}) == len(keys):
            return short
    return list(keys)
