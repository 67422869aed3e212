"""Instructions per delivered packet, from callgrind: no clock, so no noise."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import programs
from tables import count, skip, table, verdict

if TYPE_CHECKING:
    from pathlib import Path

TITLE = "Instructions per delivered packet (callgrind, start-up subtracted, recording off)"

#: Budgets of NewReno; of a flow alone (s1, s2) many ACKs are dealt with in a row, of many that share a link
#: one at a time.
BUDGET = {"s1": 950, "s2": 800, "s3": 850, "s3k": 1050}

#: Budgets of Linux's controllers on s1, by their names in the program; other scenarios have none.
LINUX = {"linux-cubic": 1100, "linux-bbr": 1500}

#: Budget of the default TCP of base `linux` with a queue without a limit before s1's bottleneck.
DEFAULT = {"host-cubic": 900}

#: Budgets of disciplines before the bottleneck of s1.
QUEUES = {"fifo": 950, "codel": 1900, "pie": 1900, "fq_codel": 2500, "cake": 3500}

#: The one of them that ns-3 does not have.
NOT_IN_NS3 = "cake"

#: Budgets of flows that are recorded every 10 ms, in parts of what they cost unrecorded.
RECORDED = {"s1": 1.3, "s3": 1.3}

#: Simulated seconds of the short and of the long run.
LENGTHS = {"s1": (100, 200), "s2": (10, 20), "s3": (5, 10), "s3k": (5, 10)}
#: Of ns-3, which takes more than a hundred times as many instructions.
NS3_LENGTHS = (10, 20)
LONG = {"s1": (100, 200), "s2": (20, 60), "s3": (5, 20), "s3k": (5, 20)}


def measure(ours: Path, *, long: bool) -> None:
    """Print the table."""
    if shutil.which("valgrind") is None:
        skip(TITLE, "no valgrind here (Debian package valgrind)")
        return
    lengths = LONG if long else LENGTHS
    rows = [_row(ours, scenario, "newreno", lengths[scenario], BUDGET[scenario]) for scenario in lengths]
    for name, budget in LINUX.items():
        for scenario in lengths:
            rows.append(_row(ours, scenario, name, lengths[scenario], budget if scenario == "s1" else None))
    rows += [_row(ours, "s1:unlimited", name, lengths["s1"], budget) for name, budget in DEFAULT.items()]
    table(
        TITLE,
        ["scenario", "TCP", "counted", "packets", "instructions/packet", "budget", "met", "events/packet"],
        rows,
        ["packets: counted when they first arrive, in order or not"],
    )
    _recorded(ours)
    _disciplines(ours)


def _recorded(ours: Path) -> None:
    """Print what rows of flows cost, and rows of flows and gates; rows of gates have no budget."""
    rows: list[list[object]] = []
    for scenario, budget in RECORDED.items():
        without = _each(ours, scenario, LENGTHS[scenario])
        for every, gates in ((10, ""), (10, "+gates"), (100, "+gates")):
            recorded = _each(ours, f"{scenario}@{every}{gates}", LENGTHS[scenario])
            what = "flows and gates" if gates else "flows"
            met = ["", ""] if gates else [budget, verdict(recorded / without <= budget)]
            row = [scenario, what, f"{every} ms", f"{without:.0f}", f"{recorded:.0f}"]
            rows.append([*row, f"{recorded / without:.2f}", *met])
    head = ["scenario", "recorded", "every", "unrecorded", "recorded", "ratio", "budget", "met"]
    table("Instructions per delivered packet of recorded runs (NewReno)", head, rows, [])


def _each(ours: Path, scenario: str, lengths: tuple[int, int]) -> float:
    """Return what a packet of NewReno costs beyond a run's start, in instructions."""
    runs = [programs.instructions([str(ours), scenario, "newreno", str(seconds)]) for seconds in lengths]
    (before, first), (after, second) = runs
    return (after - before) / (second.number("delivered") - first.number("delivered"))


def _disciplines(ours: Path) -> None:
    """Print what a discipline before the bottleneck of s1 costs, beside ns-3's."""
    ns3 = programs.build_ns3_queues()
    rows: list[list[object]] = []
    for aqm, budget in QUEUES.items():
        scenario = "s1" if aqm == "fifo" else f"s1:{aqm}"
        *_, each, allowed, met, events = _row(ours, scenario, "newreno", LENGTHS["s1"], budget)
        theirs = ""
        if not isinstance(ns3, str) and aqm != NOT_IN_NS3:
            theirs = f"{_ns3(ns3, aqm):,.0f}".replace(",", " ")
        rows.append([f"s1, {aqm}", each, allowed, met, events, theirs])
    first, second = NS3_LENGTHS
    notes = [ns3 if isinstance(ns3, str) else f"ns-3: the same way, from {first} to {second} simulated s"]
    head = ["scenario", "instructions/packet", "budget", "met", "events/packet", "ns-3"]
    table("Instructions per delivered packet with a queue discipline (NewReno)", head, rows, notes)


def _ns3(program: Path, aqm: str) -> float:
    """Return what a packet costs in ns-3, beyond a run's start."""
    command = [str(program), "--chain=1", f"--aqm={aqm}", "--warmup=0", "--tcp=TcpNewReno"]
    runs = [programs.instructions([*command, f"--seconds={seconds}"]) for seconds in NS3_LENGTHS]
    (before, first), (after, second) = runs
    return (after - before) / (second.number("delivered") - first.number("delivered"))


def _row(ours: Path, scenario: str, tcp: str, lengths: tuple[int, int], budget: int | None) -> list[object]:
    """Return what a packet costs beyond a run's start, from a short run and a long one."""
    runs = [programs.instructions([str(ours), scenario, tcp, str(seconds)]) for seconds in lengths]
    (before, first), (after, second) = runs
    packets = second.number("delivered") - first.number("delivered")
    events = second.number("events") - first.number("events")
    each = (after - before) / packets
    return [
        scenario,
        tcp,
        f"{lengths[0]}-{lengths[1]} s",
        count(packets),
        f"{each:.0f}",
        "" if budget is None else budget,
        "" if budget is None else verdict(each <= budget),
        f"{events / packets:.2f}",
    ]
