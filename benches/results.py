"""What comes out, beside ns-2: the same scenarios with the same TCP settings."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import programs
from programs import Outcome
from tables import count, skip, table, verdict

TITLE = "Results beside ns-2"
VARIATIONS = Path(__file__).with_name("ns2_variations.tcl")

#: s1's bottleneck hop in milliseconds: two regimes of Reno, one and two drops per cycle.
DELAYS = [round(9.9 + 0.5 * step / 15, 3) for step in range(16)]
#: Microseconds added to every round-trip time of s3 and s3k.
SHIFTS = (0, 0.1, 1, 3, 10, 30, 100, 200)


def ours_and_ns2(ours: Path, scenario: str, tcp: str, vary: float) -> tuple[Outcome, Outcome]:
    """Run one variation in both."""
    return (
        programs.run([str(ours), scenario, tcp.lower(), "0", str(vary)]),
        programs.run(["ns", str(VARIATIONS), scenario, tcp, str(vary)]),
    )


def against_tolerances(ours: Path) -> None:
    """Print s1 to s3k with the tolerances that are promised."""
    missing = programs.no_scripts("ns2_tcp.tcl")
    if missing is not None:
        skip(f"{TITLE}: s1, s2, s3, s3k", missing)
        return
    rows: list[list[object]] = []
    for scenario in programs.SCENARIOS:
        mine = programs.run([str(ours), scenario])
        theirs = programs.run(["ns", str(programs.ns2_script()), scenario, "Newreno"])
        for name in ("delivered", "drops", "timeouts", "util"):
            a, b = mine.number(name), theirs.number(name)
            away = f"{100 * (a - b):+.2f} points" if name == "util" else f"{100 * (a / b - 1):+.2f}%"
            allowed, good = "", ""
            if scenario == "s1" and name == "delivered":
                allowed, good = "0.5%", verdict(abs(a / b - 1) <= 0.005)
            elif scenario == "s1" and name == "drops":
                allowed, good = "5%", verdict(abs(a / b - 1) <= 0.05)
            elif scenario != "s1" and name == "util":
                allowed, good = "1.5 points", verdict(abs(a - b) <= 0.015)
            show = (lambda x: f"{x:.4f}") if name == "util" else count
            rows.append([f"{scenario} {name}", show(a), show(b), away, allowed, good])
    table(
        f"{TITLE}: NewReno", ["", "ours", "ns-2", "difference", "allowed", "met"], rows,
        ["delivered is goodput in segments; s3 and s3k are chaotic: see the next table but one"],
    )  # fmt: skip


def reno_regimes(ours: Path) -> None:
    """Print Reno over the delays; no tolerance, for half a segment decides."""
    rows = []
    for delay in DELAYS:
        mine, theirs = ours_and_ns2(ours, "s1", "Reno", delay)
        rows.append(
            [
                f"{delay:.3f} ms",
                *(count(outcome.number(name)) for name in ("timeouts", "delivered", "drops")
                  for outcome in (mine, theirs)),
                f"{100 * (mine.number('delivered') / theirs.number('delivered') - 1):+.2f}%",
            ]
        )  # fmt: skip
    table(
        f"{TITLE}: Reno on s1 over the bottleneck hop's delay (no tolerance)",
        ["delay", "timeouts", "ns-2", "delivered", "ns-2", "drops", "ns-2", "delivered by"],
        rows,
    )


def medians(ours: Path, shifts: tuple[float, ...], scenarios: tuple[str, ...]) -> None:
    """Print s3 and s3k as medians over tiny changes of the round-trip times."""
    rows = []
    for scenario in scenarios:
        pairs = [ours_and_ns2(ours, scenario, "Newreno", shift) for shift in shifts]
        for name in ("util", "drops", "timeouts", "rexmit"):
            show = (lambda x: f"{x:.4f}") if name == "util" else count
            row = [f"{scenario} {name}"]
            for side in (0, 1):
                values = [pair[side].number(name) for pair in pairs]
                row += [show(median(values)), f"{show(min(values))} to {show(max(values))}"]
            rows.append(row)
    shown = ", ".join(f"{shift:g}" for shift in shifts)
    table(
        f"{TITLE}: s3 and s3k as medians, {shown} us added to every round-trip time",
        ["", "ours", "range", "ns-2", "range"],
        rows,
    )


def measure(ours: Path, *, long: bool) -> None:
    """Print the tables."""
    missing = programs.ns2()
    if missing is not None:
        skip(TITLE, missing)
        return
    against_tolerances(ours)
    reno_regimes(ours)
    if long:
        medians(ours, SHIFTS, ("s3", "s3k"))
    else:
        medians(ours, SHIFTS[1:6], ("s3",))
