"""What still waited at gates when a run ended, where the waits in the tables would be others with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import counts_cells, number, wrapped
from tidegate._run.words import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence


def waiting_lines(gates: Sequence[dict[str, Any]]) -> list[str]:
    """Return a sentence for each gate where something had waited longer than its p99 when the run ended."""
    waiting = [gate for gate in gates if _matters(gate)]
    lines: list[str] = []
    for gate in waiting[:MOST_ROWS]:
        what = "cells" if counts_cells(gate) else "packets"
        lines += ["", wrapped(_sentence(gate, what), "  ")]
    if len(waiting) > MOST_ROWS:
        lines += [
            "",
            f"(the first {MOST_ROWS} of {len(waiting)} gates where packets still waited; --json prints all)",
        ]
    return lines


def _matters(gate: dict[str, Any]) -> bool:
    """Whether one had waited longer than 99 of 100 of those that left, or none had left."""
    longest, p99 = gate.get("waiting_max_ms"), gate.get("queue_delay_p99_ms")
    return longest is not None and (p99 is None or longest > p99)


def _sentence(gate: dict[str, Any], what: str) -> str:
    count = gate[f"waiting_{what}"]
    return (
        f"Still waiting at gate {gate['name']} when the run ended: {number(count)} {what}, for "
        f"{number(gate['waiting_mean_ms'])} ms on average and {number(gate['waiting_max_ms'])} ms at most; "
        "waits count what was served"
    )
