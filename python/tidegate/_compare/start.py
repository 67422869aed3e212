"""Comparisons: the same scenario with some keys varied, over the same network, or several scenarios.

Every variant runs with the same seed, so rate laws, losses and traffic draw the same
random numbers (common random numbers): differences come from what was varied.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tidegate._ask.axes import check_distinct, combinations, spelled
from tidegate._ask.changes import Sets, as_sets, check_once
from tidegate._ask.scenario import Scenario
from tidegate._ask.seed import choose
from tidegate._ask.source import Source, as_scenario, check_engine
from tidegate._base.limits import most
from tidegate._compare.value import Comparison
from tidegate._compare.variants import SCENARIO, Variant
from tidegate._run.perturbed import check_perturb
from tidegate._run.start import SAMPLES_BESIDE, execute, length, picture_span
from tidegate._run.summary import common_gate
from tidegate._run.value import Run
from tidegate.errors import ArgumentError, ScenarioError


def compare(
    source: Source | Sequence[Source],
    *,
    vary: Mapping[str, Sequence[Any]] | None = None,
    seed: int | None = None,
    engine: str = "sim",
    changes: Sets = None,
    record: str | None = None,
    gate: str | None = None,
    columns: Sequence[str] = (),
    workers: int | None = None,
    perturb: int | None = None,
) -> Comparison:
    """Run a scenario once for every combination of the varied keys, or several scenarios, with the same seed.

    Args:
        source: a scenario file, or a dict of its keys; or a list of them, which the column ``scenario``
            then tells apart.
        vary: keys with the values each shall take; several keys multiply. Of several scenarios it may be left
            out.
        seed: as :func:`tidegate.run`.
        engine: ``"sim"``, or ``"live"``: the kernel's TCP, one run after the other.
        changes: for every variant.
        record: as :func:`tidegate.run`; left out, samples fine enough for the picture.
        gate: the gate to compare; left out, the one that holds flows back most. Scenarios without a gate in
            common have each their own.
        columns: more numbers to compare, such as ``traffic.calls.delay_p99_ms``: names as in
            :meth:`Study.values`.
        workers: runs at a time; left out, one per processor. Results do not depend on it.
        perturb: how many runs with small changes to make of each variant, as :func:`tidegate.run`. Change i
            is the same in all of them.

    Raises:
        ScenarioError, TraceError, EngineError, RunError: as :func:`tidegate.run`.
        ArgumentError: nothing is varied, or a key has no values.
        UnknownNameError: the runs have no number of a column's name.
    """
    check_engine(engine, ("sim", "live"))
    check_perturb(perturb, engine)
    sources = cast("list[Source]", list(source) if isinstance(source, list | tuple) else [source])
    if any(isinstance(each, Scenario) for each in sources):
        raise ArgumentError(
            "source: give compare the scenario's file or dict; it has to be checked once per variant"
        )
    prepared = prepare(sources, vary or {}, changes, seed)
    return execute_all(
        prepared, seed=seed, engine=engine, record=record, gate=gate, columns=columns, workers=workers,
        perturb=perturb,
    )  # fmt: skip


@dataclass(frozen=True)
class Prepared:
    """Every variant, checked before the first run begins."""

    title: str
    axes: list[str]
    variants: list[tuple[dict[str, str], Scenario]]


def prepare(
    sources: Sequence[Source],
    vary: Mapping[str, Sequence[Any]],
    changes: Sets = None,
    seed: int | None = None,
) -> Prepared:
    """Check every combination of the varied keys, of each scenario.

    Raises:
        ScenarioError, TraceError, OSError: a variant is wrong.
        ArgumentError: nothing is varied, a key has no values, or there is no scenario.
    """
    if not sources:
        raise ArgumentError("nothing to compare: no scenario is given")
    if not vary and len(sources) == 1:
        raise ArgumentError(
            'nothing to compare: vary takes keys with values, such as {"flow.a.tcp.cc": ["reno", "cubic"]}'
        )
    base = as_sets(changes)
    check_once(base, vary, "varied")
    check_once(base, {"seed": seed}, "given")
    several = len(sources) > 1
    if several and SCENARIO in vary:
        raise ArgumentError(f"{SCENARIO}: several scenarios have this name for what they differ in")
    axes = spelled(vary)
    variants: list[tuple[dict[str, str], Scenario]] = []
    for name, source in zip(_names(sources), sources, strict=True):
        made = len(variants)
        for chosen in combinations(axes):
            sets = [*base, *(f"{key}={value}" for key, value in chosen.items())]
            of = {SCENARIO: name} if several else {}
            try:
                variants.append(({**of, **chosen}, as_scenario(source, sets)))
            except ScenarioError as error:
                if several:
                    _name(error, name)
                raise
        check_distinct(axes, vary, lambda number, made=made: variants[made + number][1])  # type: ignore[misc]
    first = variants[0][1]
    title = ", ".join(_names(sources)) if several else first.title or first.name
    return Prepared(title, [*([SCENARIO] if several else []), *vary], variants)


def _name(error: ScenarioError, scenario: str) -> None:
    """Say which scenario refuses a change; what is wrong in a file names the file already."""
    for each in (error, *(error.others or ())):
        if each.file in ("--set", None) and each.problem:
            problem = f"{each.problem}, in {scenario}"
            each.args = (str(each).replace(each.problem, problem, 1),)
            each.problem = problem


def _names(sources: Sequence[Source]) -> list[str]:
    """Return what tells scenarios apart: the file's name, or its path where another has that name.

    Of a dict it is the title. What is there twice has its place behind it.
    """
    paths = [os.fspath(each) if isinstance(each, str | os.PathLike) else None for each in sources]
    short = [
        str(each.get("title", "dict")) if isinstance(each, Mapping) else Path(path or "").name
        for path, each in zip(paths, sources, strict=True)
    ]
    names = [
        path if path is not None and short.count(name) > 1 else name
        for path, name in zip(paths, short, strict=True)
    ]
    return [f"{name} ({place})" if names.count(name) > 1 else name for place, name in enumerate(names, 1)]


def execute_all(
    prepared: Prepared,
    *,
    seed: int | None = None,
    engine: str = "sim",
    record: str | None = None,
    gate: str | None = None,
    columns: Sequence[str] = (),
    workers: int | None = None,
    perturb: int | None = None,
    progress: Callable[[float], None] | None = None,
    command: list[str] | None = None,
) -> Comparison:
    """Run every variant, several at a time; ``progress`` is told the share that is done.

    Raises:
        RunError: a run stopped before its end.
        UnknownNameError: the runs have no number of a column's name.
        KeyboardInterrupt: every run stops within a moment.
    """
    from concurrent.futures import ThreadPoolExecutor

    seeds = [scenario.seed for _, scenario in prepared.variants if scenario.seed is not None]
    if "seed" in prepared.axes and seed is not None:
        raise ArgumentError("the seed is both varied and given; use one of the two")
    chosen = choose(seed, next(iter(seeds), None))
    stop = threading.Event()
    done = [0.0] * len(prepared.variants)

    # Live runs would take each other's processors and be late.
    threads = 1 if engine == "live" else workers or os.cpu_count() or 1
    at_once = min(threads, len(prepared.variants))
    each = None if engine == "live" else min(threads // at_once, most("threads"))

    def one(index: int) -> Run:
        def tick(share: float) -> bool:
            done[index] = share
            return not stop.is_set()

        scenario = prepared.variants[index][1]
        own = choose(None if "seed" in prepared.axes else chosen, scenario.seed)
        result = execute(
            scenario,
            seed=own,
            engine=engine,
            record=record
            if record is not None
            else picture_span(
                scenario,
                length(scenario, own, engine=engine, threads=each),
                SAMPLES_BESIDE,
                len(prepared.variants),
            ),
            threads=each,
            tick=tick,
            command=command,
            perturb=perturb,
        )
        done[index] = 1.0
        return result

    runs: list[Run] = []
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        try:
            waiting = [pool.submit(one, index) for index in range(len(prepared.variants))]
            for future in waiting:
                while not _finished(future):
                    if progress is not None:
                        progress(sum(done) / len(done))
                runs.append(future.result())
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    if progress is not None:
        progress(1.0)
    variants = [
        Variant(changes, result) for (changes, _), result in zip(prepared.variants, runs, strict=True)
    ]
    shown = gate if gate is not None else common_gate([result.summary for result in runs])
    if shown is not None:
        for result in runs:
            result.gates.row(shown)
    comparison = Comparison(prepared.title, prepared.axes, variants, shown, columns)
    comparison.rows()  # Each column has to be there.
    return comparison


def _finished(future: Any) -> bool:
    from concurrent.futures import wait

    return bool(wait([future], timeout=0.1).done)
