"""What pictures need of a run, in arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.nearest import nearest
from tidegate._base.text import counts_cells
from tidegate._run.flow_groups import group_of
from tidegate._run.record import flows_through
from tidegate._run.summary import main_gate
from tidegate.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from tidegate._run.arrays import Arrays
    from tidegate._run.record import Recorded

    Floats = NDArray[np.float64]

_BINS = 240


def numbers(column: pl.Series) -> Floats:
    """Return a column as floats; null becomes NaN, a gap in a line."""
    result: Floats = column.to_numpy().astype(np.float64, copy=False)
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


def spread_of(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the 10th, 50th and 90th percentile of each column; NaN where none of its values is known."""
    low, middle, high = np.full((3, rows.shape[1]), np.nan)
    known = np.any(~np.isnan(rows), axis=0)
    low[known], middle[known], high[known] = np.nanpercentile(rows[:, known], [10, 50, 90], axis=0)
    return low, middle, high


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
    #: Payload received since the start of each flow, bytes.
    delivered: dict[str, Floats]
    goodput: dict[str, Floats]
    gate: str | None
    #: Whether there is a gate and it was recorded; else its columns are empty.
    gate_recorded: bool
    #: The gate that holds flows back most, where it was not recorded.
    unrecorded: str | None
    #: The round trip of each flow's path while nothing waits, ms, where the run tells it.
    path_rtt: dict[str, float]
    #: Round trip as TCP measures it and one-way delay of each flow, ms; empty where not recorded.
    rtt: dict[str, Floats]
    one_way: dict[str, Floats]
    gate_time: Floats
    rate: Floats
    rate_binned: Floats
    carried: Floats
    queue: Floats
    queue_unit: str
    #: The limit of the queue in that unit; None: no limit, or none that is known.
    queue_limit: float | None
    #: Wait of the packet whose service began last, ms.
    wait: Floats
    #: Bytes in the gate's bucket; empty where it has none.
    tokens: Floats
    #: Whether the constants of the gate are known.
    has_law: bool
    #: Constants of the gate's token bucket and of its policer's contract, bit/s and bytes.
    bucket: dict[str, float | None]
    contract: dict[str, float | None]
    #: Drops at every gate that the drawn flows pass, by gate, the shown gate first.
    drops: dict[str, Floats]
    timeouts: Floats
    fast: Floats
    #: Columns of each group of flows that was recorded together, and how many flows it has.
    groups: dict[str, dict[str, Floats]] = field(default_factory=dict)
    copies: dict[str, int] = field(default_factory=dict)

    @property
    def through_count(self) -> int:
        """Flows whose data passes the gate, those of groups included."""
        return sum(self.copies.get(name, 1) for name in self.through)

    @property
    def all_drops(self) -> Floats:
        """When packets were dropped, at whatever gate that the drawn flows pass."""
        every: Floats = np.sort(np.concatenate(list(self.drops.values()) or [np.zeros(0)]))
        return every

    @property
    def total_goodput(self) -> Floats:
        """Flows whose data passes the gate together, bit/s in each bin."""
        none = np.zeros(len(self.edges) - 1)
        total: Floats = np.sum([none, *(self.goodput[name] for name in self.through)], axis=0)
        return total

    @property
    def top_bps(self) -> float:
        """The end of a scale for rates and goodput.

        The rate law sets it, not spikes: a contract where there is a policer, what the bucket lets
        through where there is one, else what the gate could deliver or did.
        """
        p98 = float(np.quantile(self.carried, 0.98)) if len(self.carried) else 0.0
        if rate := self.contract.get("rate_bps"):
            return 1.25 * max(rate, min(p98, self.contract.get("peak_bps") or p98))
        if rate := self.bucket.get("rate_bps"):
            return 1.15 * max(rate, min(p98, self.bucket.get("peak_bps") or p98))
        known = [value[~np.isnan(value)] for value in (self.rate_binned, self.carried)]
        able = max((float(np.max(value)) for value in known if len(value)), default=0.0)
        most = max([1.0, *self.total_goodput.tolist()]) if self.through else 1.0
        return min(1.06 * most, 1.25 * able) if able > 0 and most > 1.18 * able else 1.06 * max(most, able)


