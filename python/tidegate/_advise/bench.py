"""Where advice gets its numbers: simulations of one scenario under changes, with the same random numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tidegate._ask.changes import Sets
from tidegate._ask.scenario import Scenario
from tidegate._ask.seed import choose
from tidegate._ask.source import Source, as_scenario
from tidegate._jobs.store import Store, opened
from tidegate._jobs.workers import Local
from tidegate._study.points import PERTURBED, Prepared, Readier, runs_beside
from tidegate._study.start import execute_study
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from tidegate._study.value import Study
    from tidegate.theory import Fit

METHODS = ("auto", "theory", "sim")
#: What is said of numbers from a bench that :attr:`Bench.is_certain`.
CERTAIN = "All replications are equal because nothing in the scenario is random, so there is no interval."


@dataclass
class Bench:
    """A scenario to be tried under changes, and how: replications, seed, threads, store, progress.

    A change is a list of ``key=value``. Every change meets the same random networks (common random
    numbers), and what was simulated before comes from the store.
    """

    scenario: Scenario
    asked_runs: int | None
    asked_seed: int | None
    workers: int | None
    store: Store
    progress: Callable[[float], None] | None
    #: Replications 1 to so many have small changes, number 0 is as written; 0: none has.
    perturb: int = 0
    #: The command that asks.
    asked_by: str = "size"

    @property
    def is_certain(self) -> bool:
        """Whether every replication is the same run: nothing is random, and none has small changes."""
        return not self.scenario.draws and not self.perturb

    @cached_property
    def seed(self) -> int:
        """The seed: as asked, else the scenario's, else invented when it is first needed."""
        return choose(self.asked_seed, self.scenario.seed)

    def replications(self, least: int = 1, *, default: int = 1) -> int:
        """Return how many replications there shall be: as asked, else the scenario's, at least ``default``.

        Raises:
            ArgumentError: fewer than ``least`` were asked for.
        """
        if self.perturb:
            return self.perturb + 1
        if self.asked_runs is None:
            return max(default, self.scenario.runs)
        if self.asked_runs < least:
            why = ", which an interval needs" if least > 1 else ""
            raise ArgumentError(f"runs: read {self.asked_runs}; write {least} or more{why}")
        return self.asked_runs

    def study(
        self,
        settings: Sequence[Sequence[str]],
        runs: int,
        *,
        gate: str | None = None,
        seed: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Study:
        """Return a study with a point for each of some changes.

        ``seed`` takes the place of the search's own, for networks that the search has not seen.
        """
        ready = Readier(self.scenario)
        changed = [PERTURBED] if self.perturb else []
        prepared = Prepared(
            title=self.scenario.title or self.scenario.name,
            file=self.scenario.name,
            seed=self.seed if seed is None else seed,
            runs=runs,
            axes=["setting"],
            points=[ready.point({"setting": "; ".join(each)}, [*each, *changed]) for each in settings],
            until=None,
            asked_by=self.asked_by,
        )
        return execute_study(
            prepared,
            workers=Local(self.workers),
            store=self.store,
            gate=gate,
            progress=progress or self.progress,
        )

    def theory(
        self, changes: Sequence[str], serves: Callable[[Fit], bool], otherwise: str
    ) -> tuple[Fit | None, str]:
        """Return the first theory that fits the changed scenario and serves the question; else why none does.

        ``otherwise`` is said of a theory that fits but does not serve.
        """
        from tidegate.theory import Fit, match

        answers = match(self.scenario.point(changes))
        for each in answers:
            if isinstance(each, Fit) and serves(each):
                return each, ""
        return None, "; ".join(f"{each.theory}: {getattr(each, 'reason', otherwise)}" for each in answers)


@contextmanager
def bench_for(
    source: Source,
    changes: Sets,
    *,
    runs: int | None,
    seed: int | None,
    workers: int | None,
    store: str | os.PathLike[str] | bool,
    progress: Callable[[float], None] | None = None,
    perturb: int | None = None,
    asked_by: str = "size",
) -> Iterator[Bench]:
    """Open the store and give a bench on a scenario.

    ``asked_by``: the command whose question it is.

    Raises:
        ArgumentError: ``perturb`` is no number of runs, or ``runs`` is given beside it.
        ScenarioError, TraceError, OSError: the scenario is wrong.
        StoreError: the store is damaged or cannot be written.
    """
    scenario = as_scenario(source, changes, seed=seed, runs=runs)
    with opened(store) as kept:
        yield Bench(scenario, runs, seed, workers, kept, progress, runs_beside(runs, perturb), asked_by)


def check_method(method: str) -> None:
    """Refuse a way to answer that there is not.

    Raises:
        ArgumentError: it is none.
    """
    if method not in METHODS:
        raise ArgumentError(f'method: read "{method}"; it is {", ".join(METHODS[:-1])} or {METHODS[-1]}')
