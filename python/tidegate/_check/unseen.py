"""Events that none of a few random runs has seen: how often they may happen all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._base.estimate import Estimate, most_if_none
from tidegate._run.metric import chances
from tidegate._run.summary import OF_GATE
from tidegate._run.words import possible

if TYPE_CHECKING:
    from tidegate._study.value import Study


def unseen(study: Study, metric: str, point: int) -> Estimate | None:
    """Return the estimate of a counted number of which several runs saw nothing: 0, and at most so much.

    None of other numbers.
    """
    values = study.values(metric, point)
    if len(values) < 2 or any(value != 0 for value in values):
        return None

    def total(name: str) -> float | None:
        found = study.values(name, point)
        return None if None in found else sum(value or 0.0 for value in found)

    whose = f"gate.{study.gate}.{metric}" if metric in OF_GATE else metric
    among = chances(whose, len(values), total)
    if among is None:
        return None
    return Estimate(0.0, most_if_none(among), None, len(values), possible(metric))
