"""Runs per second of a study on one processor and on two, alternating; what a study costs beside its runs."""

from __future__ import annotations

import os
import time
from statistics import median
from tempfile import TemporaryDirectory

import tidegate as tg
from speed import spread
from tables import table
from tidegate._ask.compiled import simulate
from tidegate._jobs.workers import Local
from tidegate._study.points import prepare
from tidegate._study.start import execute_study

#: Two Reno flows over one queue: a run takes some milliseconds, as those of a sweep do.
SCENARIO = """\
duration = "30 s"
warmup = "5 s"
seed = 1
[gate.link]
rate = "10 Mbit/s"
queue = "20 packets"
delay = "10 ms"
[flow.bulk]
count = 2
path = ["link"]
rtt = "40 ms"
start.uniform = ["0 s", "100 ms"]
tcp.base = "rfc"
tcp.cc = "reno"
"""
QUEUES = ["10 packets", "20 packets", "40 packets", "80 packets"]


#: The processors of this process; the threads of a study have those of the thread that makes them.
PROCESSORS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def runs_per_second(workers: int, runs: int, *, measured: bool) -> float:
    """Time one study of four points without a store, on as many processors as it has workers."""
    if len(PROCESSORS) > 1:
        os.sched_setaffinity(0, PROCESSORS[:workers])
    begin = time.perf_counter()
    tg.study(
        tg.Scenario.from_toml(SCENARIO),
        vary={"gate.link.queue": QUEUES},
        runs=runs,
        workers=workers,
        store=False,
        measure=top_window if measured else None,
        record="100 ms" if measured else None,
    )
    speed = len(QUEUES) * runs / (time.perf_counter() - begin)
    if len(PROCESSORS) > 1:
        os.sched_setaffinity(0, PROCESSORS)
    return speed


def possible(runs: int) -> float:
    """Return how much faster two processors can be than one, by the processor times of one study.

    What other programs do at the same time does not matter to it: all of the work may be shared but for what
    the calling thread does after the last run.
    """
    ends = []
    prepared = prepare(tg.Scenario.from_toml(SCENARIO), {"gate.link.queue": QUEUES}, runs=runs)
    begin, all_begin = time.thread_time(), time.process_time()
    execute_study(prepared, workers=Local(2), store=None, progress=lambda _: ends.append(time.thread_time()))
    alone, whole = time.thread_time() - ends[-1], time.process_time() - all_begin
    shared = max(whole - alone, 2 * (ends[-1] - begin))
    return whole / (shared / 2 + alone)


def overhead_ms(runs: int, *, store: str | bool) -> float:
    """Return the processor time of a study beside that of its runs alone, for each run, milliseconds."""
    short = tg.Scenario.from_toml(SCENARIO.replace('"30 s"', '"1 s"').replace('"5 s"', '"0 s"'))
    begin = time.process_time()
    for replication in range(runs):
        simulate(short, seed=1, replication=replication, record="summary")
    between = time.process_time()
    tg.study(short, runs=runs, workers=1, store=store)
    return 1e3 * ((time.process_time() - between) - (between - begin)) / runs


def top_window(run: tg.Run) -> dict[str, float]:
    """Return a number that needs columns."""
    return {"top": float(run.table("flows")["cwnd_segments"].max())}


def measure(*, rounds: int, long: bool) -> None:
    """Print the table."""
    runs = 96 if long else 32
    rows = []
    for what, measured in (("summaries", False), ("with a measure on columns", True)):
        speeds: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(rounds):
            for workers in (1, 2):
                speeds[workers].append(runs_per_second(workers, runs, measured=measured))
        ratios = [two / one for one, two in zip(speeds[1], speeds[2], strict=True)]
        rows.append([what, f"{median(speeds[1]):.0f}", f"{median(speeds[2]):.0f}", spread(ratios)])
    table(
        f"Runs of a study per second: {len(QUEUES)} points of {runs} runs, 30 s, two Reno flows, 10 Mbit/s",
        ["", "1 processor", "2 processors", "2 over 1: median (range)"],
        rows,
    )
    costs = []
    shares = [possible(runs) for _ in range(rounds)]
    told = f"{median(shares):.2f} ({min(shares):.2f} to {max(shares):.2f})"
    table("Two processors over one, by processor times (summaries)", ["", "median (range)"], [["", told]])
    for what, kept in (("without a store", False), ("with a store", True)):
        found = []
        for _ in range(rounds):
            with TemporaryDirectory() as folder:
                found.append(overhead_ms(2000, store=folder if kept else False))
        costs.append([what, f"{median(found):.3f} ({min(found):.3f} to {max(found):.3f})"])
    table(
        "Processor time of a study beside that of its runs, ms a run: 2000 runs of 0.1 to 0.2 ms",
        ["", "median (range)"],
        costs,
    )
