"""Says where runs cannot differ: nothing is drawn from the seed, or what is drawn changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: What tells one run of a point from another, whatever came out.
_PLACE = ("seed", "replication", "warnings")
#: Streams or points named in a sentence.
_NAMED = 3


def outcome(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what came out of a run: its summary without seed, replication and warnings."""
    return {key: value for key, value in summary.items() if key not in _PLACE}


def are_alike(summaries: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether several runs came out the same to the last digit."""
    first = outcome(summaries[0])
    return len(summaries) > 1 and all(outcome(summary) == first for summary in summaries[1:])


def advice(flow: str | None) -> str:
    """Say how to let chance in."""
    changes = "--perturb 16 (perturb=16) tells what small changes do that nobody can know"
    if flow is None:
        return changes
    uniform = f'flow.{flow}.start.uniform=["0 s", "100 ms"]'
    return f"{changes}; or make something random, for example with --set '{uniform}'"


def nothing_random(flow: str | None, where: str = "") -> str:
    """Return the warning that runs are one run, because nothing is drawn from the seed.

    ``where``: at which of the points, where not at all of them; where at all, each runs once.
    """
    if not where:
        return (
            "nothing is random in this scenario: all runs of a point would be equal, so each point runs "
            "once, an interval would be of nothing, and a difference compares two single runs. "
            + advice(flow)
        )
    return (
        f"nothing is random {where}: all runs would be equal, so each of these points runs once, and an "
        f"interval would be of nothing. {advice(flow)}"
    )


def no_difference(runs: str, draws: Sequence[str], where: str = "") -> str:
    """Return the warning that runs came out the same although something was drawn."""
    named = ", ".join(draws[:_NAMED]) + (", …" if len(draws) > _NAMED else "")
    return (
        f"{runs} gave the same results{f' {where}' if where else ''}: the random parts ({named}) changed "
        "nothing in the measured time, so there is no interval"
    )


def places(labels: Sequence[str], all_points: int) -> str:
    """Return "at 2 of 6 points (reno, cubic)"; nothing where it is all of them."""
    if len(labels) == all_points:
        return ""
    named = "; ".join(labels[:_NAMED]) + ("; …" if len(labels) > _NAMED else "")
    return f"at {len(labels)} of the {all_points} points ({named})"
