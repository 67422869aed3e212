"""The runs of one study: which are done, which are in the store, which are still to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

from tidegate._jobs import job
from tidegate._jobs.job import Measure, Outcome
from tidegate._jobs.store import Store, for_replication
from tidegate._jobs.workers import Workers
from tidegate._study import live
from tidegate._study.columns import place_of, run_at
from tidegate._study.gather import Facts
from tidegate._study.plan import Shard
from tidegate._study.points import Prepared
from tidegate._study.until import Stopping, Until
from tidegate.errors import StoreError

#: How often to look up from waiting: for Ctrl-C and the progress bar.
_PATIENCE_S = 0.1
#: Runs that are looked up in the store, or read from it, at once.
_AT_ONCE = 500
#: Results that are taken in between two looks at those who work.
_DRAINED = 16
#: Scenarios in memory that are made for their runs.
_SCENARIOS = 4
#: Results in memory that wait for one before them.
_FRESH = 4096

#: Takes place, key and packed result of runs, in order.
Sink = Callable[[list[tuple[int, str, bytes]]], None]


class Work:
    """What is done and what is not, of one study.

    Results are in the store; here are counts only. Runs are numbered by their place.
    """

    def __init__(
        self,
        prepared: Prepared,
        store: Store,
        measure: Measure | None,
        record: str | None,
        identity: str,
        *,
        resume: bool,
        gate: str | None = None,
        shard: Shard | None = None,
    ) -> None:
        """Look at what is asked for.

        Raises:
            UnknownNameError: no run can have the number of ``until``, or a point has no such gate.
            ArgumentError: as :class:`Stopping`.
        """
        prepared.check_gate(gate)
        asked = [] if prepared.until is None else [prepared.until.metric]
        prepared.check_names(asked, measured=measure is not None)
        self._stopping = Stopping(prepared.until, prepared.points, gate, is_part=shard is not None)
        self.is_live = prepared.engine == "live"
        #: What is said of runs that are done when it cannot go on.
        self.goes_on = prepared.goes_on()
        #: Results of the simulator never change; a measurement is asked for.
        self._reuses = resume or not self.is_live
        #: When what was taken from the store was measured.
        self._measured_at: list[str] = []
        self._prepared = prepared
        #: Runs of one point mostly come together.
        self._scenario = lru_cache(_SCENARIOS)(lambda point: prepared.points[point].scenario())
        self._store = store
        self._measure = measure
        self._record = record
        engine = job.engine_identity() + (f" {live.identity()}" if self.is_live else "")
        self.digests = [point.digest(record) for point in prepared.points]
        self._keys = [job.Keys(engine, digest, prepared.seed, identity) for digest in self.digests]
        self._shard = shard
        first = [prepared.runs_of(point) for point in range(len(prepared.points))]
        #: Replications that each point shall have, so far as is known.
        self._targets = [count if self._has_point(n) else 0 for n, count in enumerate(first)]
        #: How many runs the points before each one have: all of a study are numbered so for its parts.
        self._before = [0, *accumulate(first)]
        self._asked = [0] * len(prepared.points)
        self._there = [0] * len(prepared.points)
        #: Points that have all the runs that they were to have, and nobody has judged yet.
        self._whole: list[int] = []
        #: Points that have all the runs they may have, and not the interval that was asked for.
        self._wide: list[int] = []
        #: By point, which replications are done; and the first run that nobody has taken in order.
        self._flags = [bytearray(count) for count in self._targets]
        self._point = self._replication = 0
        #: By point at which nothing is random: runs that will have the result of the one that is computed.
        self._alike: dict[int, list[int]] = {}
        #: Results that were computed a moment ago; what is not here any more is in the store.
        self._fresh: dict[int, bytes] = {}
        #: Runs that nobody has looked for yet: point, and from which to which replication.
        self._ranges: deque[tuple[int, int, int]] = deque()
        self._ready: deque[int] = deque()
        #: How many runs are done, and how many of them were computed now.
        self.done = 0
        self.computed = 0

    def wanted(self) -> int:
        """Return how many runs there shall be, so far as is known."""
        if self._shard is None or self._prepared.until is not None:
            return sum(self._targets)
        return self._shard.count(sum(self._targets))

    def _has_point(self, point: int) -> bool:
        """Tell whether a point is done here: where its runs decide how many it needs, all of them or none."""
        return self._shard is None or self._prepared.until is None or self._shard.has(point)

    def _has_run(self, point: int, replication: int) -> bool:
        """Tell whether a run of a point that is done here is done here."""
        if self._shard is None or self._prepared.until is not None:
            return True
        return self._shard.has(self._before[point] + replication)

    def all(self, workers: Workers, sink: Sink, progress: Callable[[float], None] | None) -> None:
        """Work until every point has what it needs.

        ``sink`` takes the results in order of their places: while others work, and the rest at the end.
        """
        self._ask(range(len(self._targets)))
        wanted = self.wanted()
        out = 0
        while True:
            while count := workers.wanted(max(1, wanted - self.done - out)):
                places = self._next(count)
                if not places:
                    break
                workers.submit([self._job(place) for place in places])
                out += len(places)
            if not out:
                break
            outcomes = workers.collect(_PATIENCE_S)
            out -= len(outcomes)
            self._take(outcomes)
            # Some more than come in, but soon back to those who work.
            self._drain(sink, max(_DRAINED, 2 * len(outcomes)))
            if self._prepared.until is not None:
                wanted = self.wanted()
            if progress is not None:
                progress((self.done + workers.running()) / max(1, wanted))
        while self._drain(sink, _AT_ONCE):
            pass

    def take_in(self, workers: Workers) -> None:
        """Keep what is finished already."""
        while outcomes := workers.collect(0.0):
            self._take(outcomes)

    def notes(self) -> list[str]:
        """Say which results are old measurements."""
        return live.taken_over(self._measured_at, self.done)

    def tell(self, facts: Facts) -> None:
        """Note what results do not say: the points at which the interval is too wide."""
        until = self._prepared.until
        if until is not None:
            facts.until, facts.wide = [until.metric, until.at_most], sorted(self._wide)

    def _drain(self, sink: Sink, most: int) -> int:
        """Give the next results in order, so many at most and as far as they are there; return how many."""
        places: list[int] = []
        while len(places) < most and self._point < len(self._targets):
            if self._replication == self._targets[self._point]:
                self._point, self._replication = self._point + 1, 0
            elif not self._has_run(self._point, self._replication):
                self._replication += 1
            elif self._flags[self._point][self._replication]:
                places.append(place_of(self._point, self._replication))
                self._replication += 1
            else:
                break
        keys = [self._key(place) for place in places]
        fresh = [self._fresh.pop(place, None) for place in places]
        wanted = [key for key, packed in zip(keys, fresh, strict=True) if packed is None]
        found = self._store.find(wanted) if wanted else {}
        if len(found) < len({*wanted}):
            raise StoreError(f"{self._store.path}: somebody took results away meanwhile; try again")
        if places:
            sink([
                (place, key, found[key] if packed is None else packed)
                for place, key, packed in zip(places, keys, fresh, strict=True)
            ])  # fmt: skip
        return len(places)

    def unpack(self, packed: bytes) -> dict[str, Any]:
        """Return a result as it is kept.

        Raises:
            StoreError: it is damaged.
        """
        return self._store.unpack(packed)

    def _key(self, place: int) -> str:
        point, replication = run_at(place)
        return self._keys[point].key(replication)

    def _job(self, place: int) -> job.Job:
        point, replication = run_at(place)
        scenario = self._scenario(point)
        return job.Job(place, scenario, self._prepared.seed, replication, self._record, self._measure)

    def _ask(self, points: Sequence[int] | range) -> None:
        """Want what these points lack."""
        for point in points:
            if self._asked[point] < self._targets[point]:
                self._ranges.append((point, self._asked[point], self._targets[point]))
            self._asked[point] = self._targets[point]
        if self.is_live:
            # A slow hour of the machine meets every point.
            each = [(p, r, r + 1) for p, begin, end in self._ranges for r in range(begin, end)]
            self._ranges = deque(sorted(each, key=lambda run: (run[1], run[0])))

    def _next(self, count: int) -> list[int]:
        """Return so many runs to do, fewer where there are no more."""
        while len(self._ready) < count and self._ranges:
            self._look()
        return [self._ready.popleft() for _ in range(min(count, len(self._ready)))]

    def _look(self) -> None:
        """Look for some runs in the store: what is not there is to be done."""
        places: list[int] = []
        while self._ranges and len(places) < _AT_ONCE:
            point, begin, end = self._ranges.popleft()
            until = min(end, begin + _AT_ONCE - len(places))
            places += [place_of(point, r) for r in range(begin, until) if self._has_run(point, r)]
            if until < end:
                self._ranges.appendleft((point, until, end))
        if not self._reuses:
            self._want(places)
            return
        keys = [self._key(place) for place in places]
        reads = self.is_live or self._prepared.until is not None
        found = self._store.find(keys) if reads else dict.fromkeys(self._store.known(keys), b"")
        self._want([place for place, key in zip(places, keys, strict=True) if key not in found])
        for place, key in zip(places, keys, strict=True):
            if key in found:
                if self.is_live:
                    self._measured_at.append(self._store.unpack(found[key])["measured_at"])
                self._enter(Outcome(place, found[key]))

    def _want(self, places: Sequence[int]) -> None:
        """Put runs on the list of what is to be done; of runs that are one, the first."""
        for place in places:
            point, _ = run_at(place)
            if self._draws(point):
                self._ready.append(place)
            elif point in self._alike:
                self._alike[point].append(place)
            else:
                self._alike[point] = []
                self._ready.append(place)

    def _draws(self, point: int) -> bool:
        """Tell whether runs of a point can differ: what is measured may ask for the replication, too."""
        return self.is_live or self._measure is not None or bool(self._prepared.points[point].draws)

    def _with_alike(self, outcome: Outcome) -> list[Outcome]:
        """Return a result, and those that are the same because nothing is random at the point."""
        point, own = run_at(outcome.number)
        found = [outcome]
        for place in [] if self._draws(point) else self._alike.pop(point, []):
            found.append(Outcome(place, for_replication(outcome.packed, own, run_at(place)[1])))
        return found

    def _take(self, computed: Sequence[Outcome]) -> None:
        """Keep results that were computed."""
        self.computed += len(computed)
        outcomes = [each for outcome in computed for each in self._with_alike(outcome)]
        self._store.put_all((self._key(outcome.number), outcome.packed) for outcome in outcomes)
        for outcome in outcomes:
            if len(self._fresh) < _FRESH:
                self._fresh[outcome.number] = outcome.packed
            self._enter(outcome)

    def _enter(self, outcome: Outcome) -> None:
        point, replication = run_at(outcome.number)
        self.done += 1
        self._there[point] += 1
        self._flags[point][replication] = True
        if self._prepared.until is None:
            return
        self._stopping.take(point, replication, self._store.unpack(outcome.packed))
        if self._there[point] == self._targets[point] and not self._prepared.is_fixed(point):
            self._whole.append(point)
        if self._stopping.is_open:
            return
        whole, self._whole = self._whole, []
        for each in whole:
            self._judge(each, self._prepared.until)

    def _judge(self, point: int, until: Until) -> None:
        """Let a point have more runs, unless its interval is narrow or it has as many as it may have."""
        enough = self._stopping.is_satisfied(point, self._targets[point])
        if enough or self._targets[point] >= until.at_most:
            if not enough:
                self._wide.append(point)
            self._stopping.forget(point)
            return
        self._targets[point] = min(self._targets[point] + until.step, until.at_most)
        self._flags[point].extend(bytes(self._targets[point] - len(self._flags[point])))
        self._ask([point])
