"""Single runs of a study: what one is, what comes back, and who does them."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import math
import os
import queue
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tidegate import _core
from tidegate._ask import compiled
from tidegate._ask.scenario import Scenario
from tidegate._base.errors import ArgumentError
from tidegate._run.start import assemble, execute
from tidegate._run.value import Run

#: What takes numbers off a run, beside its summary.
Measure = Callable[[Run], Mapping[str, float | int | None]]


@dataclass(frozen=True)
class Job:
    """One run: plain data, which may be pickled to another process or machine."""

    number: int
    scenario: Scenario
    seed: int
    replication: int
    record: str | None
    measure: Measure | None

    def do(self) -> Outcome:
        """Run it here and now."""
        run = execute(
            self.scenario, seed=self.seed, record=self.record, replication=self.replication, quiet=True
        )
        return self.outcome(run)

    def outcome(self, run: Run) -> Outcome:
        """Return what is kept of a finished run."""
        measured: dict[str, float | None] = {}
        if self.measure is not None:
            measured = {str(name): _plain(name, value) for name, value in self.measure(run).items()}
        return Outcome(self.number, run.summary, measured)


@dataclass(frozen=True)
class Outcome:
    """What is kept of a run: its summary, and what was measured on its columns."""

    number: int
    summary: dict[str, Any]
    measured: dict[str, float | None]


def _plain(name: str, value: Any) -> float | None:
    """Return a measured number as it is kept; "not a number" is no value."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"measure: {name} is {value!r}; give a number, or None where there is none"
        ) from None
    return number if math.isfinite(number) else None


class Workers(Protocol):
    """Those who do jobs, in any order."""

    capacity: int

    def submit(self, job: Job) -> None:
        """Take a job."""

    def collect(self, patience_s: float) -> Outcome | None:
        """Return the next finished job; None after ``patience_s`` without one."""

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
        self.capacity = 4 * count

    def submit(self, job: Job) -> None:
        """Take a job."""
        self._jobs[job.number] = job
        compiled.submit(
            self._pool, job.number, job.scenario,
            seed=job.seed, replication=job.replication, record=job.record,
        )  # fmt: skip

    def collect(self, patience_s: float) -> Outcome | None:
        """Return the next finished job; None after ``patience_s`` without one."""
        done = self._pool.collect(patience_s)
        if done is None:
            return None
        job = self._jobs.pop(done[0])
        run = assemble(job.scenario, done[1], seed=job.seed, replication=job.replication, quiet=True)
        return job.outcome(run)

    def running(self) -> float:
        """Return how many jobs' worth of work the running ones have done."""
        return self._pool.running()

    def close(self) -> None:
        """Stop what runs, forget what waits."""
        self._pool.stop()


class Futures:
    """Any executor with the interface of ``concurrent.futures``: processes, a cluster."""

    #: A cluster may have many hands; results come back small.
    capacity = 1024

    def __init__(self, executor: Any) -> None:
        if not callable(getattr(executor, "submit", None)):
            raise ArgumentError(
                f"executor: {executor!r} has no submit; give one with the interface of "
                "concurrent.futures.Executor"
            )
        self._executor = executor
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._waiting: set[Any] = set()

    def submit(self, job: Job) -> None:
        """Take a job."""
        future = self._executor.submit(Job.do, job)
        self._waiting.add(future)
        future.add_done_callback(self._done.put)

    def collect(self, patience_s: float) -> Outcome | None:
        """Return the next finished job; None after ``patience_s`` without one."""
        try:
            future = self._done.get(timeout=patience_s) if patience_s > 0 else self._done.get_nowait()
        except queue.Empty:
            return None
        self._waiting.discard(future)
        if future.cancelled():
            return None
        outcome: Outcome = future.result()
        return outcome

    def running(self) -> float:
        """Return 0: futures do not say how far they are."""
        return 0.0

    def close(self) -> None:
        """Cancel what waits; the executor itself belongs to whoever made it."""
        for future in list(self._waiting):
            future.cancel()


# --- keys -------------------------------------------------------------------------------------


@functools.cache
def engine_identity() -> str:
    """Return the identity of the code that makes a summary: version and compiled part."""
    compiled = Path(str(_core.__file__)).read_bytes()
    return f"{_core.build_info()['tidegate']} {hashlib.sha256(compiled).hexdigest()}"


@functools.cache
def _package_identity() -> str:
    """Return a digest of the Python modules that make columns out of a run."""
    hash_ = hashlib.sha256()
    package = Path(__file__).parents[1]
    for file in sorted(package.rglob("*.py")):
        hash_.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return hash_.hexdigest()


def measure_identity(measure: Measure | None, version: str | None) -> str:
    """Return what a measurement's results depend on, beside the run.

    The function's name and the source of the module that it stands in (of itself, where
    the module has no file), or the version that the caller gives.

    Raises:
        ArgumentError: the source does not tell, and no version is given.
    """
    if measure is None:
        return ""
    name = (
        f"{getattr(measure, '__module__', '')}.{getattr(measure, '__qualname__', type(measure).__qualname__)}"
    )
    if version is not None:
        return f"{name} version {version} {_package_identity()}"
    check_plain(measure)
    return f"{name} {_source_digest(measure)} {_package_identity()}"


def check_plain(measure: Measure) -> None:
    """Refuse a function whose source does not say all that it does.

    Raises:
        ArgumentError: it is another callable, or carries values of its own.
    """
    name = getattr(measure, "__qualname__", type(measure).__qualname__)
    if not inspect.isfunction(measure):
        raise ArgumentError(f"measure: {name} is not a plain function; give measure_version too")
    if measure.__closure__ or measure.__defaults__ or measure.__kwdefaults__:
        raise ArgumentError(
            f"measure: {name} carries values of its own (a closure or defaults), which its source does not "
            "show; give measure_version too"
        )


def _source_digest(measure: Callable[..., Any]) -> str:
    try:
        file = inspect.getsourcefile(measure)
        text = (
            Path(file).read_bytes() if file and Path(file).is_file() else inspect.getsource(measure).encode()
        )
    except (OSError, TypeError):
        raise ArgumentError("measure: its source cannot be found; give measure_version too") from None
    return hashlib.sha256(text).hexdigest()


def key_of(engine: str, digest: str, seed: int, replication: int, measure: str) -> str:
    """Return the name that a run's result is kept under."""
    return hashlib.sha256(json.dumps([engine, digest, seed, replication, measure]).encode()).hexdigest()
