"""The runs of one study: which are done, which are in the store, which are still to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from tidegate._ask import compiled
from tidegate._run.metric import metric_of
from tidegate._study import jobs, live
from tidegate._study.jobs import Measure, Outcome, Workers
from tidegate._study.prepare import Prepared
from tidegate._study.shard import Shard
from tidegate._study.store import Store

#: How often to look up from waiting: for Ctrl-C and the progress bar.
_PATIENCE_S = 0.1


class Work:
    """What is done and what is not, of one study."""

    def __init__(
        self,
        prepared: Prepared,
        store: Store | None,
        measure: Measure | None,
        record: str | None,
        identity: str,
        *,
        resume: bool,
        shard: Shard | None = None,
    ) -> None:
        self.is_live = prepared.engine == "live"
        #: Results of the simulator never change; a measurement is asked for.
        self._reuses = resume or not self.is_live
        #: When what was taken from the store was measured.
        self._measured_at: list[str] = []
        self._prepared = prepared
        self._store = store
        self._measure = measure
        self._record = record
        self._identity = identity
        self._engine = jobs.engine_identity() + (f" {live.identity()}" if self.is_live else "")
        self._digests = [compiled.digest(point, record) for _, point in prepared.points]
        first = prepared.until.at_least if prepared.until else prepared.runs
        self._shard = shard
        #: Replications that each point shall have, so far as is known.
        self._targets = [first if self._has_point(n) else 0 for n in range(len(prepared.points))]
        self._asked = [0] * len(prepared.points)
        self._there = [0] * len(prepared.points)
        self._jobs: list[tuple[int, int, str]] = []
        self._ready: deque[int] = deque()
        self.done: dict[tuple[int, int], Outcome] = {}
        self.computed = 0

    @property
    def digests(self) -> list[str]:
        """What the runs of each point depend on, beside engine, seed and replication."""
        return list(self._digests)

    def wanted(self) -> int:
        """Return how many runs there shall be, so far as is known."""
        if self._shard is None or self._prepared.until is not None:
            return sum(self._targets)
        return len(self._jobs)

    def _has_point(self, point: int) -> bool:
        """Tell whether a point is done here: where its runs decide how many it needs, all of them or none."""
        return self._shard is None or self._prepared.until is None or self._shard.has(point)

    def _has_run(self, point: int, replication: int) -> bool:
        """Tell whether a run of a point that is done here is done here."""
        if self._shard is None or self._prepared.until is not None:
            return True
        return self._shard.has(point * self._prepared.runs + replication)

    def all(self, workers: Workers, progress: Callable[[float], None] | None) -> None:
        """Work until every point has what it needs."""
        self._ask(range(len(self._targets)))
        out = 0
        while self._ready or out:
            while self._ready and out < workers.capacity:
                workers.submit(self._job(self._ready.popleft()))
                out += 1
            outcome = workers.collect(_PATIENCE_S)
            if outcome is not None:
                out -= 1
                self._take(outcome)
            if progress is not None:
                progress((len(self.done) + workers.running()) / max(1, self.wanted()))

    def take_in(self, workers: Workers) -> None:
        """Keep what is finished already."""
        while (outcome := workers.collect(0.0)) is not None:
            self._take(outcome)

    def notes(self) -> list[str]:
        """Say which results are old measurements."""
        return live.taken_over(self._measured_at, len(self.done))

    def _job(self, number: int) -> jobs.Job:
        point, replication, _ = self._jobs[number]
        scenario = self._prepared.points[point][1]
        return jobs.Job(number, scenario, self._prepared.seed, replication, self._record, self._measure)

    def _ask(self, points: Sequence[int] | range) -> None:
        """Queue what these points lack, or take it from the store."""
        fresh: list[int] = []
        for point in points:
            for replication in range(self._asked[point], self._targets[point]):
                if not self._has_run(point, replication):
                    continue
                key = jobs.key_of(
                    self._engine, self._digests[point], self._prepared.seed, replication, self._identity
                )
                fresh.append(len(self._jobs))
                self._jobs.append((point, replication, key))
            self._asked[point] = self._targets[point]
        found = {}
        if self._store is not None and self._reuses:
            found = self._store.find([self._jobs[n][2] for n in fresh])
        known = []
        for number in fresh:
            kept = found.get(self._jobs[number][2])
            if kept is None:
                self._ready.append(number)
            else:
                known.append(jobs.Outcome(number, kept["summary"], kept["measured"]))
                if self.is_live:
                    self._measured_at.append(kept["measured_at"])
        if self.is_live:
            # A slow hour of the machine meets every point.
            self._ready = deque(sorted(self._ready, key=lambda n: (self._jobs[n][1], self._jobs[n][0])))
        for outcome in known:
            self._enter(outcome)

    def _take(self, outcome: Outcome) -> None:
        """Keep a result that was computed."""
        self.computed += 1
        if self._store is not None:
            key = self._jobs[outcome.number][2]
            kept: dict[str, Any] = {"summary": outcome.summary, "measured": outcome.measured}
            if self.is_live:
                kept["measured_at"] = live.now()
            self._store.put(key, kept)
        self._enter(outcome)

    def _enter(self, outcome: Outcome) -> None:
        point, replication, _ = self._jobs[outcome.number]
        self.done[point, replication] = outcome
        self._there[point] += 1
        until = self._prepared.until
        if until is None or self._there[point] < self._targets[point]:
            return
        if self._targets[point] < until.at_most:
            values = [self._value(point, n, until.metric) for n in range(self._targets[point])]
            if not until.satisfied(values):
                self._targets[point] = min(self._targets[point] + until.step, until.at_most)
                self._ask([point])

    def _value(self, point: int, replication: int, metric: str) -> float | None:
        outcome = self.done[point, replication]
        return metric_of(outcome.summary, outcome.measured, metric)
