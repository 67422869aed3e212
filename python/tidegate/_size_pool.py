"""The inverse question for pools: the smallest capacity with which a goal is met.

Only sums of what calls ask for matter: between two of them no more calls fit. Capacities are
tried in such steps, all with the same random numbers, by halving; the answer is the least that
meets the goal, with one step less that does not. A goal counts requests without a response with
their age, so a pool too small cannot hide those that never finish.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate import _core, _jobs, _text
from tidegate._errors import ArgumentError, UnknownNameError, nearest
from tidegate._seed import choose
from tidegate._source import as_scenario
from tidegate._store import opened
from tidegate._study import Prepared, execute_study

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from tidegate._estimate import Estimate
    from tidegate._scenario import Scenario, Sets
    from tidegate._source import Source
    from tidegate._store import Store

_GOAL = re.compile(r"\s*(?:(mean|p50|p95|p99)\s+)?(response|call\s+wait|blocked)\s*(<=|<)\s*(.+?)\s*")
_HELP = (
    'write "p95 response < 2 s" (mean, p50, p95, p99), "mean call wait < 100 ms" (mean, p50, p99) '
    'or "blocked < 1%"'
)
_PICOS = 1e12
#: Where the search for a pool that calls without end share stops, in steps.
_LAST = 2**20


@dataclass(frozen=True)
class Goal:
    """A number of a run and the bound that it has to stay below; ``text`` is as written."""

    text: str
    metric: str
    bound: float
    unit: str
    #: At the bound itself it is met as well.
    reached: bool

    def met(self, found: Estimate) -> bool:
        """Tell whether the whole 95% interval lies below the bound; of one run, its value."""
        top = found.mean if found.high is None else found.high
        return top is not None and (top < self.bound or (self.reached and top == self.bound))


def read_goal(text: str, pool: str) -> Goal:
    """Read a goal.

    Raises:
        ArgumentError: it is none; the message says how one is written.
    """
    parts = _GOAL.fullmatch(text)
    if parts is None:
        raise ArgumentError(f'goal: read "{text}"; {_HELP}')
    of, what, sign, amount = parts.groups()
    reached = sign == "<="
    if what == "blocked":
        if of:
            raise ArgumentError(f'goal: read "{text}"; a share has no {of}; {_HELP}')
        return Goal(text, f"pool.{pool}.calls_blocked", _share(text, amount), "", reached)
    bound = _core.read_span("goal", amount) / _PICOS
    if what == "response":
        return Goal(text, f"request.all.response_{of or 'mean'}_with_unfinished_s", bound, "s", reached)
    if of == "p95":
        raise ArgumentError(f'goal: read "{text}"; of call waits there are mean, p50 and p99')
    return Goal(text, f"pool.{pool}.call_wait_{of or 'mean'}_s", bound, "s", reached)


def _share(text: str, amount: str) -> float:
    number = amount.removesuffix("%").strip()
    try:
        value = float(number) / (100 if amount.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1:
        raise ArgumentError(f'goal: read "{text}"; a share is above 0 and at most 1, or "1%"')
    return value


@dataclass(frozen=True)
class Trial:
    """One capacity that was tried."""

    capacity_bps: int
    found: Estimate
    met: bool


@dataclass(frozen=True)
class PoolSizing:
    """The smallest capacity of a pool with which a goal is met.

    ``found`` is the goal's number with that capacity, ``less`` the trial one step below (None where no
    call fits into less). ``tried`` has every capacity that was tried, in order of size. From simulations of
    ``runs`` replications of ``seed``.
    """

    pool: str
    goal: str
    capacity_bps: int
    found: Estimate
    unit: str
    less: Trial | None
    tried: tuple[Trial, ...]
    seed: int
    runs: int
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate size --json`` prints."""
        return {
            "pool": self.pool,
            "goal": self.goal,
            "capacity_bps": self.capacity_bps,
            "found": self.found.to_dict(),
            "unit": self.unit,
            "tried": [
                {"capacity_bps": each.capacity_bps, "met": each.met, **each.found.to_dict()}
                for each in self.tried
            ],
            "seed": self.seed,
            "runs": self.runs,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def report(self) -> str:
        """Return the same for people."""
        told = "1 replication" if self.runs == 1 else f"{self.runs} replications"
        lines = [
            f"pool {self.pool}: {rate(self.capacity_bps)} for {self.goal}",
            f"  by simulations, {told}, seed {self.seed}",
        ]
        rows = [
            [rate(each.capacity_bps), told_of(each.found, self.unit), "met" if each.met else "not met"]
            for each in self.tried
        ]
        lines += ["", _text.table([["capacity", "found", "goal"]], rows)]
        lines += [_text.wrapped(note) for note in ("", *self.notes) if note or self.notes]
        return _text.plain("\n".join(lines))

    def __repr__(self) -> str:
        return f"<tidegate.PoolSizing {self.pool!r}: {rate(self.capacity_bps)} for {self.goal!r}>"


def rate(bps: int) -> str:
    """Return a whole rate, exactly."""
    for size, unit in ((10**9, "Gbit/s"), (10**6, "Mbit/s"), (10**3, "kbit/s")):
        if bps >= size:
            return f"{bps / size:.9f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{bps} bit/s"


def told_of(found: Estimate, unit: str) -> str:
    """Return the goal's number in words."""
    from tidegate._study_text import plus_minus

    return f"{plus_minus(found)} {unit}".rstrip()


def size_pool(
    source: Source,
    pool: str,
    goal: str,
    *,
    set: Sets = None,  # noqa: A002
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    store: str | os.PathLike[str] | bool = True,
) -> PoolSizing:
    """Return the smallest capacity of a pool with which a goal is met, whatever it has in the scenario.

    A goal is met when the 95% interval of its mean over the replications lies below the bound.

    Args:
        source: a scenario file, a dict of its keys, or a loaded :class:`Scenario`.
        pool: its name in the scenario; circuits or calls take from it.
        goal: such as ``"p95 response < 2 s"`` (mean, p50, p95 or p99, requests without a response
            counted with their age), ``"mean call wait < 100 ms"`` (mean, p50 or p99) or ``"blocked < 1%"``.
        set: changes to the scenario.
        runs: replications; left out, the scenario's ``runs``.
        seed: as :func:`tidegate.run`.
        workers: threads; left out, one per processor.
        store: as :func:`tidegate.study`.

    Raises:
        ScenarioError, TraceError, OSError: the scenario is wrong.
        UnknownNameError: it has no such pool.
        ArgumentError: the goal is none, or does not fit the scenario, or no capacity meets it.
    """
    scenario = as_scenario(source, set)
    with opened(store) as kept:
        return find_pool(scenario, pool, goal, runs=runs, seed=seed, workers=workers, store=kept)


def find_pool(
    scenario: Scenario,
    pool: str,
    goal: str,
    *,
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    store: Store | None = None,
    progress: Callable[[float], None] | None = None,
) -> PoolSizing:
    """Find it; see :func:`size_pool`."""
    plan = json.loads(scenario._inner.plan_json())
    names = [row["name"] for row in plan["pools"]]
    if pool not in names:
        raise UnknownNameError(nearest("pool", pool, names))
    if runs is not None and runs < 1:
        raise ArgumentError(f"runs: read {runs}; 1 or more")
    wanted = read_goal(goal, pool)
    if wanted.metric.startswith("request.") and not any(row["app"] == "requests" for row in plan["flows"]):
        raise ArgumentError(f'goal: read "{goal}"; no flow of this scenario has requests (app.request)')
    steps = _Steps(plan, names.index(pool), pool)
    bench = _Bench(
        scenario, pool, wanted, runs or scenario.runs, choose(seed, scenario.seed), workers, store, progress
    )
    answer = _search(bench, steps)
    tried = tuple(sorted(bench.tried.values(), key=lambda trial: trial.capacity_bps))
    best = bench.tried[steps.capacity(answer)]
    less = bench.tried.get(steps.capacity(answer - 1)) if answer > steps.first else None
    notes = [steps.words]
    if any(trial.met for trial in tried if trial.capacity_bps < best.capacity_bps):
        notes.append("A smaller capacity meets the goal too, and one between does not: look at those tried.")
    return PoolSizing(
        pool=pool,
        goal=goal,
        capacity_bps=best.capacity_bps,
        found=best.found,
        unit=wanted.unit,
        less=less,
        tried=tried,
        seed=bench.seed,
        runs=bench.runs,
        notes=tuple(notes),
    )


class _Steps:
    """The capacities that are worth trying: multiples of what all demands have in common."""

    def __init__(self, plan: dict[str, Any], pool: int, name: str) -> None:
        def of(rows: list[dict[str, Any]]) -> list[int]:
            return [each["bps"] for row in rows for each in row["demands"] if each["pool"] == pool]

        circuits, calls = of(plan["reservations"]), of(plan["calls"])
        demands = circuits + calls
        if not demands:
            raise ArgumentError(
                f"pool {name}: no circuit (rate.reserve) and no call ([calls.x]) takes from it; pools of DTM "
                "channels are not sized"
            )
        self.step = math.gcd(*demands)
        #: In steps: what the largest call needs, and what is enough for all circuits at once.
        self.first = max(demands) // self.step
        self.last = None if calls else sum(circuits) // self.step
        alike = len({*demands}) == 1
        self.words = (
            f"Steps of {rate(self.step)}: "
            + ("one call each" if alike else "what all calls' rates are multiples of")
            + (f"; {rate(sum(circuits))} are enough for all circuits at once." if self.last else ".")
        )

    def capacity(self, steps: int) -> int:
        """Return a capacity in bit/s."""
        return steps * self.step


def _search(bench: _Bench, steps: _Steps) -> int:
    """Return the least number of steps that meets the goal, taking for granted that more is never worse.

    Raises:
        ArgumentError: none does.
    """
    low, high = steps.first, steps.last
    if bench.met(steps.capacity(low)):
        return low
    if high is None:
        high = 2 * low
        while not bench.met(steps.capacity(high)):
            low, high = high, 2 * high
            if high > _LAST * steps.first:
                raise bench.hopeless(steps.capacity(low), "and it is still not met")
    elif high == low or not bench.met(steps.capacity(high)):
        raise bench.hopeless(
            steps.capacity(high), "in which all circuits fit at once: the pool is not what limits"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bench.met(steps.capacity(middle)) else (middle, high)
    return high


class _Bench:
    """Runs of one scenario with a pool of different capacities."""

    def __init__(
        self,
        scenario: Scenario,
        pool: str,
        goal: Goal,
        runs: int,
        seed: int,
        workers: int | None,
        store: Store | None,
        progress: Callable[[float], None] | None,
    ) -> None:
        self.scenario, self.pool, self.goal, self.runs, self.seed = scenario, pool, goal, runs, seed
        self.workers, self.store, self.progress = workers, store, progress
        self.tried: dict[int, Trial] = {}

    def met(self, capacity_bps: int) -> bool:
        """Tell whether a capacity meets the goal."""
        if capacity_bps not in self.tried:
            found = self._estimate(capacity_bps)
            self.tried[capacity_bps] = Trial(capacity_bps, found, self.goal.met(found))
        return self.tried[capacity_bps].met

    def _estimate(self, capacity_bps: int) -> Estimate:
        point = self.scenario.point([f'pool.{self.pool}.capacity="{capacity_bps} bit/s"'])
        prepared = Prepared(
            title=self.scenario.title or self.scenario.name,
            file=self.scenario.name,
            seed=self.seed,
            runs=self.runs,
            axes=[],
            points=[({}, point)],
            until=None,
        )
        study = execute_study(
            prepared,
            workers=_jobs.Local(self.workers),
            store=self.store,
            gate=None,
            progress=self.progress,
        )
        return study.estimate(self.goal.metric)

    def hopeless(self, capacity_bps: int, why: str) -> ArgumentError:
        """Return what to say when no capacity meets the goal."""
        found = told_of(self.tried[capacity_bps].found, self.goal.unit)
        return ArgumentError(
            f'no capacity of pool {self.pool} meets "{self.goal.text}": it is {found} with '
            f"{rate(capacity_bps)}, {why}"
        )
