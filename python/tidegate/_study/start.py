"""Studies: every point of the axes, many replications of each, means with intervals.

Replication i of every point draws from (seed, i, element name): all points see the same
networks (common random numbers), so differences between points are taken pair by pair.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tidegate._ask.changes import Sets
from tidegate._ask.source import Source, check_engine
from tidegate._jobs import job
from tidegate._jobs.cluster import elsewhere
from tidegate._jobs.job import Measure
from tidegate._jobs.store import Store, opened
from tidegate._jobs.workers import Local, Workers
from tidegate._study import live
from tidegate._study.gather import Gathering, assembled
from tidegate._study.points import Prepared, prepare
from tidegate._study.until import Until
from tidegate._study.value import Study
from tidegate._study.work import Sink, Work
from tidegate.errors import ArgumentError, ClusterError, RunError, StudyStoppedError, UnknownNameError


def study(
    source: Source,
    *,
    vary: Mapping[str, Sequence[Any]] | None = None,
    runs: int | None = None,
    workers: int | None = None,
    seed: int | None = None,
    engine: str = "sim",
    changes: Sets = None,
    gate: str | None = None,
    measure: Measure | None = None,
    measure_version: str | None = None,
    record: str | None = None,
    until: Until | str | None = None,
    store: str | os.PathLike[str] | bool = True,
    executor: Any = None,
    resume: bool = False,
    perturb: int | None = None,
) -> Study:
    """Run every combination of the axes many times, and return means with 95% intervals.

    The axes are the scenario's ``[[sweep]]`` tables and what ``vary`` names. Replication i
    has the same random streams at every point. What was run before is taken from the
    store; the results do not depend on that, nor on the number of workers.

    Args:
        source: a scenario file, a dict of its keys, or a loaded :class:`Scenario`.
        vary: keys with the values each shall take; several keys multiply.
        runs: replications of each point; left out, the scenario's ``runs``.
        workers: threads of this process; left out, one per processor. An executor has its own.
        seed: as :func:`tidegate.run`.
        engine: ``"sim"``, or ``"live"``: the kernel's TCP, one run after the other in real time.
            Every run is measured anew, and kept for ``resume``.
        changes: for every point.
        gate: whose loss, queueing delay and utilisation to give; left out, the one that
            holds flows back most.
        measure: a function of a :class:`Run` that returns numbers by name, called for each
            run. The names are other than those that every run has. Its source is part of what results are
            kept under.
        measure_version: text that stands for what ``measure`` does, where its source
            does not tell: closures, objects, functions that call other modules.
        record: for ``measure``: ``"events"`` or a span, as :func:`tidegate.run`; left out,
            what the scenario's ``[record]`` says.
        until: go on with a point until an interval is narrow: an :class:`Until`, or
            text such as ``"goodput_bps:±2%"``.
        store: a folder that keeps results; True: ``TIDEGATE_STORE``, else the user's
            cache; False: keep nothing.
        executor: who does the runs instead of threads of this process: a client of Dask, or anything
            with the interface of ``concurrent.futures.Executor``. It is not shut down.
        resume: with ``engine="live"``: take runs that this machine measured before from the store, and
            measure what is missing.
        perturb: instead of ``runs``: run each point as written, and so often with small changes that nobody
            can know (:func:`tidegate.run`). Replication i has change i at every point. With ``until`` so many
            first.

    Raises:
        ScenarioError, TraceError, EngineError, RunError: as :func:`tidegate.run`.
        ArgumentError: an argument has a value that it cannot have.
        UnknownNameError: ``until`` or ``gate`` names what no run has.
        StoreError: the store is damaged or cannot be written.
        ClusterError: the executor cannot go on; what is done is kept.
        StudyStoppedError: Ctrl-C (a KeyboardInterrupt); what is done is kept.
    """
    check_engine(engine, ("sim", "live"))
    prepared = prepare(source, vary or {}, changes, runs=runs, seed=seed, until=until, engine=engine,
                       perturb=perturb)  # fmt: skip
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
        ArgumentError: several at once, or elsewhere, with the live engine; threads together with an executor.
        EngineError: the live engine cannot run here.
    """
    if executor is not None:
        if engine == "live":
            raise ArgumentError("executor: live runs need the kernel of this machine")
        if workers is not None:
            raise ArgumentError(
                f"workers: read {workers}; the executor has its own workers, so leave out workers"
            )
        return elsewhere(executor)
    if engine != "live":
        return Local(workers)
    if workers not in (None, 1):
        raise ArgumentError(f"workers: read {workers}; live runs go one after the other")
    return live.OneByOne()


def execute_study(
    prepared: Prepared,
    *,
    workers: Workers,
    store: Store,
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
    if record is not None and measure is None:
        workers.close()
        raise ArgumentError(
            "record: is for measure, which reads what is recorded; leave it out, or give measure"
        )
    if measure_version is not None and measure is None:
        workers.close()
        raise ArgumentError("measure_version: it stands for measure; leave it out, or give measure")
    identity = job.measure_identity(measure, measure_version)
    level = record if measure is not None else "summary"
    try:
        work = Work(prepared, store, measure, level, identity, resume=resume, gate=gate)
    except (ArgumentError, UnknownNameError):
        workers.close()
        raise
    gathering = Gathering()

    def take(results: list[tuple[int, str, bytes]]) -> None:
        for place, _, packed in results:
            gathering.take(place, work.unpack(packed))

    work_through(work, workers, take, kept=store.path is not None, progress=progress)
    if told is not None:
        told(work.computed, work.done)
    work.tell(gathering.facts)
    return assembled(prepared.described(), gathering.finish(), gathering.facts, gate, command, work.notes())


def work_through(
    work: Work,
    workers: Workers,
    sink: Sink,
    *,
    kept: bool,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Do all of ``work``; ``sink`` takes its results in order.

    ``kept``: what is done is in a store when it is stopped.

    Raises:
        StudyStoppedError: Ctrl-C.
        ClusterError: workers elsewhere cannot go on.
    """
    try:
        work.all(workers, sink, progress)
    except KeyboardInterrupt:
        work.take_in(workers)
        rest = work.goes_on if kept else "are lost, because there is no store"
        raise StudyStoppedError(f"stopped: {work.done} of {work.wanted()} runs {rest}") from None
    except Exception as error:
        # What others have finished by now is not computed again.
        with contextlib.suppress(Exception):
            work.take_in(workers)
        if isinstance(error, ClusterError):
            rest = work.goes_on if kept else "are lost: there is no store"
            raise ClusterError(f"{error}; {work.done} of {work.wanted()} runs {rest}") from error.__cause__
        if isinstance(error, RunError) and work.is_live and kept:
            raise RunError(f"{error}; finished runs {work.goes_on}") from None
        raise
    finally:
        workers.close()
