"""DTM channels beside ns-2: the topologies of the paper's Figs. 3 and 7, the same estimator in both.

dtm_ns2.py [--phases N] [--only WORD]

Each line is a mean over runs whose flows start at other instants of the first 100 ms; ours and
ns-2's start at the same ones. Agreement is a difference of goodput of 3% at most and of slots of
0.5 at most, or within the joint 95% interval (Welch) where that is wider. Exit status 1 when
something disagrees.

ns-2 is the Debian package ns2; its side is dtm_ns2.tcl here. What it takes to be equal: its
DropTail with a limit of L holds L - 1 packets that wait; its window halves as a real number and only
the threshold in whole segments (`ssthresh_rounding = "ns2"`); it grows by 1/cwnd for each ACK; every
hop is a line in both directions, so ACKs are served at each.
"""

from __future__ import annotations

import argparse
import math
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, variance
from typing import TYPE_CHECKING

import tidegate as tg
from tidegate._base.text import table

if TYPE_CHECKING:
    from collections.abc import Sequence

SCRIPT = Path(__file__).with_name("dtm_ns2.tcl")
WARMUP_S, DURATION_S = 20, 100
#: ns-2's name and ours.
TCPS = {
    "Tahoe": 'tcp.cc = "tahoe"',
    "Reno": 'tcp.cc = "reno"',
    "Newreno": 'tcp.cc = "newreno"',
}
#: 97.5% quantiles of Student's t for 1 to 30 degrees of freedom.
STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """One topology with its buffers and delays."""

    name: str
    topology: str
    own: int
    queue: int
    delays_ms: tuple[float, float, float, float]
    dynamic: bool = True

    @property
    def flows(self) -> int:
        """How many flows there are."""
        return 1 if self.topology == "fig3" else 2


SETTINGS = (
    Setting("fig. 4", "fig3", 50, 50, (10, 10, 10, 10)),
    Setting("fig. 5", "fig3", 10, 50, (2.5, 2.5, 2.5, 2.5)),
    Setting("fig. 6", "fig3", 10, 50, (1, 1, 50, 1)),
    Setting("fig. 8, static", "fig7", 50, 10, (10, 10, 10, 10), dynamic=False),
    Setting("fig. 9", "fig7", 50, 10, (10, 10, 10, 10)),
)


@dataclass(frozen=True)
class Outcome:
    """What one run gave, after the warm-up."""

    goodput_bps: tuple[float, ...]
    slots: float
    changes: int
    drops: int
    timeouts: int


def starts(phase: int, flows: int) -> list[int]:
    """Draw a start for each flow, in microseconds; the same for every engine and TCP."""
    draw = random.Random(f"phase {phase}")
    return [draw.randrange(100_000) for _ in range(flows)]


def theirs(setting: Setting, tcp: str, phase: int) -> Outcome:
    """Run ns-2."""
    options = {
        "topology": setting.topology,
        "tcp": tcp,
        "starts": " ".join(f"{us / 1e6:.6f}" for us in starts(phase, setting.flows)),
        "duration": DURATION_S,
        "warmup": WARMUP_S,
        "own": setting.own,
        "queue": setting.queue,
        "delays": " ".join(f"{ms:g}" for ms in setting.delays_ms),
        "dynamic": int(setting.dynamic),
    }
    words = [str(word) for option in options.items() for word in option]
    done = subprocess.run(["ns", str(SCRIPT), *words], capture_output=True, text=True, check=False)
    values = dict(pair.split("=", 1) for pair in done.stdout.split() if "=" in pair)
    if done.returncode != 0 or "slots_mean" not in values:
        raise SystemExit(f"ns {SCRIPT.name} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return Outcome(
        tuple(float(bps) for bps in values["goodput_bps"].split(",")),
        float(values["slots_mean"]),
        int(values["changes"]),
        int(values["drops"]),
        int(values["timeouts"]),
    )


