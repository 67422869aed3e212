"""Figs. 2, 4 to 6, 8 and 9: windows, rates and allocations over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure as Picture
from tidegate_papers.api import ACCENT, DASHED, INK, MID, SOFT, panels
from tidegate_papers.dtm import cases

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from tidegate_papers.api import Lab, Run, Study

SLOT_MBPS = 0.512


def window(axes: Axes, run: Run, flow: str = "bulk") -> None:
    """Draw a congestion window."""
    rows = run.flows[flow].series("cwnd")
    axes.plot(rows["time_s"], rows["cwnd_segments"], color=ACCENT, lw=0.9)
    axes.set_ylabel("window, segments")
    axes.set_ylim(bottom=0)


def per_interval(run: Run, gate: str, every_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals, s, and the rate that left a gate in each, Mbit/s."""
    rows = run.gates[gate].series("delivered")
    time = rows["time_s"].to_numpy()
    keep = np.isclose(time / every_s, np.round(time / every_s), atol=1e-6)
    time, total = time[keep], rows["bytes"].to_numpy()[keep].astype(float)
    return time[1:], np.diff(total) * 8 / every_s / cases.MBPS


def rate(axes: Axes, run: Run, gate: str = "own") -> None:
    """Draw the rate past a gate in intervals of 100 ms and of 1 s."""
    time, fine = per_interval(run, gate, 0.1)
    axes.plot(time, fine, color=SOFT, lw=0.6, label="100 ms")
    time, coarse = per_interval(run, gate, 1.0)
    axes.plot(time, coarse, color=INK, lw=1.1, label="1 s")
    axes.set_ylabel("rate, Mbit/s")
    axes.set_ylim(bottom=0)


def allocation(axes: Axes, run: Run, *, measured: str | None = "channel") -> None:
    """Draw the channel's capacity, and what passed through it."""
    rows = run.gates["channel"].series("rate")
    if measured is not None:
        time, coarse = per_interval(run, measured, 1.0)
        axes.plot(time, coarse, color=MID, lw=0.9, ls=DASHED, label="used, 1 s")
    axes.plot(
        rows["time_s"],
        rows["rate_bps"] / cases.MBPS,
        color=ACCENT,
        lw=1.3,
        drawstyle="steps-post",
        label="allocated",
    )
    axes.set_ylabel("channel, Mbit/s")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=7.5, loc="upper right", ncols=2)


def three(lab: Lab, name: str, changes: dict[str, Any] | None = None, replication: int = 0) -> Picture:
    """Draw window, rate and allocation of one flow, as Figs. 4 to 6 do."""
    run = lab.run(name, changes=changes, record="100 ms", replication=replication)
    picture, axes = panels(8.6, 2.7, 1, 3)
    (first, second, third) = axes[0]
    window(first, run)
    first.set_title("(a) congestion window")
    rate(second, run)
    second.set_title("(b) rate past the bottleneck")
    second.legend(frameon=False, fontsize=7.5, loc="upper right", ncols=2)
    allocation(third, run)
    third.set_title("(c) DTM allocation")
    for one in axes[0]:
        one.set_xlabel("time, s")
        one.set_xlim(0, run.summary["duration_s"])
    top = max(second.get_ylim()[1], third.get_ylim()[1])
    second.set_ylim(0, top)
    third.set_ylim(0, top)
    return picture


def draw_2(lab: Lab) -> Picture:
    """Draw the measured rate with its estimate, and the slots."""
    from tidegate import dtm

    run = lab.run("one-flow", changes={"duration": "20 s", "warmup": "0 s"}, record="100 ms")
    time, measured = per_interval(run, "own", 0.1)
    estimate = dtm.allocate(np.rint(measured * cases.MBPS).astype(np.int64).tolist())["current"] / cases.MBPS
    picture, axes = panels(8.6, 2.7, 1, 2)
    left, right = axes[0]
    left.plot(time, measured, color=SOFT, lw=0.8, label="measured every 100 ms")
    left.plot(time, estimate, color=ACCENT, lw=1.4, label="estimate (current)")
    left.set_title("(a) estimating the TCP rate")
    left.set_ylabel("rate, Mbit/s")
    left.set_ylim(bottom=0)
    left.legend(frameon=False, fontsize=7.5, loc="lower right")
    slots = run.gates["channel"].series("slots")
    right.plot(time, estimate / SLOT_MBPS, color=SOFT, lw=1.0, label="estimate")
    right.plot(
        slots["time_s"], slots["slots"], color=ACCENT, lw=1.4, drawstyle="steps-post", label="allocated slots"
    )
    right.set_title("(b) DTM slot allocation")
    right.set_ylabel("slots of 512 kbit/s")
    right.set_ylim(bottom=0)
    right.legend(frameon=False, fontsize=7.5, loc="lower right")
    for one in axes[0]:
        one.set_xlabel("time, s")
        one.set_xlim(0, 20)
    return picture


