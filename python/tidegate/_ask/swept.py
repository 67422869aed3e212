"""What is said where one run, or one answer, is of a scenario that makes many."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate._ask.scenario import Scenario


def sweep_warnings(scenario: Scenario) -> list[str]:
    """Return that the combinations of ``[[sweep]]`` are left out; nothing where there are none."""
    if scenario.combinations == 1:
        return []
    told = (
        f"the scenario's sweep makes {scenario.combinations} combinations; this is of the values outside "
        "[[sweep]] (tidegate study runs them all)"
    )
    return [told]
