"""The Linux kernel's TCP beside the simulator's, over many links: how many numbers agree.

``python benches/kernel.py record FILE`` runs the suite with the kernel (root, a quiet machine) and writes
what each run measured; ``python benches/kernel.py judge FILE`` simulates the same links with
``tcp.base = "linux"`` and compares; ``page FILE`` prints the same as the page ``docs/kernel-notes/links.md``.
``benches/recorded/`` has a recording. ``--only`` takes links whose name contains a text, ``--cc`` some of the
controllers.

A number agrees if the simulator's mean lies between the least and the greatest of the kernel's runs, or
within 2% (goodput, time to complete), 10% (delays) or 15% (drops, segments sent again, time-outs) of their
mean. There is no floor below which a count agrees by itself.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from pathlib import Path
from statistics import mean
from typing import Any

import tidegate as tg
from tables import table

CONTROLLERS = ("reno", "cubic", "bbr")
#: Seconds of a run in which nothing else is asked for; at least 40 round trips.
SECONDS = 8
#: Number → the relative difference that still agrees.
NUMBERS: dict[str, float] = {
    "goodput": 0.02,
    "mean delay": 0.10,
    "p99 delay": 0.10,
    "drops": 0.15,
    "resent": 0.15,
    "time-outs": 0.15,
    "completion": 0.02,
    "share": 0.10,
}
#: A round trip is made longer by 1, 2, ... of so many milliseconds to see how much a number depends on it.
SHIFTS, SHIFT_MS = 40, 0.01
#: Number → its unit, and what it is divided by.
UNITS: dict[str, tuple[str, float]] = {
    "goodput": (" Mbit/s", 1e6),
    "mean delay": (" ms", 1),
    "p99 delay": (" ms", 1),
    "drops": ("", 1),
    "resent": ("", 1),
    "time-outs": ("", 1),
    "completion": (" s", 1),
    "share": ("%", 0.01),
}
#: The page of the documentation without its rows, and the picture that stands in it (``windows.py``).
PAGE = Path(__file__).with_name("kernel_page.md")
WINDOWS = (
    "![Congestion windows of the kernel and of the simulator over eight links: the lines lie on each other, "
    "but for the losses at a token bucket and single probes of BBR.](../images/kernel-windows.png)"
)
#: Links with nothing but a rate (Mbit/s), a round trip (ms) and queues (round trips of data).
PLAIN: tuple[tuple[float, float, tuple[float, ...]], ...] = (
    (1, 20, (4,)),
    (1, 100, (0.5, 2)),
    (1, 600, (1,)),
    (2, 40, (0.25, 1, 8)),
    (2, 300, (2,)),
    (5, 20, (1, 4)),
    (5, 200, (0.5, 2)),
    (10, 40, (0.1, 0.25, 0.5, 1, 2, 4, 8)),
    (10, 100, (0.5, 1, 2)),
    (10, 600, (1,)),
    (20, 10, (1, 4)),
    (20, 80, (0.25, 1, 2)),
    (20, 300, (0.5,)),
    (50, 20, (0.5, 1, 4)),
    (50, 50, (0.25, 1, 2)),
    (50, 150, (1,)),
    (100, 5, (2,)),
    (100, 20, (0.5, 1)),
    (100, 80, (1,)),
    (200, 10, (1,)),
    (200, 40, (0.5,)),
)
#: Queues that the flow shares with one of CUBIC: rate (Mbit/s), round trip (ms), queue (round trips of data),
#: discipline, and what is set of both flows.
SHARED: tuple[tuple[float, float, float, str, dict[str, Any]], ...] = (
    (10, 40, 1, "none", {}),
    (10, 40, 4, "none", {}),
    (50, 20, 1, "none", {}),
    (10, 40, 4, "codel", {}),
    (10, 40, 4, "pie", {}),
    (10, 40, 4, "codel", {"ecn": "classic"}),
    (50, 20, 4, "fq_codel", {}),
    (50, 20, 4, "dualpi2", {"ecn": "classic"}),
)
#: The round trip of the CUBIC flow where it is not the other's.
FARTHER_MS = 120
#: Rates over 20 ms of a cellular link (made by ``tidegate traces synth``).
CELLULAR = Path(__file__).parents[1] / "examples" / "cellular.csv"


def link(rate: float, rtt: float, bdp: float, **more: Any) -> dict[str, Any]:
    """Return a scenario: a flow over ``rate`` Mbit/s, ``rtt`` ms, a queue of ``bdp`` round trips."""
    packets = max(2, round(bdp * rate * 1e6 * rtt * 1e-3 / 8 / 1500))
    gate: dict[str, Any] = {"rate": f"{rate} Mbit/s", "queue": f"{packets} packets", "delay": f"{rtt / 2} ms"}
    gate |= more.pop("gate", {})
    flow: dict[str, Any] = {"path": ["link"], "rtt": f"{rtt} ms", "tcp": {"base": "linux"}}
    flow |= {"start": {"uniform": ["200 ms", "250 ms"]}, "app": "bulk"} | more.pop("flow", {})
    seconds = more.pop("seconds", max(SECONDS, round(40 * rtt / 1000)))
    return {
        "title": "a link of the suite",
        "duration": f"{seconds} s",
        "seed": 1,
        "gate": {"link": gate} | more.pop("gates", {}),
        "flow": {"f": flow},
    }


def shared(
    rate: float, rtt: float, bdp: float, aqm: str, tcp: dict[str, Any], other: float
) -> dict[str, Any]:
    """Return a link that the flow shares with one of CUBIC, whose round trip is ``other`` ms."""
    made = link(rate, rtt, bdp, seconds=24, flow={"tcp": {"base": "linux"} | tcp})
    made["warmup"] = "4 s"
    gate, flow = made["gate"]["link"], made["flow"]["f"]
    gate["queue"] = {"limit": gate["queue"], "aqm": aqm}
    made["flow"]["cubic"] = flow | {"rtt": f"{other} ms", "tcp": flow["tcp"] | {"cc": "cubic"}}
    return made


def suite() -> dict[str, dict[str, Any]]:
    """Return every link under its name."""
    links: dict[str, dict[str, Any]] = {}
    for rate, rtt, queues in PLAIN:
        for bdp in queues:
            links[f"{rate} Mbit/s, {rtt} ms, {bdp} BDP"] = link(rate, rtt, bdp)
    for loss in ("0.1%", "0.5%", "1%", "2%"):
        links[f"10 Mbit/s, 40 ms, loss {loss}"] = link(10, 40, 2, gate={"loss": loss})
    links["50 Mbit/s, 20 ms, loss 0.5%"] = link(50, 20, 2, gate={"loss": "0.5%"})
    for burst in ("20 kB", "100 kB"):
        bucket = {"rate": {"token_bucket": {"rate": "8 Mbit/s", "burst": burst}}}
        links[f"token bucket 8 Mbit/s, {burst}"] = link(8, 40, 1, gate=bucket)
        police = {"police": {"rate": "6 Mbit/s", "burst": burst}}
        links[f"policer 6 Mbit/s, {burst}"] = link(50, 40, 1, gate=police)
    links["policer 20 Mbit/s, 50 kB"] = link(
        50, 20, 1, gate={"police": {"rate": "20 Mbit/s", "burst": "50 kB"}}
    )
    for rtt, queue in ((50, 300), (100, 100)):
        varying = {"rate": {"trace": str(CELLULAR)}, "queue": f"{queue} packets"}
        links[f"cellular, {rtt} ms, {queue} packets"] = link(10, rtt, 1, gate=varying, seconds=20)
    for size in ("10 kB", "100 kB", "1 MB", "4 MB", "10 MB"):
        transfer = {"app": {"transfer": size}, "start": "100 ms"}
        links[f"transfer of {size}"] = link(10, 40, 1, flow=transfer, seconds=10 if size == "10 MB" else 6)
    for think in ("100 ms", "1 s"):
        answers = {"app": {"request": {"response": "200 kB", "think": think}}, "start": "100 ms"}
        links[f"answers of 200 kB every {think}"] = link(10, 40, 1, flow=answers)
    for count in (2, 4, 8):
        links[f"{count} flows, 20 Mbit/s, 40 ms"] = link(20, 40, 1, flow={"count": count})
    for rate, rtt, bdp, aqm, tcp in SHARED:
        told = f"{aqm}{' with ECN' if tcp else ''}, " if aqm != "none" else ""
        links[f"beside CUBIC: {rate} Mbit/s, {rtt} ms, {told}{bdp} BDP"] = shared(
            rate, rtt, bdp, aqm, tcp, rtt
        )
    links[f"beside CUBIC of {FARTHER_MS} ms: 10 Mbit/s, 40 ms, 1 BDP"] = shared(
        10, 40, 1, "none", {}, FARTHER_MS
    )
    for back, rtt in (("200 kbit/s", 40), ("500 kbit/s", 80)):
        thin = {"gates": {"back": {"rate": back, "queue": "50 packets", "delay": "10 ms"}}}
        links[f"10 Mbit/s, {rtt} ms, ACKs at {back}"] = link(10, rtt, 1, flow={"back": ["back"]}, **thin)
    return links


def numbers(run: tg.Run) -> dict[str, float | None]:
    """Return what a run gives under each of :data:`NUMBERS`: of all flows together, but for ``f``'s share."""
    summary = run.summary
    flows = summary["flows"]
    goodput = sum(flow["goodput_bps"] for flow in flows)
    first = next((flow for flow in flows if flow["name"] == "f"), None)
    gate = next(gate for gate in summary["gates"] if gate["name"] == "link")
    done = [flow["completion_s"] for flow in flows]
    return {
        "goodput": goodput,
        "mean delay": gate["queue_delay_mean_ms"],
        "p99 delay": gate["queue_delay_p99_ms"],
        "drops": gate["dropped_packets"],
        "resent": sum(flow["segments_retransmitted"] for flow in flows),
        "time-outs": sum(flow["timeouts"] for flow in flows),
        "completion": max(done) if None not in done else None,
        "share": first["goodput_bps"] / goodput if first and len(flows) > 1 else None,
    }


