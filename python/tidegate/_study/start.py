"""Studies: every point of the axes, many replications of each, means with intervals.

Replication i of every point draws from (seed, i, element name): all points see the same
networks (common random numbers), so differences between points are taken pair by pair.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidegate._ask import compiled
from tidegate._ask.axes import axes_of, combinations, label
from tidegate._ask.scenario import Scenario, Sets
from tidegate._ask.seed import choose
from tidegate._ask.source import Source, as_scenario, check_engine
from tidegate._base.errors import ArgumentError, StudyStoppedError, UnknownNameError, nearest
from tidegate._run.chance import are_alike, no_difference, nothing_random, places
from tidegate._run.metric import metric_of
from tidegate._study import jobs, live
from tidegate._study.jobs import Measure, Outcome, Workers
from tidegate._study.point import Point
from tidegate._study.store import Store, opened
from tidegate._study.until import Until
from tidegate._study.value import Study

#: How often to look up from waiting: for Ctrl-C and the progress bar.
_PATIENCE_S = 0.1


def study(
    source: Source,
    *,
    vary: Mapping[str, Sequence[Any]] | None = None,
    runs: int | None = None,
    workers: int | None = None,
    seed: int | None = None,
    engine: str = "sim",
    set: Sets = None,  # noqa: A002
    gate: str | None = None,
    measure: Measure | None = None,
    measure_version: str | None = None,
    record: str | None = None,
    until: Until | str | None = None,
    store: str | os.PathLike[str] | bool = True,
    executor: Any = None,
    resume: bool = False,
) -> Study:
    """Run every combination of the axes many times, and return means with 95% intervals.

    The axes are the scenario's ``[[sweep]]`` tables and what ``vary`` names. Replication i
    has the same random streams at every point. What was run before is taken from the
    store; the results do not depend on that, nor on the number of workers.

    Args:
        source: a scenario file, a dict of its keys, or a loaded :class:`Scenario`.
        vary: keys with the values each shall take; several keys multiply.
        runs: replications of each point; left out, the scenario's ``runs``.
        workers: threads; left out, one per processor.
        seed: as :func:`tidegate.run`.
        engine: ``"sim"``, or ``"live"``: the kernel's TCP, one run after the other in real time.
            Every run is measured anew, and kept for ``resume``.
        set: changes for every point.
        gate: whose loss, queueing delay and utilisation to give; left out, the one that
            holds flows back most.
        measure: a function of a :class:`Run` that returns numbers by name, called for each
            run. Its source is part of what results are kept under.
        measure_version: text that stands for what ``measure`` does, where its source
            does not tell: closures, objects, functions that call other modules.
        record: for ``measure``: ``"events"`` or a span, as :func:`tidegate.run`; left out,
            what the scenario's ``[record]`` says.
        until: go on with a point until an interval is narrow: an :class:`Until`, or
            text such as ``"goodput_bps:±2%"``.
        store: a folder that keeps results; True: ``TIDEGATE_STORE``, else the user's
            cache; False: keep nothing.
        executor: who does the runs instead of threads of this process: anything with the
            interface of ``concurrent.futures.Executor``. It is not shut down.
        resume: with ``engine="live"``: take runs that this machine measured before from the store, and
            measure what is missing.

    Raises:
        ScenarioError, TraceError, EngineError, RunError: as :func:`tidegate.run`.
        ArgumentError: an argument has a value that it cannot have.
        UnknownNameError: ``until`` or ``gate`` names what no run has.
        StoreError: the store is damaged or cannot be written.
        StudyStoppedError: Ctrl-C (a KeyboardInterrupt); what is done is kept.
    """
    check_engine(engine, ("sim", "live"))
    prepared = prepare(source, vary or {}, set, runs=runs, seed=seed, until=until, engine=engine)
    with opened(store) as kept:
        return execute_study(
            prepared,
            workers=workers_for(engine, workers, executor),
            store=kept,
            resume=resume,
            gate=gate,
            measure=measure,
            measure_version=measure_version,
            record=record,
        )


def workers_for(engine: str, workers: int | None, executor: Any = None) -> Workers:
    """Return those who do the runs of a study.

    Raises:
        ArgumentError: several at once, or elsewhere, with the live engine.
        EngineError: the live engine cannot run here.
    """
    if engine != "live":
        return jobs.Futures(executor) if executor is not None else jobs.Local(workers)
    if executor is not None:
        raise ArgumentError("executor: live runs need the kernel of this machine")
    if workers not in (None, 1):
        raise ArgumentError(f"workers: read {workers}; live runs go one after the other")
    return live.OneByOne()


@dataclass(frozen=True)
class Prepared:
    """A study whose every point has passed the checks."""

    title: str
    file: str
    seed: int
    runs: int
    axes: list[str]
    points: list[tuple[dict[str, str], Scenario]]
    until: Until | None
    warnings: list[str] = field(default_factory=list)
    engine: str = "sim"


def prepare(
    source: Source,
    vary: Mapping[str, Sequence[Any]],
    changes: Sets = None,
    *,
    runs: int | None = None,
    seed: int | None = None,
    until: Until | str | None = None,
    engine: str = "sim",
) -> Prepared:
    """Check every point.

    Raises:
        ScenarioError, TraceError, OSError: a point is wrong.
        ArgumentError: an argument has a value that it cannot have.
    """
    scenario = as_scenario(source, changes)
    axes = axes_of(scenario, vary)
    if "seed" in vary:
        raise ArgumentError(
            "the seed cannot be varied in a study: its replications already have different random numbers"
        )
    count = scenario.runs if runs is None else runs
    if count < 1:
        raise ArgumentError(f"runs: read {count}; a point needs 1 run at least")
    if isinstance(until, str):
        until = Until.parse(until, at_least=None if runs is None else max(runs, 2))
    points = []
    for chosen in combinations(axes):
        point = scenario.point(f"{key}={value}" for key, value in chosen.items())
        points.append(({key: label(value) for key, value in chosen.items()}, point))
    warnings = list(dict.fromkeys(w for _, point in points for w in point.warnings))
    warnings += _without_chance(points, until.at_least if until else count, engine)
    if count == 1 and until is None and (engine == "live" or any(point.draws for _, point in points)):
        warnings.append("one run per point gives no interval: use --runs 8 (runs=8) or more")
    return Prepared(
        title=scenario.title or scenario.name,
        file=scenario.name,
        seed=choose(seed, scenario.seed),
        runs=count,
        axes=[key for axis in axes for key in axis.keys],
        points=points,
        until=until,
        warnings=warnings,
        engine=engine,
    )


def _without_chance(points: Sequence[tuple[dict[str, str], Scenario]], runs: int, engine: str) -> list[str]:
    """Warn where nothing is drawn from the seed; the kernel's TCP is never the same twice."""
    fixed = [] if engine == "live" else [(chosen, point) for chosen, point in points if not point.draws]
    if not fixed:
        return []
    flow = next(iter(fixed[0][1].flow_names), None)
    labels = [", ".join(f"{key}={value}" for key, value in chosen.items()) for chosen, _ in fixed]
    return [nothing_random(runs, flow, places(labels, len(points)))]


