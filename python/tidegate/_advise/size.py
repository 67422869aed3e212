"""The inverse question: the smallest queue that loses nothing.

By theory where one applies; elsewhere from simulations. A run with a queue that never fills
is, event for event, the run without a limit. So the most that ever waits in it is the smallest
queue without loss for that seed: one unit less and the first unit too many is dropped, at a time up to
which nothing else has changed. Larger limits are tried until the queue no longer fills; the
answer is then run once more, and with one unit less.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidegate._ask.plan import plan_of
from tidegate._ask.scenario import Scenario, Sets
from tidegate._ask.seed import choose
from tidegate._ask.source import Source, as_scenario
from tidegate._base.answer import Answer
from tidegate._base.errors import ArgumentError, EngineError, InternalError, UnknownNameError, nearest
from tidegate._base.estimate import Estimate
from tidegate._base.lazy import Lazy
from tidegate._base.text import number, plain, wrapped
from tidegate._study.jobs import Local
from tidegate._study.start import Prepared, execute_study
from tidegate._study.store import Store, opened
from tidegate._study.value import Study

if TYPE_CHECKING:
    from tidegate import theory
else:
    theory = Lazy("tidegate.theory")

METHODS = ("auto", "theory", "sim")
#: The first limit tried, how fast it grows, and where the search ends, in units of the queue.
_FIRST = {"packets": 256, "cells": 4096, "bytes": 256 * 1500}
_GROWTH = 8
_LAST = {"packets": 2**20, "cells": 2**24, "bytes": 2**30}


@dataclass(frozen=True)
class Sizing(Answer):
    """The smallest queue of a gate that loses nothing, and what stands in it.

    ``size`` is in ``unit`` (``"packets"``, ``"bytes"`` or ``"cells"``), counted as the gate counts:
    what waits, or with the unit in service. ``method`` is ``"theory"`` or ``"sim"``. From
    simulations it holds for ``seed`` and ``runs`` replications, of which ``each`` has the own
    smallest size. ``lost_with_one_less`` says how many replications lose something with one unit
    less. ``standing`` (mean, in the unit) and the waits in ``delay_ms`` are those that come with the
    size, counted from the scenario's warmup; ``limits`` are the theory's least and largest content in
    the end, in its own units.
    """

    gate: str
    size: int
    unit: str
    method: str
    standing: Estimate
    delay_ms: dict[str, Estimate]
    seed: int
    runs: int
    each: tuple[int, ...]
    lost_with_one_less: int
    theory: str | None = None
    limits: tuple[float, float] | None = None
    delay_limit_ms: float | None = None
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate size --json`` prints."""
        return {
            "gate": self.gate,
            "size": self.size,
            "unit": self.unit,
            "method": self.method,
            "theory": self.theory,
            "seed": self.seed,
            "runs": self.runs,
            "each": list(self.each),
            "lost_with_one_less": self.lost_with_one_less,
            "standing": self.standing.to_dict(),
            "standing_limits": None if self.limits is None else list(self.limits),
            "delay_ms": {name: found.to_dict() for name, found in self.delay_ms.items()},
            "delay_limit_ms": self.delay_limit_ms,
            "notes": self.notes,
        }

    def report(self) -> str:
        """Return the same for people."""
        from tidegate._study.text import plus_minus

        told = "1 replication" if self.runs == 1 else f"{self.runs} replications"
        if self.method == "theory":
            basis = f"theory {self.theory}, confirmed by simulation ({told}, seed {self.seed})"
        else:
            basis = f"simulation, {told}, seed {self.seed}"
        loses = (
            "packets are lost"
            if self.runs == 1
            else f"packets are lost in {self.lost_with_one_less} of {self.runs} replications"
        )
        one = self.unit.removesuffix("s")
        unit = one if self.size == 1 else self.unit
        lines = [
            f"gate {self.gate}: a queue of {self.size} {unit} loses nothing",
            f"  by {basis}",
            f"  with one {one} less, {loses}"
            if self.lost_with_one_less
            else f"  one {one} less is also enough in these runs",
        ]
        if len({*self.each}) > 1:
            lines.append(f"  single replications need {min(self.each)} to {max(self.each)} {self.unit}")
        lines.append(f"  standing queue  {plus_minus(self.standing)} {self.unit}, mean")
        if self.limits is not None:
            low, high = (number(value, 5) for value in self.limits)
            lines.append(f"                  {low} to {high} in the long run, by the theory")
        waits = ", ".join(f"{name} {plus_minus(found)}" for name, found in self.delay_ms.items())
        lines.append(f"  queueing delay  {waits} ms")
        if self.delay_limit_ms is not None:
            most = number(self.delay_limit_ms, 4)
            lines.append(f"                  at most {most} ms in the long run, by the theory")
        lines += [wrapped(f"  {note}") for note in self.notes]
        return plain("\n".join(lines))

    def __repr__(self) -> str:
        return f"<tidegate.Sizing {self.gate!r}: {self.size} {self.unit}, {self.method}>"


