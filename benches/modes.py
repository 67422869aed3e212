"""The kernel's TCP behind a policer beside the simulator's, as distributions.

``python benches/modes.py record FILE`` runs the template ``policer`` with the kernel (root, a quiet machine,
half a minute a run), once as it is and once without jitter, in turn; ``python benches/modes.py judge FILE``
simulates it with small changes (the delay by up to 1%, how late each host wakes after a pause) and compares
the two samples: Kolmogorov's and Smirnov's test, and that of Anderson and Darling for two samples.
``--latency 0 0`` has hosts that wake at once.
``benches/recorded/policer-modes.json`` has a recording.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import quantiles
from typing import Any

import tidegate as tg
from scipy import stats
from tables import table
from tidegate._ask.begin import template

#: Variant → what is set at the template's gate.
VARIANTS: dict[str, dict[str, str]] = {"as it is": {}, "without jitter": {"jitter": "0 ms"}}
#: Every so many runs one of the variant is made.
EVERY = {"as it is": 1, "without jitter": 2}
#: Numbers that are compared → unit and what they are divided by.
NUMBERS: dict[str, tuple[str, float]] = {
    "goodput": ("Mbit/s", 1e6),
    "loss": ("%", 0.01),
    "window": ("segments", 1),
}
#: How late a host wakes, in µs, at the least and at the most: half of its timers are so late, by
#: ``cargo run --release -p tidegate-live --example timing``.
LATENCIES_US = (20.0, 40.0)
#: The hosts, with steps that spread their latencies evenly and apart from each other.
HOSTS = {"sender": 0.618034, "receiver": 0.754878}
#: Samples differ if chance makes them so different in fewer than one of so many cases.
ALPHA = 0.01
DELAY_MS, PART = 20.0, 0.01
#: What is kept of how late the engine was, in µs.
LATE = ("p50_us", "p99_us", "p999_us", "max_us")


def scenario(variant: str) -> dict[str, Any]:
    """Return the template with what a variant sets."""
    made: dict[str, Any] = tomllib.loads(template("policer"))
    made["gate"]["isp"] |= VARIANTS[variant]
    return made


def measured(run: tg.Run) -> dict[str, Any]:
    """Return what is kept of a run."""
    (flow,) = run.summary["flows"]
    gate = next(gate for gate in run.summary["gates"] if gate["name"] == "isp")
    return {"goodput": flow["goodput_bps"], "loss": gate["loss"], "window": flow["cwnd_mean_segments"]}


def record(file: Path, count: int) -> None:
    """Run with the kernel until there are so many runs of the template, and half as many without jitter."""
    found = json.loads(file.read_text()) if file.exists() else {name: [] for name in VARIANTS}
    for seed in range(1, count + 1):
        for name, runs in found.items():
            if seed % EVERY[name] or len(runs) >= seed // EVERY[name]:
                continue
            run = tg.run(scenario(name), engine="live", seed=seed)
            late = {which: run.manifest["live"]["lateness"][which] for which in LATE}
            runs.append(measured(run) | late | {"drops_s": run.drops["time_s"].round(3).to_list()})
            file.write_text(json.dumps(found) + "\n")
            print(f"{name}, {seed}: {runs[-1]['goodput'] / 1e6:.2f} Mbit/s, {late}", flush=True)


def simulated(task: tuple[str, int, int, tuple[float, float]]) -> dict[str, Any]:
    """Simulate one of so many small changes of a variant, with hosts that wake so many µs late."""
    variant, number, count, (least, most) = task
    made = scenario(variant)
    gate, flow = made["gate"]["isp"], made["flow"]["download"]
    gate["delay"] = f"{DELAY_MS * (1 + PART * (2 * number / (count - 1) - 1)):.6f} ms"
    for host, step in HOSTS.items():
        latency = least + (most - least) * (number * step % 1)
        made["gate"][host] = {"jitter": {"wakeup": {"latency": f"{latency:.3f} us"}}}
    flow["path"] = ["sender", *flow["path"], "receiver"]
    return measured(tg.run(made, seed=1 + number, record="summary"))


def _five(values: list[float]) -> tuple[float, ...]:
    """Return the least, the quartiles and the greatest."""
    return min(values), *quantiles(values, n=4), max(values)


def judge(file: Path, count: int, latencies_us: tuple[float, float]) -> bool:
    """Print both distributions and what the tests say; whether they agree."""
    found = json.loads(file.read_text())
    rows, notes, agree = [], [], True
    with ProcessPoolExecutor() as workers:
        for variant, runs in found.items():
            there = list(runs)
            here = list(
                workers.map(simulated, [(variant, number, count, latencies_us) for number in range(count)])
            )
            for name, (unit, by) in NUMBERS.items():
                kernel, ours = ([run[name] / by for run in some] for some in (there, here))
                apart = stats.ks_2samp(kernel, ours).pvalue
                tails = stats.anderson_ksamp(
                    [kernel, ours], method=stats.PermutationMethod(n_resamples=9999)
                ).pvalue
                agree &= min(apart, tails) >= ALPHA
                for who, values in (("kernel", kernel), ("simulator", ours)):
                    row: list[object] = [f"{variant}: {name}, {unit}", who, len(values)]
                    row += [f"{value:.2f}" for value in _five(values)]
                    rows.append([*row, f"{apart:.3f}", f"{tails:.3f}"])
            for which, by in (("p99_us", 1.0), ("max_us", 1000.0)):
                late = [run[which] / by for run in runs]
                row = [f"{variant}: late, {which} in {'ms' if by > 1 else 'us'}", "kernel", len(late)]
                rows.append([*row, *(f"{value:.2f}" for value in _five(late)), "", ""])
            trend = stats.spearmanr([run["goodput"] for run in runs], [run["p99_us"] for run in runs])
            notes.append(
                f"{variant}: goodput and p99 of lateness rank as {trend.statistic:+.2f}, p {trend.pvalue:.3f}"
            )
    head = ["number", "of", "runs", "least", "25%", "50%", "75%", "most", "p (KS)", "p (AD)"]
    table("Behind a policer, kernel and simulator", head, rows, notes)
    print("the samples " + ("agree" if agree else "differ") + f" (p below {ALPHA}: they differ)")
    return agree


def main() -> int:
    """Record or judge; 1 if the samples differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("record", "judge"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--runs", type=int, help="runs of each variant: 30 with the kernel, 200 simulated")
    parser.add_argument(
        "--latency", type=float, nargs=2, default=LATENCIES_US, help="how late simulated hosts wake, us"
    )
    given = parser.parse_args()
    if given.what == "record":
        record(given.file, given.runs or 30)
        return 0
    return 0 if judge(given.file, given.runs or 200, tuple(given.latency)) else 1


if __name__ == "__main__":
    sys.exit(main())
