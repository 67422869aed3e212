"""Claims on one user with four connections: a shaper for each (VC-based) or one for all (VP-based)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import Finding, above, claim, ratio_of_means, scaled, shown, together
from tidegate_papers.traffic_shaping import cases
from tidegate_papers.traffic_shaping.cases import point
from tidegate_papers.traffic_shaping.rules import CONSIDERABLE

if TYPE_CHECKING:
    from tidegate_papers.api import Lab


@claim(
    "multiplexer-jitter",
    where="§II",
    says=(
        "With a shaper for each connection (VC-based) the multiplexer behind them may have a considerable "
        "impact on the cells' jitter."
    ),
    unit="times T",
    paper="considerable",
)
def claim_multiplexer(lab: Lab) -> Finding:
    """Measure how long cells of four shapers wait for each other at the user's multiplexer."""
    interval_us = 53 * 8 / 35
    parts, numbers = [], []
    for load in lab.judged(cases.SENSITIVE_LOADS):
        study = point(lab, "35", load, name="one-user-vc")
        wait = scaled(study.estimate("mux_p99"), interval_us)
        parts.append(above(wait, CONSIDERABLE, f"at {load:g}"))
        numbers.append(
            f"{shown(wait)} at {load:g} ({shown(study.estimate('mux_most'))} cells waited at most)"
        )
    return Finding(
        together(*parts),
        "p99 of the wait at the multiplexer of one user's four connections of 35 Mbit/s, in intervals T of "
        f"{interval_us:.1f} us, by Mbit/s of background: {', '.join(numbers)}. Three cells of the others are "
        "the "
        "most that can be before one, 0.7 T; how many are is up to the shapers' phases, and with one "
        f"shaper for all (VP) nothing waits behind it. Considerable is taken as {CONSIDERABLE:g} T",
    )


@claim(
    "vc-over-vp",
    where="beyond the paper, §II",
    says="A shaper for each connection (VC-based) gives more goodput than one for all of a user (VP-based).",
    unit="VC / VP",
)
def claim_policies(lab: Lab) -> Finding:
    """Compare one shaper for each of a user's connections with one for all of them."""
    parts, numbers = [], []
    for shaping in ("35", "20"):
        for load in lab.judged(cases.SENSITIVE_LOADS):
            each, one = (point(lab, shaping, load, name=f"one-user-{kind}") for kind in ("vc", "vp"))
            found = ratio_of_means(each.values("goodput"), one.values("goodput"))
            parts.append(above(found, 1, f"4 · {shaping} Mbit/s at {load:g}"))
            numbers.append(
                f"{shown(found)} for 4 · {shaping} Mbit/s at {load:g} (efficiency "
                f"{shown(each.estimate('efficiency'))} and {shown(one.estimate('efficiency'))})"
            )
    return Finding(
        together(*parts),
        "Goodput with a shaper for each connection (VC) over that with one of four times the rate for all "
        f"(VP), 1000 cells, by Mbit/s of background: {'; '.join(numbers)}. One shaper of 140 Mbit/s lets a "
        "connection's segments through back to back",
    )
