"""The channel of Figs. 2 to 5 with a real TCP: the Linux kernel's Reno and CUBIC.

The estimator sees the kernel's packets as it sees the simulator's. The kernel keeps its own timers,
its own initial window and its own way to count the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate_papers.api import (
    ACCENT,
    INK,
    MID,
    Figure,
    Finding,
    above,
    claim,
    estimate,
    panels,
    plus_minus,
    together,
    within,
)
from tidegate_papers.dtm.cases import CC
from tidegate_papers.dtm.claims import SOURCE, TITLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from tidegate_papers.api import Estimate, Lab, Run

__all__ = ["CLAIMS", "FIGURES", "QUICK", "SOURCE", "TITLE"]

QUICK = "Quick: two runs of 20 s and not five of 60 s"
ALONE = "One flow alone, nothing is random: runs differ by the phase of the start and by the machine's timing"
#: Payload in the bottleneck's 5 Mbit/s.
FULL_BPS = 5e6 * 1000 / 1040


def runs(lab: Lab, cc: str) -> list[Run]:
    """Return runs of Fig. 4's scenario with one of the kernel's controllers."""
    span: dict[str, Any] = {"duration": "20 s", "warmup": "8 s"} if lab.quick else {}
    return lab.live("one-flow", changes={CC: cc, **span}, runs=2 if lab.quick else 5, record="100 ms")


def goodput_share(found: list[Run]) -> Estimate:
    """Return goodput over what the bottleneck can carry."""
    return estimate(run.summary["flows"][0]["goodput_bps"] / FULL_BPS for run in found)


def channel(found: list[Run], column: str) -> Estimate:
    """Return a column of the channel's summary."""
    return estimate(run.gates.row("channel").summary[column] for run in found)


def follows(lab: Lab, cc: str) -> Finding:
    """Measure what TCP gets, and what the channel is given beyond that."""
    found = runs(lab, cc)
    share = goodput_share(found)
    spare_mbps = estimate(run.gates.row("channel").summary["overallocation_bps_mean"] / 1e6 for run in found)
    lost = sum(run.gates.row("channel").summary["dropped_packets"] for run in found)
    slots = channel(found, "slots_mean")
    return Finding(
        together(
            within(spare_mbps, 0.5, 1.5, of="the capacity beyond what comes, Mbit/s,"),
            above(
                share, 0.95, of="TCP's share of what the bottleneck carries", unit="share of the bottleneck"
            ),
        ),
        f"Capacity of the channel beyond what comes; it has {plus_minus(slots)} slots in the mean and drops "
        f"{lost} packets, and TCP has {plus_minus(share)} of what the bottleneck carries",
    )


@claim(
    "live-reno",
    where="§2.2, Fig. 4",
    says="A channel that follows a real Reno takes nothing from it, and has about 1 Mbit/s more than comes.",
    unit="Mbit/s",
    paper=1.0,
    figures=("live-fig-4",),
    exact=ALONE,
)
def claim_reno(lab: Lab) -> Finding:
    """Measure the kernel's Reno."""
    return follows(lab, "reno")


@claim(
    "live-cubic",
    where="beyond the paper",
    says="The same holds for a real CUBIC.",
    unit="Mbit/s",
    paper=1.0,
    figures=("live-fig-4",),
    exact=ALONE,
)
def claim_cubic(lab: Lab) -> Finding:
    """Measure the kernel's CUBIC."""
    return follows(lab, "cubic")


def draw_rates(lab: Lab) -> Picture:
    """Draw the channel's rate and the window of a run with each."""
    picture, axes = panels(6.4, 4.2, 2, 2)
    for column, cc in enumerate(("reno", "cubic")):
        run = runs(lab, cc)[0]
        rate = run.gates["channel"].series("rate")
        window = run.flows["bulk"].series("cwnd")
        upper, lower = axes[0][column], axes[1][column]
        upper.step(rate["time_s"], rate["rate_bps"] / 1e6, where="post", color=ACCENT, lw=1.2)
        upper.axhline(5, color=MID, lw=0.8, ls=":")
        upper.set_ylim(0, 10.5)
        upper.set_title(f"the kernel's {'Reno' if cc == 'reno' else 'CUBIC'}")
        lower.plot(window["time_s"], window["cwnd_segments"], color=INK, lw=1.0)
        lower.set_ylim(0, None)
        for one in (upper, lower):
            one.set_xlim(0, float(window["time_s"].max()))
        lower.set_xlabel("time, s")
    axes[0][0].set_ylabel("channel, Mbit/s")
    axes[1][0].set_ylabel("window, segments")
    return picture


CLAIMS = [
    claim_reno,
    claim_cubic,
]

FIGURES = [
    Figure(
        "live-fig-4", "Fig. 4", "The channel under the kernel's TCP",
        "Rate of the channel, with the bottleneck's 5 Mbit/s dotted, and the window that the kernel tells.",
        draw_rates,
    ),
]  # fmt: skip
