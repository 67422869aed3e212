"""The claims of the traffic shaping paper, the rules that judge them, and what they rest on."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tidegate._paper import Claim, Finding
from tidegate._paper_parts import number_of, ratio_of_means, scaled, shown
from tidegate._verdict import Judgement, above, below, count, graded, together, within
from tidegate.papers.traffic_shaping import cases
from tidegate.papers.traffic_shaping.cases import BUFFERS, ROUNDED, SHAPINGS, gain, goodput, point

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate._estimate import Estimate
    from tidegate._paper import Lab
    from tidegate._study_value import Study

TITLE = "TCP Traffic Shaping in ATM Networks"
SOURCE = (
    "I. Kocyigit. Four TCP connections shaped by the GCRA share a link with background traffic; simulated "
    "with CLASS."
)
QUICK = (
    "Quick: runs of 5 s and not 25, background of 0, 75 and 100 Mbit/s only, and of the open choices "
    "the rounded "
    "shapers alone"
)
#: Both readings of the shaper's interval, in words, with what they change.
READINGS: tuple[tuple[str, dict[str, Any]], ...] = (("T as it is", {}), ("T in whole slots", ROUNDED))
#: A rise of at most this share is "not very significant".
NOT_SIGNIFICANT = 0.25
#: "About equal" is within this share.
EQUAL = 0.15
#: An efficiency of at most this is "very poor".
VERY_POOR = 0.8
#: Flat is within this share.
FLAT = 0.02
#: What limits "mostly" does so for at least this share of the time.
MOSTLY = 0.9
#: A "considerable" jitter is at least this share of the interval between cells.
CONSIDERABLE = 0.1
#: "High load", Mbit/s of background.
HIGH = 75


def named(shaping: str) -> str:
    """Return a shaping in words."""
    return "no shaping" if shaping == "none" else f"{shaping} Mbit/s"


def claim_falls(lab: Lab) -> Finding:
    """Compare unshaped goodput at neighbouring loads."""
    steps, told = [], []
    for buffer in BUFFERS:
        studies = [point(lab, "none", load, buffer) for load in cases.loads(lab)]
        steps += [
            above(gain(studies[n], studies[n + 1]), 0, f"from {less:g} to {more:g}, {buffer} cells")
            for n, (less, more) in enumerate(itertools.pairwise(cases.loads(lab)))
        ]
        each = ", ".join(
            f"{shown(goodput(study))} at {load:g}"
            for study, load in zip(studies, cases.loads(lab), strict=True)
        )
        told.append(f"{buffer} cells: {each}")
    return Finding(
        count(steps, runs=16),
        "Steps of the load over which goodput surely falls. Payload per connection, Mbit/s, "
        f"{'; '.join(told)}",
    )


def claim_buffer(lab: Lab) -> Finding:
    """Compare unshaped goodput with 5000 and with 1000 cells of buffer."""
    found = [
        ratio_of_means(
            point(lab, "none", load, 5000).values("goodput"), point(lab, "none", load, 1000).values("goodput")
        )
        for load in cases.loads(lab)
    ]
    rises = [above(each, 1, f"at {load:g}") for each, load in zip(found, cases.loads(lab), strict=True)]
    worst = max(found, key=lambda each: each.mean or 0)
    told = ", ".join(f"{shown(each)} at {load:g}" for each, load in zip(found, cases.loads(lab), strict=True))
    return Finding(
        together(within(worst, 1, 1 + NOT_SIGNIFICANT), count(rises, runs=16)),
        "Largest ratio of goodput with 5000 cells to goodput with 1000 without shaping; not very "
        "significant is "
        f"taken as up to {1 + NOT_SIGNIFICANT:g}. 1000 cells are 5 segments, 5000 are 26. By Mbit/s "
        f"of background: {told}",
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


def claim_always_better(lab: Lab) -> Finding:
    """Compare 35 Mbit/s with no shaping at every load and buffer."""
    cells, told = [], []
    for buffer in BUFFERS:
        for load in cases.loads(lab):
            difference = gain(point(lab, "35", load, buffer), point(lab, "none", load, buffer))
            cells.append(above(difference, 0, f"at {load:g}, {buffer} cells"))
            told.append(f"{shown(difference)} at {load:g}, {buffer} cells")
    return Finding(
        count(cells, runs=16),
        "Points with surely more goodput. Without background 4 · 35 Mbit/s leave a fifteenth of L0 "
        "free, which one "
        f"unshaped connection fills. Gain per connection, Mbit/s: {', '.join(told)}",
    )


def left(lab: Lab, load: float, buffer: int, changes: dict[str, Any]) -> Estimate:
    """Return how much of the goodput with 20 Mbit/s is left under a load of background."""
    these = point(lab, "20", load, buffer, changes).values("goodput")
    return ratio_of_means(these, point(lab, "20", 0, buffer, changes).values("goodput"))


def claim_flat(lab: Lab) -> Finding:
    """Measure how much of the goodput of 20 Mbit/s is left at every load up to 75 Mbit/s."""
    parts, told = [], []
    for words, changes in READINGS:
        for buffer in BUFFERS:
            found = [(load, left(lab, load, buffer, changes)) for load in cases.flat_loads(lab)]
            parts += [
                within(one, 1 - FLAT, 1 + FLAT, f"{words}, {buffer} cells, at {load:g}")
                for load, one in found
            ]
            each = ", ".join(f"{shown(one)} at {load:g}" for load, one in found)
            told.append(f"{words}, {buffer} cells: {each}")
    main = parts[len(cases.flat_loads(lab)) - 1]
    return Finding(
        together(main, *(part for part in parts if part is not main)),
        "Goodput over that without background, by Mbit/s of background. With T as it "
        "is 4 · 20 + 75 are 155 of 150 Mbit/s; with T of 8 whole slots, 18.75 Mbit/s, exactly 150 are asked "
        f"for. {'; '.join(told)}",
    )


def claim_knee(lab: Lab) -> Finding:
    """Find the load from which on 20 Mbit/s no longer has the goodput that it has without background."""
    parts, told = [], []
    loads = cases.knee_loads(lab)
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
            told.append(f"{where}: up to {surely[-1]:g}, then {shown(found[_next(loads, surely[-1])])}")
    return Finding(
        together(
            *parts,
            rule=f"what is left of the goodput lies above {1 - FLAT:g} at {cases.FLAT_TO_MBPS} Mbit/s and "
            "below "
            f"it at {after:g}, with its whole 95% interval, for both buffers and both readings of T",
        ),
        f"Goodput with 20 Mbit/s at {cases.FLAT_TO_MBPS} Mbit/s of background over that without. Surely "
        f"within {FLAT:.0%} of it, among {', '.join(f'{load:g}' for load in loads)} Mbit/s, "
        f"{'; '.join(told)}",
    )


def _next(loads: tuple[float, ...], load: float) -> float:
    return loads[min(loads.index(load) + 1, len(loads) - 1)]


def claim_shaper_limits(lab: Lab) -> Finding:
    """Measure what limits connections that are shaped to 20 Mbit/s, up to 75 Mbit/s of background."""
    parts, told = [], []
    twice = {"flow.tcp.tcp.window": "120 segments", "flow.tcp.tcp.initial_ssthresh": "120 segments"}
    for load in (0, *cases.flat_loads(lab)):
        study = point(lab, "20", load)
        share, window = study.estimate("shaper"), study.estimate("window")
        wider = ratio_of_means(
            point(lab, "20", load, changes=twice).values("goodput"), study.values("goodput")
        )
        parts += [
            above(share, MOSTLY, f"time limited by the shaper at {load:g}"),
            within(wider, 1 - FLAT, 1 + FLAT, f"goodput with twice the window at {load:g}"),
        ]
        told.append(
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
        f"cells. By Mbit/s of background: {'; '.join(told)}. At 20 Mbit/s a window of 60 segments "
        "lasts 245 ms and the path's round trip 10 ms, so a whole window never leaves the shaper idle",
    )


def claim_multiplexer(lab: Lab) -> Finding:
    """Measure how long cells of four shapers wait for each other at the user's multiplexer."""
    interval_us = 53 * 8 / 35
    parts, told = [], []
    for load in cases.sensitive_loads(lab):
        study = point(lab, "35", load, name="one-user-vc")
        wait = scaled(study.estimate("mux_p99"), interval_us)
        parts.append(above(wait, CONSIDERABLE, f"at {load:g}"))
        told.append(f"{shown(wait)} at {load:g} ({shown(study.estimate('mux_most'))} cells waited at most)")
    return Finding(
        together(*parts),
        "p99 of the wait at the multiplexer of one user's four connections of 35 Mbit/s, in intervals T of "
        f"{interval_us:.1f} us, by Mbit/s of background: {', '.join(told)}. Three cells of the others are "
        "the "
        "most that can be before one, 0.7 T; how many are is up to the shapers' phases, and with one "
        f"shaper for all (VP) nothing waits behind it. Considerable is taken as {CONSIDERABLE:g} T",
    )


