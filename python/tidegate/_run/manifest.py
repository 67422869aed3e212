"""What a reader needs to make a run again and to understand its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.versions import made_with
from tidegate._run.columns import TABLES

if TYPE_CHECKING:
    from tidegate._ask.scenario import Scenario

HEADERS_NOTE = (
    "goodput counts payload only, each byte when it first arrives; throughput, rates and "
    "queues in bytes count every header on the gate's wire"
)


def manifest_of(
    scenario: Scenario,
    seed: int | None,
    replication: int,
    warnings: list[str],
    command: list[str] | None,
    *,
    engine: str = "sim",
) -> dict[str, Any]:
    """Return the manifest of a run; its folder adds what the folder holds."""
    return {
        "kind": "run",
        "layout": 1,
        "engine": engine,
        "title": scenario.title,
        "scenario_file": scenario.name,
        "scenario": scenario.to_toml(),
        "seed": seed,
        "replication": replication,
        "inputs": scenario.inputs,
        "computed_sizes": scenario.computed_sizes,
        "draws": scenario.draws,
        "laws": scenario.laws(),
        "warnings": warnings,
        "headers": HEADERS_NOTE,
        **made_with(),
        "command": command,
        "tables": TABLES,
    }