def execute_study(
    prepared: Prepared,
    *,
    workers: Workers,
    store: Store | None,
    gate: str | None = None,
    measure: Measure | None = None,
    measure_version: str | None = None,
    record: str | None = None,
    progress: Callable[[float], None] | None = None,
    told: Callable[[int, int], None] | None = None,
    command: list[str] | None = None,
    resume: bool = False,
) -> Study:
    """Do what is not in the store, and put everything together.

    ``progress`` hears the share that is done, ``told`` at the end how many runs were
    computed and how many there are. ``resume``: live runs are taken from the store, too.
    """
    if resume and prepared.engine != "live":
        workers.close()
        raise ArgumentError(
            "resume: it is for live runs; results of the simulator are always taken from the store"
        )
    identity = jobs.measure_identity(measure, measure_version)
    level = record if measure is not None else "summary"
    work = _Work(prepared, store, measure, level, identity, resume=resume)
    try:
        work.all(workers, progress)
    except KeyboardInterrupt:
        work.take_in(workers)
        again = "the same study with --resume (resume=True)" if work.is_live else "the same study"
        kept = (
            f"are kept: {again} continues from there"
            if store is not None
            else "are lost, because there is no store"
        )
        raise StudyStoppedError(f"stopped: {len(work.done)} of {work.wanted()} runs {kept}") from None
    finally:
        workers.close()
    if told is not None:
        told(work.computed, len(work.done))
    return assembled(prepared, work.done, gate, command, work.notes())