def claim_policies(lab: Lab) -> Finding:
    """Compare one shaper for each of a user's connections with one for all of them."""
    parts, told = [], []
    for shaping in ("35", "20"):
        for load in cases.sensitive_loads(lab):
            each, one = (point(lab, shaping, load, name=f"one-user-{kind}") for kind in ("vc", "vp"))
            found = ratio_of_means(each.values("goodput"), one.values("goodput"))
            parts.append(above(found, 1, f"4 · {shaping} Mbit/s at {load:g}"))
            told.append(
                f"{shown(found)} for 4 · {shaping} Mbit/s at {load:g} (efficiency "
                f"{shown(each.estimate('efficiency'))} and {shown(one.estimate('efficiency'))})"
            )
    return Finding(
        together(*parts),
        "Goodput with a shaper for each connection (VC) over that with one of four times the rate for all "
        f"(VP), 1000 cells, by Mbit/s of background: {'; '.join(told)}. One shaper of 140 Mbit/s lets a "
        "connection's segments through back to back",
    )


def claim_twenty_beats(lab: Lab) -> Finding:
    """Compare 20 Mbit/s with 35 and with none at 75 Mbit/s of background."""
    holds, told = [], []
    for buffer in BUFFERS:
        twenty = point(lab, "20", 75, buffer)
        for other in ("none", "35"):
            difference = gain(twenty, point(lab, other, 75, buffer))
            holds.append(above(difference, 0, f"over {named(other)}, {buffer} cells"))
            told.append(f"{shown(difference)} over {named(other)}, {buffer} cells")
    rounded = gain(point(lab, "20", 75, 1000, ROUNDED), point(lab, "35", 75, 1000, ROUNDED))
    return Finding(
        count(holds, runs=16),
        f"High load is taken as 75 Mbit/s. Gain per connection, Mbit/s: {', '.join(told)}. With T "
        "rounded to whole "
        f"slots, as a simulator of slots may do, {shown(rounded)} over 35, 1000 cells: then 4 · 18.75 "
        "+ 75 just fit",
    )


