"""Capacities of a pool under trial: what simulations and theories say of each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tidegate._advise.pool_goal import UNDECIDED, Goal, value_in, verdict_of
from tidegate._advise.pool_result import PoolSizing, Trial, estimate_words, rate
from tidegate._ask.swept import sweep_warnings
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidegate._advise.bench import Bench
    from tidegate._ask.plan_objects import Calls, Plan, Reservation
    from tidegate._study.value import Study
    from tidegate.theory import Fit

#: Where the search for a pool that calls without end share stops, in steps.
_LAST = 2**20
#: While a capacity is undecided the replications are doubled, up to so many times the first.
_MOST_RUNS = 16


class Steps:
    """The capacities that are worth trying: multiples of what all demands have in common."""

    def __init__(self, plan: Plan, pool: int, name: str) -> None:
        def of(rows: Sequence[Reservation | Calls]) -> list[int]:
            return [each["bps"] for row in rows for each in row["demands"] if each["pool"] == pool]

        circuits, calls = of(plan["reservations"]), of(plan["calls"])
        demands = circuits + calls
        if not demands:
            raise ArgumentError(
                f"pool {name}: no circuit (rate.reserve) and no call ([calls.x]) takes capacity from it; "
                "pools of DTM channels cannot be sized"
            )
        self.step = math.gcd(*demands)
        #: In steps: what the largest call needs, and what is enough for all circuits at once.
        self.first = max(demands) // self.step
        self.last = None if calls else sum(circuits) // self.step
        alike = len({*demands}) == 1
        self.words = (
            f"Steps of {rate(self.step)}: "
            + ("one call each" if alike else "the rates of all calls are multiples of it")
            + (f"; {rate(sum(circuits))} are enough for all circuits at once." if self.last else ".")
        )

    def capacity(self, steps: int) -> int:
        """Return a capacity in bit/s."""
        return steps * self.step


def least(met: Callable[[int], bool], trials: PoolTrials, steps: Steps) -> int:
    """Return the least number of steps for which ``met`` is true; more is taken to be never worse.

    Raises:
        ArgumentError: there is none.
    """
    low, high = steps.first, steps.last
    if met(low):
        return low
    if high is None:
        high = 2 * low
        while not met(high):
            low, high = high, 2 * high
            if high > _LAST * steps.first:
                raise trials.hopeless(steps.capacity(low), "the largest capacity tried")
    elif high == low or not met(high):
        raise trials.hopeless(
            steps.capacity(high), "with which all circuits fit at once: something else is the limit"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if met(middle) else (middle, high)
    return high


class PoolTrials:
    """Runs of one scenario with a pool of different capacities."""

    def __init__(self, bench: Bench, pool: str, goal: Goal, runs: int) -> None:
        self.bench, self.pool, self.goal, self.runs = bench, pool, goal, runs
        self.tried: dict[int, Trial] = {}
        self._fits: dict[int, Fit | None] = {}
        #: Why no theory applies, as it was told last.
        self.misses = ""
        #: What the theory takes for granted that the scenario does not keep to the letter.
        self.unmet: list[str] = []

    def verdict(self, capacity_bps: int) -> str:
        """Tell whether a capacity meets the goal."""
        if capacity_bps not in self.tried:
            runs = self.runs
            trial = self._trial(capacity_bps, runs)
            # One replication was asked for: it has no interval, and decides. What none has, more hardly have.
            while trial.verdict == UNDECIDED and trial.measured and 1 < runs < _MOST_RUNS * self.runs:
                runs = min(2 * runs, _MOST_RUNS * self.runs)
                trial = self._trial(capacity_bps, runs)
            self.tried[capacity_bps] = trial
        return self.tried[capacity_bps].verdict

    def _changes(self, capacity_bps: int) -> list[str]:
        return [f'pool.{self.pool}.capacity="{capacity_bps} bit/s"']

    def _trial(self, capacity_bps: int, runs: int) -> Trial:
        study = self.bench.study([self._changes(capacity_bps)], runs)
        each = tuple(study.estimate(part.metric) for part in self.goal.parts)
        verdicts = [
            part.verdict(found, _total(study, part.offered))
            for part, found in zip(self.goal.parts, each, strict=True)
        ]
        return Trial(capacity_bps, each, verdict_of(verdicts), runs)

    # --- theory -----------------------------------------------------------------------------------

    def theory(self, capacity_bps: int) -> tuple[float, ...] | None:
        """Return what a theory says of each part of the goal; None where none applies."""
        if capacity_bps not in self._fits:
            fit, misses = self.bench.theory(
                self._changes(capacity_bps),
                lambda each: self._values(each) is not None,
                "it says nothing of this goal",
            )
            self._fits[capacity_bps] = fit
            self.misses = misses or self.misses
        fit = self._fits[capacity_bps]
        return None if fit is None else self._values(fit)

    def _values(self, fit: Fit) -> tuple[float, ...] | None:
        rows = {"pools": fit.pools, "calls": fit.calls}
        found = [value_in(rows, part) for part in self.goal.parts]
        return None if None in found else tuple(value for value in found if value is not None)

    def theory_answer(self, steps: Steps, near: int | None = None) -> tuple[int | None, str | None]:
        """Return the least number of steps by theory, and the theory's name; None where none applies.

        ``near`` is where the simulations ended: if no theory applies there, none is looked for.
        """
        if near is not None and self.theory(steps.capacity(near)) is None:
            return None, None

        def met(number: int) -> bool:
            values = self.theory(steps.capacity(number))
            return values is not None and self.goal.holds(values)

        try:
            answer = least(met, self, steps)
        except ArgumentError:
            return None, None
        fit = self._fits[steps.capacity(answer)]
        if fit is None:
            return None, None
        self.unmet = [f"Theory {fit.theory}: {text}." for text in fit.unmet]
        return answer, fit.theory

    # --- what is told -----------------------------------------------------------------------------

    def sizing(
        self,
        answer: int,
        steps: Steps,
        *,
        theory: str | None,
        theory_answer: int | None,
        simulated: int | None = None,
        undecided: tuple[int, ...] = (),
        notes: list[str],
    ) -> PoolSizing:
        """Return the answer with all that was tried."""
        tried = [
            Trial(each.capacity_bps, each.each, each.verdict, each.runs, self._beside(each, theory))
            for each in sorted(self.tried.values(), key=lambda trial: trial.capacity_bps)
        ]
        of = {trial.capacity_bps: trial for trial in tried}
        best = of.get(steps.capacity(answer))
        by_theory = theory_answer == answer and (simulated is None or not self.unmet)
        return PoolSizing(
            pool=self.pool,
            goal=self.goal.text,
            capacity_bps=steps.capacity(answer),
            method="theory" if by_theory else "sim",
            found=None if best is None else best.found,
            unit=self.goal.parts[0].unit,
            less=of.get(steps.capacity(answer - 1)) if answer > steps.first else None,
            tried=tuple(tried),
            undecided=undecided,
            simulated_bps=None if simulated is None else steps.capacity(simulated),
            theory=theory,
            theory_bps=None if theory_answer is None else steps.capacity(theory_answer),
            seed=self.bench.seed,
            runs=self.runs,
            parts=self.goal,
            theory_values=None if theory is None else self.theory(steps.capacity(answer)),
            notes=(*sweep_warnings(self.bench.scenario), *notes),
        )

    def _beside(self, trial: Trial, theory: str | None) -> tuple[float, ...] | None:
        return None if theory is None else self.theory(trial.capacity_bps)

    def hopeless(self, capacity_bps: int, why: str) -> ArgumentError:
        """Return what to say when no capacity meets the goal."""
        trial = self.tried.get(capacity_bps)
        if trial is None:
            return ArgumentError(f'no capacity of pool {self.pool} meets "{self.goal.text}"')
        pairs = zip(self.goal.parts, trial.each, strict=True)
        names = ", ".join(part.text.split("<")[0].strip() for part in self.goal.parts)
        found = ", ".join(estimate_words(each, part.unit) for part, each in pairs)
        if trial.verdict == UNDECIDED:
            remedy = "more runs or a longer duration narrow the interval"
            if not trial.measured:
                remedy = "a longer duration or a shorter warmup measures more"
            return ArgumentError(
                f'it is undecided whether any capacity of pool {self.pool} meets "{self.goal.text}": '
                f"{names} is {found} with {rate(capacity_bps)}, {why}; {remedy}"
            )
        return ArgumentError(
            f'no capacity of pool {self.pool} meets "{self.goal.text}": {names} is {found} even with '
            f"{rate(capacity_bps)}, {why}"
        )


def _total(study: Study, metric: str | None) -> float | None:
    return None if metric is None else sum(value or 0.0 for value in study.values(metric))
