"""Packets of TCP over ABR per CPU second: the rate fed back (INSTCAP, EFFCAP) and TCP alone."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import tidegate as tg
from tables import count, table
from tidegate_papers._reproduce import paper as _paper

FOLDER = _paper.FOLDER / "tcp_over_abr"
#: (words, scenario, changes).
CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("TCP alone", "alone", {}),
    ("INSTCAP", "abr", {}),
    ("EFFCAP, M 7, N 49", "abr", {"gate.abr.rate.follow.effcap": {"m": 7, "n": 49}}),
    ("two sessions, EFFCAP", "sessions", {}),
)


def once(file: str, changes: dict[str, Any], replication: int) -> tuple[float, float]:
    """Return packets through the link, and packets per CPU second, of one run of 3000 s."""
    scenario = tg.load(FOLDER / f"{file}.toml", changes={"duration": "3000 s", **changes})
    begin = time.process_time()
    run = tg.run(scenario, record="summary", seed=1 + replication)
    spent = time.process_time() - begin
    packets = run.gates["link"]["delivered_packets"]
    return packets, packets / spent


def measure(*, rounds: int) -> None:
    """Print the table."""
    rows = []
    found: dict[str, list[tuple[float, float]]] = {words: [] for words, _, _ in CASES}
    for replication in range(rounds):
        for words, file, changes in CASES:
            found[words].append(once(file, changes, replication))
    for words, each in found.items():
        speeds = [speed for _, speed in each]
        told = f"{count(median(speeds))} ({count(min(speeds))}-{count(max(speeds))})"
        rows.append([words, count(median([packets for packets, _ in each])), told])
    table(
        "TCP over ABR, 3000 simulated seconds of 500-byte packets",
        ["", "packets through the link", "packets per CPU second"],
        rows,
        ["one thread, from a checked scenario to its summary; every packet's ACK included"],
    )
