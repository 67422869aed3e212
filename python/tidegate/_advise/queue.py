"""The inverse question: the smallest queue that loses nothing.

By theory where one applies; elsewhere from simulations. A run with a queue that never fills
is, event for event, the run without a limit. So the most that ever waits in it is the smallest
queue without loss for that seed: one unit less and the first unit too many is dropped, at a time up to
which nothing else has changed. Larger limits are tried until the queue no longer fills; the
answer is then run once more, and with one unit less.
"""

from __future__ import annotations

import os

from tidegate._advise.bench import Bench, bench_for, check_method
from tidegate._advise.queue_result import Sizing
from tidegate._advise.queue_trials import QueueTrials
from tidegate._ask.scenario import Sets
from tidegate._ask.source import Source
from tidegate._base.errors import EngineError, InternalError, UnknownNameError, nearest


def size(
    source: Source,
    gate: str,
    *,
    set: Sets = None,  # noqa: A002
    method: str = "auto",
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    store: str | os.PathLike[str] | bool = True,
    perturb: int | None = None,
) -> Sizing:
    """Return the smallest queue of a gate that loses nothing, whatever its limit in the scenario is.

    Loss is looked for over the whole run, the warmup included.

    Args:
        source: a scenario file, a dict of its keys, or a loaded :class:`Scenario`.
        gate: its name in the scenario; of a gate with a copy for each flow, all copies.
        set: changes to the scenario.
        method: ``"theory"``, ``"sim"``, or ``"auto"``: theory where one applies to this gate.
        runs: replications that must all be without loss; left out, the scenario's ``runs``.
        seed: as :func:`tidegate.run`.
        workers: threads; left out, one per processor.
        store: as :func:`tidegate.study`.
        perturb: instead of ``runs``: replication 0 is as written, so many more have small changes that
            nobody can know (:func:`tidegate.run`); none of them may lose anything.

    Raises:
        ScenarioError, TraceError, OSError: the scenario is wrong.
        UnknownNameError: it has no such gate.
        ArgumentError: the method is none, ``runs`` is below 1, or no queue of this gate is enough;
            the message says why.
        EngineError: ``method="theory"``, and no theory applies.
    """
    with bench_for(source, set, runs=runs, seed=seed, workers=workers, store=store, perturb=perturb) as bench:
        return find(bench, gate, method=method)


def find(bench: Bench, gate: str, *, method: str = "auto") -> Sizing:
    """Find it; see :func:`size`."""
    check_method(method)
    known = bench.scenario.gate_names
    if gate not in known:
        raise UnknownNameError(nearest("gate", gate, known))
    trials = QueueTrials(bench, gate)
    fit, reason = (None, "") if method == "sim" else trials.theory()
    if method == "theory" and fit is None:
        raise EngineError(f'no theory applies ({reason}); use the method "sim"')
    each = trials.needed()
    needed = max(each)
    notes = [] if fit is not None or not reason else [f"no theory applies: {reason}"]
    if fit is not None:
        told = fit.result.buffer_cells - (0 if trials.counts_all else 1)
        if trials.unit != "bytes" and told != needed:
            notes.append(
                f"the theory gives {told} {trials.unit}, these runs need {needed}: rounding may make a "
                "difference of two, and a short run may not reach the longest queue"
            )
            needed = max(told, needed)
        notes += [f"theory {fit.theory}: {text}" for text in fit.bent]
    elif trials.endless:
        notes.append(
            f"flow {trials.endless} has an unlimited window (tcp.window) and always has data to send, so the "
            "queue grows for as long as the run lasts"
        )
    if trials.lost(trials.study(needed, whole=True)):
        raise InternalError(f"gate {gate}: a queue of {needed} {trials.unit} loses packets after all")
    less = trials.losses(trials.study(needed - 1, whole=True)) if needed > 1 else []
    with_less = sum(1 for lost in less if lost)
    final = trials.study(needed, whole=False)
    waits = {"mean": "mean", "p50": "p50", "p99": "p99"}
    cell_s = None if fit is None else fit.parameters["cell_time_s"]
    result = None if fit is None else fit.result
    return Sizing(
        gate=gate,
        size=needed,
        unit=trials.unit,
        method="sim" if fit is None else "theory",
        standing=trials.worst(final, f"queue_mean_{trials.unit}", "queue_mean_packets"),
        delay_ms={name: trials.worst(final, f"queue_delay_{key}_ms") for name, key in waits.items()},
        seed=bench.seed,
        runs=trials.runs,
        each=tuple(each),
        lost_with_one_less=with_less,
        theory=None if fit is None else fit.theory,
        limits=None if result is None else (float(result.V_w_minus), float(result.V_w_plus)),
        delay_limit_ms=None if result is None or cell_s is None else float(result.delay * cell_s * 1000),
        notes=notes,
    )
