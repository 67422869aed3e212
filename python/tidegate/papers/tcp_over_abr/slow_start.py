"""Sections III and V: from which buffer on a slow start loses no packet, over real loss cycles."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from tidegate._estimate import Estimate
from tidegate._paper import Finding
from tidegate._paper_parts import shown
from tidegate._verdict import together, within
from tidegate.papers.tcp_over_abr import cases

if TYPE_CHECKING:
    from tidegate._paper import Lab
    from tidegate._run_value import Run
    from tidegate._study_value import Study

#: A third of Δ + 1 packets.
CLAIMED = (cases.DELTA_PACKETS + 1) / 3
#: Buffers that are tried, packets: far enough on both sides of what is claimed that no choice decides.
BUFFERS = tuple(range(4, 21))
#: What the paper leaves open: in words, what it changes, and the runs, more than one where it is random.
VARIANTS: tuple[tuple[str, dict[str, Any], int], ...] = (("as chosen", {}, 1),)


def losses(run: Run) -> dict[str, float | None]:
    """Return in which share of the cycles, each ended by a time-out, a slow start lost a packet.

    A packet is lost by a slow start where the window is below the pipe, Δ + 1 packets: a steady
    window of that size leaves the queue empty, so only the doubling's bursts can fill it. They do so until a
    round trip after the window has come to its threshold.
    """
    import polars as pl

    begin = run.summary["measured_from_s"]
    window = run.flows["bulk"].columns().select("time_s", "cwnd_segments")
    lost = run.drops.filter(pl.col("time_s") >= begin).select("time_s").join_asof(window, on="time_s")
    starts = lost.filter(pl.col("cwnd_segments") < cases.DELTA_PACKETS + 1)["time_s"].to_list()
    outs = run.marks.filter((pl.col("kind").cast(pl.String) == "timeout") & (pl.col("time_s") >= begin))
    cycles = list(itertools.pairwise(outs["time_s"].to_list()))
    hit = sum(any(first < at <= last for at in starts) for first, last in cycles)
    return {"cycles": float(len(cycles)), "hit": hit / len(cycles) if cycles else None}


def constant_link(lab: Lab, buffer: int, changes: dict[str, Any], runs: int) -> Study:
    """Return TCP alone over a link of constant rate."""
    return lab.study(
        "alone",
        set={
            "gate.link.rate": "100 kB/s",
            cases.QUEUE: f"{buffer} packets",
            **cases.windows(cases.DELTA_PACKETS, buffer),
            "duration": "130 s" if lab.quick else "330 s",
            **changes,
        },
        runs=runs,
        gate="link",
        measure=losses,
        record="events",
    )


def ends_at(lab: Lab, changes: dict[str, Any], runs: int) -> tuple[int, str]:
    """Return the least buffer from which on no cycle loses in slow start, and the shares in words."""
    hit = {buffer: constant_link(lab, buffer, changes, runs).estimate("hit") for buffer in BUFFERS}
    clean = [buffer for buffer in BUFFERS if all((hit[n].mean or 0) == 0 for n in BUFFERS if n >= buffer)]
    told = ", ".join(f"{shown(found)} with {buffer}" for buffer, found in hit.items() if found.mean)
    return min(clean, default=BUFFERS[-1] + 1), told


def claim_slow_start(lab: Lab) -> Finding:
    """Find from which buffer on slow starts lose nothing, over the loss cycles of TCP alone."""
    parts, told = [], []
    for words, changes, runs in VARIANTS:
        end, shares = ends_at(lab, changes, runs)
        found = Estimate(float(end), None, None, runs)
        parts.append(within(found, CLAIMED - 1, CLAIMED + 1, words))
        told.append(
            f"{words}: none from {end} packets on; of the cycles {shares or 'none'} packets of buffer"
        )
    return Finding(
        together(*parts),
        "The least buffer from which on no slow start loses a packet, among "
        f"{BUFFERS[0]} to {BUFFERS[-1]}, over the cycles from one time-out to the next on a link of 100 "
        "kB/s. "
        f"A third of Δ + 1 is {CLAIMED:.1f}; a packet more or less is counted. {'; '.join(told)}. The window "
        "that a slow start ends at is half of the last one, which depends on where the queue ran over, and "
        "segments come in the steps of the doubling and not as a fluid",
    )
