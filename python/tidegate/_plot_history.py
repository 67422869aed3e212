"""What pictures need of a run, in arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tidegate import _text
from tidegate._errors import UnknownNameError, nearest
from tidegate._numbers import main_gate
from tidegate._run_record import flows_through

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from tidegate._run_record import Recorded

    Floats = NDArray[np.float64]

_BINS = 240


def numbers(column: pl.Series) -> Floats:
    """Return a column as floats; null becomes NaN, a gap in a line."""
    import polars as pl

    result: Floats = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return result


def edges_for(duration: float, time: Floats, bins: int = _BINS) -> Floats:
    """Return edges of equal bins over the run, never finer than the samples."""
    step = duration / bins
    if len(time) > 1:
        step = max(step, 2 * float(np.median(np.diff(time))))
    count = max(1, round(duration / step))
    return np.linspace(0.0, duration, count + 1)


def binned_rate(time: Floats, total_bytes: Floats, edges: Floats) -> Floats:
    """Return bit/s in each bin, from a running count of bytes."""
    if not len(time):
        return np.zeros(len(edges) - 1)
    at = np.interp(edges, np.concatenate(([0.0], time)), np.concatenate(([0.0], total_bytes)))
    # The last sample lies before the end: the last bin covers only what was seen of it.
    seen = np.diff(np.minimum(edges, time[-1]))
    result: Floats = np.diff(at) * 8 / np.where(seen > 0, seen, np.inf)
    return result


def binned_mean(time: Floats, value: Floats, edges: Floats) -> Floats:
    """Return the mean of the samples in each bin; NaN where there is none."""
    place = np.clip(np.searchsorted(edges, time, side="right") - 1, 0, len(edges) - 2)
    good = ~np.isnan(value)
    total = np.bincount(place[good], value[good], minlength=len(edges) - 1)
    count = np.bincount(place[good], minlength=len(edges) - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = total / count
    return result


@dataclass(frozen=True)
class History:
    """What a picture needs of a run, in arrays; taken once."""

    duration: float
    begin: float
    names: list[str]
    through: list[str]
    edges: Floats
    time: dict[str, Floats]
    cwnd: dict[str, Floats]
    ssthresh: dict[str, Floats]
    goodput: dict[str, Floats]
    gate: str | None
    gate_time: Floats
    rate: Floats
    rate_binned: Floats
    carried: Floats
    queue: Floats
    queue_unit: str
    drops: Floats
    timeouts: Floats
    fast: Floats

    @property
    def total_goodput(self) -> Floats:
        """Flows whose data passes the gate together, bit/s in each bin."""
        total: Floats = np.sum([self.goodput[name] for name in self.through], axis=0)
        return total

    @property
    def top_bps(self) -> float:
        """The end of a scale for rates and goodput.

        A repaired hole delivers seconds of data at once; such a spike must not set the scale,
        so it ends a little above what the gate could deliver or did.
        """
        known = [value[~np.isnan(value)] for value in (self.rate_binned, self.carried)]
        able = max((float(np.max(value)) for value in known if len(value)), default=0.0)
        most = max([1.0, *self.total_goodput.tolist()]) if self.through else 1.0
        return min(1.06 * most, 1.25 * able) if able > 0 and most > 1.18 * able else 1.06 * max(most, able)


def history(run: Recorded, gate: str | None, bins: int = _BINS) -> History:
    """Read a run's columns.

    Raises:
        NotRecordedError: the run kept only its summary.
        UnknownNameError: there is no gate of this name.
    """
    import polars as pl

    if gate is not None and gate not in run.gates:
        raise UnknownNameError(nearest("gate", gate, run.gates.names))
    shown = gate or main_gate(run.summary)
    duration = float(run.summary["duration_s"])
    flows = run.table("flows")
    parts = {
        str(key[0]): part
        for key, part in flows.with_columns(pl.col("flow").cast(pl.String))
        .partition_by("flow", as_dict=True)
        .items()
    }
    names = [name for name in run.flows.names if name in parts]
    time = {name: numbers(parts[name]["time_s"]) for name in names}
    none = np.zeros(0)
    gate_time, rate, queue, wire = none, none, none, none
    queue_unit = "packets"
    if shown is not None:
        part = run.gates.row(shown).columns()
        gate_time = numbers(part["time_s"])
        rate = numbers(part["rate_bps"])
        if _text.counts_cells(run.gates.row(shown).summary):
            queue_unit = "cells"
        queue = numbers(part[f"queue_{queue_unit}"])
        wire = numbers(part["delivered_bytes"])
    longest = max(time.values(), key=len, default=gate_time)
    edges = edges_for(duration, longest, bins)

    def times(table: str, **where: str) -> Floats:
        if not run.has(table):
            return none
        rows = run.table(table)
        for column, word in where.items():
            rows = rows.filter(pl.col(column).cast(pl.String) == word)
        return numbers(rows["time_s"])

    return History(
        duration=duration,
        begin=float(run.summary["measured_from_s"]),
        names=names,
        through=names if shown is None else [n for n in flows_through(run, shown) if n in parts],
        edges=edges,
        time=time,
        cwnd={n: numbers(parts[n]["cwnd_segments"]) for n in names},
        ssthresh={n: numbers(parts[n]["ssthresh_segments"]) for n in names},
        goodput={n: binned_rate(time[n], numbers(parts[n]["delivered_bytes"]), edges) for n in names},
        gate=shown,
        gate_time=gate_time,
        rate=rate,
        rate_binned=binned_mean(gate_time, rate, edges) if len(gate_time) else none,
        carried=binned_rate(gate_time, wire, edges),
        queue=queue,
        queue_unit=queue_unit,
        drops=times("drops", gate=shown) if shown is not None else none,
        timeouts=times("marks", kind="timeout"),
        fast=times("marks", kind="fast retransmit"),
    )
