"""Cells through the bottleneck per CPU second, as trains."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import programs
from tables import table, verdict

if TYPE_CHECKING:
    from pathlib import Path

#: Simulated seconds, and the target in millions.
SCENARIOS = {"shaped": (60, 150), "unshaped": (60, 150), "trains": (60, 500)}


def rate(program: Path, scenario: str, seconds: int) -> float:
    """Millions of cells per CPU second of a whole process."""
    outcome = programs.run([str(program), scenario, str(seconds)])
    return outcome.number("cells") / outcome.cpu_s / 1e6


def measure(*, rounds: int) -> None:
    """Print the table."""
    program = programs.build_example("cells")
    rows = []
    for scenario, (seconds, least) in SCENARIOS.items():
        found = [rate(program, scenario, seconds) for _ in range(rounds)]
        rows.append(
            [
                scenario,
                f"{median(found):.0f} ({min(found):.0f}-{max(found):.0f})",
                f"{least} {verdict(median(found) >= least)}",
            ]
        )
    table(
        "Millions of cells through the bottleneck per CPU second",
        ["", "as trains", "target"],
        rows,
        [
            "shaped, unshaped: four TCP connections and four background sources through a slotted",
            "multiplexer, TCP, shapers and reassembly included; trains: back-to-back packets, no TCP",
        ],
    )
