"""Cells through the bottleneck per CPU second, one by one and as trains, in one alternating run."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import programs
from tables import table, verdict

if TYPE_CHECKING:
    from pathlib import Path

#: Simulated seconds, and the targets one by one and with trains, in millions.
SCENARIOS = {"shaped": (60, 60, 150), "unshaped": (60, 60, 150), "trains": (60, None, 500)}


def rates(program: Path, scenario: str, mode: list[str], seconds: int) -> float:
    """Millions of cells per CPU second of a whole process."""
    outcome = programs.run([str(program), scenario, str(seconds), *mode])
    return outcome.number("cells") / outcome.cpu_s / 1e6


def spread(values: list[float]) -> str:
    """Median and range."""
    return f"{median(values):.0f} ({min(values):.0f}-{max(values):.0f})"


def measure(*, rounds: int) -> None:
    """Print the table."""
    program = programs.build_example("cells")
    rows = []
    for scenario, (seconds, least_single, least_trains) in SCENARIOS.items():
        single: list[float] = []
        trains: list[float] = []
        for _ in range(rounds):
            trains.append(rates(program, scenario, [], seconds))
            single.append(rates(program, scenario, ["one-by-one"], seconds))
        ratio = [many / one for many, one in zip(trains, single, strict=True)]
        rows.append(
            [
                scenario,
                spread(single),
                "-" if least_single is None else f"{least_single} {verdict(median(single) >= least_single)}",
                spread(trains),
                f"{least_trains} {verdict(median(trains) >= least_trains)}",
                f"{median(ratio):.1f} ({min(ratio):.1f}-{max(ratio):.1f})",
            ]
        )
    table(
        "Millions of cells through the bottleneck per CPU second",
        ["", "one by one", "target", "trains", "target", "trains / one by one"],
        rows,
        [
            "shaped, unshaped: four TCP connections and four background sources through a slotted",
            "multiplexer, TCP, shapers and reassembly included; trains: back-to-back packets, no TCP",
        ],
    )
