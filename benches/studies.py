"""Points per second of a study on one worker and on two, in one alternating run."""

from __future__ import annotations

import time
from statistics import median

import tidegate as tg
from speed import spread
from tables import table

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
tcp.cc = "reno"
"""
QUEUES = ["10 packets", "20 packets", "40 packets", "80 packets"]


def runs_per_second(workers: int, runs: int, *, measured: bool) -> float:
    """Time one study without a store: four points of so many runs."""
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
    return len(QUEUES) * runs / (time.perf_counter() - begin)


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
        ["", "1 worker", "2 workers", "2 over 1: median (range)"],
        rows,
    )
