"""A gate whose policer, token bucket, queue or rate is tried at different sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate._advise.gate_numbers import goodput_of, rtt_of, worst_of
from tidegate._advise.tune_result import MET, MISSED, UNDECIDED
from tidegate._ask.plan import packet_bytes, packet_cells, plan_of, round_trip_ps
from tidegate._base.estimate import Estimate, estimate
from tidegate._run.words import possible
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._advise.bench import Bench
    from tidegate._advise.gate_goal import Bound
    from tidegate._ask.plan_objects import Tcp
    from tidegate._study.value import Study

#: What may be sized, by its key below the gate, and the unit that a size is written in.
KEYS = {
    "police.burst": "B",
    "rate.token_bucket.burst": "B",
    "queue": "B",
    "rate.token_bucket.rate": "bit/s",
    "rate": "bit/s",
}
#: What is counted in cells at a gate that passes cells.
_IN_CELLS = ("queue", "police.burst")
_CELL_BYTES = 53
#: Where the search begins if nothing says better, bytes: about forty packets.
_START_BYTES = 64_000


@dataclass(frozen=True)
class Tried:
    """What one size gave: the bounds' verdicts, and each number with its interval.

    Of a gate with copies loss and delay are those of the worst, and goodput is of all together.
    """

    size: int
    goodput_bps: Estimate
    #: Of the user data that the gate's rate carries, to which a full bucket can add; None: no rate is known
    #: ahead.
    goodput_share: Estimate | None
    loss: Estimate
    delay_ms: Estimate
    rtt_ms: Estimate
    #: What each bound was judged by.
    judged: tuple[Estimate, ...]
    verdicts: tuple[str, ...]
    #: Of each bound on loss or delay the copy of the gate that decides; of others nothing.
    decides: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """One word for all bounds."""
        if MISSED in self.verdicts:
            return MISSED
        return UNDECIDED if UNDECIDED in self.verdicts else MET


class GateTrials:
    """Runs of one scenario with one gate at different sizes, all with the same random numbers."""

    def __init__(self, bench: Bench, gate: str, bounds: Sequence[Bound], key: str | None, runs: int) -> None:
        self.bench, self.gate, self.bounds, self.runs = bench, gate, bounds, runs
        plan = plan_of(bench.scenario)
        gates: list[Any] = plan["gates"]
        places = [n for n, row in enumerate(gates) if row["name"].split("/")[0] == gate]
        there = {*places}
        flows = [flow for flow in plan["flows"] if there & {*flow["path"]}]
        if not flows:
            raise ArgumentError(f"gate {gate}: no flow passes through it, so no goal can be measured")
        self.flow_names = [str(flow["name"]) for flow in flows]
        #: All copies of the gate.
        self.names = [str(gates[n]["name"]) for n in places]
        row = gates[places[0]]
        self.key = key or ("police.burst" if row["polices"] else "queue")
        if self.key not in KEYS:
            raise ArgumentError(f'key: read "{self.key}"; it is {", ".join(KEYS)}')
        law = row["rate"]
        if self.key == "police.burst" and row["contract"] is None:
            raise ArgumentError(
                f"gate {gate}: it has no policer of one rate that drops, so it has no police.burst"
            )
        if self.key.startswith("rate.token_bucket") and law["kind"] != "token_bucket":
            raise ArgumentError(f"gate {gate}: its rate is no token bucket, so it has no {self.key}")
        if self.key == "rate" and law["kind"] != "constant":
            raise ArgumentError(f"gate {gate}: its rate is not constant, so it is not one number")
        cells = row["framing"]["kind"] == "aal5" and self.key in _IN_CELLS
        self.unit = "cells" if cells else KEYS[self.key]
        #: Bytes of a unit.
        self.unit_bytes = _CELL_BYTES if cells else 1
        known = row["contract"]["bps"] if row["contract"] else law.get("bps")
        self.wire = _wire(row, flows[0]["tcp"])
        #: A flow of each copy that one passes.
        of_copies = {n: flow["tcp"] for flow in reversed(flows) for n in flow["path"] if n in there}
        #: User data that the rate of all copies of the gate carries, bit/s, without what buckets hold.
        self.rate_carries_bps: float | None = None
        if known and self.unit != "bit/s":
            self.rate_carries_bps = sum(known * tcp["mss"] / _wire(row, tcp) for tcp in of_copies.values())
        if self.rate_carries_bps is None and any(bound.share for bound in bounds):
            raise ArgumentError(
                f"gate {gate}: what its rate carries is not one number, so a goodput is given as a rate, "
                'such as "goodput > 5 Mbit/s"'
            )
        self.bdp = (known or 0) * max(round_trip_ps(plan, flow) for flow in flows) / 8e12
        self.rate_bps = int(law.get("bps") or 0)
        self.theory = ""

    def start(self) -> int:
        """Return where the search begins: the closed form's size, else one bandwidth-delay product."""
        if self.unit == "bit/s":
            return max(self.rate_bps, 1000)
        from tidegate.theory import policer_bucket

        share = next((bound.bound for bound in self.bounds if bound.share), None)
        if self.key == "police.burst" and share is not None:
            fit, _ = self.bench.theory([], lambda fit: fit.theory == "policer", "it is not about policers")
            if fit is not None:
                given = fit.parameters
                bucket = policer_bucket(
                    share, given["bdp"], growth=given["growth"], paced=bool(given["paced"])
                )
                self.theory = fit.theory
                return self.floored(math.ceil(bucket * given["segment_bytes"] / self.unit_bytes))
        return self.floored((int(self.bdp) or _START_BYTES) // self.unit_bytes)

    def floored(self, size: int) -> int:
        """Return a size that lets one packet pass; cells wait one by one."""
        if self.unit == "bit/s":
            return max(size, 1000)
        return max(size, 1 if self.unit == "cells" and self.key == "queue" else self.wire // self.unit_bytes)

    def change(self, size: int) -> list[str]:
        """Return what sets a size."""
        key = "queue.limit" if self.key == "queue" else self.key
        return [f'gate.{self.gate}.{key}="{size} {self.unit}"']

    def look(self, sizes: Sequence[int], seed: int | None = None) -> list[Tried]:
        """Return what sizes give."""
        study = self.bench.study(
            [self.change(size) for size in sizes], self.runs, gate=self.names[0], seed=seed
        )
        return [self._tried(study, point, size) for point, size in enumerate(sizes)]

    def _tried(self, study: Study, point: int, size: int) -> Tried:
        goodput = goodput_of(study, point, self.flow_names)
        carries = self.rate_carries_bps
        bounds = possible("goodput_bps")
        share = None
        if carries is not None:
            share = estimate((None if v is None else v / carries for v in goodput), bounds)
        together = estimate(goodput, bounds)

        def number(what: str, statistic: str, bound: Bound | None = None) -> tuple[str, Estimate]:
            if what == "goodput":
                return "", share if share is not None and bound is not None and bound.share else together
            if what == "rtt":
                return "", rtt_of(study, point, self.flow_names, statistic)
            column = "loss" if what == "loss" else f"queue_delay_{statistic}_ms"
            return worst_of(study, point, self.names, column, bound)

        judged = [number(bound.what, bound.statistic, bound) for bound in self.bounds]
        # What is shown is what was judged.
        known = {
            (bound.what, bound.statistic): found
            for bound, (_, found) in zip(self.bounds, judged, strict=True)
        }
        loss, delay, rtt = (
            known[each] if each in known else number(*each)[1]
            for each in (("loss", ""), ("delay", "p99"), ("rtt", "p99"))
        )
        return Tried(
            size,
            together,
            share,
            loss,
            delay,
            rtt,
            tuple(found for _, found in judged),
            tuple(bound.verdict(found) for bound, (_, found) in zip(self.bounds, judged, strict=True)),
            tuple(name for name, _ in judged),
        )


def _wire(gate: Any, tcp: Tcp) -> int:
    """Return the bytes that a full packet has at a gate."""
    packet, framing = packet_bytes(tcp), gate["framing"]
    if framing["kind"] == "aal5":
        return _CELL_BYTES * packet_cells(tcp, framing)
    if framing["kind"] == "overhead":
        return max(packet + int(framing["overhead"]), int(framing["minimum"]))
    return packet
