"""Those who do the runs of a study: the protocol, threads of this process, any executor with futures."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import time
from concurrent.futures import BrokenExecutor
from typing import TYPE_CHECKING, Any, Protocol

from tidegate import _core
from tidegate._ask import compiled
from tidegate._jobs.batches import AHEAD, Batch, Done, Sealer, Size, do_batch
from tidegate._jobs.job import engine_identity, name_of
from tidegate.errors import ArgumentError, ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tidegate._jobs.job import Job, Measure, Outcome


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


#: How often jobs are asked whether they are done, where they do not say it.
_LOOK_S = 0.05
#: What pickle raises for what it cannot write.
_UNPICKLED = (pickle.PicklingError, AttributeError, TypeError)


class Futures:
    """Any executor whose ``submit`` returns what has ``done`` and ``result``: processes, submitit."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._sealer, self._size = Sealer(), Size()
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._waiting: set[Any] = set()
        #: Those that do not call back.
        self._silent: set[Any] = set()
        #: An error that is to be raised next; and whether one was raised.
        self._failed: BaseException | None = None
        self._ended = False
        #: The build that workers are asked for, and what they measure.
        self._build = engine_identity()
        self._measure: Measure | None = None

    def hands(self) -> int:
        """Return how many batches are done at a time."""
        return int(getattr(self._executor, "_max_workers", None) or os.cpu_count() or 1)

    def wanted(self, left: int) -> int:
        """Return the size of the next batch; 0 while all hands have enough."""
        hands = self.hands()
        return self._size.of(left, hands) if len(self._waiting) < AHEAD * hands else 0

    def submit(self, jobs: Sequence[Job]) -> None:
        """Take a batch.

        Raises:
            ArgumentError: it cannot travel.
            ClusterError: the executor does not take it.
        """
        batch = self._sealer.batch(jobs)
        self._build, self._measure = batch.build, batch.measure
        with self._in_words("takes no more work"):
            future = self.send(batch)
        self._waiting.add(future)
        if callable(getattr(future, "add_done_callback", None)):
            future.add_done_callback(self._done.put)
        else:
            self._silent.add(future)

    def send(self, batch: Batch) -> Any:
        """Give a batch away; return what its result comes through."""
        return self._executor.submit(do_batch, batch)

    def receive(self, future: Any) -> Done:
        """Return what came back."""
        done: Done = future.result()
        return done

    def collect(self, patience_s: float) -> list[Outcome]:
        """Return the outcomes of a batch; none after ``patience_s`` without one.

        Raises:
            ArgumentError: a worker has another build of Tidegate, or what is measured cannot travel.
            ClusterError: the executor gave no outcome.
        """
        failed, self._failed = self._failed, None
        if failed is not None:
            self._ended = True
            raise failed
        while (future := self._next(patience_s)) is not None:
            self._waiting.discard(future)
            try:
                return self._taken(future)
            except Exception:
                # The first error ends the study; others after it are passed over, so that results are kept.
                if not self._ended:
                    self._ended = True
                    raise
        return []

    def _taken(self, future: Any) -> list[Outcome]:
        with self._in_words("gave no result"):
            done = self.receive(future)
        self._size.learn(done)
        if done.other is not None:
            raise other_build(*done.other, self._build)
        if done.error is not None and not done.results:
            raise done.error
        # What was done before the error is kept first.
        self._failed = None if self._ended else done.error
        return done.outcomes()

    @contextlib.contextmanager
    def _in_words(self, what: str) -> Iterator[None]:
        """Say what an executor did not do. A run that fails is not that: its error comes back as a result.

        Raises:
            ArgumentError: what is measured cannot travel.
            ClusterError: anything else.
        """
        try:
            yield
        except (ArgumentError, ClusterError):
            raise
        except BrokenExecutor as error:
            raise ClusterError(
                "a worker of the executor died: it was killed, had too little memory, or could not import "
                f"what it needs ({error}); the executor takes no more work, so make another one"
            ) from error
        except Exception as error:
            if isinstance(error, _UNPICKLED) and self._measure is not None and not _travels(self._measure):
                raise ArgumentError(
                    f"measure: {name_of(self._measure)} cannot be sent to another process ({error}); define "
                    "it with def at the top of a module that the workers can import"
                ) from error
            words = ": ".join(part for part in (type(error).__name__, str(error)) if part)
            raise ClusterError(f"the executor {what} ({words})") from error

    def _next(self, patience_s: float) -> Any:
        end = time.monotonic() + patience_s
        while True:
            for future in self._silent:
                if future.done():
                    self._silent.discard(future)
                    return future
            left = end - time.monotonic()
            wait = min(left, _LOOK_S) if self._silent else left
            try:
                return self._done.get(timeout=wait) if wait > 0 else self._done.get_nowait()
            except queue.Empty:
                if left <= 0:
                    return None

    def running(self) -> float:
        """Return 0: futures do not say how far they are."""
        return 0.0

    def close(self) -> None:
        """Cancel what waits and can be cancelled; the executor itself belongs to whoever made it."""
        for future in self._waiting:
            # Whatever ended the study is not to be hidden by what goes wrong here.
            with contextlib.suppress(Exception):
                future.cancel()


def _travels(measure: Measure) -> bool:
    try:
        pickle.dumps(measure)
    except _UNPICKLED:
        return False
    return True


def other_build(worker: str, build: str, wanted: str) -> ArgumentError:
    """Return the error that a worker has another build of Tidegate."""
    return ArgumentError(
        f"worker {worker}: it has another build of Tidegate ({shown(build)}) than this process "
        f"({shown(wanted)}); its results could differ. Install the same wheel on both"
    )


def shown(build: str) -> str:
    """Return version and the beginning of the digest of a build."""
    version, *digests = build.split(" ")
    return ", ".join([version, *(digest[:12] for digest in digests)])
