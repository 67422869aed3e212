"""EFFCAP against INSTCAP with a real TCP: the Linux kernel's Reno over the same Markov link.

The link and what it feeds back are those of the simulations, run by run; of the model's TCP the
kernel keeps what it can be told: Reno without SACK, segments of 500 B, a window of 100 segments and
no delayed acknowledgements. Its timer and its fast retransmit are its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tidegate_papers.api import (
    ACCENT,
    INK,
    LEAST_RUNS,
    SOFT,
    Figure,
    Finding,
    above,
    claim,
    estimate,
    paired,
    panels,
)
from tidegate_papers.tcp_over_abr.cases import EFFCAP, FIG_10, HOLDING
from tidegate_papers.tcp_over_abr.claims import SOURCE, TITLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from tidegate_papers.api import Lab

__all__ = ["CLAIMS", "FIGURES", "QUICK", "SOURCE", "TITLE"]

QUICK = "Quick: runs of 12 s and not of 60 s"
#: Mean time at a rate of the link, ms: psi 0.3, where the paper has EFFCAP 10% to 20% ahead.
TIME_MS = 60


def goodputs(lab: Lab, changes: dict[str, Any]) -> list[float | None]:
    """Return the goodput of every run in kB/s."""
    span = {"duration": "12 s", "warmup": "4 s"} if lab.quick else {"duration": "60 s", "warmup": "10 s"}
    fixed = {HOLDING: [f"{TIME_MS} ms"] * 2, "flow.bulk.tcp.cc": "reno", **span}
    found = lab.live("abr", changes={**fixed, **changes}, runs=LEAST_RUNS, record="summary")
    return [run.summary["flows"][0]["goodput_bps"] / 8e3 for run in found]


def both(lab: Lab) -> tuple[list[float | None], list[float | None]]:
    """Return the goodputs with INSTCAP and with EFFCAP, over the same links."""
    return goodputs(lab, {}), goodputs(lab, {EFFCAP: FIG_10})


@claim(
    "live-effcap",
    where="§V-B, Fig. 11",
    says="Where the capacity changes fast, EFFCAP delivers more than INSTCAP (paper: 10% to 20%).",
    unit="share of INSTCAP more",
    paper="0.1 to 0.2",
    figures=("live-fig-11",),
)
def claim_effcap(lab: Lab) -> Finding:
    """Compare the two, run by run."""
    instcap, effcap = both(lab)
    ahead = paired(effcap, instcap)
    mean = estimate(instcap).mean or 1.0
    share = estimate((a - b) / mean for a, b in zip(effcap, instcap, strict=True) if a and b)
    numbers = f"INSTCAP {mean:.1f} kB/s, EFFCAP {estimate(effcap).mean or 0:.1f}"
    half = 0.0 if ahead.half_width is None else ahead.half_width
    return Finding(above(share, 0.0), f"{numbers}: {ahead.mean or 0:.1f} ±{half:.1f} more, run by run")


def draw_pairs(lab: Lab) -> Picture:
    """Draw each pair of runs over the same link."""
    instcap, effcap = both(lab)
    picture, axes = panels(4.4, 3.4, 1, 1)
    (one,) = axes[0]
    for a, b in zip(instcap, effcap, strict=True):
        if a is not None and b is not None:
            one.plot([0, 1], [a, b], color=ACCENT if b > a else SOFT, lw=1.0, marker="o", ms=4)
    for place, values in ((-0.12, instcap), (1.12, effcap)):
        found = estimate(values, (0.0, math.inf))
        arms = [[arm] for arm in found.arms]
        one.errorbar([place], [found.mean or 0.0], yerr=arms, color=INK, marker="s", ms=5, capsize=3)
    one.set_xlim(-0.35, 1.35)
    one.set_xticks([0, 1], ["INSTCAP", "EFFCAP"])
    one.set_ylabel("goodput, kB/s")
    return picture


CLAIMS = [
    claim_effcap,
]

FIGURES = [
    Figure(
        "live-fig-11", "Fig. 11", "EFFCAP and INSTCAP under the kernel's Reno",
        "Each line is one link, run with both; squares are means with 95% intervals. Psi is 0.3.",
        draw_pairs,
    ),
]  # fmt: skip
