"""Batches of runs for workers elsewhere: plain data that says everything by content, and their size."""

from __future__ import annotations

import functools
import hashlib
import math
import pickle
import platform
import tempfile
import time
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from tidegate._ask.scenario import Scenario
from tidegate._jobs.job import Job, Measure, Outcome, engine_identity, package_identity
from tidegate.errors import ArgumentError, RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A batch shall be so many seconds of work for one worker.
WORK_S = 20.0
#: At the end of a study batches become smaller, so that all workers end together; but not below this.
LEAST_S = 0.5
#: Batches that a worker has: one that runs and one that waits.
AHEAD = 2


@dataclass(frozen=True)
class Sealed:
    """A scenario with the content of its files, so that it can be read on a machine that has none of them."""

    text: str
    name: str
    files: tuple[tuple[str, bytes], ...]

    def open(self) -> Scenario:
        """Read it."""
        files = [(name, zlib.decompress(packed)) for name, packed in self.files]
        code = [(name, content) for name, content in files if name.endswith(".py")]
        return Scenario.given(self.text, name=self.name, files=files, folder=_written(tuple(code)))


@dataclass(frozen=True)
class Batch:
    """Runs that a worker does one after the other. ``runs``: of each its number, scenario and replication."""

    build: str
    scenarios: tuple[Sealed, ...]
    runs: tuple[tuple[int, int, int], ...]
    seed: int
    record: str | None
    measure: Measure | None


@dataclass(frozen=True)
class Done:
    """What comes back of a batch: results, how long they took, and what went wrong with the next run."""

    results: tuple[tuple[int, bytes], ...]
    seconds: float
    error: BaseException | None = None
    #: Where another build of Tidegate refused the batch: the machine, and the build.
    other: tuple[str, str] | None = None

    def outcomes(self) -> list[Outcome]:
        """Return the results."""
        return [Outcome(number, packed) for number, packed in self.results]


def build_for(measure: Measure | None) -> str:
    """Return what results depend on: the compiled part and, where something is measured, Python's too."""
    return engine_identity() if measure is None else f"{engine_identity()} {package_identity()}"


def do_batch(batch: Batch) -> Done:
    """Do the runs of a batch, in this process."""
    build = build_for(batch.measure)
    if batch.build != build:
        return Done((), 0.0, other=(platform.node(), build))
    begin = time.perf_counter()
    opened: dict[int, Scenario] = {}
    results: list[tuple[int, bytes]] = []
    for number, place, replication in batch.runs:
        try:
            if place not in opened:
                opened[place] = batch.scenarios[place].open()
            job = Job(number, opened[place], batch.seed, replication, batch.record, batch.measure)
            results.append((number, job.do().packed))
        except Exception as error:
            return Done(tuple(results), time.perf_counter() - begin, _portable(error))
    return Done(tuple(results), time.perf_counter() - begin)


def _portable(error: Exception) -> Exception:
    """Return the error, or one that says the same and may leave this process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RunError(f"{type(error).__name__}: {error}")
    return error


class Sealer:
    """Makes batches of jobs. Each file is read once, and has to be what it was when it was checked."""

    def __init__(self) -> None:
        self._contents: dict[tuple[str, str], bytes] = {}
        self._last: tuple[Scenario, Sealed] | None = None

    def batch(self, jobs: Sequence[Job]) -> Batch:
        """Return the batch of some jobs of one study.

        Raises:
            ArgumentError: a file cannot travel, or has changed meanwhile.
        """
        places: dict[int, int] = {}
        sealed: list[Sealed] = []
        runs = []
        for job in jobs:
            if id(job.scenario) not in places:
                places[id(job.scenario)] = len(sealed)
                sealed.append(self._seal(job.scenario))
            runs.append((job.number, places[id(job.scenario)], job.replication))
        first = jobs[0]
        return Batch(
            build_for(first.measure), tuple(sealed), tuple(runs), first.seed, first.record, first.measure
        )

    def _seal(self, scenario: Scenario) -> Sealed:
        if self._last is None or self._last[0] is not scenario:
            files = tuple((each["name"], self._content(each)) for each in scenario.inputs)
            self._last = (scenario, Sealed(scenario.to_toml(), scenario.name, files))
        return self._last[1]

    def _content(self, file: dict[str, str]) -> bytes:
        known = (file["path"], file["sha256"])
        if known not in self._contents:
            name = PurePath(file["name"])
            if file["name"].endswith(".py") and (name.is_absolute() or ".." in name.parts):
                raise ArgumentError(
                    f"{file['name']}: a controller in Python goes to other machines only from the scenario's "
                    "folder or one below it"
                )
            content = Path(file["path"]).read_bytes()
            if hashlib.sha256(content).hexdigest() != file["sha256"]:
                raise ArgumentError(f"{file['path']}: the file has changed since the study began")
            self._contents[known] = zlib.compress(content, 6)
        return self._contents[known]


class Size:
    """How many runs a batch has: as many as take :data:`WORK_S`, measured on the batches that are done."""

    def __init__(self) -> None:
        self._runs = 0
        self._seconds = 0.0

    def learn(self, done: Done) -> None:
        """Take in how long a batch took."""
        self._runs += len(done.results)
        self._seconds += done.seconds

    def of(self, left: int, hands: int) -> int:
        """Return the size of the next batch, where ``hands`` share so many runs that are left."""
        if self._runs == 0:
            return 1
        each = max(self._seconds / self._runs, 1e-6)
        share = math.ceil(left / (AHEAD * max(1, hands)))
        return max(1, min(left, int(WORK_S / each), max(share, int(LEAST_S / each))))


@functools.lru_cache(maxsize=64)
def _written(code: tuple[tuple[str, bytes], ...]) -> Path | None:
    """Write a scenario's controllers in Python to a folder of this process; None where there are none."""
    if not code:
        return None
    folder = Path(tempfile.mkdtemp(prefix="tidegate-code-"))
    for name, content in code:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder
