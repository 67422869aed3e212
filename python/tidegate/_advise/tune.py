"""Advice on a gate that follows a rate: M and N of EFFCAP, its share, the flows' window, or a constant rate.

Every setting is simulated on the same networks (common random numbers), so the objective is a
function without noise of its own, piecewise constant and with local optima: differential evolution
(scipy) searches it without derivatives, a whole generation in one study. The best of many noisy
numbers is too good: what is told of a setting is simulated again on networks that the search has not
seen, and there the simplest setting that is not significantly worse than another is chosen.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from tidegate._advise.bench import CERTAIN, Bench, bench_for
from tidegate._advise.tune_goal import Goal
from tidegate._advise.tune_result import MISSED, Setting, Tuning
from tidegate._advise.tune_search import (
    INSTCAP,
    RULE,
    best_of_all,
    best_pair,
    best_rate,
    best_share,
    best_window,
    rules,
)
from tidegate._advise.tune_trials import LEAST_RUNS, Knobs, TuneTrials
from tidegate._ask.changes import Sets
from tidegate._ask.seed import other_seed
from tidegate._ask.source import Source
from tidegate._ask.swept import sweep_warnings
from tidegate._base.estimate import estimate, paired
from tidegate._run.words import possible


def tune(
    source: Source,
    gate: str | None = None,
    *,
    goal: str = "throughput",
    changes: Sets = None,
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    store: str | os.PathLike[str] | bool = True,
    perturb: int | None = None,
) -> Tuning:
    """Find the simplest setting of a gate with ``rate.follow`` that serves its flows best.

    Searched are M and N of EFFCAP, the share of the estimate that is taken, the window of the flows,
    all four together, and a constant rate. Beside the best of each stand INSTCAP, the scenario as it
    is, and the rule of thumb (M: Δ and N: 8Δ to 12Δ), each with its gain over the rule's N: 10Δ and
    the interval of that. ``best`` is the simplest that is not significantly worse than any other.

    Args:
        source: a scenario file, a dict of its keys, or a loaded :class:`Scenario`, with a gate
            that has ``rate.follow``.
        gate: which one; may be left out where there is one.
        goal: ``"throughput"``: the goodput of all flows together; or with a bound on a delay:
            ``"throughput with p99 delay < 200 ms"`` (``mean``, ``p50`` or ``p99``). ``delay`` is that of a
            packet from TCP to the receiver, the sender's own queue included: the round trip less the
            fixed delay of the way back; ``rtt`` the round trip; each of the worst flow through the
            gate. ``queue delay`` is the wait at the gate that is followed alone.
        changes: to the scenario.
        runs: replications of each setting told; left out, the scenario's ``runs``, at least 8.
        seed: as :func:`tidegate.run`, of the search; what is told is simulated with the next one.
        workers: threads; left out, one per processor.
        store: as :func:`tidegate.study`.
        perturb: instead of ``runs``: replication 0 is as written, so many more have small changes that
            nobody can know (:func:`tidegate.run`), the same for all settings; a gain is one with changes too.

    Raises:
        ScenarioError, TraceError, OSError: the scenario is wrong.
        UnknownNameError: it has no such gate.
        ArgumentError: the gate follows nothing, or an argument cannot be.
    """
    with bench_for(
        source, changes, runs=runs, seed=seed, workers=workers, store=store, perturb=perturb, asked_by="tune"
    ) as bench:
        return find(bench, gate, goal=goal)


def find(bench: Bench, gate: str | None = None, *, goal: str = "throughput") -> Tuning:
    """Find it; see :func:`tune`."""
    wanted = Goal.parse(goal)
    trials = TuneTrials(bench, gate, wanted, bench.replications(2, default=LEAST_RUNS))
    pair = best_pair(trials)
    mean_bps = trials.link_bps(pair)
    rate = best_rate(trials, mean_bps)
    share, window = best_share(trials), best_window(trials, mean_bps)
    together = best_of_all(trials, mean_bps, [pair, share, window])
    return _compared(trials, _settings(trials, pair, rate, share, window, together))


def _settings(
    trials: TuneTrials, pair: Knobs, rate: Knobs, share: Knobs, window: Knobs, together: Knobs
) -> list[tuple[str, Knobs, int]]:
    """Return the settings worth telling: name, setting, and how much there is to set, the least first."""
    return [
        ("as it is", trials.own, 1),
        ("INSTCAP", INSTCAP, 0),
        *((f"rule, N: {k}Δ", knobs, 2) for k, knobs in rules(trials).items()),
        ("best M and N", pair, 4),
        ("best constant", rate, 3),
        ("best share", share, 3),
        ("best window", window, 3),
        ("best of all four", together, 5),
    ]


def _compared(trials: TuneTrials, settings: list[tuple[str, Knobs, int]]) -> Tuning:
    """Simulate the settings worth telling on fresh networks, and compare them."""
    check_seed = other_seed(trials.bench.seed, 1)
    study = trials.study([knobs for _, knobs, _ in settings], trials.runs, check_seed)
    goodputs = [study.values("goodput_bps", n) for n in range(len(settings))]
    reference = goodputs[2 + RULE.index(10)]
    bound = trials.goal.bound_ms
    rows = []
    for n, (name, knobs, _) in enumerate(settings):
        delay = trials.delay(study, n) if bound is not None else None
        rows.append(
            Setting(
                name=name,
                m=knobs.m,
                n=knobs.n,
                rate_bps=knobs.rate_bps,
                share=trials.share if knobs.share is None else knobs.share,
                window=trials.window if knobs.window is None else knobs.window,
                goodput_bps=estimate(goodputs[n], possible("goodput_bps")),
                rtt_p50_ms=trials.worst_rtt(study, n, "p50"),
                delay_ms=delay,
                bound=trials.goal.verdict(delay),
                gain_bps=paired(goodputs[n], reference),
            )
        )
    best, top = _chosen(rows, goodputs, [simple for _, _, simple in settings])
    return Tuning(
        gate=trials.gate,
        followed=trials.link,
        goal=trials.goal.text,
        seed=trials.bench.seed,
        check_seed=check_seed,
        runs=trials.runs,
        tried=len(trials.seen),
        rows=tuple(rows),
        best=rows[best],
        top=rows[top],
        lead_bps=paired(goodputs[top], goodputs[best]),
        rule=rows[2 + RULE.index(10)],
        notes=tuple(_notes(trials)),
    )


def _chosen(
    rows: Sequence[Setting], goodputs: Sequence[Sequence[float | None]], simple: Sequence[int]
) -> tuple[int, int]:
    """Return the simplest setting that is not significantly worse than the one with the most, and that one.

    Only settings that surely meet the bound are looked at; where there is none, those whose interval holds
    it; and where there is none of these, the one with the least delay is nearest.
    """
    able = [n for n, row in enumerate(rows) if row.meets]
    able = able or [n for n, row in enumerate(rows) if row.bound != MISSED and row.measured]
    if not able:
        nearest = min(range(len(rows)), key=lambda n: _delay(rows[n]))
        return nearest, nearest
    top = max(able, key=lambda n: (rows[n].goodput_bps.mean or 0.0, -simple[n]))
    equal = []
    for n in able:
        behind = paired(goodputs[n], goodputs[top])
        high = behind.mean if behind.high is None else behind.high
        if n == top or (high is not None and high >= 0):
            equal.append(n)
    return min(equal, key=lambda n: (simple[n], -(rows[n].goodput_bps.mean or 0.0))), top


def _delay(row: Setting) -> float:
    found = row.delay_ms.mean if row.delay_ms is not None else None
    return float("inf") if found is None else found


def _notes(trials: TuneTrials) -> list[str]:
    notes = sweep_warnings(trials.bench.scenario)
    if trials.bench.perturb:
        notes.append(
            f"Of the {trials.runs} replications one is as written; {trials.bench.perturb} have small changes "
            "that nobody can know, the same for every setting."
        )
    if trials.bench.is_certain:
        notes.append(
            f"{CERTAIN} --perturb 16 (perturb=16) tells what small changes do that nobody can know; or make "
            "something random, such as the start (flow.NAME.start.uniform)."
        )
    if len(trials.flows) > 1:
        notes.append(f"Goodput is the sum of all flows. The gate is passed by {', '.join(trials.flows)}.")
    return notes
