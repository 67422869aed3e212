"""Names of numbers and of varied keys, as people say them, with units."""

from __future__ import annotations

import math

from tidegate._run.metric import KINDS
from tidegate._run.summary import FIGURES

#: Panels of the picture of a run, in the order in which they stand.
PANELS = ("buffer", "bitrate", "cwnd", "goodput", "delay", "responses", "queue", "tokens")

#: Divisor and unit of a number by the end of its name.
_UNITS = (
    ("_bps", 1e6, "Mbit/s"),
    ("_ms", 1.0, "ms"),
    ("_s", 1.0, "s"),
    ("_bytes", 1.0, "bytes"),
    ("_packets", 1.0, "packets"),
    ("_segments", 1.0, "segments"),
    ("_cells", 1.0, "cells"),
)
_SHARES = ("loss", "utilisation", "efficiency", "progress", "calls_blocked", "open_share")
#: Shares that are not shown as per cent.
_OTHER_SHARES = ("calls_abandoned_share", "contract_utilisation", "rebuffering", "resent")
#: Numbers that may be below 0.
_SIGNED = ("qoe", "overallocation_bps_mean")
#: Numbers of all flows together, by their names in ``runs``.
_TOGETHER = {
    "goodput_bps": "goodput, all flows",
    "fairness": "fairness (Jain's index)",
    "segments_retransmitted": "segments sent again, all flows",
    "timeouts": "time-outs, all flows",
    "completion_s": "time that the slowest transfer took",
    "progress": "share of the transfer that arrived",
    "finished": "requests finished",
    "unfinished": "requests unfinished",
}
#: Parts of names.
_WORDS = {
    "queue delay": "queueing delay",
    "rtt": "round-trip time",
    "srtt": "smoothed round-trip time",
    "cwnd": "congestion window",
    "response": "response time",
    "call wait": "wait of a call",
    "timeouts": "time-outs",
    "completion": "time until the transfer is done",
    "one way": "one-way delay",
    "wait": "queueing delay",
    "dropped": "dropped",
}
_PARTS = {"mean": "mean", "max": "most", "min": "least", "p50": "median", "p95": "95th percentile"}
_PARTS |= {"p99": "99th percentile"}
#: Keys of a gate, a flow or a source, by what comes after its name.
_KEYS = {
    "tcp.cc": "congestion control",
    "tcp.window": "window",
    "rtt": "round-trip time",
    "count": "number of flows",
    "loss": "random loss",
    "loss.every": "packets for each that is lost",
    "rate.token_bucket.rate": "token rate",
    "rate.token_bucket.burst": "token bucket",
    "police.pcr": "policed rate",
    "police.rate": "policed rate",
    "police.burst": "policer's burst",
    "tcp.sack": "SACK",
}


def possible(metric: str) -> tuple[float, float] | None:
    """Return the least and the largest value that a number can have; None where it is a user's own.

    A mean's interval may reach beyond them, as it is made for values that have no bounds.
    """
    last = metric.rpartition(".")[2]
    if last in _SIGNED:
        return None
    # A gate that keeps the speed of a packet whose rate changes can be used by more than 100%.
    if is_share(metric) and (last != "utilisation" or metric.startswith("pool.")):
        return 0.0, 1.0
    return (0.0, math.inf) if "." in metric or metric in FIGURES else None


def is_share(metric: str) -> bool:
    """Tell whether a number is a share of something, so that it can be written in per cent."""
    last = metric.rpartition(".")[2]
    return last in ("fairness", *_SHARES, *_OTHER_SHARES) or ".limited_by." in metric


def scale_of(metric: str) -> tuple[float, str]:
    """Return the divisor and the unit that a number is shown in."""
    last = metric.rpartition(".")[2]
    if last in _SHARES or ".limited_by." in metric:
        return 0.01, "%"
    for ending, factor, unit in _UNITS:
        if last.endswith(ending):
            return factor, unit
    return 1.0, ""


def metric_words(metric: str, gate: str | None = None) -> str:
    """Return a number's name in words, without its unit: "queueing delay at gate link, median".

    ``gate``: whose the numbers are that name no gate, such as ``loss``.
    """
    if metric in _TOGETHER:
        return _TOGETHER[metric]
    kind, _, rest = metric.partition(".")
    of = ""
    column = metric
    if rest and kind in KINDS:
        name, _, column = rest.partition(".limited_by.") if ".limited_by." in rest else rest.rpartition(".")
        if ".limited_by." in rest:
            return f"time of flow {name} limited by {column.replace('gate.', 'gate ')}"
        of = f" at gate {name}" if kind == "gate" else f" of {_all(kind) if name == 'all' else name}"
    elif gate is not None and (metric in _SHARES or metric.startswith("queue_")):
        of = f" at gate {gate}"
    for ending, _, _ in _UNITS:
        column = column.removesuffix(ending)
    parts = column.split("_")
    part = ""
    if len(parts) > 1 and parts[-1] in _PARTS:
        part = f", {_PARTS[parts.pop()]}"
    words = " ".join(parts)
    return f"{_WORDS.get(words, words)}{of}{part}"


def _all(kind: str) -> str:
    """Return what the row of all together is called."""
    return "all traffic" if kind == "traffic" else "all requests"


def metric_label(metric: str, gate: str | None = None) -> str:
    """Return a number's name in words with its unit: "goodput, all flows, Mbit/s"."""
    unit = scale_of(metric)[1]
    words = metric_words(metric, gate)
    return f"{words}, {unit}" if unit else words


def key_words(key: str) -> str:
    """Return a varied key in words: ``gate.link.queue`` is "queue of link"."""
    kind, _, rest = key.partition(".")
    name, _, what = rest.partition(".")
    if kind not in ("gate", "flow", "traffic", "pool", "calls", "server") or not what:
        return key
    if kind != "flow" and what == "count":
        return f"number of {name}"
    words = _KEYS.get(what) or what.removeprefix("tcp.").replace(".", " ").replace("_", " ")
    return f"{words} of {name}"


def value_words(value: str, limit: int) -> str:
    """Return a varied value in at most ``limit`` letters; of an own controller its class is what matters."""
    file, _, name = value.removeprefix("python:").rpartition(":")
    if value.startswith("python:") and name:
        value = f"{name} ({file.rpartition('/')[2]})"
        value = value if len(value) <= limit else name
    return value if len(value) <= limit else value[: limit - 1] + "…"


#: Rows of a table for people that are shown by name; the rest is one line.
MOST_ROWS = 12


def share_of(part: float, whole: float) -> float | None:
    """Return a part over the whole; None where there is no whole."""
    return part / whole if whole else None
