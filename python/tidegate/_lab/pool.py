"""Processes that work for the page, and who waits for them: the newest wish of each page counts."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from tidegate._lab.limits import Limits, RefusedError
from tidegate._lab.work import too_much

#: How long a process may take to stop, seconds.
_GRACE_S = 1.0
_NEWER = "stopped: the page asked for something newer"


@dataclass
class Ticket:
    """One wish, which may be withdrawn."""

    withdrawn: threading.Event = field(default_factory=threading.Event)


class Pool:
    """A few processes; a wish of a page takes the place of the page's one before.

    ``start``: how a process is started; tests have their own.
    """

    def __init__(self, limits: Limits, count: int | None = None) -> None:
        self.limits = limits
        self._free = threading.Condition()
        self._workers = [Worker(limits) for _ in range(count or max(2, min(4, os.cpu_count() or 1)))]
        self._idle = list(self._workers)
        self._newest: dict[tuple[str, str], Ticket] = {}
        self._waiting = 0
        self.done = 0
        self.withdrawn = 0

    def state(self) -> dict[str, int]:
        """Return how many wishes are worked on, wait, were done and were withdrawn."""
        with self._free:
            running = len(self._workers) - len(self._idle)
            return {
                "running": running,
                "waiting": self._waiting,
                "done": self.done,
                "withdrawn": self.withdrawn,
            }

    def do(self, page: str, lane: str, job: dict[str, Any], gone: Callable[[], bool]) -> dict[str, Any]:
        """Have a job done and return the answer; ``gone`` tells whether nobody waits for it any more.

        Raises:
            RefusedError: too many wait, it took too long, or it needed too much memory.
        """
        ticket = Ticket()
        with self._free:
            before = self._newest.get((page, lane))
            if before is not None:
                before.withdrawn.set()
            self._newest[page, lane] = ticket
            if self._waiting >= self.limits.waiting:
                raise RefusedError(503, "too many requests wait; try again in a moment")
            self._free.notify_all()
        worker = self._take(ticket)
        try:
            found = worker.ask(job, ticket, gone)
        finally:
            with self._free:
                self._idle.append(worker)
                if self._newest.get((page, lane)) is ticket:
                    del self._newest[page, lane]
                self._free.notify_all()
        with self._free:
            self.done += found.get("status") != 409
            self.withdrawn += found.get("status") == 409
        return found

    def _take(self, ticket: Ticket) -> Worker:
        with self._free:
            self._waiting += 1
            try:
                while not self._idle and not ticket.withdrawn.is_set():
                    self._free.wait()
                if ticket.withdrawn.is_set():
                    self.withdrawn += 1
                    raise RefusedError(409, _NEWER)
                return self._idle.pop()
            finally:
                self._waiting -= 1

    def close(self) -> None:
        """End every process."""
        for worker in self._workers:
            worker.end()


class Worker:
    """One process, started again when it dies or does not stop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._number = 0
        self._start()

    def _start(self) -> None:
        # One thread for tables: they are small, and handing them over takes longer than the work.
        environment = {**os.environ, "POLARS_MAX_THREADS": "1", "MPLBACKEND": "Agg"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tidegate._lab.worker", json.dumps(asdict(self._limits))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=_read, args=(self._process, self._answers), daemon=True).start()

    def ask(self, job: dict[str, Any], ticket: Ticket, gone: Callable[[], bool]) -> dict[str, Any]:
        """Send a job and wait for its answer, or until it is withdrawn or late."""
        self._number += 1
        end = time.monotonic() + self._limits.wall_s
        late = False
        try:
            self._tell({**job, "number": self._number})
            while True:
                found = self._answer(0.05)
                if found is not None:
                    return found
                late = time.monotonic() > end
                if late or ticket.withdrawn.is_set() or gone():
                    break
            return self._stop(late)
        except _DiedError as died:
            self.end()
            self._start()
            if late or ticket.withdrawn.is_set():
                raise RefusedError(*self._why(late)) from None
            raise RefusedError(413, too_much(self._limits)) from died

    def _stop(self, late: bool) -> dict[str, Any]:
        """Stop the job: in a moment by asking, else by ending the process."""
        self._tell({"stop": self._number})
        end = time.monotonic() + _GRACE_S
        while time.monotonic() < end:
            if self._answer(0.05) is not None:
                raise RefusedError(*self._why(late))
        self.end()
        raise _DiedError

    def _why(self, late: bool) -> tuple[int, str]:
        if late:
            return 413, (
                f"the run took longer than {self._limits.wall_s:g} s and was stopped; make it shorter, "
                "or use tidegate run"
            )
        return 409, _NEWER

    def _tell(self, what: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(what).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise _DiedError from None

    def _answer(self, patience_s: float) -> dict[str, Any] | None:
        """Return the answer to the newest job, or None while there is none."""
        with contextlib.suppress(queue.Empty):
            found = self._answers.get(timeout=patience_s)
            if found is None:
                raise _DiedError
            if found.get("number") == self._number:
                return found
        return None

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


class _DiedError(Exception):
    pass


def _read(process: subprocess.Popen[bytes], answers: queue.SimpleQueue[dict[str, Any] | None]) -> None:
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        for line in process.stdout:
            answers.put(json.loads(line))
    answers.put(None)
