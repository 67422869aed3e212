"""What the recorded columns are: types, units and the words behind their codes.

The one place that knows the tables' layout; frames, run folders and plots follow it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

RawTable = Mapping[str, tuple[str, bytes]]

PHASES = ("slow start", "congestion avoidance", "recovery", "loss")
HELD_BY = ("application", "congestion window", "receiver window")
DROP_REASONS = (
    "queue full",
    "random loss",
    "too large",
    "packet discard",
    "reassembly",
    "policed",
    "refused",
)
MARK_KINDS = ("timeout", "fast retransmit")

#: What stands for "none" among counts.
_NONE = 2**64 - 1

TABLES: dict[str, dict[str, str]] = {
    "flows": {
        "time_s": "seconds from the start of the run",
        "flow": "name of the flow",
        "cwnd_segments": "congestion window, segments",
        "ssthresh_segments": "slow-start threshold, segments; null: no limit",
        "in_flight_segments": "sent and not known to have left, segments",
        "srtt_ms": "smoothed round-trip time, ms; null before the first sample",
        "rtt_ms": "round trip of the newest acknowledged segment that was sent once, ms; null before one",
        "one_way_ms": "from sending to arrival, of the data segment that arrived last, ms; null before one",
        "rto_ms": "retransmission time-out in force, ms",
        "delivered_bytes": (
            "payload received since the start, each byte when it first arrives, in order or not, bytes; "
            "no header counted"
        ),
        "in_order_bytes": "payload received in order since the start, what the application could read, bytes",
        "retransmitted_segments": "segments sent again since the start",
        "phase": "what congestion control is doing",
        "held_by": "what keeps the sender from sending more",
    },
    "gates": {
        "time_s": "seconds from the start of the run",
        "gate": "name of the gate",
        "queue_packets": "packets in the queue; null at a cell gate",
        "queue_bytes": "bytes in the queue; null at a cell gate",
        "queue_cells": (
            "cells in the gate, each from its arrival to the end of its service; null where it passes packets"
        ),
        "queue_fluid": (
            "the same cells as a fluid that comes over the time of a cell at the gate before and goes over "
            "its service; null where it passes packets"
        ),
        "rate_bps": "rate in force, bit/s on the gate's wire; null when it is not in bit/s",
        "slots": "slots in force, the rate over that of one slot; null where the gate has none",
        "wait_ms": "wait of the packet or cell whose service began last, ms; null before the first",
        "delivered_bytes": "bytes on the gate's wire since the start; every header counted",
        "dropped_packets": "packets dropped since the start; null at a cell gate",
        "dropped_cells": "cells dropped since the start; null where it passes packets",
        "tokens": (
            "bytes on the gate's wire in the bucket of its token-bucket law, else of its policer "
            "(of two, that of the lower rate); null where it has neither"
        ),
    },
    "drops": {
        "time_s": "seconds from the start of the run",
        "gate": "name of the gate",
        "flow": "name of the flow; null where it is a packet of a background source",
        "traffic": "name of the background source; null where it is a packet of a flow",
        "bytes": "size of the packet, bytes",
        "reason": "why it was dropped",
    },
    "marks": {
        "time_s": "seconds from the start of the run",
        "flow": "name of the flow",
        "kind": "what the sender did",
    },
    "requests": {
        "time_s": "when it was asked, seconds from the start of the run",
        "flow": "name of the flow",
        "begun_s": "when it was written into TCP; null: not yet",
        "arrived_s": "when its last byte had come to the server; null: not yet",
        "answered_s": "when the response was written into TCP; null: not yet",
        "ended_s": "when the last byte of the response had come, in order; null: not yet",
        "response_s": "seconds from asking to that; null: not yet",
        "request_bytes": "user bytes of the request",
        "response_bytes": "user bytes of the response",
    },
}

_CODES: dict[str, tuple[str, ...]] = {
    "phase": PHASES,
    "held_by": HELD_BY,
    "reason": DROP_REASONS,
    "kind": MARK_KINDS,
}

_NUMPY_TYPES = {"f64": "<f8", "u64": "<u8", "maybe_u64": "<u8", "u32": "<u4", "u8": "u1"}


def frame(
    raw: RawTable,
    flow_names: Sequence[str],
    gate_names: Sequence[str],
    traffic_names: Sequence[str] = (),
) -> pl.DataFrame:
    """Return a recorded table with its codes spelled out; "not a number" becomes null."""
    import numpy as np
    import polars as pl

    names = {"flow": list(flow_names), "gate": list(gate_names), "traffic": list(traffic_names)}
    columns: list[pl.Series] = []
    for column, (kind, data) in raw.items():
        values = np.frombuffer(data, dtype=_NUMPY_TYPES[kind])
        if sys.byteorder != "little":
            values = values.astype(values.dtype.newbyteorder("="))
        series = pl.Series(column, values)
        if kind == "f64":
            series = series.fill_nan(None)
        if kind == "maybe_u64":
            series = series.set(series == _NONE, None)
        words = names.get(column, list(_CODES.get(column, ())))
        if (words or column in names) and kind != "f64":
            series = _spell(series, words)
        columns.append(series)
    return pl.DataFrame(columns)


def _spell(codes: pl.Series, words: list[str]) -> pl.Series:
    """Return codes as words; a code without a word (no flow, no source) becomes null."""
    import polars as pl

    if not words:
        return pl.Series(codes.name, [None] * len(codes), dtype=pl.String)
    known = codes.cast(pl.UInt32)
    known = known.set(known >= len(words), None)
    return pl.Series(codes.name, words, dtype=pl.Enum(words)).gather(known)


def empty(table: str, flow_names: Sequence[str], gate_names: Sequence[str]) -> pl.DataFrame:
    """Return a table of which nothing was recorded."""
    kinds = {"time_s": "f64", "flow": "u32", "gate": "u32", "traffic": "u32"}
    raw = {column: (kinds.get(column, "u8"), b"") for column in TABLES[table]}
    return frame(raw, flow_names, gate_names)