def scenario(setting: Setting, tcp: str, phase: int) -> str:
    """Return our scenario: every hop a gate in each direction, as ns-2 has it."""
    first, second, third, fourth = setting.delays_ms
    lines = [
        f'duration = "{DURATION_S} s"',
        f'warmup = "{WARMUP_S} s"',
        *_gate(
            "channel",
            'rate.dtm.slot = "512 kbit/s"' if setting.dynamic else 'rate = "10 Mbit/s"',
            third,
            setting.queue,
        ),
        *_gate("return", 'rate = "512 kbit/s"', third),
    ]
    each = [("access", 10, 0.0, None), ("own", 5, first, setting.own), ("sink", 10, fourth, None)]
    if setting.topology == "fig3":
        each = [("access", 10, first, None), ("own", 5, second, setting.own), ("sink", 10, fourth, None)]
    for name, mbits, delay, waiting in each:
        lines += _gate(name, f'per = "flow"\nrate = "{mbits} Mbit/s"', delay, waiting)
        lines += _gate(f"{name}_back", f'per = "flow"\nrate = "{mbits} Mbit/s"', delay)
    path, back = ["access", "own"], ["own_back", "access_back"]
    if setting.topology == "fig7":
        for name in ("trunk", "trunk_back"):
            lines += _gate(name, 'rate = "100 Mbit/s"', second)
        path, back = [*path, "trunk"], ["trunk_back", *back]
    path, back = [*path, "channel", "sink"], ["sink_back", "return", *back]
    for number, start in enumerate(starts(phase, setting.flows)):
        lines += [
            f"[flow.bulk{number}]",
            f"path = {path}".replace("'", '"'),
            f"back = {back}".replace("'", '"'),
            f'start = "{start} us"',
            TCPS[tcp],
            'tcp.mss = "1000 B"\ntcp.headers = "40 B"\ntcp.window = "10000 segments"',
            'tcp.delayed_ack = false\ntcp.initial_window = "2 segments"\ntcp.sack = false',
            'tcp.ssthresh_rounding = "ns2"\ntcp.increase = "per ack"',
            "tcp.limited_transmit = true\ntcp.go_back_n = true",
            'tcp.rto = { min = "200 ms", tick = "10 ms", initial = "3 s", phase = "common" }',
        ]
    return "\n".join(lines) + "\n"


def _gate(name: str, rate: str, delay_ms: float, waiting: int | None = None) -> list[str]:
    queue = [] if waiting is None else [f'queue = "{waiting} packets"']
    return [f"[gate.{name}]", rate, f'delay = "{delay_ms:g} ms"', *queue]


def ours(setting: Setting, tcp: str, phase: int) -> Outcome:
    """Run Tidegate."""
    run = tg.run(tg.Scenario.from_toml(scenario(setting, tcp, phase)), seed=1, record="summary")
    channel = run.gates.row("channel").summary
    flows = [flow.summary for flow in run.flows]
    return Outcome(
        tuple(flow["goodput_bps"] for flow in flows),
        channel["slots_mean"] if setting.dynamic else 10e6 / 512e3,
        channel["allocation_changes"] if setting.dynamic else 0,
        channel["dropped_packets"],
        sum(flow["timeouts"] for flow in flows),
    )


def joint_interval(one: Sequence[float], other: Sequence[float]) -> float:
    """Return half of the 95% interval of the difference of two means (Welch)."""
    if len(one) < 2:
        return 0.0
    parts = [variance(values) / len(values) for values in (one, other)]
    if sum(parts) == 0:
        return 0.0
    freedom = sum(parts) ** 2 / sum(part**2 / (len(one) - 1) for part in parts)
    # Rounded down: a little wider than it need be.
    return STUDENT[min(int(freedom), len(STUDENT)) - 1] * math.sqrt(sum(parts))


