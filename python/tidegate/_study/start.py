"""Studies: every point of the axes, many replications of each, means with intervals.

Replication i of every point draws from (seed, i, element name): all points see the same
networks (common random numbers), so differences between points are taken pair by pair.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tidegate._ask.scenario import Sets
from tidegate._ask.source import Source, check_engine
from tidegate._base.errors import ArgumentError, StudyStoppedError, UnknownNameError, nearest
from tidegate._run.chance import are_alike, no_difference, places
from tidegate._study import jobs, live
from tidegate._study.jobs import Measure, Outcome, Workers
from tidegate._study.point import Described, Point
from tidegate._study.prepare import Prepared, prepare
from tidegate._study.store import Store, opened
from tidegate._study.until import Until
from tidegate._study.value import Study
from tidegate._study.work import Work


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
    work = Work(prepared, store, measure, level, identity, resume=resume)
    work_through(work, workers, kept=store is not None, progress=progress)
    if told is not None:
        told(work.computed, len(work.done))
    return assembled(prepared.described(), work.done, gate, command, work.notes())


def work_through(
    work: Work, workers: Workers, *, kept: bool, progress: Callable[[float], None] | None = None
) -> None:
    """Do all of ``work``; ``kept``: what is done by then is in a store when it is stopped.

    Raises:
        StudyStoppedError: Ctrl-C.
    """
    try:
        work.all(workers, progress)
    except KeyboardInterrupt:
        work.take_in(workers)
        again = "the same study with --resume (resume=True)" if work.is_live else "the same study"
        rest = f"are kept: {again} continues from there" if kept else "are lost, because there is no store"
        raise StudyStoppedError(f"stopped: {len(work.done)} of {work.wanted()} runs {rest}") from None
    finally:
        workers.close()


def assembled(
    described: Described,
    done: Mapping[tuple[int, int], Outcome],
    gate: str | None,
    command: list[str] | None,
    notes: Sequence[str] = (),
) -> Study:
    """Put results in order: by point, then by replication."""
    from tidegate._run.summary import common_gate, gate_row

    summaries = {place: done[place].summary for place in sorted(done)}
    firsts = [summaries[point, 0] for point in range(len(described.points))]
    if gate is not None:
        for first in firsts:
            if gate_row(first, gate) is None:
                raise UnknownNameError(nearest("gate", gate, [row["name"] for row in first["gates"]]))
    warnings = list(described.warnings)
    for summary in summaries.values():
        warnings += [w for w in summary["warnings"] if w not in warnings]
    if described.engine == "live":
        warnings = [*notes, *live.alike(warnings)]
    by_point: list[list[dict[str, Any]]] = [[] for _ in described.points]
    for (number, _), summary in summaries.items():
        by_point[number].append(summary)
    points = []
    equal = []
    for number, (chosen, scenario, drawn) in enumerate(described.points):
        draws = ["the kernel's TCP"] if described.engine == "live" else drawn
        alike = bool(draws) and are_alike(by_point[number])
        point = Point(number, dict(chosen), scenario, bool(draws) and not alike)
        points.append(point)
        if alike:
            equal.append((point, draws))
    if equal:
        runs = f"the {len(by_point[equal[0][0].number])} runs of a point"
        where = places([point.label() for point, _ in equal], len(points))
        warnings.append(no_difference(runs, equal[0][1], where))
    return Study.of(
        title=described.title,
        file=described.file,
        seed=described.seed,
        axes=described.axes,
        points=points,
        gate=gate if gate is not None else common_gate(firsts),
        results=[(place, summaries[place], done[place].measured) for place in summaries],
        warnings=warnings,
        command=command,
    )
