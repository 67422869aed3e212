"""Sections III and V: from which buffer on a slow start loses no packet, over real loss cycles."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from tidegate_papers.api import LEAST_RUNS, Finding, claim, estimate, shown, together, within
from tidegate_papers.tcp_over_abr import cases

if TYPE_CHECKING:
    from tidegate_papers.api import Estimate, Lab, Run, Study

#: A third of Δ + 1 packets.
CLAIMED = (cases.DELTA_PACKETS + 1) / 3
#: Buffers that are tried, packets: far enough on both sides of what is claimed that no choice decides.
BUFFERS = tuple(range(4, 21))
#: What the paper leaves open: in words, what it changes, and the runs, more than one where it is random.
VARIANTS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("no jitter", {}, 1),
    ("jitter of up to 1 ms", {"flow.bulk.jitter": "1 ms"}, LEAST_RUNS),
    ("jitter of up to 5 ms", {"flow.bulk.jitter": "5 ms"}, LEAST_RUNS),
    ("exponential jitter of 1 ms", {"flow.bulk.jitter": {"exponential": "1 ms"}}, LEAST_RUNS),
)
#: A packet more or less than what is claimed is counted.
NEAR = 1


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
        changes={
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


def ends_at(lab: Lab, changes: dict[str, Any], runs: int) -> tuple[Estimate, str]:
    """Return the least buffer from which on no slow start of a run loses; shares of cycles in words."""
    studies = {buffer: constant_link(lab, buffer, changes, runs) for buffer in BUFFERS}
    by_run = zip(*(study.values("hit") for study in studies.values()), strict=True)
    ends = [_end(shares) for shares in by_run]
    hit = {buffer: study.estimate("hit") for buffer, study in studies.items()}
    numbers = ", ".join(f"{shown(found)} with {buffer}" for buffer, found in hit.items() if found.mean)
    return estimate(ends), numbers


def _end(shares: tuple[float | None, ...]) -> float:
    """Return the least buffer from which on a run loses nothing in slow start, by its shares at each."""
    lossy = [buffer for buffer, share in zip(BUFFERS, shares, strict=True) if share]
    return float(max(lossy, default=BUFFERS[0] - 1) + 1)


@claim(
    "slow-start",
    where="§III-B, §V-A",
    says="TCP alone loses packets in slow start with a buffer below 1/3 of Δ + 1, not with a larger one.",
    unit="packets",
    paper=41 / 3,
    exact="Without jitter nothing is random, and one run tells all; with jitter there are 16",
)
def claim_slow_start(lab: Lab) -> Finding:
    """Find from which buffer on slow starts lose nothing, over the loss cycles of TCP alone."""
    parts, numbers = [], []
    for words, changes, runs in VARIANTS:
        end, shares = ends_at(lab, changes, runs)
        parts.append(within(end, CLAIMED - NEAR, CLAIMED + NEAR, words))
        numbers.append(
            f"{words}: none from {shown(end)} packets on; of the cycles {shares or 'none'} packets of buffer"
        )
    return Finding(
        together(
            *parts,
            rule="the least buffer from which on no slow start loses a packet lies within "
            f"{CLAIMED - NEAR:.4g} to {CLAIMED + NEAR:.4g} packets, with jitter its whole 95% interval",
        ),
        "The least buffer from which on no slow start loses a packet, among "
        f"{BUFFERS[0]} to {BUFFERS[-1]}, as mean of the runs. The cycles are those from one time-out to the "
        f"next, on a link of 100 kB/s, where a packet takes 5 ms. A third of Δ + 1 is {CLAIMED:.1f}; {NEAR} "
        f"packet more or less is counted. {'; '.join(numbers)}. The window that a slow start ends at is "
        "half of "
        "the last one, which depends on where the queue ran over. Without jitter the same few cycles repeat, "
        "and segments come in the exact steps of the doubling",
    )
