"""Delivered packets per CPU second beside ns-2 and ns-3, in one alternating run."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import programs
from programs import Outcome
from tables import skip, table, verdict

TITLE = "Delivered packets per CPU second (user + system, NewReno, an ACK per segment)"
TARGETS = {"ns-2": {"s1": 60, "s2": 55, "s3": 45, "s3k": 60}, "ns-3": dict.fromkeys(programs.SCENARIOS, 250)}
MEMORY_MIB = 30

#: ns-3 is too slow for whole runs: simulated seconds, and how it finds routes. Its own
#: defaults otherwise (SACK, delayed ACKs): without SACK its first seconds deliver little.
NS3 = {
    "s1": ["--delack=1"],
    "s2": ["--dur=5", "--ssthresh=2073"],
    "s3": ["--dur=2"],
    "s3k": ["--dur=1", "--routing=static"],
}

#: CPU seconds that one process of ours is to take: start-up is then small beside it.
ENOUGH_S = 0.6


def rate(outcome: Outcome) -> float:
    """Delivered packets per CPU second of a whole process."""
    return outcome.number("total" if "total" in outcome.values else "delivered") / max(outcome.cpu_s, 1e-9)


def spread(values: list[float]) -> str:
    """Median and range."""
    if len(values) == 1:
        return f"{values[0]:.1f}"
    return f"{median(values):.1f} ({min(values):.1f}-{max(values):.1f})"


def millions(values: list[float]) -> str:
    """Median in millions."""
    return f"{median(values) / 1e6:.3g} M" if values else "-"


def measure(ours: Path, *, rounds: int, slow_rounds: int) -> None:
    """Print the table."""
    ns2_missing = programs.ns2() or programs.no_scripts("ns2_tcp.tcl")
    ns3 = programs.build_ns3()
    if ns2_missing is not None:
        skip(f"{TITLE}: ns-2", ns2_missing)
    if isinstance(ns3, str):
        skip(f"{TITLE}: ns-3", ns3)
    rows = []
    for scenario in programs.SCENARIOS:
        once = programs.run([str(ours), scenario])
        repeat = max(1, round(ENOUGH_S / max(once.cpu_s, 1e-3)))
        command = [str(ours), scenario, "newreno", "0", "10" if scenario == "s1" else "0", str(repeat)]
        mine: list[float] = []
        theirs: dict[str, list[float]] = {"ns-2": [], "ns-3": []}
        ratios: dict[str, list[float]] = {"ns-2": [], "ns-3": []}
        memory = {"ours": once.memory_mib, "ns-2": 0.0, "ns-3": 0.0}
        for turn in range(rounds):
            mine.append(rate(programs.run(command)))
            peers: dict[str, list[str]] = {}
            if ns2_missing is None:
                peers["ns-2"] = ["ns", str(programs.ns2_script()), scenario, "Newreno"]
            if isinstance(ns3, Path) and turn < slow_rounds:
                peers["ns-3"] = [
                    str(ns3), f"--scen={scenario}", *NS3[scenario]
                ]  # fmt: skip
            for name, peer in peers.items():
                outcome = programs.run(peer)
                theirs[name].append(rate(outcome))
                ratios[name].append(mine[-1] / theirs[name][-1])
                memory[name] = max(memory[name], outcome.memory_mib)
        if not ratios["ns-2"] and not ratios["ns-3"]:
            theirs = {}
        row: list[object] = [scenario, millions(mine), f"{rate(once) / 1e6:.3g} M", repeat]
        for name in ("ns-2", "ns-3"):
            if ratios[name]:
                row += [millions(theirs[name]), spread(ratios[name])]
                least = TARGETS[name][scenario]
                row.append(f"{least}: {verdict(median(ratios[name]) >= least)}")
            else:
                row += ["-", "-", "-"]
        row += [
            f"{memory['ours']:.1f}",
            *(f"{memory[n]:.0f}" if memory[n] else "-" for n in ("ns-2", "ns-3")),
        ]
        rows.append(row)
        if scenario == "s3k":
            met = verdict(once.memory_mib <= MEMORY_MIB)
            peak = f"peak memory of ours at s3k: {once.memory_mib:.1f} MiB of {MEMORY_MIB} allowed: {met}"
    table(
        TITLE,
        [
            "",
            "ours",
            "once",
            "runs",
            "ns-2",
            "ratio",
            "aim",
            "ns-3",
            "ratio",
            "aim",
            "MiB",
            "ns-2",
            "ns-3",
        ],
        rows,
        [
            f"ours, ns-2, ours, ns-2, ... {rounds} times; ratios pair by pair: median (least-greatest)",
            "once: one run in a process of its own, start-up included; ours: so many runs in one process",
            f"ns-3 in {slow_rounds} of the rounds: "
            + ", ".join(f"{name} {' '.join(options)}" for name, options in NS3.items()),
            peak,
        ],
    )
