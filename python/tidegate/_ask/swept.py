"""What is said where one run, or one answer, is of a scenario that makes many."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate._ask.scenario import Scenario


def sweep_warnings(scenario: Scenario) -> list[str]:
    """Return that the combinations of ``[[sweep]]`` are left out; nothing where there are none."""
    warning = scenario._inner.sweep_warning
    return [] if warning is None else [warning]
