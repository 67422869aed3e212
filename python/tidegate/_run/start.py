"""One run: starting it, and making its value of what the engine gave."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._ask import compiled
from tidegate._ask.changes import Sets
from tidegate._ask.scenario import Scenario
from tidegate._ask.seed import choose
from tidegate._ask.source import Source, as_scenario, check_engine, check_useful
from tidegate._ask.swept import sweep_warnings
from tidegate._base.files import file_beside
from tidegate._base.lazy import Lazy
from tidegate._base.written import check_target
from tidegate._run.columns import frame
from tidegate._run.folder import receiver_pcap, staged
from tidegate._run.manifest import manifest_of
from tidegate._run.perturbed import check_perturb, repeat
from tidegate._run.tcp_words import tcp_words
from tidegate._run.value import Run

if TYPE_CHECKING:
    import polars as pl

    from tidegate._run.arrays import Arrays
else:
    pl = Lazy("polars")

#: Samples that a picture needs over the whole run.
_SAMPLES = 2000
#: Samples of each of several runs beside each other: enough for a small picture.
SAMPLES_BESIDE = 1000
#: Rows that are recorded without being asked for: a run with many flows has fewer samples. They take 0.8 GB.
_MOST_ROWS = 4_000_000
#: The fewest samples that still make a picture.
_FEWEST_SAMPLES = 20

#: The kernel's state is read every millisecond at most.
_LIVE_SAMPLES_PER_S = 1000.0
#: How long a live run is thought to be that ends when all is done; its picture's samples follow from it.
_LIVE_GUESS_S = 20.0


def run(
    source: Source,
    *,
    seed: int | None = None,
    engine: str = "sim",
    record: str | None = None,
    changes: Sets = None,
    replication: int = 0,
    pcap: str | os.PathLike[str] | None = None,
    qlog: str | os.PathLike[str] | None = None,
    exact: bool = False,
    threads: int | None = None,
    perturb: int | None = None,
) -> Run:
    """Run a scenario and return its summary, columns and picture as one value.

    Args:
        source: a scenario file, a dict of its keys, or a loaded :class:`Scenario`.
        seed: every random stream derives from it. Left out: the file's; where the file
            has none, one is chosen, printed and stored.
        engine: ``"sim"``; ``"live"``, the Linux kernel's TCP in real time; or ``"theory"``, closed
            forms, where one applies (then the options below say nothing).
        record: ``"summary"``, ``"events"`` or a span such as ``"10 ms"``. Left out: what
            the file's ``[record]`` says, else samples fine enough for a picture.
        changes: made before the checks, as a dict or as ``["key=value"]``.
        replication: which of the scenario's ``runs`` this is, from 0.
        pcap: a file to write every packet to, as the senders see it; what the receivers see stands
            beside it as NAME-receiver.pcap.
        qlog: a new folder for the logs of QUIC, in which each end of a flow with ``transport = "quic"`` has a
            file (qlog, JSON-SEQ). Only for engine sim.
        exact: take no fast path: every arrival and departure is an event, every ACK takes the general
            steps; slower, equal results.
        threads: how many are used at most; left out, one for each processor. Only a run of 4096 flows or
            more uses more than one, and its results do not depend on it.
        perturb: how many runs with small changes that nobody can know to make beside it: starts within one
            round trip, delays ±1%, 100 µs of jitter, drawn from the seed. The run itself is as written;
            ``summary["perturbed"]`` has ``runs``, ``changes`` and, of each headline number by its name,
            ``as_written`` and the ``least``, ``median``, ``greatest`` and all ``values`` of the runs with
            changes. Only for engine sim.

    Raises:
        ScenarioError, TraceError: the input is wrong; the message says where.
        EngineError: the engine cannot run here, or not this scenario; the message says why.
        RunError: the run stopped before its end.
        KeyboardInterrupt: as usual; the run stops within a moment.
    """
    check_engine(engine, ("sim", "live", "theory"))
    check_perturb(perturb, engine)
    if engine == "theory":
        from tidegate._run.theory import solve

        given = {"seed": seed, "replication": replication, "record": record, "pcap": pcap, "qlog": qlog}
        check_useful(engine, {**given, "exact": exact, "threads": threads})

        return solve(as_scenario(source, changes, seed=seed))
    return execute(
        as_scenario(source, changes, seed=seed),
        seed=seed,
        engine=engine,
        record=record,
        replication=replication,
        pcap=pcap,
        qlog=qlog,
        exact=exact,
        threads=threads,
        perturb=perturb,
    )


def execute(
    scenario: Scenario,
    *,
    seed: int | None = None,
    engine: str = "sim",
    record: str | None = None,
    replication: int = 0,
    pcap: str | os.PathLike[str] | None = None,
    qlog: str | os.PathLike[str] | None = None,
    exact: bool = False,
    threads: int | None = None,
    tick: Callable[[float], bool] | None = None,
    heard: Callable[[float, dict[str, dict[str, tuple[str, bytes]]]], None] | None = None,
    command: list[str] | None = None,
    quiet: bool = False,
    perturb: int | None = None,
) -> Run:
    """:func:`run` for a checked scenario.

    ``tick`` is called every moment with the share of the run that is done; False stops it.
    ``heard`` is called during a live run with that share and the rows that came (:func:`compiled.run_live`).
    ``quiet``: this is one of many replications, so nobody needs to hear that there are more.
    """
    chosen = choose(seed, scenario.seed)
    check_engine(engine, ("sim", "live"))
    changed = check_perturb(perturb, engine)
    check_useful(engine, {"exact": exact, "threads": threads, "qlog": qlog})
    check_target(pcap)
    with contextlib.ExitStack() as stack:
        ends = None
        if pcap is not None:
            both = (Path(pcap), receiver_pcap(Path(pcap)))
            sender, receiver = (os.fspath(stack.enter_context(file_beside(each))) for each in both)
            ends = (sender, receiver)
        logs = None if qlog is None else os.fspath(stack.enter_context(staged(Path(qlog))))
        if engine == "live":
            _core.live_enter()
        if record is None:
            most_per_s = _LIVE_SAMPLES_PER_S if engine == "live" else math.inf
            long = length(scenario, chosen, replication, engine, threads)
            record = _default_record(scenario, long, most_per_s)
        if engine == "live":
            data = compiled.run_live(
                scenario,
                seed=chosen,
                replication=replication,
                record=record,
                pcap=ends,
                tick=tick,
                heard=heard,
            )
        else:
            data = compiled.simulate(
                scenario,
                seed=chosen,
                replication=replication,
                record=record,
                pcap=ends,
                qlog=logs,
                exact=exact,
                threads=threads,
                tick=tick,
            )
    result = assemble(scenario, data, seed=chosen, replication=replication, command=command, quiet=quiet)
    result.pcap = None if pcap is None else Path(pcap)
    result.qlog = None if qlog is None else Path(qlog)
    if changed:
        result.summary["perturbed"] = repeat(
            scenario,
            result.summary,
            changed,
            seed=chosen,
            replication=replication,
            threads=threads,
            tick=tick,
        )
    return result


def assemble(
    scenario: Scenario,
    data: _core.RunData,
    *,
    seed: int,
    replication: int,
    pcap: str | os.PathLike[str] | None = None,
    qlog: str | os.PathLike[str] | None = None,
    command: list[str] | None = None,
    quiet: bool = False,
) -> Run:
    """Make the value that stands for a run out of what the engine gave."""
    summary: dict[str, Any] = json.loads(data.summary_json)
    warnings = list(scenario.warnings)
    warnings += [w for w in (*summary["warnings"], *data.warnings) if w not in warnings]
    if scenario.runs > 1 and not quiet:
        warnings.append(
            f"the scenario asks for {scenario.runs} runs; this is replication {replication} "
            "(tidegate study runs them all)"
        )
    warnings += sweep_warnings(scenario)
    summary["warnings"] = warnings
    manifest = manifest_of(scenario, seed, replication, warnings, command, engine=summary["engine"])
    manifest["tcp"] = tcp_words(summary["flows"])
    if data.live_json is not None:
        manifest["live"] = json.loads(data.live_json)
    # How the run was worked through, not what came out: it differs with exact.
    manifest["events"] = summary.pop("events", None)
    manifest["paths"] = data.paths
    groups = data.groups
    if groups:
        manifest["groups"] = groups
    names = {
        "flow": [row["name"] for row in summary["flows"]],
        "gate": [row["name"] for row in summary["gates"]],
        "traffic": [row["name"] for row in summary["traffic"]],
        # Each name once, in the order of the gates, as the engine numbers them.
        "class": list(
            dict.fromkeys(row["name"] for gate in summary["gates"] for row in gate.get("classes", []))
        ),
        "group": list(groups or []),
    }
    raw = data.tables

    def load(table: str) -> pl.DataFrame | None:
        return frame(raw[table], names) if table in raw else None

    def arrays(table: str) -> Arrays | None:
        from tidegate._run.arrays import of_raw

        return of_raw(raw[table], names) if table in raw else None

    return Run(
        summary,
        manifest,
        load,
        arrays=arrays,
        pcap=None if pcap is None else Path(pcap),
        qlog=None if qlog is None else Path(qlog),
    )


def length(
    scenario: Scenario, seed: int, replication: int = 0, engine: str = "sim", threads: int | None = None
) -> float:
    """Return how long a run is, seconds; where it ends when all is done, a run without records tells.

    Of a live run, which cannot be made twice, it is a guess (``_LIVE_GUESS_S``).
    ``threads``: how many that run uses at most.
    """
    if not scenario.until_done:
        return scenario.duration_s
    if engine != "sim":
        return min(scenario.duration_s, _LIVE_GUESS_S)
    data = compiled.simulate(scenario, seed=seed, replication=replication, record="summary", threads=threads)
    return float(json.loads(data.summary_json)["duration_s"])


def _default_record(scenario: Scenario, length_s: float, most_per_s: float = math.inf) -> str | None:
    """None leaves it to the file; where that records nothing, fine enough for a picture."""
    if scenario.records:
        return None
    return picture_span(scenario, length_s, int(min(_SAMPLES, max(1.0, length_s * most_per_s))))


def picture_span(scenario: Scenario, length_s: float, samples: int, runs: int = 1) -> str:
    """Return how often a picture needs a row of a run, which is one of ``runs`` that are kept together.

    ``samples`` are wanted. Where many flows and gates make many rows they are fewer, unless the file says
    what is recorded.
    """
    if not scenario.records:
        # Copies have rows of their own.
        most = _MOST_ROWS // max(1, runs * sum(scenario.counts))
        samples = min(samples, max(_FEWEST_SAMPLES, most))
    return sample_span(length_s, samples)


def sample_span(duration_s: float, samples: int = _SAMPLES) -> str:
    """Return a round span (1, 2 or 5 times a power of ten) that divides a run into samples."""
    exact = max(duration_s / samples * 1e6, 1.0)
    power = 10 ** math.floor(math.log10(exact))
    step = next(power * f for f in (1, 2, 5, 10) if power * f >= exact * 0.999)
    return f"{round(step)} us"
