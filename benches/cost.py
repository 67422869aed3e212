"""Instructions per delivered packet, from callgrind: no clock, so no noise."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import programs
from tables import count, skip, table, verdict

if TYPE_CHECKING:
    from pathlib import Path

TITLE = "Instructions per delivered packet (callgrind, start-up subtracted, NewReno, recording off)"

#: Budgets; s2 is cheaper than s1 by nature, and 1000 flows may cost half as much again.
BUDGET = {"s1": 1000, "s2": 1000, "s3": 1500, "s3k": 1500}

#: Simulated seconds of the short and of the long run.
LENGTHS = {"s1": (100, 200), "s2": (10, 20), "s3": (5, 10), "s3k": (5, 10)}
LONG = {"s1": (100, 200), "s2": (20, 60), "s3": (5, 20), "s3k": (5, 20)}


def measure(ours: Path, *, long: bool) -> None:
    """Print the table."""
    if shutil.which("valgrind") is None:
        skip(TITLE, "no valgrind here (Debian package valgrind)")
        return
    rows = []
    for scenario, (short, end) in (LONG if long else LENGTHS).items():
        runs = [
            programs.instructions([str(ours), scenario, "newreno", str(seconds)]) for seconds in (short, end)
        ]
        (before, first), (after, second) = runs
        packets = second.number("delivered") - first.number("delivered")
        events = second.number("events") - first.number("events")
        each = (after - before) / packets
        rows.append(
            [
                scenario,
                f"{short}-{end} s",
                count(packets),
                f"{each:.0f}",
                BUDGET[scenario],
                verdict(each <= BUDGET[scenario]),
                f"{events / packets:.2f}",
            ]
        )
    table(
        TITLE,
        ["scenario", "counted", "packets", "instructions/packet", "budget", "met", "events/packet"],
        rows,
        ["packets: counted when they first arrive, in order or not"],
    )