def draw_4(lab: Lab) -> Picture:
    """Draw one flow with 50 packets of queue."""
    return three(lab, "one-flow")


def steadiest(study: Study) -> int:
    """Return the first replication with the fewest changes of the allocation."""
    changes = study.values("gate.channel.allocation_changes")
    return min(range(len(changes)), key=lambda n: (changes[n] or 0.0, n))


def draw_5(lab: Lab) -> Picture:
    """Draw one flow with 10 packets of queue, in the calmest of the 16 phases and in the first."""
    study = lab.study("small-queue", gate="channel")
    steady = steadiest(study)
    changes = [value or 0.0 for value in study.values("gate.channel.allocation_changes")]
    restless = max(range(len(changes)), key=lambda n: (changes[n], -n))
    picture, axes = panels(8.6, 4.9, 2, 3)
    for row, replication, word in ((axes[0], steady, "calmest"), (axes[1], restless, "most restless")):
        run = lab.run("small-queue", record="100 ms", replication=replication)
        window(row[0], run)
        rate(row[1], run)
        allocation(row[2], run)
        row[0].set_title(f"(a) window, {word} phase")
        row[1].set_title("(b) rate past the bottleneck")
        row[2].set_title("(c) DTM allocation")
        for one in row[1:]:
            one.set_ylim(0, 8)
        for one in row:
            one.set_xlim(0, 60)
    axes[0][1].legend(frameon=False, fontsize=7.5, loc="upper right", ncols=2)
    for one in axes[1]:
        one.set_xlabel("time, s")
    return picture


def draw_6(lab: Lab) -> Picture:
    """Draw a Tahoe flow over a link of 50 ms."""
    return three(lab, "tahoe")


def draw_8(lab: Lab) -> Picture:
    """Draw two flows over a static channel."""
    run = lab.run("two-flows-static", record="100 ms")
    picture, axes = panels(8.6, 4.4, 2, 2, sharex=True)
    for row, flow in zip(axes, ("bulk.1", "bulk.2"), strict=True):
        window(row[0], run, flow)
        rate(row[1], run, f"sink/{flow}")
        row[0].set_title(f"window, flow {flow[-1]}")
        row[1].set_title(f"rate, flow {flow[-1]}")
        row[1].set_ylim(0, 6)
    axes[0][1].legend(frameon=False, fontsize=7.5, loc="lower right", ncols=2)
    for one in axes[1]:
        one.set_xlabel("time, s")
        one.set_xlim(0, 100)
    return picture


def draw_9(lab: Lab) -> Picture:
    """Draw the channel and two flows over it."""
    run = lab.run("two-flows", record="100 ms")
    picture = Picture(figsize=(8.6, 6.2), layout="constrained")
    grid = picture.add_gridspec(3, 2)
    top = picture.add_subplot(grid[0, :])
    allocation(top, run)
    drops = run.gates["channel"].drops()
    low = np.full(len(drops), 0.35)
    top.plot(drops["time_s"], low, ls="", marker="|", ms=5, color=INK, label="losses at node 3")
    top.legend(frameon=False, fontsize=7.5, loc="upper right", ncols=3)
    top.set_title("DTM allocation")
    top.set_xlim(0, 100)
    for row, flow in enumerate(("bulk.1", "bulk.2"), start=1):
        left, right = picture.add_subplot(grid[row, 0]), picture.add_subplot(grid[row, 1])
        window(left, run, flow)
        rate(right, run, f"sink/{flow}")
        left.set_title(f"window, flow {flow[-1]}")
        right.set_title(f"rate, flow {flow[-1]}")
        right.set_ylim(0, 6)
        left.set_ylim(0, 110)
        for one in (left, right):
            one.set_xlim(0, 100)
            if row == 2:
                one.set_xlabel("time, s")
        if row == 1:
            right.legend(frameon=False, fontsize=7.5, loc="upper right", ncols=2)
    return picture