def runs_of(scenario: dict[str, Any], cc: str, engine: str, count: int) -> list[dict[str, float | None]]:
    """Return the numbers of ``count`` runs with seeds of their own."""
    changed = json.loads(json.dumps(scenario))
    changed["flow"]["f"]["tcp"]["cc"] = cc
    return [one(changed, engine, seed) for seed in range(1, count + 1)]


def one(scenario: dict[str, Any], engine: str, seed: int) -> dict[str, float | None]:
    """Return the numbers of a run; a live run that was late, or that a busy machine ended, is run again."""
    for tries_left in (3, 2, 1, 0):
        try:
            run = tg.run(scenario, engine=engine, seed=seed, record="summary")
        except tg.errors.RunError as error:
            if engine != "live" or tries_left == 0:
                raise
            late = str(error)
        else:
            if engine != "live" or not run.warnings or tries_left <= 1:
                return numbers(run)
            late = run.warnings[0]
        print(f"  again, seed {seed}: {late}", file=sys.stderr, flush=True)
    raise AssertionError("the last try returns or raises")


def agrees(name: str, kernel: list[float], simulated: float) -> bool:
    """Whether a number of the simulator's is the kernel's, by the rule above."""
    centre = mean(kernel)
    return min(kernel) <= simulated <= max(kernel) or abs(simulated - centre) <= NUMBERS[name] * abs(centre)