class _Work:
    """What is done and what is not, of one study."""

    def __init__(
        self,
        prepared: Prepared,
        store: Store | None,
        measure: Measure | None,
        record: str | None,
        identity: str,
        *,
        resume: bool,
    ) -> None:
        self.is_live = prepared.engine == "live"
        #: Results of the simulator never change; a measurement is asked for.
        self._reuses = resume or not self.is_live
        #: When what was taken from the store was measured.
        self._measured_at: list[str] = []
        self._prepared = prepared
        self._store = store
        self._measure = measure
        self._record = record
        self._identity = identity
        self._engine = jobs.engine_identity() + (f" {live.identity()}" if self.is_live else "")
        self._digests = [compiled.digest(point, record) for _, point in prepared.points]
        first = prepared.until.at_least if prepared.until else prepared.runs
        #: Replications that each point shall have, so far as is known.
        self._targets = [first] * len(prepared.points)
        self._asked = [0] * len(prepared.points)
        self._there = [0] * len(prepared.points)
        self._jobs: list[tuple[int, int, str]] = []
        self._ready: deque[int] = deque()
        self.done: dict[tuple[int, int], Outcome] = {}
        self.computed = 0

    def wanted(self) -> int:
        """Return how many runs there shall be, so far as is known."""
        return sum(self._targets)

    def all(self, workers: Workers, progress: Callable[[float], None] | None) -> None:
        """Work until every point has what it needs."""
        self._ask(range(len(self._targets)))
        out = 0
        while self._ready or out:
            while self._ready and out < workers.capacity:
                workers.submit(self._job(self._ready.popleft()))
                out += 1
            outcome = workers.collect(_PATIENCE_S)
            if outcome is not None:
                out -= 1
                self._take(outcome)
            if progress is not None:
                progress((len(self.done) + workers.running()) / max(1, self.wanted()))

    def take_in(self, workers: Workers) -> None:
        """Keep what is finished already."""
        while (outcome := workers.collect(0.0)) is not None:
            self._take(outcome)

    def notes(self) -> list[str]:
        """Say which results are old measurements."""
        return live.taken_over(self._measured_at, len(self.done))

    def _job(self, number: int) -> jobs.Job:
        point, replication, _ = self._jobs[number]
        scenario = self._prepared.points[point][1]
        return jobs.Job(number, scenario, self._prepared.seed, replication, self._record, self._measure)

    def _ask(self, points: Sequence[int] | range) -> None:
        """Queue what these points lack, or take it from the store."""
        fresh: list[int] = []
        for point in points:
            for replication in range(self._asked[point], self._targets[point]):
                key = jobs.key_of(
                    self._engine, self._digests[point], self._prepared.seed, replication, self._identity
                )
                fresh.append(len(self._jobs))
                self._jobs.append((point, replication, key))
            self._asked[point] = self._targets[point]
        found = {}
        if self._store is not None and self._reuses:
            found = self._store.find([self._jobs[n][2] for n in fresh])
        known = []
        for number in fresh:
            kept = found.get(self._jobs[number][2])
            if kept is None:
                self._ready.append(number)
            else:
                known.append(jobs.Outcome(number, kept["summary"], kept["measured"]))
                if self.is_live:
                    self._measured_at.append(kept["measured_at"])
        if self.is_live:
            # A slow hour of the machine meets every point.
            self._ready = deque(sorted(self._ready, key=lambda n: (self._jobs[n][1], self._jobs[n][0])))
        for outcome in known:
            self._enter(outcome)

    def _take(self, outcome: Outcome) -> None:
        """Keep a result that was computed."""
        self.computed += 1
        if self._store is not None:
            key = self._jobs[outcome.number][2]
            kept: dict[str, Any] = {"summary": outcome.summary, "measured": outcome.measured}
            if self.is_live:
                kept["measured_at"] = live.now()
            self._store.put(key, kept)
        self._enter(outcome)

    def _enter(self, outcome: Outcome) -> None:
        point, replication, _ = self._jobs[outcome.number]
        self.done[point, replication] = outcome
        self._there[point] += 1
        until = self._prepared.until
        if until is None or self._there[point] < self._targets[point]:
            return
        if self._targets[point] < until.at_most:
            values = [self._value(point, n, until.metric) for n in range(self._targets[point])]
            if not until.satisfied(values):
                self._targets[point] = min(self._targets[point] + until.step, until.at_most)
                self._ask([point])

    def _value(self, point: int, replication: int, metric: str) -> float | None:
        outcome = self.done[point, replication]
        return metric_of(outcome.summary, outcome.measured, metric)


def assembled(
    prepared: Prepared,
    done: Mapping[tuple[int, int], Outcome],
    gate: str | None,
    command: list[str] | None,
    notes: Sequence[str] = (),
) -> Study:
    """Put results in order: by point, then by replication."""
    from tidegate._run.numbers import common_gate, gate_row

    summaries = {place: done[place].summary for place in sorted(done)}
    firsts = [summaries[point, 0] for point in range(len(prepared.points))]
    if gate is not None:
        for first in firsts:
            if gate_row(first, gate) is None:
                raise UnknownNameError(nearest("gate", gate, [row["name"] for row in first["gates"]]))
    warnings = list(prepared.warnings)
    for summary in summaries.values():
        warnings += [w for w in summary["warnings"] if w not in warnings]
    if prepared.engine == "live":
        warnings = [*notes, *live.alike(warnings)]
    by_point: list[list[dict[str, Any]]] = [[] for _ in prepared.points]
    for (number, _), summary in summaries.items():
        by_point[number].append(summary)
    points = []
    equal = []
    for number, (chosen, scenario) in enumerate(prepared.points):
        draws = ["the kernel's TCP"] if prepared.engine == "live" else scenario.draws
        alike = bool(draws) and are_alike(by_point[number])
        point = Point(number, dict(chosen), scenario.to_toml(), bool(draws) and not alike)
        points.append(point)
        if alike:
            equal.append((point, draws))
    if equal:
        runs = f"the {len(by_point[equal[0][0].number])} runs of a point"
        where = places([point.label() for point, _ in equal], len(points))
        warnings.append(no_difference(runs, equal[0][1], where))
    return Study.of(
        title=prepared.title,
        file=prepared.file,
        seed=prepared.seed,
        axes=prepared.axes,
        points=points,
        gate=gate if gate is not None else common_gate(firsts),
        results=[(place, summaries[place], done[place].measured) for place in summaries],
        warnings=warnings,
        command=command,
    )
