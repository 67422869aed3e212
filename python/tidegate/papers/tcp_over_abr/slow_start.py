"""Sections III and V: from which buffer on a slow start loses no packet, over real loss cycles."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

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
#: What the paper leaves open, in words, with what it changes.
VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (("as chosen", {}),)


def losses(run: Run) -> dict[str, float | None]:
    """Return in which share of the cycles, each ended by a time-out, a slow start lost a packet."""
    import polars as pl

    begin = run.summary["measured_from_s"]
    phase = run.flows["bulk"].columns().select("time_s", pl.col("phase").cast(pl.String))
    lost = run.drops.filter(pl.col("time_s") >= begin).select("time_s").join_asof(phase, on="time_s")
    outs = run.marks.filter((pl.col("kind").cast(pl.String) == "timeout") & (pl.col("time_s") >= begin))
    ends = outs["time_s"].to_list()
    starts = lost.filter(pl.col("phase") == "slow start")["time_s"].to_list()
    cycles = list(itertools.pairwise(ends))
    hit = sum(any(first < at <= last for at in starts) for first, last in cycles)
    return {"cycles": float(len(cycles)), "hit": hit / len(cycles) if cycles else None}


def constant_link(lab: Lab, buffer: int, changes: dict[str, Any]) -> Study:
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
        gate="link",
        measure=losses,
        record="events",
    )


def ends_at(lab: Lab, changes: dict[str, Any]) -> tuple[int, str]:
    """Return the least buffer from which on no cycle loses in slow start, and the shares in words."""
    hit = {buffer: constant_link(lab, buffer, changes).estimate("hit") for buffer in BUFFERS}
    clean = [buffer for buffer in BUFFERS if all((hit[n].mean or 0) == 0 for n in BUFFERS if n >= buffer)]
    told = ", ".join(f"{shown(found)} with {buffer}" for buffer, found in hit.items() if found.mean)
    return min(clean, default=BUFFERS[-1] + 1), told


def claim_slow_start(lab: Lab) -> Finding:
    """Find from which buffer on slow starts lose nothing, over the loss cycles of TCP alone."""
    from tidegate._estimate import Estimate

    parts, told = [], []
    for words, changes in VARIANTS:
        end, shares = ends_at(lab, changes)
        found = Estimate(float(end), None, None, constant_link(lab, end, changes).estimate("cycles").n)
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
