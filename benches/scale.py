"""Studies of very many runs: processor time and peak memory.

The step ``real`` does its runs, with a store. In the others the runs are invented: one real result whose
numbers are changed, packed as the simulator packs it. Everything else is the real thing: store, tables,
report, pictures, plan, parts, merge.

    python benches/scale.py [RUNS] [PARTS] [--only STEP]...
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

import tidegate as tg
from studies import SCENARIO
from tidegate._ask.compiled import simulate
from tidegate._jobs.job import Job, Outcome
from tidegate._jobs.store import Store
from tidegate._jobs.workers import Local
from tidegate._study.merge import merged
from tidegate._study.part import prepare_shared, write_part
from tidegate._study.plan import Shard, write_plan
from tidegate._study.start import execute_study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._study.points import Prepared

QUEUES = [f"{packets} packets" for packets in range(10, 110)]
STEPS = ("plan", "study", "parts", "merge", "real")


class Invented:
    """Workers that invent results."""

    def __init__(self) -> None:
        data = simulate(tg.Scenario.from_toml(SCENARIO), seed=1, record="summary")
        self._summary = json.loads(data.summary_json)
        self._done: deque[Outcome] = deque()

    def wanted(self, left: int) -> int:
        """Return how many jobs to give now."""
        return min(left, 64 - len(self._done))

    def submit(self, jobs: Sequence[Job]) -> None:
        """Take jobs."""
        for job in jobs:
            drawn = random.Random(job.number)
            for row in (*self._summary["flows"], *self._summary["gates"]):
                for key, value in row.items():
                    if isinstance(value, float):
                        row[key] = drawn.random()
            self._summary["replication"] = job.replication
            text = json.dumps({"summary": self._summary, "measured": {}})
            self._done.append(Outcome(job.number, zlib.compress(text.encode(), 1)))

    def collect(self, _: float) -> list[Outcome]:
        """Return finished jobs."""
        found = list(self._done)
        self._done.clear()
        return found

    def running(self) -> float:
        """Return 0."""
        return 0.0

    def close(self) -> None:
        """Do nothing."""


def prepared(runs: int) -> Prepared:
    """Return a study of a hundred points."""
    points = min(len(QUEUES), runs)
    return prepare_shared(
        tg.Scenario.from_toml(SCENARIO), {"gate.link.queue": QUEUES[:points]}, runs=runs // points
    )


def show(study: tg.Study, folder: Path) -> None:
    """Do what a person does with a study: report, JSON, pictures, folder."""
    told("report", lambda: study.report())
    told("json", lambda: study.to_json())
    told("picture of means", lambda: study.plot(folder / "means.png"))
    few = {"gate.link.queue": QUEUES[:4]}
    told(
        "picture of distributions", lambda: study.plot_cdf(folder / "cdf.png", metric="goodput_bps", only=few)
    )
    told("boxes", lambda: study.plot_box(folder / "box.png", metric="goodput_bps", only=few))
    told("HTML page", lambda: study.write_report(folder / "study.html"))
    told("folder", lambda: study.save(folder / "study", force=True))


def told(what: str, do: object) -> object:
    """Do something, and print what it took."""
    begin, wall = time.process_time(), time.perf_counter()
    result = do()  # type: ignore[operator]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cpu, real = time.process_time() - begin, time.perf_counter() - wall
    print(f"{what:26} {cpu:9.2f} s processor {real:9.2f} s wall {peak:8.0f} MB peak", flush=True)
    return result


def step(name: str, runs: int, parts: int, folder: Path) -> None:
    """Do one step in this process."""
    ready = told("check of the points", lambda: prepared(runs))
    if name == "plan":
        (folder / "plan").mkdir()
        told(
            "plan",
            lambda: write_plan(
                ready, parts, folder / "plan", place=folder, words=["tidegate", "study", "x.toml"]
            ),
        )
    elif name == "study":
        study = told("study", lambda: execute_study(ready, workers=Invented(), store=None))
        show(study, folder)
    elif name == "real":
        kept = Store(folder / "store")
        study = told("study", lambda: execute_study(ready, workers=Local(None), store=kept))
        show(study, folder)
    elif name == "parts":
        for number in range(1, parts + 1):
            out = folder / "parts" / str(number)
            out.mkdir(parents=True)
            do = lambda number=number, out=out: write_part(  # noqa: E731
                ready, Shard(number, parts), out, workers=Invented(), store=None
            )
            do() if 1 < number < parts else told(f"part {number}", do)
    else:
        folders = sorted((folder / "parts").iterdir(), key=lambda path: path.name)
        study, _ = told("merge", lambda: merged(folders))
        show(study, folder)


def main() -> None:
    """Do every step in a process of its own, so that each has its own peak."""
    parser = argparse.ArgumentParser(description="studies of very many runs")
    parser.add_argument("runs", nargs="?", type=int, default=100_000)
    parser.add_argument("parts", nargs="?", type=int, default=64)
    parser.add_argument("--only", action="append", choices=STEPS, metavar="STEP", help=", ".join(STEPS))
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = given.only or STEPS
    if given.inside:
        step(names[0], given.runs, given.parts, given.inside)
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            print(f"{name}: {given.runs} runs", flush=True)
            here = ["--only", name, "--inside", folder]
            subprocess.run([sys.executable, __file__, str(given.runs), str(given.parts), *here], check=True)


if __name__ == "__main__":
    main()
