"""Claims on connections shaped to 20 Mbit/s: flat up to where, and limited by what."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from tidegate_papers.api import Finding, above, below, claim, ratio_of_means, scaled, shown, together, within
from tidegate_papers.traffic_shaping import cases
from tidegate_papers.traffic_shaping.cases import BUFFERS, point
from tidegate_papers.traffic_shaping.rules import FLAT, MOSTLY, READINGS

if TYPE_CHECKING:
    from tidegate_papers.api import Estimate, Lab


def left(lab: Lab, load: float, buffer: int, changes: dict[str, Any]) -> Estimate:
    """Return how much of the goodput with 20 Mbit/s is left under a load of background."""
    these = point(lab, "20", load, buffer, changes).values("goodput")
    return ratio_of_means(these, point(lab, "20", 0, buffer, changes).values("goodput"))


@claim(
    "20-flat",
    where="§III, Figs. 3, 5",
    says="With 20 Mbit/s goodput is constant up to 75 Mbit/s of background.",
    unit="with background / without",
    paper=1.0,
    figures=("fig-3", "fig-5"),
)
def claim_flat(lab: Lab) -> Finding:
    """Measure how much of the goodput of 20 Mbit/s is left at every load up to 75 Mbit/s."""
    parts, numbers = [], []
    for words, changes in READINGS:
        for buffer in BUFFERS:
            loads = lab.judged(cases.LOADS.only(lambda load: 0 < load <= cases.FLAT_TO_MBPS))
            found = [(load, left(lab, load, buffer, changes)) for load in loads]
            parts += [
                within(one, 1 - FLAT, 1 + FLAT, f"{words}, {buffer} cells, at {load:g}")
                for load, one in found
            ]
            each = ", ".join(f"{shown(one)} at {load:g}" for load, one in found)
            numbers.append(f"{words}, {buffer} cells: {each}")
    return Finding(
        together(*parts),
        "Goodput over that without background, by Mbit/s of background. With T as it "
        "is 4 · 20 + 75 are 155 of 150 Mbit/s; with T of 8 whole slots, 18.75 Mbit/s, exactly 150 are asked "
        f"for. {'; '.join(numbers)}",
    )


@claim(
    "20-knee",
    where="§III, Figs. 3, 5",
    says="It falls from 75 Mbit/s of background on: there is the knee.",
    unit="with background / without",
    paper="a knee at 75",
    figures=("knee",),
)
def claim_knee(lab: Lab) -> Finding:
    """Find the load from which on 20 Mbit/s no longer has the goodput that it has without background."""
    parts, numbers = [], []
    loads = lab.points(cases.KNEE_LOADS)
    after = min(load for load in loads if load > cases.FLAT_TO_MBPS)
    for words, changes in READINGS:
        for buffer in BUFFERS:
            found = {load: left(lab, load, buffer, changes) for load in loads}
            where = f"{words}, {buffer} cells"
            parts += [
                above(found[cases.FLAT_TO_MBPS], 1 - FLAT, f"{where}, still flat at {cases.FLAT_TO_MBPS}"),
                below(found[after], 1 - FLAT, f"{where}, falling at {after:g}"),
            ]
            surely = list(
                itertools.takewhile(lambda load: (found[load].low or 0.0) > 1 - FLAT or load == 0, loads)  # noqa: B023
            )
            numbers.append(f"{where}: up to {surely[-1]:g}, then {shown(found[_next(loads, surely[-1])])}")
    return Finding(
        together(
            *parts,
            rule=f"what is left of the goodput lies above {1 - FLAT:g} at {cases.FLAT_TO_MBPS} Mbit/s and "
            "below "
            f"it at {after:g}, with its whole 95% interval, for both buffers and both readings of T",
        ),
        f"Goodput with 20 Mbit/s at {cases.FLAT_TO_MBPS} Mbit/s of background over that without. Surely "
        f"within {FLAT:.0%} of it, among {', '.join(f'{load:g}' for load in loads)} Mbit/s, "
        f"{'; '.join(numbers)}",
    )


def _next(loads: tuple[float, ...], load: float) -> float:
    return loads[min(loads.index(load) + 1, len(loads) - 1)]


@claim(
    "20-limited-by-shaper",
    where="§III",
    says="With 20 Mbit/s the shaping limits goodput and not the window.",
    unit="share of the time",
    paper="by the shaper",
    figures=("fig-3",),
)
def claim_shaper_limits(lab: Lab) -> Finding:
    """Measure what limits connections that are shaped to 20 Mbit/s, up to 75 Mbit/s of background."""
    parts, numbers = [], []
    twice = {"flow.tcp.tcp.window": "120 segments", "flow.tcp.tcp.initial_ssthresh": "120 segments"}
    for load in lab.judged(cases.LOADS.only(lambda load: load <= cases.FLAT_TO_MBPS)):
        study = point(lab, "20", load)
        share, window = study.estimate("shaper"), study.estimate("window")
        wider = ratio_of_means(
            point(lab, "20", load, changes=twice).values("goodput"), study.values("goodput")
        )
        parts += [
            above(share, MOSTLY, f"time limited by the shaper at {load:g}"),
            within(
                wider,
                1 - FLAT,
                1 + FLAT,
                f"goodput at {load:g}",
                unit="with twice the window / as it is",
            ),
        ]
        numbers.append(
            f"at {load:g} the shaper limits {shown(scaled(share, 0.01))}% of the time and a window "
            f"{shown(scaled(window, 0.01))}%; with a window of 120 segments goodput is {shown(wider)} "
            "times as large"
        )
    return Finding(
        together(
            *parts,
            rule=f"at every load the shaper limits more than {MOSTLY:.0%} of the time and twice the window "
            f"changes goodput by at most {FLAT:.0%}, with the whole 95% intervals",
        ),
        "Share of the time in which the shaper of 20 Mbit/s limits a connection without background, 1000 "
        f"cells. By Mbit/s of background: {'; '.join(numbers)}. At 20 Mbit/s a window of 60 segments "
        "lasts 245 ms and the path's round trip 10 ms, so a whole window never leaves the shaper idle",
    )
