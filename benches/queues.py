"""Queue disciplines beside ns-3's: the same dumbbell, the same TCP, one table from one run.

queues.py [--runs N] [--seconds S] [--only AQM ...]

Five NewReno flows with SACK and PRR share 20 Mbit/s; their round trips are 40, 50, 60, 70 and 80 ms.
Each run starts the flows at other offsets. The first 10 s do not count.
Drops and marks are sums over the runs, the other numbers are means.
A discipline or a program that is missing here is left out, with the reason.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

import programs
import tidegate as tg
from tables import count, skip, table

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "Queue disciplines beside ns-3: five NewReno flows, 20 Mbit/s, round trips of 40 to 80 ms"
WARMUP_S = 10
#: What is said above a difference.
FAR = 0.05

#: The keys of our gate; ns3_queues.cc has the same.
DISCIPLINES = {
    "fifo": "",
    "red": 'queue.aqm.red = { min = "10 packets", max = "30 packets", mean_packet = "1500 B", wait = true }',
    "codel": 'queue.aqm = "codel"',
    "pie": 'queue.aqm = "pie"',
    "pie, random": "queue.aqm.pie = { derandomize = false }",
    "fq_codel": 'queue.aqm.fq_codel = { quantum = "1500 B" }',
}
#: Not with ECN: a FIFO never marks, and ns-3's PIE does not clear the sum of probabilities when it marks
#: instead of dropping, so that it soon marks every packet.
WITHOUT_ECN = ("fifo", "pie")


class Found(NamedTuple):
    """What one program gave, over all runs."""

    drops: float
    marks: float
    mean_ms: float
    p99_ms: float
    goodput_mbps: float


def offsets(runs: int) -> list[int]:
    """Return milliseconds between the starts of two flows, another in each run."""
    return [37 + 61 * run for run in range(runs)]


def ours(aqm: str, *, ecn: bool, seconds: int, runs: int) -> Found:
    """Run the simulator."""
    rows = []
    for offset in offsets(runs):
        flows = "".join(
            f"""
            [flow.f{n}]
            path = ["link"]
            rtt = "{40 + 10 * n} ms"
            start = "{offset * n} ms"
            tcp.base = "rfc"
            tcp.cc = "newreno"
            tcp.mss = "1460 B"
            tcp.window = "unlimited"
            tcp.initial_window = "10 segments"
            tcp.sack = true
            tcp.delayed_ack = false
            tcp.increase = "per ack"
            tcp.reduction = "prr"
            tcp.rto.min = "200 ms"
            tcp.ecn = "{"classic" if ecn else "off"}"
            """
            for n in range(5)
        )
        text = f"""
            duration = "{seconds} s"
            warmup = "{WARMUP_S} s"
            seed = {offset}
            [gate.link]
            rate = "20 Mbit/s"
            queue.limit = "{100 if aqm == "fifo" else 1000} packets"
            {DISCIPLINES[aqm]}
            {flows}
            """
        run = tg.run(tg.Scenario.from_toml(text), record="summary")
        gate = run.gates["link"]
        goodput = sum(flow["goodput_bps"] for flow in run.flows.to_dicts()) / 1e6
        delays = (gate["queue_delay_mean_ms"], gate["queue_delay_p99_ms"])
        rows.append(Found(gate["dropped_packets"], gate.summary.get("marked_packets", 0), *delays, goodput))
    return together(rows)


def theirs(program: str, aqm: str, *, ecn: bool, seconds: int, runs: int) -> Found:
    """Run ns-3, two runs at a time."""
    name, _, random = aqm.partition(", ")

    def once(offset: int) -> Found:
        where = [f"--aqm={name}", f"--ecn={int(ecn)}", f"--derandomize={int(not random)}"]
        when = [f"--offset={offset}", f"--seconds={seconds}", f"--warmup={WARMUP_S}"]
        told = programs.run([program, *where, *when])
        names = ("drops", "marks", "delay_mean_ms", "delay_p99_ms", "goodput_mbps")
        return Found(*(told.number(name) for name in names))

    with ThreadPoolExecutor(2) as pool:
        return together(list(pool.map(once, offsets(runs))))


def together(rows: list[Found]) -> Found:
    """Return the sums of drops and marks, and the means of the others."""
    columns = list(zip(*rows, strict=True))
    return Found(sum(columns[0]), sum(columns[1]), *(mean(column) for column in columns[2:]))


def away(mine: float, other: float) -> str:
    """Return the difference in percent, with a star where it is far."""
    if other == 0:
        return "" if mine == 0 else "new *"
    far = mine / other - 1
    return f"{100 * far:+.1f}%{' *' if abs(far) > FAR else ''}"


def measure(*, runs: int, seconds: int, only: list[str]) -> None:
    """Print the table."""
    program = programs.build_ns3_queues()
    if isinstance(program, str):
        skip(TITLE, program)
        return
    shown: dict[str, Callable[[float], str]] = {
        "drops": count,
        "marks": count,
        "mean_ms": "{:.2f}".format,
        "p99_ms": "{:.2f}".format,
        "goodput_mbps": "{:.2f}".format,
    }
    rows = []
    for aqm in only:
        for ecn in (False, True):
            if ecn and aqm in WITHOUT_ECN:
                continue
            try:
                mine = ours(aqm, ecn=ecn, seconds=seconds, runs=runs)
            except tg.errors.ScenarioError as refused:
                skip(aqm, str(refused).splitlines()[0])
                break
            other = theirs(str(program), aqm, ecn=ecn, seconds=seconds, runs=runs)
            row: list[object] = [f"{aqm}{', ECN' if ecn else ''}"]
            for name, show in shown.items():
                a, b = getattr(mine, name), getattr(other, name)
                row += [show(a), show(b), away(a, b)]
            rows.append(row)
    head = ["drops", "ns-3", "", "marks", "ns-3", "", "mean wait ms", "ns-3", "", "p99 ms", "ns-3", ""]
    notes = [
        f"{runs} runs of {seconds - WARMUP_S} s each, other starts in each",
        f"* differs by more than {FAR:.0%}: docs/design/measured.md#queue-disciplines says why",
    ]
    table(TITLE, ["discipline", *head, "goodput Mbit/s", "ns-3", ""], rows, notes)


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=TITLE)
    parser.add_argument("--runs", type=int, default=4, help="runs with other starts")
    parser.add_argument("--seconds", type=int, default=60, help="simulated seconds of a run")
    parser.add_argument("--only", nargs="+", choices=list(DISCIPLINES), default=list(DISCIPLINES))
    args = parser.parse_args()
    if args.runs < 1 or args.seconds <= WARMUP_S:
        parser.error(f"one run at least, of more than {WARMUP_S} s")
    measure(runs=args.runs, seconds=args.seconds, only=args.only)


if __name__ == "__main__":
    main()