def claim_equal(lab: Lab) -> Finding:
    """Compare the shapings at 100 Mbit/s of background."""
    parts, told = [], []
    for buffer in BUFFERS:
        plain = point(lab, "none", 100, buffer).values("goodput")
        for shaping in ("35", "20"):
            found = ratio_of_means(point(lab, shaping, 100, buffer).values("goodput"), plain)
            parts.append(within(found, 1 - EQUAL, 1 + EQUAL, f"{named(shaping)}, {buffer} cells"))
            told.append(f"{shown(found)} for {shaping}, {buffer} cells")
    return Finding(
        together(*parts),
        f"Goodput over that without shaping, about equal being within {EQUAL:.0%}: {', '.join(told)}",
    )


def overloads(lab: Lab) -> list[tuple[str, float, int]]:
    """Return shapings, loads and buffers in which more is offered than L0 carries."""
    offered = {"none": 150, "35": 35, "20": 20}
    return [
        (shaping, load, buffer)
        for buffer in BUFFERS
        for shaping in SHAPINGS
        for load in cases.loads(lab)
        if 4 * offered[shaping] + load > cases.LINK_MBPS
    ]


def claim_efficiency(lab: Lab) -> Finding:
    """Measure efficiency wherever more is offered than L0 carries."""
    found = {where: point(lab, *where).estimate("efficiency") for where in overloads(lab)}
    best = max(found, key=lambda where: found[where].mean or 0)
    worst = min(found, key=lambda where: found[where].mean or 1)
    return Finding(
        together(
            *(
                graded(found[where], full=VERY_POOR, some=0.95, name=f"the {words}: {told_of(where)}")
                for words, where in (("least", worst), ("most", best))
            )
        ),
        f"The least, at {told_of(worst)}; the most is {shown(found[best])} at {told_of(best)}. Very "
        "poor is taken "
        f"as at most {VERY_POOR:g}. A window that has found its loss sends little for a long time of 500 ms "
        "ticks, so what it sends arrives: goodput suffers more than efficiency",
    )


