"""The sizes at a gate that are tried first: factors of two, as far as the scenario takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tidegate._advise.gate_result import size_text
from tidegate.errors import ArgumentError, ScenarioError

if TYPE_CHECKING:
    from tidegate._advise.gate_trials import GateTrials

#: Factors of two below and above the start.
_BELOW, _ABOVE = 4, 5


class Ladder(NamedTuple):
    """Sizes, and the least and the most that the scenario takes, where it takes none beyond."""

    sizes: list[int]
    least: int | None
    most: int | None


def ladder(trials: GateTrials, start: int) -> Ladder:
    """Return the sizes about a start.

    Raises:
        ArgumentError: the scenario takes none of them.
    """
    sizes = sorted({trials.floored(round(start * 2.0**n)) for n in range(-_BELOW, _ABOVE + 1)})
    refused = {size: why for size in sizes if (why := _refusal(trials, size))}
    taken = [size for size in sizes if size not in refused]
    if not taken:
        low, high = (size_text(size, trials.unit) for size in (sizes[0], sizes[-1]))
        raise ArgumentError(
            f"gate {trials.gate}: the scenario takes no {trials.key} from {low} to {high}; "
            f"{next(iter(refused.values()))}"
        )
    below = [size for size in sizes if size < taken[0]]
    above = [size for size in sizes if size > taken[-1]]
    least = _edge(trials, taken[0], below[-1]) if below else None
    most = _edge(trials, taken[-1], above[0]) if above else None
    return Ladder(sorted({*taken} | {edge for edge in (least, most) if edge is not None}), least, most)


def longer(trials: GateTrials, so_far: Ladder) -> Ladder:
    """Return the ladder with one more step below its least, or the same where there is none."""
    smallest = so_far.sizes[0]
    size = trials.floored(round(smallest / 2))
    if so_far.least is not None or size >= smallest:
        return so_far
    if not _refusal(trials, size):
        return so_far._replace(sizes=[size, *so_far.sizes])
    edge = _edge(trials, smallest, size)
    return so_far._replace(sizes=sorted({edge, *so_far.sizes}), least=edge)


def _edge(trials: GateTrials, taken: int, refused: int) -> int:
    """Return the last size that the scenario takes between one that it does and one that it does not."""
    while abs(refused - taken) > 1:
        middle = (taken + refused) // 2
        if _refusal(trials, middle):
            refused = middle
        else:
            taken = middle
    return taken


def _refusal(trials: GateTrials, size: int) -> str:
    """Return why the scenario does not take a size, or nothing."""
    try:
        trials.bench.scenario.point(trials.change(size))
    except ScenarioError as error:
        return str(error).splitlines()[0].removeprefix("error: ")
    return ""
