"""``tidegate check-run``: run a scenario and judge what is expected of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from tidegate._ask.changes import Sets
from tidegate._ask.plan import plan_of
from tidegate._ask.source import Source, check_engine
from tidegate._check.expectation import Expectation
from tidegate._check.expected import Checked, Judged
from tidegate._check.unfinished import at_least
from tidegate._check.unseen import unseen
from tidegate._jobs.store import opened
from tidegate._study.points import prepare
from tidegate._study.start import execute_study, workers_for
from tidegate.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from tidegate._study.points import Prepared
    from tidegate._study.value import Study

#: Laws of rates that change, so that a packet in service can keep a speed that the gate no longer has.
_CHANGING = ("steps", "trace", "markov", "dtm", "follow", "abr")


def check_run(
    source: Source,
    expect: Sequence[str],
    *,
    runs: int | None = None,
    seed: int | None = None,
    changes: Sets = None,
    engine: str = "sim",
    workers: int | None = None,
    store: str | os.PathLike[str] | bool = True,
) -> Checked:
    """Run a scenario and judge expectations, such as ``"flow.bulk.goodput_bps > 20 Mbit/s"``.

    With several runs the whole 95% interval of the mean has to lie on the right side of the bound; one that
    lies on both sides is undecided. With one run, or where all runs are equal, the value decides. Events of
    which several random runs saw none may still happen 3 times in as many chances (the rule of three). A
    number that some of the runs lack, such as the completion time of a transfer that was not done, never
    holds.

    Args:
        source: a scenario file, a dict of its keys, or a loaded scenario. With ``[[sweep]]``, every point
            is judged.
        expect: numbers named as in :meth:`Study.values`, a comparison (<, <=, >, >=) and a bound, with or
            without a unit.
        runs: replications; left out, the scenario's ``runs``.
        seed: as :func:`tidegate.run`.
        changes: changes of keys.
        engine: ``"sim"`` or ``"live"``.
        workers: threads; left out, one per processor.
        store: as :func:`tidegate.study`.

    Raises:
        ArgumentError: an expectation cannot be read, or there is none.
        UnknownNameError: a run has no number of a name.
        ScenarioError, TraceError, EngineError, RunError, StoreError: as :func:`tidegate.study`.
    """
    wanted = [Expectation.parse(text) for text in expect]
    return judged(source, wanted, runs, seed, changes, engine, workers, store)


def judged(
    source: Source,
    wanted: Sequence[Expectation],
    runs: int | None,
    seed: int | None,
    changes: Sets,
    engine: str,
    workers: int | None,
    store: str | os.PathLike[str] | bool,
    progress: Callable[[float], None] | None = None,
) -> Checked:
    """:func:`check_run` with a bar: ``progress`` is called with the share that is done."""
    check_engine(engine, ("sim", "live"))
    if not wanted:
        raise ArgumentError('nothing is expected; give one, such as "flow.bulk.goodput_bps > 20e6"')
    prepared = prepare(source, {}, changes, runs=runs, seed=seed, engine=engine)
    prepared = replace(prepared, asked_by="check-run")
    for each in wanted:
        with _placed(each):
            prepared.check_names([each.metric])
            _check_full(prepared, each)
    with opened(store) as kept:
        study: Study = execute_study(
            prepared, workers=workers_for(engine, workers), store=kept, progress=progress
        )
    counts = study.counts()
    found = []
    for each in wanted:
        for point, runs_of in zip(study.points, counts, strict=True):
            with _placed(each):
                measured = study.estimate(each.metric, point.number)
            # "<= 0" asks of these runs: of others none can say that nothing will ever happen.
            if (prepared.points[point.number].draws or engine == "live") and not each.asks_for_none:
                measured = unseen(study, each.metric, point.number) or measured
            verdict = each.judge(measured, runs_of, at_least(study, each.metric, point.number))
            found.append(Judged(each, point.label(), measured, runs_of, verdict))
    return Checked(study.title, study.seed, tuple(found), study.warnings)


def _check_full(prepared: Prepared, expectation: Expectation) -> None:
    """Refuse a bound on a utilisation that none reaches: above 100% are only gates whose rate changes.

    Raises:
        ArgumentError: no rate changes.
    """
    way, _, last = expectation.metric.rpartition(".")
    if last != "utilisation" or expectation.bound <= 1:
        return
    name = way.partition(".")[2]
    for point in prepared.points:
        for gate in plan_of(point.scenario())["gates"]:
            own = str(gate["name"])
            if gate["rate"]["kind"] in _CHANGING and (not name or own == name or own.startswith(f"{name}/")):
                return
    whose = "the rate of no gate changes" if not name else f"the rate of gate {name} does not change"
    place = f"{expectation.place}: " if expectation.place else ""
    raise ArgumentError(
        f'{place}read "{expectation.text}"; {expectation.metric} is never above 100%, as {whose}, so this '
        "says nothing"
    )


@contextmanager
def _placed(expectation: Expectation) -> Iterator[None]:
    """Say where an expectation stands whose number there is not."""
    try:
        yield
    except UnknownNameError as error:
        if not expectation.place:
            raise
        raise UnknownNameError(f"{expectation.place}: {error}") from None