@dataclass(frozen=True)
class Agreement:
    """One quantity in both, and whether they agree."""

    quantity: str
    mine: Sequence[float]
    theirs: Sequence[float]
    allowed: float

    @property
    def difference(self) -> float:
        """Ours less ns-2's."""
        return mean(self.mine) - mean(self.theirs)

    @property
    def interval(self) -> float:
        """Half of the joint 95% interval."""
        return joint_interval(self.mine, self.theirs)

    @property
    def good(self) -> bool:
        """Whether they agree."""
        return abs(self.difference) <= max(self.allowed, self.interval)


def compared(mine: Sequence[Outcome], other: Sequence[Outcome]) -> list[Agreement]:
    """Compare what has a tolerance: goodput of all flows together, and slots."""
    goodput = [[sum(run.goodput_bps) for run in runs] for runs in (mine, other)]
    slots = [[run.slots for run in runs] for runs in (mine, other)]
    return [
        Agreement("goodput", goodput[0], goodput[1], 0.03 * mean(goodput[1])),
        Agreement("slots", slots[0], slots[1], 0.5),
    ]


def no_ns2() -> str | None:
    """Return why ns-2 cannot run; None if it can."""
    return None if shutil.which("ns") else "no ns-2 here (Debian package ns2)"


def measure(settings: Sequence[Setting], tcps: Sequence[str], phases: int) -> bool:
    """Print the table; say whether all agree."""
    rows: list[list[str]] = []
    everything = True
    for setting in settings:
        for tcp in tcps:
            mine = [ours(setting, tcp, phase) for phase in range(phases)]
            other = [theirs(setting, tcp, phase) for phase in range(phases)]
            seen = compared(mine, other)
            everything &= all(each.good for each in seen)
            rows.append([f"{setting.name} {tcp}", *_cells(seen), *_counts(mine, other)])
    print(f"DTM channels beside ns-2, means over {phases} start phases, {WARMUP_S} to {DURATION_S} s\n")
    head = ["", "goodput Mbit/s", "ns-2", "difference", "±", "met",
         "slots", "ns-2", "±", "met", "changes", "ns-2", "drops", "ns-2", "timeouts", "ns-2"]  # fmt: skip
    print(table([head], rows, left=1))
    print("±: half of the joint 95% interval; goodput of all flows. Allowed: 3% and 0.5 slots, or ± if more.")
    return everything


def _cells(seen: Sequence[Agreement]) -> list[str]:
    goodput, slots = seen
    base = mean(goodput.theirs)
    return [
        f"{mean(goodput.mine) / 1e6:.3f}",
        f"{base / 1e6:.3f}",
        f"{100 * goodput.difference / base:+.2f}%",
        f"{100 * goodput.interval / base:.2f}%",
        "yes" if goodput.good else "NO",
        f"{mean(slots.mine):.2f}",
        f"{mean(slots.theirs):.2f}",
        f"{slots.interval:.2f}",
        "yes" if slots.good else "NO",
    ]


def _counts(mine: Sequence[Outcome], other: Sequence[Outcome]) -> list[str]:
    names = ("changes", "drops", "timeouts")
    return [f"{mean(getattr(run, name) for run in runs):.1f}" for name in names for runs in (mine, other)]


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description="DTM channels beside ns-2")
    parser.add_argument("--phases", type=int, default=16, help="start phases of each line")
    parser.add_argument("--only", default="", help="lines whose name has this in it, such as 'fig. 9'")
    args = parser.parse_args()
    if args.phases < 1:
        parser.error("one phase at least")
    settings = [setting for setting in SETTINGS if args.only in setting.name]
    if not settings:
        parser.error(f"no line has {args.only!r} in its name; {', '.join(each.name for each in SETTINGS)}")
    missing = no_ns2()
    if missing is not None:
        print(f"skipped: {missing}")
        return
    sys.exit(0 if measure(settings, tuple(TCPS), args.phases) else 1)


if __name__ == "__main__":
    main()