def shifted(scenario: dict[str, Any], cc: str) -> list[dict[str, float | None]]:
    """Return the numbers of runs whose round trips differ by hundredths of a millisecond."""
    changed = json.loads(json.dumps(scenario))
    flow = changed["flow"]["f"]
    flow["tcp"]["cc"] = cc
    rtt = float(flow["rtt"].removesuffix(" ms"))
    runs = []
    for shift in range(1, SHIFTS + 1):
        flow["rtt"] = f"{rtt + shift * SHIFT_MS:.2f} ms"
        runs.append(one(changed, "sim", 1 + shift % 5))
    return runs


def chosen(only: str) -> dict[str, dict[str, Any]]:
    """Return the links whose name contains ``only``."""
    return {name: scenario for name, scenario in suite().items() if only in name}


def record(file: Path, controllers: list[str], only: str, count: int) -> None:
    """Run the suite with the kernel; what the file holds already is kept."""
    found = json.loads(file.read_text()) if file.exists() else {}
    found["kernel"] = platform.release()
    for name, scenario in chosen(only).items():
        for cc in controllers:
            key = f"{name} | {cc}"
            if key not in found:
                found[key] = runs_of(scenario, cc, "live", count)
                file.write_text(json.dumps(found))
                print(key, flush=True)


def compare(file: Path, controllers: list[str], only: str) -> tuple[list[list[str]], list[str], str]:
    """Simulate what the file holds; return rows of links, lines of controllers, and which kernel it was."""
    found = json.loads(file.read_text())
    score = {cc: dict.fromkeys(NUMBERS, (0, 0)) for cc in controllers}
    rows = []
    for name, scenario in chosen(only).items():
        for cc in controllers:
            kernel = found.get(f"{name} | {cc}")
            if kernel is None:
                continue
            simulated = runs_of(scenario, cc, "sim", len(kernel))
            wrong: list[str] = []
            near: list[dict[str, float | None]] = []
            for number in NUMBERS:
                there = [run.get(number) for run in kernel]
                here = [run[number] for run in simulated]
                if None in there or None in here:
                    continue
                inside, total = score[cc][number]
                good = agrees(number, there, mean(here))
                score[cc][number] = (inside + good, total + 1)
                if not good:
                    unit, by = UNITS[number]
                    least, most, ours = (
                        f"{value / by:.3g}" for value in (min(there), max(there), mean(here))
                    )
                    near = near or shifted(scenario, cc)
                    met = sum(agrees(number, there, run[number]) for run in near)
                    wrong.append(f"{number} {ours}, not {least} to {most}{unit} ({met})")
            rows.append([name, cc, "; ".join(wrong) or "all"])
    lines = []
    for cc, of_cc in score.items():
        inside, total = (sum(pair[n] for pair in of_cc.values()) for n in (0, 1))
        parts = ", ".join(f"{number} {i} of {t}" for number, (i, t) in of_cc.items() if t)
        if total:
            lines.append(
                f"{cc}: {inside} of {total} numbers agree ({inside / total:.1%}). By number: {parts}"
            )
    return rows, lines, found["kernel"]


