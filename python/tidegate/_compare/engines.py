"""One scenario through several engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tidegate._ask.changes import Sets
from tidegate._ask.scenario import Scenario
from tidegate._ask.seed import choose
from tidegate._ask.source import ENGINES, Source, as_scenario
from tidegate._compare.agreement import ORDER, TOLERANCE, EngineRuns
from tidegate._compare.engines_value import EngineComparison
from tidegate._run.start import SAMPLES_BESIDE, execute, length, picture_span
from tidegate._run.summary import common_gate
from tidegate._run.value import Run
from tidegate.errors import ArgumentError, EngineError

#: Replications of an engine that has any, unless told otherwise.
RUNS = 3


def engine_names(text: str) -> list[str]:
    """Read ``"theory,sim"``; the order does not matter.

    Raises:
        EngineError: there is no engine of a name.
        ArgumentError: fewer than two, or one twice.
    """
    asked = [name.strip() for name in text.split(",") if name.strip()]
    for name in asked:
        if name not in ENGINES:
            there = ", ".join(ORDER)
            raise EngineError(f'there is no engine "{name}"; use {there}')
    if len({*asked}) != len(asked) or len(asked) < 2:
        raise ArgumentError(f'engines: read "{text}"; name two or three of theory, sim, live, each once')
    return [name for name in ORDER if name in asked]


def compare_engines(
    source: Source,
    *,
    engines: Sequence[str] = ("theory", "sim"),
    runs: int | None = None,
    seed: int | None = None,
    changes: Sets = None,
    record: str | None = None,
    gate: str | None = None,
    tolerance: float = TOLERANCE,
) -> EngineComparison:
    """Run a scenario through several engines and say what agrees.

    Args:
        source: a scenario file, a dict of its keys, or a loaded :class:`Scenario`.
        engines: two or three of ``"theory"``, ``"sim"``, ``"live"``; one that does not apply is
            left out and said.
        runs: replications of sim and of live; left out, 3, and of sim as many as the file asks
            for if that is more.
        seed: as :func:`tidegate.run`.
        changes: made before the checks.
        record: as :func:`tidegate.run`; left out, samples fine enough for the picture.
        gate: the gate to compare; left out, the one that holds flows back most.
        tolerance: the relative difference up to which engines agree.

    Raises:
        ScenarioError, TraceError, RunError: as :func:`tidegate.run`.
        EngineError: fewer than two engines apply; the message says why.
    """
    names = engine_names(",".join(engines))
    return execute_engines(
        as_scenario(source, changes, seed=seed),
        names,
        runs=runs,
        seed=seed,
        record=record,
        gate=gate,
        tolerance=tolerance,
    )


def execute_engines(
    scenario: Scenario,
    engines: Sequence[str],
    *,
    runs: int | None = None,
    seed: int | None = None,
    record: str | None = None,
    gate: str | None = None,
    tolerance: float = TOLERANCE,
    progress: Callable[[float], None] | None = None,
    command: list[str] | None = None,
) -> EngineComparison:
    """:func:`compare_engines` for a checked scenario; ``progress`` is told the share that is done."""
    if not 0 < tolerance < 1:
        raise ArgumentError(f"tolerance: read {tolerance}; it takes a share between 0 and 1")
    counts = {
        "theory": 1,
        # Where nothing is random one run says all.
        "sim": (runs or max(RUNS, scenario.runs)) if scenario.draws else 1,
        "live": runs or RUNS,
    }
    # All runs are kept until the last one is done.
    kept = sum(counts[engine] for engine in engines)
    chosen = choose(seed, scenario.seed)
    # A live run takes its time; the others hardly count.
    weight = {engine: counts[engine] * (1.0 if engine == "live" else 0.05) for engine in engines}
    whole = sum(weight.values())
    done = 0.0
    found: list[EngineRuns] = []
    missing: dict[str, str] = {}
    for engine in engines:
        share = weight[engine] / counts[engine] / whole
        made = []
        try:
            for replication in range(counts[engine]):
                tick = _Tick(progress, done, share)
                one = _one(
                    scenario,
                    engine,
                    replication,
                    chosen,
                    runs=kept,
                    record=record,
                    tick=tick,
                    command=command,
                )
                made.append(one)
                done += share
        except EngineError as reason:
            missing[engine] = str(reason)
            done += share * (counts[engine] - len(made))
        else:
            found.append(EngineRuns(engine, made))
    if len(found) < 2:
        reasons = "; ".join(f"{engine}: {reason}" for engine, reason in missing.items())
        raise EngineError(f"nothing to compare: {reasons}")
    rows = [run.summary for each in found if each.engine != "theory" for run in each.runs]
    shown = gate if gate is not None else common_gate(rows)
    if shown is not None and rows:
        for each in found:
            if each.engine != "theory":
                each.runs[0].gates.row(shown)
    return EngineComparison(scenario.title or scenario.name, found, missing, shown, tolerance)


@dataclass(frozen=True)
class _Tick:
    """Says how much of all runs is done while one of them goes on."""

    progress: Callable[[float], None] | None
    before: float
    share: float

    def __call__(self, part: float) -> bool:
        if self.progress is not None:
            self.progress(self.before + self.share * part)
        return True


def _one(
    scenario: Scenario,
    engine: str,
    replication: int,
    seed: int,
    *,
    runs: int,
    record: str | None,
    tick: Callable[[float], bool],
    command: list[str] | None,
) -> Run:
    if engine == "theory":
        from tidegate._run.theory import solve

        return solve(scenario, command)
    return execute(
        scenario,
        seed=seed,
        engine=engine,
        record=record
        if record is not None
        else picture_span(scenario, length(scenario, seed, replication, engine), SAMPLES_BESIDE, runs),
        replication=replication,
        tick=tick,
        command=command,
        quiet=True,
    )
