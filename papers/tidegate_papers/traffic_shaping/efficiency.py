"""Claims on efficiency and loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import Finding, Points, above, claim, count, graded, shown, together, within, worst
from tidegate_papers.traffic_shaping import cases
from tidegate_papers.traffic_shaping.cases import BUFFERS, SHAPINGS, gain, point
from tidegate_papers.traffic_shaping.rules import VERY_POOR, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate_papers.api import Lab


#: What one connection offers at most under a shaping, Mbit/s.
OFFERED = {"none": 150, "35": 35, "20": 20}


def _every(loads: Sequence[float]) -> tuple[tuple[str, float, int], ...]:
    return tuple((shaping, load, buffer) for buffer in BUFFERS for shaping in SHAPINGS for load in loads)


#: Every shaping, load and buffer.
WHERE = Points(_every(cases.LOADS.every), quick=_every(cases.LOADS.quick))
#: Those in which more is offered than L0 carries.
OVERLOADS = WHERE.only(lambda at: 4 * OFFERED[at[0]] + at[1] > cases.LINK_MBPS)
#: Those in which shaped rates and 1.2 of the background fit into L0.
FITS = WHERE.only(lambda at: at[0] != "none" and 4 * OFFERED[at[0]] + cases.BETA * at[1] <= cases.LINK_MBPS)
#: The next burstier shaping.
ROUGHER = {"35": "none", "20": "35"}


@claim(
    "efficiency-poor",
    where="§III, Figs. 4, 6",
    says="Efficiency becomes very poor as soon as more is offered than the bottleneck carries.",
    unit="efficiency",
    paper="very poor",
    figures=("fig-4", "fig-6"),
)
def claim_efficiency(lab: Lab) -> Finding:
    """Measure efficiency wherever more is offered than L0 carries."""
    found = {where: point(lab, *where).estimate("efficiency") for where in lab.judged(OVERLOADS)}
    most = max(found, key=lambda where: found[where].mean or 0)
    least = min(found, key=lambda where: found[where].mean or 1)
    return Finding(
        together(
            *(
                graded(found[where], full=VERY_POOR, some=0.95, name=f"the {words}: {point_words(where)}")
                for words, where in (("least", least), ("most", most))
            )
        ),
        f"The least is {shown(found[least])} at {point_words(least)}, the most {shown(found[most])} at "
        f"{point_words(most)}. Very "
        "poor is taken "
        f"as at most {VERY_POOR:g}. A window that has found its loss sends little for a long time of 500 ms "
        "ticks, so what it sends arrives: goodput suffers more than efficiency",
    )


def point_words(where: tuple[str, float, int]) -> str:
    """Return a point in words."""
    shaping, load, buffer = where
    return f"{named(shaping)}, {load:g} Mbit/s of background, {buffer} cells"


@claim(
    "burstier-poorer",
    where="§III, Figs. 4, 6",
    says="The burstier the traffic, the poorer the efficiency.",
    unit="share of pairs",
    paper=1.0,
    figures=("fig-4", "fig-6"),
)
def claim_burstier(lab: Lab) -> Finding:
    """Compare efficiencies: none against 35, 35 against 20 Mbit/s, wherever there is overload."""
    holds, numbers = [], []
    for smooth, load, buffer in lab.judged(OVERLOADS.only(lambda at: at[0] in ROUGHER)):
        rough = ROUGHER[smooth]
        difference = gain(point(lab, smooth, load, buffer), point(lab, rough, load, buffer), "efficiency")
        words = f"{smooth} over {named(rough)} at {load:g}, {buffer} cells"
        holds.append(above(difference, 0, words))
        numbers.append(f"{shown(difference)} {words}")
    return Finding(
        count(holds, runs=16),
        "Pairs of shapings of which the smoother surely has the better efficiency, both overloaded: "
        + ", ".join(numbers),
    )


@claim(
    "fits-no-loss",
    where="beyond the paper",
    says="Where the shaped rates and 1.2 of the background fit into L0, no cell is lost.",
    unit="cells",
    paper=0.0,
    figures=("fig-4", "fig-6"),
)
def claim_fits(lab: Lab) -> Finding:
    """Count cells lost wherever shaped rates and 1.2 of the background fit into L0."""
    where = lab.judged(FITS)
    lost = [point(lab, *each).estimate("dropped_cells") for each in where]
    poor = [point(lab, *each).estimate("efficiency") for each in where]
    return Finding(
        worst(within(max(lost, key=lambda each: each.mean or 0), 0, 0)),
        f"The most cells lost at any of {len(where)} points; the least efficiency there is "
        f"{min(each.mean or 0 for each in poor):.4f}: what is on its way at either end of the count",
    )