def told_of(where: tuple[str, float, int]) -> str:
    """Return a point in words."""
    shaping, load, buffer = where
    return f"{named(shaping)}, {load:g} Mbit/s of background, {buffer} cells"


def claim_burstier(lab: Lab) -> Finding:
    """Compare efficiencies: none against 35, 35 against 20 Mbit/s, wherever there is overload."""
    holds, told = [], []
    for buffer in BUFFERS:
        for load in cases.loads(lab):
            for rough, smooth in (("none", "35"), ("35", "20")):
                if (smooth, load, buffer) not in overloads(lab):
                    continue
                difference = gain(
                    point(lab, smooth, load, buffer), point(lab, rough, load, buffer), "efficiency"
                )
                words = f"{smooth} over {named(rough)} at {load:g}, {buffer} cells"
                holds.append(above(difference, 0, words))
                told.append(f"{shown(difference)} {words}")
    return Finding(
        count(holds, runs=16),
        "Pairs of shapings of which the smoother surely has the better efficiency, both overloaded: "
        + ", ".join(told),
    )


def claim_fits(lab: Lab) -> Finding:
    """Count cells lost wherever shaped rates and 1.2 of the background fit into L0."""
    rate = {"35": 35, "20": 20}
    where = [
        (shaping, load, buffer)
        for buffer in BUFFERS
        for shaping in rate
        for load in cases.loads(lab)
        if 4 * rate[shaping] + cases.BETA * load <= cases.LINK_MBPS
    ]
    lost = [point(lab, *each).estimate("dropped_cells") for each in where]
    poor = [point(lab, *each).estimate("efficiency") for each in where]
    worst = max(lost, key=lambda each: each.mean or 0)
    return Finding(
        within(worst, 0, 0),
        f"The most cells lost at any of {len(where)} points; the least efficiency there is "
        f"{min(each.mean or 0 for each in poor):.4f}: what is on its way at either end of the count",
    )


def claim_shares(lab: Lab) -> Finding:
    """Measure whether four unshaped connections share alike."""
    load = cases.loads(lab)[0]
    plain = point(lab, "none", load)
    share = ratio_of_means(plain.values("least"), plain.values("goodput"))
    shaped = point(lab, "35", load)
    return Finding(
        below(share, 0.5),
        "The least connection's goodput over the mean without background, 1000 cells. One connection "
        "has the link "
        "and the others wait for their timers; no mean of a figure shows it. Shaped to 35 Mbit/s the "
        "least has "
        f"{shown(ratio_of_means(shaped.values('least'), shaped.values('goodput')))}",
    )


def whatever(
    lab: Lab, judge: Callable[[Callable[[str], Study]], Judgement], *, high: bool = False
) -> Finding:
    """Judge one statement under every open choice, with 1000 cells; ``high``: at 75 Mbit/s only."""
    found, told = [], []
    loads = (HIGH,) if high else cases.sensitive_loads(lab)
    for words, changes, sources, beta in cases.choices(lab):
        for load in loads:

            def at(
                shaping: str,
                load: float = load,
                changes: dict[str, Any] = changes,
                sources: int = sources,
                beta: float = beta,
            ) -> Study:
                return point(lab, shaping, load, 1000, changes, sources, beta)

            judged = judge(at)
            where = f"{words} at {load:g} Mbit/s"
            found.append(replace(judged, name=where))
            told.append(f"{where} {shown(number_of(judged))}")
    every = len(cases.CHOICES) * len((HIGH,) if high else cases.SENSITIVE_LOADS)
    return Finding(
        count(found, runs=16, untried=every - len(found)),
        "Cases are open choices and loads, 1000 cells. In Mbit/s per connection or in efficiency: "
        f"{'; '.join(told)}",
    )


def claim_any_better(lab: Lab) -> Finding:
    """Compare 35 Mbit/s with no shaping under every open choice."""
    return whatever(lab, lambda at: above(gain(at("35"), at("none")), 0))


def claim_any_twenty(lab: Lab) -> Finding:
    """Compare 20 Mbit/s with the others at high load under every open choice."""

    def holds(at: Callable[[str], Study]) -> Judgement:
        return together(
            *(above(gain(at("20"), at(other)), 0, f"over {named(other)}") for other in ("35", "none"))
        )

    return whatever(lab, holds, high=True)