def size(
    source: Source,
    gate: str,
    *,
    set: Sets = None,  # noqa: A002
    method: str = "auto",
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    store: str | os.PathLike[str] | bool = True,
) -> Sizing:
    """Return the smallest queue of a gate that loses nothing, whatever its limit in the scenario is.

    Loss is looked for over the whole run, the warmup included.

    Args:
        source: a scenario file, a dict of its keys, or a loaded :class:`Scenario`.
        gate: its name in the scenario; of a gate with a copy for each flow, all copies.
        set: changes to the scenario.
        method: ``"theory"``, ``"sim"``, or ``"auto"``: theory where one applies to this gate.
        runs: replications that must all be without loss; left out, the scenario's ``runs``.
        seed: as :func:`tidegate.run`.
        workers: threads; left out, one per processor.
        store: as :func:`tidegate.study`.

    Raises:
        ScenarioError, TraceError, OSError: the scenario is wrong.
        UnknownNameError: it has no such gate.
        ArgumentError: the method is none, ``runs`` is below 1, or no queue of this gate is enough;
            the message says why.
        EngineError: ``method="theory"``, and no theory applies.
    """
    scenario = as_scenario(source, set)
    with opened(store) as kept:
        return find(scenario, gate, method=method, runs=runs, seed=seed, workers=workers, store=kept)


def find(
    scenario: Scenario,
    gate: str,
    *,
    method: str = "auto",
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    store: Store | None = None,
    progress: Callable[[float], None] | None = None,
) -> Sizing:
    """Find it; see :func:`size`."""
    if method not in METHODS:
        raise ArgumentError(f'method: read "{method}"; it is {", ".join(METHODS[:-1])} or {METHODS[-1]}')
    if gate not in scenario.gate_names:
        raise UnknownNameError(nearest("gate", gate, scenario.gate_names))
    if runs is not None and runs < 1:
        raise ArgumentError(f"runs: read {runs}; write 1 or more")
    bench = _Bench(
        scenario, gate, runs or scenario.runs, choose(seed, scenario.seed), workers, store, progress
    )
    fit, reason = (None, "") if method == "sim" else bench.theory()
    if method == "theory" and fit is None:
        raise EngineError(f'no theory applies ({reason}); use the method "sim"')
    each = bench.needed()
    needed = max(each)
    notes = [] if fit is not None or not reason else [f"no theory applies: {reason}"]
    if fit is not None:
        told = fit.result.buffer_cells - (0 if bench.counts_all else 1)
        if bench.unit != "bytes" and told != needed:
            notes.append(
                f"the theory gives {told} {bench.unit}, these runs need {needed}: rounding may make a "
                "difference of two, and a short run may not reach the longest queue"
            )
            needed = max(told, needed)
        notes += [f"theory {fit.theory}: {text}" for text in fit.bent]
    elif bench.endless:
        notes.append(
            f"flow {bench.endless} has an unlimited window (tcp.window) and always has data to send, so the "
            "queue grows for as long as the run lasts"
        )
    if bench.lost(bench.study(needed, whole=True)):
        raise InternalError(f"gate {gate}: a queue of {needed} {bench.unit} loses packets after all")
    less = bench.losses(bench.study(needed - 1, whole=True)) if needed > 1 else []
    with_less = sum(1 for lost in less if lost)
    final = bench.study(needed, whole=False)
    waits = {"mean": "mean", "p50": "p50", "p99": "p99"}
    cell_s = None if fit is None else fit.parameters["cell_time_s"]
    result = None if fit is None else fit.result
    return Sizing(
        gate=gate,
        size=needed,
        unit=bench.unit,
        method="sim" if fit is None else "theory",
        standing=bench.worst(final, f"queue_mean_{bench.unit}", "queue_mean_packets"),
        delay_ms={name: bench.worst(final, f"queue_delay_{key}_ms") for name, key in waits.items()},
        seed=bench.seed,
        runs=bench.runs,
        each=tuple(each),
        lost_with_one_less=with_less,
        theory=None if fit is None else fit.theory,
        limits=None if result is None else (float(result.V_w_minus), float(result.V_w_plus)),
        delay_limit_ms=None if result is None or cell_s is None else float(result.delay * cell_s * 1000),
        notes=notes,
    )


