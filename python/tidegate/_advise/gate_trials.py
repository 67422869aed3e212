"""A gate whose policer, token bucket, queue or rate is tried at different sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate._advise.gate_goodput import goodput_of
from tidegate._advise.tune_result import MET, MISSED, UNDECIDED
from tidegate._ask.plan import packet_bytes, plan_of, round_trip_ps
from tidegate._base.estimate import Estimate, estimate
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._advise.bench import Bench
    from tidegate._advise.gate_goal import Bound
    from tidegate._study.value import Study

#: What may be sized, by its key below the gate, and the unit that a size is written in.
KEYS = {
    "police.burst": "B",
    "rate.token_bucket.burst": "B",
    "queue": "B",
    "rate.token_bucket.rate": "bit/s",
    "rate": "bit/s",
}
#: Where the search begins if nothing says better, bytes: about forty packets.
_USUAL = 64_000


@dataclass(frozen=True)
class Tried:
    """What one size gave: the bounds' verdicts, and each number with its interval."""

    size: int
    goodput_bps: Estimate
    #: Of what the gate can carry; None: its rate is not known ahead.
    goodput_share: Estimate | None
    loss: Estimate
    delay_ms: Estimate
    rtt_ms: Estimate
    #: What each bound was judged by.
    judged: tuple[Estimate, ...]
    verdicts: tuple[str, ...]

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
        places = [n for n, row in enumerate(plan["gates"]) if row["name"].split("/")[0] == gate]
        self.flows = [flow for flow in plan["flows"] if {*places} & {*flow["path"]}]
        if not self.flows:
            raise ArgumentError(f"gate {gate}: no flow passes through it, so no goal can be measured")
        self.flow_names = [str(flow["name"]) for flow in self.flows]
        row: Any = plan["gates"][places[0]]
        self.name = str(row["name"])
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
        self.unit = KEYS[self.key]
        tcp = self.flows[0]["tcp"]
        self.packet = packet_bytes(tcp)
        known = row["contract"]["bps"] if row["contract"] else law.get("bps")
        framing = row["framing"]
        wire = self.packet
        if framing["kind"] == "overhead":
            wire = max(wire + framing["overhead"], framing["minimum"])
        self.wire = wire
        #: User data that the gate can carry, bit/s.
        self.most_bps = known * tcp["mss"] / wire if known and self.unit == "B" else None
        if self.most_bps is None and any(bound.share for bound in bounds):
            raise ArgumentError(
                f"gate {gate}: what it can carry is not one number, so a goodput is given as a rate, "
                f"such as "
                '"goodput > 5 Mbit/s"'
            )
        self.bdp = (known or 0) * max(round_trip_ps(plan, flow) for flow in self.flows) / 8e12
        self.rate_bps = int(known or 0)
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
                return self.floored(math.ceil(bucket * given["segment_bytes"]))
        return self.floored(int(self.bdp) or _USUAL)

    def floored(self, size: int) -> int:
        """Return a size that lets one packet pass."""
        return max(size, self.wire if self.unit == "B" else 1000)

    def change(self, size: int) -> list[str]:
        """Return what sets a size."""
        key = "queue.limit" if self.key == "queue" else self.key
        return [f'gate.{self.gate}.{key}="{size} {self.unit}"']

    def look(self, sizes: Sequence[int], seed: int | None = None) -> list[Tried]:
        """Return what sizes give."""
        study = self.bench.study([self.change(size) for size in sizes], self.runs, gate=self.name, seed=seed)
        return [self._tried(study, point, size) for point, size in enumerate(sizes)]

    def _tried(self, study: Study, point: int, size: int) -> Tried:
        goodput = goodput_of(study, point, self.flow_names)
        numbers = {
            "goodput": estimate(goodput),
            "loss": estimate(study.values(f"gate.{self.name}.loss", point)),
        }
        most = self.most_bps
        share = None if most is None else estimate(None if v is None else v / most for v in goodput)
        judged = []
        for bound in self.bounds:
            if bound.share and share is not None:
                found = share
            elif bound.what in numbers:
                found = numbers[bound.what]
            else:
                found = self._wait(study, point, bound.what, bound.statistic)
            judged.append(found)
        return Tried(
            size,
            numbers["goodput"],
            share,
            numbers["loss"],
            self._wait(study, point, "delay", "p99"),
            self._wait(study, point, "rtt", "p99"),
            tuple(judged),
            tuple(bound.verdict(found) for bound, found in zip(self.bounds, judged, strict=True)),
        )

    def _wait(self, study: Study, point: int, what: str, statistic: str) -> Estimate:
        if what == "delay":
            return estimate(study.values(f"gate.{self.name}.queue_delay_{statistic}_ms", point))
        rows = [study.values(f"flow.{name}.rtt_{statistic}_ms", point) for name in self.flow_names]
        return estimate(
            max((v for v in row if v is not None), default=None) for row in zip(*rows, strict=True)
        )
