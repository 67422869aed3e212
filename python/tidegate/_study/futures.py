"""Workers behind an executor with the interface of ``concurrent.futures``."""

from __future__ import annotations

import contextlib
import os
import queue
import time
from typing import TYPE_CHECKING, Any

from tidegate._base.errors import ArgumentError
from tidegate._study.batches import AHEAD, Batch, Done, Sealer, Size, do_batch
from tidegate._study.jobs import engine_identity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._study.jobs import Job, Outcome

#: How often jobs are asked whether they are done, where they do not say it.
_LOOK_S = 0.05


class Futures:
    """Any executor whose ``submit`` returns what has ``done`` and ``result``: processes, submitit."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._sealer, self._size = Sealer(), Size()
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._waiting: set[Any] = set()
        #: Those that do not call back.
        self._silent: set[Any] = set()
        self._failed: BaseException | None = None
        #: The build that workers are asked for.
        self._build = engine_identity()

    def hands(self) -> int:
        """Return how many batches are done at a time."""
        return int(getattr(self._executor, "_max_workers", None) or os.cpu_count() or 1)

    def wanted(self, left: int) -> int:
        """Return the size of the next batch; 0 while all hands have enough."""
        hands = self.hands()
        return self._size.of(left, hands) if len(self._waiting) < AHEAD * hands else 0

    def submit(self, jobs: Sequence[Job]) -> None:
        """Take a batch."""
        batch = self._sealer.batch(jobs)
        self._build = batch.build
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
            ArgumentError: a worker has another build of Tidegate.
        """
        if self._failed is not None:
            failed, self._failed = self._failed, None
            raise failed
        future = self._next(patience_s)
        if future is None:
            return []
        self._waiting.discard(future)
        done = self.receive(future)
        self._size.learn(done)
        if done.other is not None:
            raise other_build(*done.other, self._build)
        if done.error is not None and not done.results:
            raise done.error
        # What was done before the error is kept first.
        self._failed = done.error
        return done.outcomes()

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
