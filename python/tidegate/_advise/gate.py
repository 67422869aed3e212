"""The size at a gate that serves a goal: a bucket, a queue, or a rate, by simulation.

Sizes are tried on a ladder of factors of two about where the closed form, or the bandwidth-delay product,
begins, all with the same random numbers, and further down while the smallest of them meets the goal. Then
finer ladders are tried beside the answer, and the answer is measured once more on networks that the search
has not seen.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidegate._advise.bench import Bench
from tidegate._advise.gate_goal import Bound, parse
from tidegate._advise.gate_ladder import Ladder, ladder, longer
from tidegate._advise.gate_result import GateSizing, size_text
from tidegate._advise.gate_trials import GateTrials, Tried
from tidegate._advise.tune_result import MET
from tidegate._ask.seed import other_seed
from tidegate._ask.swept import sweep_warnings
from tidegate._base.nearest import nearest
from tidegate.errors import UnknownNameError

#: Fewer runs have hardly an interval.
LEAST_RUNS = 4
#: How often a finer ladder is tried, and how many sizes are between two of the coarser.
_FINER, _BETWEEN = 3, 3
#: How far the seed of networks that the search has not seen is from the search's.
_HELD_OUT = 1_000_003


def find(bench: Bench, gate: str, goal: str, *, key: str | None = None) -> GateSizing:
    """Find the size of a gate that serves a goal; see :func:`tidegate.size`."""
    bounds = parse(goal)
    known = bench.scenario.gate_names
    if gate not in known:
        raise UnknownNameError(nearest("gate", gate, known))
    trials = GateTrials(bench, gate, bounds, key, bench.replications(2, default=LEAST_RUNS))
    # A queue or a bucket trades delay for goodput; of a rate, more than is needed is paid for.
    best = any(bound.what in ("delay", "rtt") for bound in bounds) and not trials.key.endswith("rate")
    start = trials.start()
    steps = ladder(trials, start)
    tried = {row.size: row for row in trials.look(steps.sizes)}
    answer = _chosen(tried, bounds, best)
    while answer.size == steps.sizes[0] and _wants_less(answer, best):
        steps = longer(trials, steps)
        fresh = [size for size in steps.sizes if size not in tried]
        if not fresh:
            break
        tried |= {row.size: row for row in trials.look(fresh)}
        answer = _chosen(tried, bounds, best)
    for _ in range(_FINER):
        fresh = _between(tried, answer, best or answer.verdict != MET)
        if not fresh:
            break
        tried |= {row.size: row for row in trials.look(fresh)}
        answer = _chosen(tried, bounds, best)
    (held_out,) = trials.look([answer.size], seed=other_seed(bench.seed, _HELD_OUT))
    sizes = sorted(tried)
    return GateSizing(
        gate=gate,
        key=trials.key,
        goal=" ".join(goal.split()),
        size=answer.size,
        unit=trials.unit,
        best=best,
        met=answer.verdict == MET,
        verdict=held_out.verdict,
        seed=bench.seed,
        runs=trials.runs,
        held_out=held_out,
        frontier=tuple(tried[size] for size in sizes),
        start=start,
        theory=trials.theory,
        copies=len(trials.names),
        share_of_bps=trials.rate_carries_bps,
        notes=_notes(trials, steps, answer, sizes, best),
    )


def _notes(trials: GateTrials, steps: Ladder, answer: Tried, sizes: list[int], best: bool) -> list[str]:
    notes = sweep_warnings(trials.bench.scenario)
    if not trials.bench.scenario.draws and not trials.bench.perturb:
        notes.append(
            "Nothing in the scenario is random, so all replications are one and other networks the same: a "
            "random start or jitter tells how far the answer holds."
        )
    for words, edge in (("below", steps.least), ("above", steps.most)):
        if edge is not None:
            notes.append(f"The scenario takes no {trials.key} {words} {size_text(edge, trials.unit)}.")
    if answer.size == sizes[0] != steps.least and _wants_less(answer, best):
        packet = "" if trials.unit == "bit/s" or trials.floored(1) == 1 else " (one packet)"
        notes.append(f"No {trials.key} below {size_text(answer.size, trials.unit)}{packet} is tried.")
    if answer.verdict == MET and best and answer.size == sizes[-1] != steps.most:
        notes.append("Larger sizes than the largest in the table were not tried.")
    return notes


def _chosen(tried: dict[int, Tried], bounds: Sequence[Bound], best: bool) -> Tried:
    """Return the answer among what was tried; where nothing meets the goal, what comes nearest to it."""
    rows = [tried[size] for size in sorted(tried)]
    meeting = [row for row in rows if row.verdict == MET]
    if meeting:
        return max(meeting, key=lambda row: row.goodput_bps.mean or 0.0) if best else meeting[0]
    return min(rows, key=lambda row: _beyond(row, bounds))


def _wants_less(answer: Tried, best: bool) -> bool:
    """Tell whether a size below the smallest that was tried could be the answer.

    Of sizes under a bound on a delay, only where none keeps to it: a smaller one has less goodput.
    """
    if best:
        return answer.verdict != MET and all(found.mean is not None for found in answer.judged)
    return answer.verdict == MET


def _beyond(row: Tried, bounds: Sequence[Bound]) -> tuple[float, float]:
    """Return how far a size is beyond the bound that it misses by most: its mean, then the interval's end."""
    means, ends = zip(
        *(bound.beyond(found) for bound, found in zip(bounds, row.judged, strict=True)), strict=True
    )
    return max(means), max(ends)


def _between(tried: dict[int, Tried], answer: Tried, both: bool) -> list[int]:
    """Return sizes between the answer and the next smaller, or both neighbours, evenly by ratio."""
    sizes = sorted(tried)
    place = sizes.index(answer.size)
    pairs = [(sizes[place - 1], sizes[place])] if place > 0 else []
    if both and place + 1 < len(sizes):
        pairs.append((sizes[place], sizes[place + 1]))
    found = []
    for low, high in pairs:
        ratio = (high / low) ** (1 / (_BETWEEN + 1))
        found += [round(low * ratio**n) for n in range(1, _BETWEEN + 1)]
    return sorted({*found} - {*tried})
