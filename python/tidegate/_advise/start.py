"""The inverse question: how large a queue, a bucket, a rate or a pool has to be."""

from __future__ import annotations

import os
from typing import overload

from tidegate._advise import gate as gates
from tidegate._advise import pool as pools
from tidegate._advise import queue as queues
from tidegate._advise.bench import Bench, bench_for
from tidegate._advise.gate_result import GateSizing
from tidegate._advise.pool_result import PoolSizing
from tidegate._advise.queue_result import Sizing
from tidegate._ask.changes import Sets
from tidegate._ask.source import Source
from tidegate.errors import ArgumentError


@overload
def size(
    source: Source,
    gate: str,
    *,
    changes: Sets = None,
    method: str | None = None,
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    store: str | os.PathLike[str] | bool = True,
    perturb: int | None = None,
) -> Sizing: ...


@overload
def size(
    source: Source,
    gate: str,
    *,
    goal: str,
    key: str | None = None,
    changes: Sets = None,
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    store: str | os.PathLike[str] | bool = True,
    perturb: int | None = None,
) -> GateSizing: ...


@overload
def size(
    source: Source,
    *,
    pool: str,
    goal: str,
    changes: Sets = None,
    method: str | None = None,
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    store: str | os.PathLike[str] | bool = True,
    perturb: int | None = None,
) -> PoolSizing: ...


def size(
    source: Source,
    gate: str | None = None,
    *,
    pool: str | None = None,
    goal: str | None = None,
    key: str | None = None,
    changes: Sets = None,
    method: str | None = None,
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    store: str | os.PathLike[str] | bool = True,
    perturb: int | None = None,
) -> Sizing | GateSizing | PoolSizing:
    """Return the size of a queue, a bucket, a rate or a pool, whatever the scenario says of it.

    With ``gate`` alone: the smallest queue that loses nothing, over the whole run, the warmup included; a
    :class:`Sizing`. With ``gate`` and ``goal``: the smallest size that meets bounds on goodput and loss; of a
    queue or a bucket with a bound on a delay, the size with the most goodput of those that meet all; a
    :class:`GateSizing`. With ``pool`` and ``goal``: the smallest capacity that meets the goal; a
    :class:`PoolSizing`.

    A pool's goal is met when the interval of its mean over the replications lies below the bound, and not
    met when it lies above. Where it contains the bound, the replications are doubled, up to 16 times
    ``runs``; then the capacity is undecided. Intervals are of 99%, so that five looks are wrong no more
    often than one at 95%. Of one replication its value decides.

    Args:
        source: a scenario file, a dict of its keys, or a loaded :class:`Scenario`.
        gate: its name in the scenario; of a gate with a copy for each flow, all copies.
        pool: its name in the scenario; circuits or calls take from it.
        goal: of a gate ``"goodput > 95%"``, ``"loss < 1%"``, ``"p99 delay < 100 ms"``; of a pool
            ``"p95 response < 2 s"`` (mean, p50, p95 or p99, requests without a response counted with their
            age), ``"mean call wait < 100 ms"`` (mean, p50 or p99), ``"blocked < 1%"`` or
            ``"abandoned < 1%"``; of the calls of one source, ``"large blocked < 5%"``. Several are joined
            by ``" and "``.
        key: with ``gate`` and ``goal``, what is sized: ``"police.burst"``, ``"queue"``,
            ``"rate.token_bucket.burst"``, ``"rate.token_bucket.rate"`` or ``"rate"``; left out, the
            policer's bucket where there is one, else the queue.
        changes: to the scenario.
        method: of a queue without loss and of a pool: ``"theory"``, ``"sim"``, or ``"auto"`` (left out). For
            a queue ``"auto"`` is theory where one applies to this gate; for a pool it is simulations, and
            the answer of a theory where one applies to the letter.
        runs: replications; left out, the scenario's ``runs``, and at least 4 with ``gate`` and ``goal``. A
            queue without loss has to lose nothing in any of them; for a pool there are so many at first.
        seed: as :func:`tidegate.run`.
        workers: threads; left out, one per processor.
        store: as :func:`tidegate.study`.
        perturb: instead of ``runs``: replication 0 is as written, so many more have small changes that
            nobody can know (:func:`tidegate.run`); all of them together have to meet the goal, and none may
            lose anything.

    Raises:
        ScenarioError, TraceError, OSError: the scenario is wrong.
        UnknownNameError: it has no such gate or pool.
        ArgumentError: an argument belongs to another of the three questions, the goal is none or does not
            fit the scenario, the method is none, ``runs`` is below 1, or no size is enough; the message says
            why.
        EngineError: ``method="theory"``, and no theory applies.
    """
    _check(gate, pool, goal, key, method)
    with bench_for(
        source, changes, runs=runs, seed=seed, workers=workers, store=store, perturb=perturb
    ) as bench:
        return find(bench, gate, pool, goal, key, method)


def _check(gate: str | None, pool: str | None, goal: str | None, key: str | None, method: str | None) -> None:
    """Refuse arguments that do not make one question."""
    if (gate is None) == (pool is None):
        both = "both" if gate is not None else "neither"
        raise ArgumentError(f"gate, pool: read {both}; takes one of the two")
    if pool is not None and goal is None:
        raise ArgumentError('goal: a pool needs one, such as "p95 response < 2 s"')
    if key is not None and (gate is None or goal is None):
        raise ArgumentError("key: it belongs to gate with goal")
    if method is not None and gate is not None and goal is not None:
        raise ArgumentError("method: it does not belong to gate with goal, which simulates")


def find(
    bench: Bench,
    gate: str | None,
    pool: str | None,
    goal: str | None,
    key: str | None,
    method: str | None,
) -> Sizing | GateSizing | PoolSizing:
    """Answer the question that the arguments of :func:`size` make."""
    if pool is not None and goal is not None:
        return pools.find(bench, pool, goal, method=method or "auto")
    assert gate is not None
    if goal is not None:
        return gates.find(bench, gate, goal, key=key)
    return queues.find(bench, gate, method=method or "auto")
