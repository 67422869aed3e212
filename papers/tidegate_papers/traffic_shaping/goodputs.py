"""Claims on goodput: no shaping, 35 Mbit/s, and who gets what."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from tidegate_papers.api import (
    Finding,
    Points,
    above,
    below,
    claim,
    count,
    graded,
    ratio_of_means,
    shown,
    together,
    within,
)
from tidegate_papers.traffic_shaping import cases
from tidegate_papers.traffic_shaping.cases import BUFFERS, ROUNDED, gain, goodput, point
from tidegate_papers.traffic_shaping.rules import EQUAL, LOCKED_OUT, NOT_SIGNIFICANT, READINGS, named

if TYPE_CHECKING:
    from tidegate_papers.api import Lab


@claim(
    "unshaped-falls",
    where="§III, Figs. 3, 5",
    says="Without shaping goodput steadily falls with the background.",
    unit="share of steps",
    paper=1.0,
    figures=("fig-3", "fig-5"),
)
def claim_falls(lab: Lab) -> Finding:
    """Compare unshaped goodput at neighbouring loads."""
    steps, numbers = [], []
    for buffer in BUFFERS:
        loads = lab.judged(cases.LOADS)
        studies = [point(lab, "none", load, buffer) for load in loads]
        steps += [
            above(gain(studies[n], studies[n + 1]), 0, f"from {less:g} to {more:g}, {buffer} cells")
            for n, (less, more) in enumerate(itertools.pairwise(loads))
        ]
        each = ", ".join(
            f"{shown(goodput(study))} at {load:g}" for study, load in zip(studies, loads, strict=True)
        )
        numbers.append(f"{buffer} cells: {each}")
    return Finding(
        count(steps, runs=16),
        "Steps of the load over which goodput surely falls. Payload per connection, Mbit/s, "
        f"{'; '.join(numbers)}",
    )


@claim(
    "larger-buffer",
    where="§III, Figs. 3, 5",
    says="A larger buffer raises goodput, not very significantly.",
    unit="5000 / 1000 cells",
    paper="a little above 1",
    figures=("fig-3", "fig-5"),
)
def claim_buffer(lab: Lab) -> Finding:
    """Compare unshaped goodput with 5000 and with 1000 cells of buffer."""
    loads = lab.judged(cases.LOADS)
    found = [
        ratio_of_means(
            point(lab, "none", load, 5000).values("goodput"), point(lab, "none", load, 1000).values("goodput")
        )
        for load in loads
    ]
    ratio = "goodput with 5000 cells over that with 1000"
    rises = [
        above(each, 1, f"at {load:g}", of=f"the {ratio}") for each, load in zip(found, loads, strict=True)
    ]
    most = max(found, key=lambda each: each.mean or 0)
    numbers = ", ".join(f"{shown(each)} at {load:g}" for each, load in zip(found, loads, strict=True))
    return Finding(
        together(
            within(most, 1, 1 + NOT_SIGNIFICANT, "the largest", of=f"the largest {ratio}"),
            count(rises, runs=16, name="a rise at each load", unit="share of loads"),
        ),
        "Largest ratio of goodput with 5000 cells to goodput with 1000 without shaping; not very "
        "significant is "
        f"taken as up to {1 + NOT_SIGNIFICANT:g}. 1000 cells are 5 segments, 5000 are 26. By Mbit/s "
        f"of background: {numbers}",
    )


@claim(
    "35-saturates",
    where="§III",
    says="Shaped to 35 Mbit/s and without background, TCP completely saturates L0.",
    unit="share of L0",
    paper=1.0,
    figures=("fig-3",),
)
def claim_saturates(lab: Lab) -> Finding:
    """Measure how much of L0 four connections of 35 Mbit/s fill without background."""
    used = {
        f"{words}, {buffer} cells": point(lab, "35", 0, buffer, changes).estimate("used")
        for words, changes in READINGS
        for buffer in BUFFERS
    }
    rounded = used[f"{READINGS[1][0]}, {BUFFERS[0]} cells"]
    return Finding(
        together(*(graded(each, full=0.99, some=0.9, name=name) for name, each in used.items())),
        "4 · 35 is 140 of 150 Mbit/s: with the real rate L0 cannot be full. With T rounded down to "
        "whole slots, "
        f"4 for 30/7, the rate is 37.5 Mbit/s and L0 is used to {shown(rounded)}",
    )


@claim(
    "35-always-better",
    where="§III, Figs. 3, 5",
    says="Goodput with 35 Mbit/s is always greater than without shaping.",
    unit="share of points",
    paper=1.0,
    figures=("fig-3", "fig-5"),
)
def claim_always_better(lab: Lab) -> Finding:
    """Compare 35 Mbit/s with no shaping at every load and buffer."""
    cells, numbers = [], []
    for buffer in BUFFERS:
        for load in lab.judged(cases.LOADS):
            difference = gain(point(lab, "35", load, buffer), point(lab, "none", load, buffer))
            cells.append(above(difference, 0, f"at {load:g}, {buffer} cells"))
            numbers.append(f"{shown(difference)} at {load:g}, {buffer} cells")
    return Finding(
        count(cells, runs=16),
        f"Points with surely more goodput. Gain per connection, Mbit/s: {', '.join(numbers)}",
    )


@claim(
    "20-beats-both",
    where="§III, Figs. 3, 5",
    says="At high load 20 Mbit/s has more goodput than 35 Mbit/s and than no shaping.",
    unit="share of pairs",
    paper=1.0,
    figures=("fig-3", "fig-5"),
)
def claim_twenty_beats(lab: Lab) -> Finding:
    """Compare 20 Mbit/s with 35 and with none at 75 Mbit/s of background."""
    holds, numbers = [], []
    for buffer in BUFFERS:
        twenty = point(lab, "20", 75, buffer)
        for other in ("none", "35"):
            difference = gain(twenty, point(lab, other, 75, buffer))
            holds.append(above(difference, 0, f"over {named(other)}, {buffer} cells"))
            numbers.append(f"{shown(difference)} over {named(other)}, {buffer} cells")
    rounded = gain(point(lab, "20", 75, 1000, ROUNDED), point(lab, "35", 75, 1000, ROUNDED))
    return Finding(
        count(holds, runs=16),
        f"High load is taken as 75 Mbit/s. Gain per connection, Mbit/s: {', '.join(numbers)}. With T "
        "rounded to whole "
        f"slots, as a simulator of slots may do, {shown(rounded)} over 35, 1000 cells: then 4 · 18.75 "
        "+ 75 just fit",
    )


@claim(
    "equal-at-100",
    where="§III",
    says="At 100 Mbit/s of background goodput hardly depends on the shaping.",
    unit="shaped / no shaping",
    paper=1.0,
    figures=("fig-3", "fig-5"),
)
def claim_equal(lab: Lab) -> Finding:
    """Compare the shapings at 100 Mbit/s of background.

    Quick runs are as long as the others, with one buffer: in the first seconds unshaped connections have yet
    to lose, so that a shorter run measures something else.
    """
    parts, numbers = [], []
    for buffer, shaping in lab.judged(Points(BUFFERS, quick=BUFFERS[:1]).times(Points.always("35", "20"))):
        plain, shaped = (point(lab, each, 100, buffer, whole=True) for each in ("none", shaping))
        found = ratio_of_means(shaped.values("goodput"), plain.values("goodput"))
        parts.append(within(found, 1 - EQUAL, 1 + EQUAL, f"{named(shaping)}, {buffer} cells"))
        numbers.append(f"{shown(found)} for {shaping}, {buffer} cells")
    return Finding(
        together(*parts),
        f"Goodput over that without shaping, about equal being within {EQUAL:.0%}: {', '.join(numbers)}",
    )


@claim(
    "lock-out",
    where="beyond the paper",
    says="Without shaping some connection gets less than half its share.",
    unit="least connection / mean",
    figures=("shares",),
)
def claim_shares(lab: Lab) -> Finding:
    """Measure whether four unshaped connections share alike."""
    plain = point(lab, "none", 0)
    share = ratio_of_means(plain.values("least"), plain.values("goodput"))
    shaped = point(lab, "35", 0)
    return Finding(
        below(share, LOCKED_OUT),
        "The least connection's goodput over the mean without background, 1000 cells. A connection that has "
        "lost waits for its timer, and the others have the link; no mean of a figure shows it. Shaped to 35 "
        f"Mbit/s the least has {shown(ratio_of_means(shaped.values('least'), shaped.values('goodput')))}",
    )
