"""The queue of one gate under trial: what simulations and theories say of each limit."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from tidegate._ask.plan import plan_of
from tidegate._base.estimate import Estimate
from tidegate.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from tidegate._advise.bench import Bench
    from tidegate._study.value import Study
    from tidegate.theory import Fit

#: The first limit tried, how fast it grows, and where the search ends, in units of the queue.
_FIRST = {"packets": 256, "cells": 4096, "bytes": 256 * 1500}

_GROWTH = 8

#: Keys of a gate, and of its queue, with which it drops though there is room.
_DROPPING = ("loss", "police")
_DROPPING_QUEUE = ("epd", "ppd", "clp1")

_LAST = {"packets": 2**20, "cells": 2**24, "bytes": 2**30}


class QueueTrials:
    """Runs of one scenario with one gate's queue at different limits."""

    def __init__(self, bench: Bench, gate: str) -> None:
        self.bench, self.gate, self.runs = bench, gate, bench.replications()
        plan = plan_of(bench.scenario)
        copies = [row for row in plan["gates"] if row["name"] == gate or row["name"].startswith(f"{gate}/")]
        if not copies:
            raise ArgumentError(
                f"gate {gate}: no flow and no traffic passes through it, so no queue is needed"
            )
        self.names = [row["name"] for row in copies]
        places = {n for n, row in enumerate(plan["gates"]) if row in copies}
        #: A flow through the gate that fills any queue in the end.
        self.endless: str | None = next(
            (
                flow["name"]
                for flow in plan["flows"]
                if places & {*flow["path"]} and flow["app"] == "bulk" and flow["tcp"]["window"] is None
            ),
            None,
        )
        #: Each circuit has a queue of its own, as large as the limit says.
        self.by_circuit = copies[0]["discipline"] == "spacer"
        self.counts_all = bool(copies[0]["queue_counts_all"])
        limit = copies[0]["queue_limit"]
        cells = copies[0]["framing"]["kind"] == "aal5"
        self.unit: str = "cells" if cells else limit["unit"] if limit is not None else "packets"

    def changes(self, limit: int | None, *, whole: bool) -> list[str]:
        """Return what sets a limit; ``whole``: the run is counted from its very beginning."""
        unit = "B" if self.unit == "bytes" else self.unit
        text = "unlimited" if limit is None else f"{limit} {unit}"
        changes = [f'gate.{self.gate}.queue.limit="{text}"']
        return [*changes, 'warmup="0 s"'] if whole else changes

    def study(self, limit: int, *, whole: bool) -> Study:
        """Return runs with a limit."""
        return self.bench.study([self.changes(limit, whole=whole)], self.runs, gate=self.names[0])

    def losses(self, study: Study) -> list[float]:
        """Return what was dropped at the gate's copies, by replication."""
        metric = "dropped_cells" if self.unit == "cells" else "dropped_packets"
        columns = [study.values(f"gate.{name}.{metric}") for name in self.names]
        return [sum(value or 0 for value in row) for row in zip(*columns, strict=True)]

    def lost(self, study: Study) -> bool:
        """Tell whether any replication lost something."""
        return any(self.losses(study))

    def most(self, study: Study) -> list[int]:
        """Return the most that ever waited at any copy, by replication."""
        columns = [study.values(f"gate.{name}.queue_max_{self.unit}") for name in self.names]
        return [int(max(value or 0 for value in row)) for row in zip(*columns, strict=True)]

    def worst(self, study: Study, *metrics: str) -> Estimate:
        """Return the copy with the largest mean of the first of these metrics that there is."""
        for metric in metrics:
            found = [
                study.estimate(f"gate.{name}.{metric}")
                for name in self.names
                if any(value is not None for value in _values(study, f"gate.{name}.{metric}"))
            ]
            if found:
                return max(found, key=lambda each: each.mean or 0.0)
        return Estimate(None, None, None, 0)

    def theory(self) -> tuple[Fit | None, str]:
        """Return the theory that applies to the gate with a queue that never fills, or why none does."""
        return self.bench.theory(
            self.changes(None, whole=False),
            lambda fit: bool(fit.gates) and fit.gates[0]["name"] in self.names,
            f"it describes another gate than {self.gate}",
        )

    def needed(self) -> list[int]:
        """Return the smallest queue without loss of each replication.

        Raises:
            ArgumentError: the gate drops whatever its queue is, or needs more than can be tried.
        """
        limit = _FIRST[self.unit]
        while True:
            study = self.study(limit, whole=True)
            if not self.lost(study):
                most = [max(each, 1) for each in self.most(study)]
                return self.needed_by_circuit(most) if self.by_circuit else most
            room = 2 * 1500 if self.unit == "bytes" else 0
            dry = [
                lost and most + room < limit
                for lost, most in zip(self.losses(study), self.most(study), strict=True)
            ]
            if any(dry):
                raise ArgumentError(
                    f"gate {self.gate} drops packets although its queue of {limit} {self.unit} never fills: "
                    f"because of {self._droppers()}. No queue size avoids these drops; remove what drops to "
                    "size the queue alone"
                )
            if limit >= _LAST[self.unit]:
                raise ArgumentError(
                    f"gate {self.gate}: even a queue of {limit} {self.unit} loses packets. A flow with an "
                    "unlimited window fills any queue: set tcp.window, or a shorter duration"
                )
            limit *= _GROWTH

    def _droppers(self) -> str:
        """Return the keys of the gate that drop though there is room, such as "loss or queue.aqm (codel)"."""
        settings = tomllib.loads(self.bench.scenario.to_toml())["gate"][self.gate]
        queue = settings.get("queue")
        queue = queue if isinstance(queue, dict) else {}
        found = [key for key in _DROPPING if key in settings]
        found += [f"queue.{key}" for key in _DROPPING_QUEUE if key in queue]
        if "aqm" in queue:
            aqm = queue["aqm"]
            found.append(f"queue.aqm ({aqm})" if isinstance(aqm, str) else "queue.aqm")
        return " or ".join(found) or "another of its settings"

    def needed_by_circuit(self, most: list[int]) -> list[int]:
        """Return the smallest queue of each circuit without loss, by replication.

        A run counts what waits in all of them together, ``most``. A limit below the longest queue of any
        circuit drops, and no other does: so it is found by halving.
        """
        least = [0] * len(most)
        while any(low + 1 < high for low, high in zip(least, most, strict=True)):
            widest = max(range(len(most)), key=lambda run: most[run] - least[run])
            limit = (least[widest] + most[widest]) // 2
            for run, lost in enumerate(self.losses(self.study(limit, whole=True))):
                if lost:
                    least[run] = max(least[run], limit)
                else:
                    most[run] = min(most[run], limit)
        return most


def _values(study: Study, metric: str) -> list[float | None]:
    try:
        return study.values(metric)
    except UnknownNameError:
        return []
