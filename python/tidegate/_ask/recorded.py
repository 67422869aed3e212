"""What a scenario records, by its names."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate._ask.scenario import Scenario


def recorded_gates(scenario: Scenario) -> list[str]:
    """Return the gates, as written, that a run records: all, where nothing is named in ``[record]``."""
    record: dict[str, Any] = tomllib.loads(scenario.to_toml()).get("record", {})
    names = scenario.gate_names
    if not record.get("groups") and not {*record} & {*names, *scenario.flow_names}:
        return names
    return [name for name in names if name in record]
