"""The inverse question: the smallest queue that loses nothing.

By theory where one applies; elsewhere from simulations. A run with a queue that never fills
is, event for event, the run without a limit. So the most that ever waits in it is the smallest
queue without loss for that seed: one unit less and the first unit too many is dropped, at a time up to
which nothing else has changed. Larger limits are tried until the queue no longer fills; the
answer is then run once more, and with one unit less.
"""

from __future__ import annotations

from tidegate._advise.bench import Bench, check_method
from tidegate._advise.queue_result import Sizing
from tidegate._advise.queue_trials import QueueTrials
from tidegate._ask.swept import sweep_warnings
from tidegate._base.nearest import nearest
from tidegate.errors import EngineError, InternalError, UnknownNameError


def find(bench: Bench, gate: str, *, method: str = "auto") -> Sizing:
    """Find the smallest queue of a gate that loses nothing; see :func:`tidegate.size`."""
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
    notes = sweep_warnings(bench.scenario)
    if fit is None and reason:
        notes.append(f"no theory applies: {reason}")
    if fit is not None:
        by_theory = fit.result.buffer_cells - (0 if trials.counts_all else 1)
        if trials.unit != "bytes" and by_theory != needed:
            notes.append(
                f"the theory gives {by_theory} {trials.unit}, these runs need {needed}: rounding may make a "
                "difference of two, and a short run may not reach the longest queue"
            )
            needed = max(by_theory, needed)
        notes += [f"theory {fit.theory}: {text}" for text in fit.unmet]
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
        standing=trials.worst(final, "queue_mean_cells", "queue_mean_packets"),
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
