"""Those who do the runs of a study: the protocol, and the threads of this process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from tidegate import _core
from tidegate._ask import compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._study.jobs import Job, Outcome


class Workers(Protocol):
    """Those who do jobs, in any order.

    A study asks how many jobs are wanted, gives them, and collects outcomes until it has all. So whoever
    works decides how many runs go together: one for a thread, many for another machine.
    """

    def wanted(self, left: int) -> int:
        """Return how many jobs to give now, of so many that are left; 0: collect before."""

    def submit(self, jobs: Sequence[Job]) -> None:
        """Take jobs."""

    def collect(self, patience_s: float) -> Sequence[Outcome]:
        """Return finished jobs; none after ``patience_s`` without one."""

    def running(self) -> float:
        """Return how many jobs' worth of work the running ones have done."""

    def close(self) -> None:
        """Stop what runs, forget what waits."""


class Local:
    """Threads of this process; the work is done without the GIL."""

    def __init__(self, workers: int | None) -> None:
        count = workers or os.cpu_count() or 1
        self._pool = _core.Pool(count)
        self._jobs: dict[int, Job] = {}
        #: Enough to keep every thread busy while results are taken in.
        self._most = 8 * count
        self._failed: Exception | None = None

    def wanted(self, left: int) -> int:
        """Return how many jobs to give now."""
        return min(left, self._most - len(self._jobs))

    def submit(self, jobs: Sequence[Job]) -> None:
        """Take jobs."""
        for job in jobs:
            self._jobs[job.number] = job
            compiled.submit(
                self._pool, job.number, job.scenario,
                seed=job.seed, replication=job.replication, record=job.record,
            )  # fmt: skip

    def collect(self, patience_s: float) -> list[Outcome]:
        """Return finished jobs; none after ``patience_s`` without one."""
        if self._failed is not None:
            failed, self._failed = self._failed, None
            raise failed
        found: list[Outcome] = []
        try:
            done = self._pool.collect(patience_s)
            while done is not None:
                found.append(self._jobs.pop(done[0]).outcome(done[1]))
                done = self._pool.collect(0.0) if len(found) < self._most else None
        except Exception as error:
            if not found:
                raise
            # What was done before it is kept first.
            self._failed = error
        return found

    def running(self) -> float:
        """Return how many jobs' worth of work the running ones have done."""
        return self._pool.running()

    def close(self) -> None:
        """Stop what runs, forget what waits."""
        self._pool.stop()