def history(run: Recorded, gate: str | None, bins: int = _BINS) -> History:
    """Read a run's columns.

    ``gate``: left out, the recorded one that holds flows back most.

    Raises:
        NotRecordedError: the run kept only its summary.
        UnknownNameError: there is no gate of this name.
    """
    if gate is not None and gate not in run.gates:
        raise UnknownNameError(nearest("gate", gate, run.gates.names))
    gates = run.arrays("gates").parts("gate")
    main = main_gate(run.summary)
    shown = gate or main_gate(run.summary, gates)
    duration = float(run.summary["duration_s"])
    parts = run.arrays("flows").parts("flow")
    names = [name for name in run.flows.names if name in parts]
    time = {name: parts[name]["time_s"] for name in names}
    none = np.zeros(0)
    gate_time, rate, queue, wire, wait, tokens = none, none, none, none, none, none
    queue_unit = "packets"
    law: dict[str, Any] = (run.manifest.get("laws") or {}).get(shown) or {}
    limit = law.get("queue_limit") or {}
    if shown is not None:
        if counts_cells(run.gates.row(shown).summary):
            queue_unit = "cells"
        elif limit.get("unit") == "bytes":
            queue_unit = "bytes"
    if shown in gates:
        part = gates[shown]
        gate_time = part["time_s"]
        rate = part["rate_bps"]
        queue = part[f"queue_{queue_unit}"]
        wire = part["delivered_bytes"]
        wait = part["wait_ms"]
        if "tokens" in part.columns and not np.all(np.isnan(part["tokens"])):
            tokens = part["tokens"]
    groups = _groups(run)
    together = {name: (columns["time_s"], columns["delivered_bytes"]) for name, columns in groups.items()}
    longest = max([*time.values(), *(at for at, _ in together.values())], key=len, default=gate_time)
    edges = edges_for(duration, longest, bins)

    delivered = {name: parts[name]["delivered_bytes"] for name in names}
    passing = run.flows.names if shown is None else flows_through(run, shown)
    through = [name for name in passing if name in parts]
    through += [name for name in groups if name in set(map(group_of, passing)) and name not in through]

    def times(table: str, **where: str) -> Floats:
        if not run.has(table):
            return none
        rows = run.arrays(table)
        for column, word in where.items():
            rows = rows.where(column, word)
        return rows["time_s"]

    return History(
        duration=duration,
        begin=float(run.summary["measured_from_s"]),
        names=names,
        through=through,
        edges=edges,
        time=time,
        cwnd={n: parts[n]["cwnd_segments"] for n in names},
        ssthresh={n: parts[n]["ssthresh_segments"] for n in names},
        delivered=delivered,
        goodput={n: binned_rate(time[n], delivered[n], edges) for n in names}
        | {n: binned_rate(at, total, edges) for n, (at, total) in together.items()},
        gate=shown,
        gate_recorded=shown in gates,
        unrecorded=None if main in gates else main,
        path_rtt={
            row["name"]: row["rtt_path_ms"]
            for row in run.summary["flows"]
            if row.get("rtt_path_ms") is not None
        },
        rtt=_delays(parts, names, ("rtt_ms", "srtt_ms")),
        one_way=_delays(parts, names, ("one_way_ms",)),
        gate_time=gate_time,
        rate=rate,
        rate_binned=binned_mean(gate_time, rate, edges) if len(gate_time) else none,
        carried=binned_rate(gate_time, wire, edges) if len(gate_time) else none,
        queue=queue,
        queue_unit=queue_unit,
        queue_limit=float(limit["count"]) if limit.get("unit") == queue_unit else None,
        wait=wait,
        tokens=tokens,
        has_law=bool(law),
        bucket=law.get("token_bucket") or {},
        contract=law.get("contract") or {},
        drops=_drops(run, _passed(run, shown if shown or names else main, names)),
        timeouts=times("marks", kind="timeout"),
        fast=times("marks", kind="fast retransmit"),
        groups=groups,
        copies={name: int(run.groups.row(name)["flows"]) for name in groups},
    )


def _groups(run: Recorded) -> dict[str, dict[str, Floats]]:
    """Return the columns of each group of flows that was recorded together; of single flows none."""
    if not len(run.groups) or not run.has("groups"):
        return {}
    parts = run.arrays("groups").parts("group")
    return {
        name: {column: part[column] for column in part.columns if column != "group"}
        for name, part in parts.items()
    }


def _delays(parts: Mapping[str, Arrays], names: Sequence[str], columns: Sequence[str]) -> dict[str, Floats]:
    """Return the first of these columns that there is, by flow; nothing where none was recorded."""
    for column in columns:
        if all(column in parts[name].columns for name in names):
            return {name: _fresh(parts[name], column) for name in names}
    return {}


def _fresh(part: Arrays, column: str) -> Floats:
    """Return a delay in ms, with gaps where it is the last one of a flow that stands still.

    A sample stands until the next one; it is old when nothing has come for twice as long.
    """
    value, time = part[column], part["time_s"]
    if len(value) < 3:
        return value
    moved = (np.diff(part["delivered_bytes"]) > 0) | (np.diff(value) != 0)
    since = np.maximum.accumulate(np.concatenate(([time[0]], np.where(moved, time[1:], -np.inf))))
    old = time - since > 2e-3 * value + 3 * float(np.median(np.diff(time)))
    result: Floats = np.where(old, np.nan, value)
    return result


def _drops(run: Recorded, gates: Sequence[str]) -> dict[str, Floats]:
    """Return when packets were dropped at each of these gates."""
    if not run.has("drops"):
        return {}
    parts = run.arrays("drops").parts("gate")
    return {name: parts[name]["time_s"] if name in parts else np.zeros(0) for name in gates}


def _passed(run: Recorded, shown: str | None, flows: Sequence[str]) -> list[str]:
    """Return the gates that packets of these flows pass, data or ACKs, the shown one first."""
    paths = run.manifest.get("paths") or {}
    found = [shown] if shown is not None else []
    for flow in flows:
        way = paths.get(flow, {})
        found += [*way.get("path", ()), *way.get("back", ())]
    return [name for name in dict.fromkeys(found) if name in run.gates]
