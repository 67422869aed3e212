"""The inverse question for pools: the smallest capacity with which a goal is met.

Only sums of what calls ask for matter: between two of them no more calls fit. Capacities are
tried in such steps, all with the same random numbers, by halving. Where the interval of a number holds its
bound, more replications are simulated, up to a limit; what then is still undecided is said. A goal
counts requests without a response with their age, so a pool too small cannot hide those that never
finish. Where a theory applies, it answers exactly and the simulations stand beside it.
"""

from __future__ import annotations

from tidegate._advise.bench import CERTAIN, Bench, check_method
from tidegate._advise.pool_goal import MET, NOT_MET, UNDECIDED, read_goal
from tidegate._advise.pool_result import PoolSizing, Trial, rate
from tidegate._advise.pool_trials import PoolTrials, Steps, least
from tidegate._ask.plan import plan_of
from tidegate._base.nearest import nearest
from tidegate.errors import ArgumentError, EngineError, UnknownNameError


def find(bench: Bench, pool: str, goal: str, *, method: str = "auto") -> PoolSizing:
    """Find the smallest capacity of a pool that meets a goal; see :func:`tidegate.size`."""
    check_method(method)
    plan = plan_of(bench.scenario)
    names = [row["name"] for row in plan["pools"]]
    if pool not in names:
        raise UnknownNameError(nearest("pool", pool, names))
    runs = bench.replications()
    index = names.index(pool)
    takers = [row["name"] for row in plan["calls"] if index in [each["pool"] for each in row["demands"]]]
    wanted = read_goal(goal, pool, takers)
    if any(part.metric.startswith("request.") for part in wanted.parts) and not any(
        row["app"] == "requests" for row in plan["flows"]
    ):
        raise ArgumentError(f'goal: read "{goal}"; no flow of this scenario has requests (app.request)')
    steps = Steps(plan, index, pool)
    trials = PoolTrials(bench, pool, wanted, runs)
    if method == "theory":
        return _by_theory(trials, steps)
    return _by_simulation(trials, steps, beside=method == "auto")


def _by_theory(trials: PoolTrials, steps: Steps) -> PoolSizing:
    answer, theory = trials.theory_answer(steps)
    if answer is None or theory is None:
        raise EngineError(f'no theory applies ({trials.misses}); use --method sim (method="sim")')
    return trials.sizing(
        answer, steps, theory=theory, theory_answer=answer, notes=[*trials.unmet, steps.words]
    )


def _by_simulation(trials: PoolTrials, steps: Steps, *, beside: bool) -> PoolSizing:
    simulated = _search(trials, steps)
    theory_answer, theory = trials.theory_answer(steps, near=simulated) if beside else (None, None)
    answer = simulated
    if theory_answer is not None and not trials.unmet:
        answer = theory_answer
    # What the answer is held against: it, and a step less.
    for near in {simulated, answer} - {steps.first - 1}:
        trials.verdict(steps.capacity(near))
        if near > steps.first:
            trials.verdict(steps.capacity(near - 1))
    undecided = _undecided(trials, steps, simulated)
    tried = sorted(trials.tried.values(), key=lambda trial: trial.capacity_bps)
    notes = [steps.words]
    if any(trial.met for trial in tried if trial.capacity_bps < steps.capacity(simulated)):
        notes.append(
            "A smaller capacity in the table meets the goal too, although one between the two does not."
        )
    notes += _warnings(tried, certain=trials.bench.is_certain)
    if theory_answer is not None:
        notes += trials.unmet
        open_to = [steps.capacity(simulated), *undecided]
        if steps.capacity(theory_answer) not in open_to:
            notes.append(
                f"The simulations give {rate(steps.capacity(simulated))}, but theory {theory} gives "
                f"{rate(steps.capacity(theory_answer))}. An interval misses the true value now and then: "
                "simulate longer, or with more runs."
            )
    return trials.sizing(
        answer,
        steps,
        theory=theory,
        theory_answer=theory_answer,
        simulated=simulated,
        undecided=tuple(undecided),
        notes=notes,
    )


def _warnings(tried: list[Trial], *, certain: bool) -> list[str]:
    """Return what makes the answer of the simulations worth less."""
    warnings = []
    if certain:
        warnings.append(CERTAIN)
    elif all(trial.runs == 1 for trial in tried):
        warnings.append(
            "Only one replication was simulated, so there is no interval, and another seed may give another "
            "capacity. Simulate more (--runs 8)."
        )
    undecided = [trial for trial in tried if trial.verdict == UNDECIDED]
    if not all(trial.measured for trial in undecided):
        warnings.append(
            "Undecided: with some capacities nothing was measured that the goal could be judged by. A longer "
            "duration or a shorter warmup measures more."
        )
    if any(trial.measured for trial in undecided):
        most = max(trial.runs for trial in tried)
        warnings.append(
            f"Undecided: after {most} replications the interval still contains the bound. A longer duration "
            "or more runs narrow it."
        )
    return warnings


def _search(trials: PoolTrials, steps: Steps) -> int:
    """Return the least number of steps that surely meets the goal."""
    return least(lambda number: trials.verdict(steps.capacity(number)) == MET, trials, steps)


def _undecided(trials: PoolTrials, steps: Steps, answer: int) -> list[int]:
    """Return the capacities below the answer that are not ruled out, smallest first."""
    tried = [number for number in range(steps.first, answer) if steps.capacity(number) in trials.tried]
    ruled_out = [number for number in tried if trials.verdict(steps.capacity(number)) == NOT_MET]
    low, high = max(ruled_out, default=steps.first - 1), answer
    while high - low > 1:
        middle = (low + high) // 2
        if trials.verdict(steps.capacity(middle)) == NOT_MET:
            low = middle
        else:
            high = middle
    return [steps.capacity(number) for number in range(high, answer)]