def claim_any_efficiency(lab: Lab) -> Finding:
    """Compare efficiencies at high load under every open choice."""

    def holds(at: Callable[[str], Study]) -> Judgement:
        pairs = (("35", "20"), ("none", "35"))
        return together(
            *(
                above(gain(at(smooth), at(rough), "efficiency"), 0, f"{smooth} over {named(rough)}")
                for rough, smooth in pairs
            )
        )

    return whatever(lab, holds, high=True)


CLAIMS = [
    Claim(
        "unshaped-falls", "§III, Figs. 3, 5",
        "Without shaping goodput steadily falls with the background.",
        claim_falls, "share of steps", 1.0, ("fig-3", "fig-5"),
    ),
    Claim(
        "larger-buffer", "§III, Figs. 3, 5", "A larger buffer raises goodput, not very significantly.",
        claim_buffer, "5000 / 1000 cells", "a little above 1", ("fig-3", "fig-5"),
    ),
    Claim(
        "35-saturates", "§III", "Shaped to 35 Mbit/s and without background, TCP completely saturates L0.",
        claim_saturates, "share of L0", 1.0, ("fig-3",),
    ),
    Claim(
        "35-always-better", "§III, Figs. 3, 5",
        "Goodput with 35 Mbit/s is always greater than without shaping.",
        claim_always_better, "share of points", 1.0, ("fig-3", "fig-5"),
    ),
    Claim(
        "20-flat", "§III, Figs. 3, 5", "With 20 Mbit/s goodput is constant up to 75 Mbit/s of background.",
        claim_flat, "75 / 0 Mbit/s of background", 1.0, ("fig-3", "fig-5"),
    ),
    Claim(
        "20-knee", "§III, Figs. 3, 5", "It falls from 75 Mbit/s of background on: there is the knee.",
        claim_knee, "75 / 0 Mbit/s of background", "a knee at 75", ("knee",),
    ),
    Claim(
        "20-limited-by-shaper", "§III",
        "With 20 Mbit/s the shaping limits goodput and not the window.",
        claim_shaper_limits, "share of the time", "by the shaper", ("fig-3",),
    ),
    Claim(
        "20-beats-both", "§III, Figs. 3, 5",
        "At high load 20 Mbit/s has more goodput than 35 Mbit/s and than no shaping.",
        claim_twenty_beats, "share of pairs", 1.0, ("fig-3", "fig-5"),
    ),
    Claim(
        "equal-at-100", "§III", "At 100 Mbit/s of background goodput hardly depends on the shaping.",
        claim_equal, "35 Mbit/s / no shaping", 1.0, ("fig-3", "fig-5"),
    ),
    Claim(
        "efficiency-poor", "§III, Figs. 4, 6",
        "Efficiency becomes very poor as soon as more is offered than the bottleneck carries.",
        claim_efficiency, "efficiency", "very poor", ("fig-4", "fig-6"),
    ),
    Claim(
        "burstier-poorer", "§III, Figs. 4, 6", "The burstier the traffic, the poorer the efficiency.",
        claim_burstier, "share of pairs", 1.0, ("fig-4", "fig-6"),
    ),
    Claim(
        "multiplexer-jitter", "§II",
        "With a shaper for each connection (VC-based) the multiplexer behind them may have a considerable "
        "impact on the cells' jitter.",
        claim_multiplexer, "times T", "considerable", (),
    ),
    Claim(
        "vc-over-vp", "beyond the paper, §II",
        "A shaper for each connection (VC-based) gives more goodput than one for all of a user (VP-based).",
        claim_policies, "VC / VP", None, (),
    ),
    Claim(
        "fits-no-loss", "beyond the paper",
        "Where the shaped rates and 1.2 of the background fit into L0, no cell is lost.",
        claim_fits, "cells", 0.0, ("fig-4", "fig-6"),
    ),
    Claim(
        "lock-out", "beyond the paper", "Without shaping some connection gets less than half its share.",
        claim_shares, "least connection / mean", None, ("shares",),
    ),
    Claim(
        "any-35-better", "beyond the paper", "35 Mbit/s is better than no shaping whatever the open choices.",
        claim_any_better, "share of cases", None, ("choices",),
    ),
    Claim(
        "any-20-beats", "beyond the paper", "At 75 Mbit/s 20 Mbit/s beats both whatever the open choices.",
        claim_any_twenty, "share of cases", None, ("choices",),
    ),
    Claim(
        "any-burstier", "beyond the paper",
        "At 75 Mbit/s the burstier has the poorer efficiency whatever the open choices.",
        claim_any_efficiency, "share of cases", None, ("choices",),
    ),
]  # fmt: skip