class _Bench:
    """Runs of one scenario with one gate's queue at different limits."""

    def __init__(
        self,
        scenario: Scenario,
        gate: str,
        runs: int,
        seed: int,
        workers: int | None,
        store: Store | None,
        progress: Callable[[float], None] | None,
    ) -> None:
        self.scenario, self.gate, self.runs, self.seed = scenario, gate, runs, seed
        self.workers, self.store, self.progress = workers, store, progress
        plan = plan_of(scenario)
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
        self.counts_all = bool(copies[0]["queue_counts_all"])
        limit = copies[0]["queue_limit"]
        cells = copies[0]["framing"]["kind"] == "aal5"
        self.unit: str = "cells" if cells else limit["unit"] if limit is not None else "packets"

    def point(self, limit: int | None, *, whole: bool) -> Scenario:
        """Return the scenario with a limit; ``whole``: counted from its very beginning."""
        unit = "B" if self.unit == "bytes" else self.unit
        text = "unlimited" if limit is None else f"{limit} {unit}"
        sets = [f'gate.{self.gate}.queue.limit="{text}"']
        return self.scenario.point([*sets, 'warmup="0 s"'] if whole else sets)

    def study(self, limit: int, *, whole: bool) -> Study:
        """Return runs with a limit."""
        prepared = Prepared(
            title=self.scenario.title or self.scenario.name,
            file=self.scenario.name,
            seed=self.seed,
            runs=self.runs,
            axes=[],
            points=[({}, self.point(limit, whole=whole))],
            until=None,
        )
        return execute_study(
            prepared,
            workers=Local(self.workers),
            store=self.store,
            gate=self.names[0],
            progress=self.progress,
        )

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

    def theory(self) -> tuple[theory.Fit | None, str]:
        """Return the theory that applies to the gate with a queue that never fills, or why none does."""
        from tidegate.theory import match

        told = match(self.point(None, whole=False))
        for each in told:
            if each and each.gates and each.gates[0]["name"] in self.names:  # type: ignore[union-attr]
                return each, ""  # type: ignore[return-value]
        reasons = [
            f"{each.theory}: {getattr(each, 'reason', f'it describes another gate than {self.gate}')}"
            for each in told
        ]
        return None, "; ".join(reasons)

    def needed(self) -> list[int]:
        """Return the smallest queue without loss of each replication.

        Raises:
            ArgumentError: the gate drops whatever its queue is, or needs more than can be tried.
        """
        limit = _FIRST[self.unit]
        while True:
            study = self.study(limit, whole=True)
            if not self.lost(study):
                return [max(each, 1) for each in self.most(study)]
            room = 2 * 1500 if self.unit == "bytes" else 0
            dry = [
                lost and most + room < limit
                for lost, most in zip(self.losses(study), self.most(study), strict=True)
            ]
            if any(dry):
                raise ArgumentError(
                    f"gate {self.gate} drops packets although its queue of {limit} {self.unit} never fills: "
                    "because of loss, police, queue.epd, queue.ppd or queue.clp1. No queue size avoids these "
                    "drops; remove these keys to size the queue alone"
                )
            if limit >= _LAST[self.unit]:
                raise ArgumentError(
                    f"gate {self.gate}: even a queue of {limit} {self.unit} loses packets. A flow with an "
                    "unlimited window fills any queue: set tcp.window, or a shorter duration"
                )
            limit *= _GROWTH


def _values(study: Study, metric: str) -> list[float | None]:
    try:
        return study.values(metric)
    except UnknownNameError:
        return []
