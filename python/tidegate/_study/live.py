"""Studies with the kernel's TCP: one run at a time, measurements that are not made twice alike."""

from __future__ import annotations

import functools
import platform
import re
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tidegate import _core
from tidegate._jobs.job import Outcome
from tidegate._jobs.store import pack
from tidegate._run.start import execute
from tidegate.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Future

    from tidegate._jobs.job import Job

#: What stands below the table of a live study.
CHANCE = (
    "live: the seed determines the random parts of the scenario (links, sources, starts), so replication i "
    "has the same ones at every point. The remaining randomness comes from the kernel and the machine and is "
    "part of the intervals. A live run cannot be repeated exactly."
)


class OneByOne:
    """Does live runs on a thread of its own, one after the other: they would make each other late.

    Make it before the process has threads: without root it goes into a user namespace.
    """

    def __init__(self) -> None:
        from concurrent.futures import ThreadPoolExecutor

        _core.live_enter()
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._waiting: Future[Outcome] | None = None
        self._stop = threading.Event()
        self._share = 0.0

    def wanted(self, left: int) -> int:
        """Return 1 where nothing runs."""
        return min(left, 1 if self._waiting is None else 0)

    def submit(self, jobs: Sequence[Job]) -> None:
        """Take a job."""
        (job,) = jobs
        self._waiting = self._pool.submit(self._do, job)

    def _do(self, job: Job) -> Outcome:
        def tick(share: float) -> bool:
            self._share = share
            return not self._stop.is_set()

        self._share = 0.0
        try:
            run = execute(
                job.scenario,
                seed=job.seed,
                engine="live",
                record=job.record,
                replication=job.replication,
                tick=tick,
                quiet=True,
            )
        except RunError as error:
            raise RunError(f"replication {job.replication} of {job.scenario.name}: {error}") from None
        return Outcome(job.number, pack(run.summary, job.measured(run), measured_at=now()))

    def collect(self, patience_s: float) -> list[Outcome]:
        """Return the finished job; none after ``patience_s`` without one."""
        from concurrent.futures import wait

        future = self._waiting
        if future is None or not wait([future], timeout=patience_s).done:
            return []
        self._waiting, self._share = None, 0.0
        return [future.result()]

    def running(self) -> float:
        """Return how much of the run is done."""
        return self._share

    def close(self) -> None:
        """Stop the run and leave nothing of it."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


@functools.cache
def identity() -> str:
    """Return what a measurement depends on beside the code: this machine and its kernel."""
    return f"live {platform.node()} {platform.release()} {platform.machine()}"


def now() -> str:
    """Return when something was measured, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def taken_over(measured_at: Sequence[str], all_runs: int) -> list[str]:
    """Say which results were not measured by this study."""
    if not measured_at:
        return []
    first, last = min(measured_at), max(measured_at)
    when = f"at {first}" if first == last else f"from {first} to {last}"
    return [f"{len(measured_at)} of {all_runs} runs were measured before, {when}"]


def alike(warnings: Iterable[str]) -> list[str]:
    """Return one of those warnings that differ in their numbers only, and how many there are."""
    kinds: dict[str, list[str]] = {}
    for text in warnings:
        kinds.setdefault(re.sub(r"\d+(\.\d+)?", "0", text), []).append(text)
    return [
        found[0]
        if len(found) == 1
        else f"{found[0]} ({len(found) - 1} more warnings differ only in their numbers)"
        for found in kinds.values()
    ]