def judge(file: Path, controllers: list[str], only: str) -> None:
    """Print where kernel and simulator differ: the simulator's mean, the range of the kernel's runs."""
    rows, lines, kernel = compare(file, controllers, only)
    table(f"Kernel {kernel} and simulator", ["link", "cc", "what agrees"], rows, lines)


def page(file: Path, controllers: list[str], only: str) -> None:
    """Print the same as a page of the documentation."""
    rows, lines, kernel = compare(file, controllers, only)
    print(
        PAGE.read_text()
        .rstrip()
        .format(
            kernel=kernel.split("-")[0],
            count=len(rows),
            scores="\n".join(f"- {line}." for line in lines),
            windows=WINDOWS,
        )
    )
    for row in rows:
        print("| " + " | ".join(row) + " |")


def main() -> int:
    """Record or judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("record", "judge", "page"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--cc", default=",".join(CONTROLLERS), help="controllers, separated by commas")
    parser.add_argument("--only", default="", help="links whose name contains this")
    parser.add_argument("--runs", type=int, default=5, help="runs of each link with the kernel (5)")
    arguments = parser.parse_args()
    controllers = arguments.cc.split(",")
    if arguments.what == "record":
        record(arguments.file, controllers, arguments.only, arguments.runs)
    else:
        tell = judge if arguments.what == "judge" else page
        tell(arguments.file, controllers, arguments.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
