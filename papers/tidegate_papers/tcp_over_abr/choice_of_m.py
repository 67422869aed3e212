"""Claims on M, the number of samples that are averaged: Section VI-A, Figs. 17 and 18."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import (
    Finding,
    above,
    below,
    claim,
    shown,
    together,
    with_untried,
    within,
    worst,
)
from tidegate_papers.tcp_over_abr import cases
from tidegate_papers.tcp_over_abr.cases import (
    by_mean,
    mean_change,
)
from tidegate_papers.tcp_over_abr.choice import SLIGHT, WHY_FLOOR, at_trips
from tidegate_papers.tcp_over_abr.feedback import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate_papers.api import Estimate, Judgement, Lab

#: "10% to 15%" less.
DROP = (0.82, 0.93)

CHANGE = "the efficiency with M = 10 over that with M = 1"

#: Round trips for which efficiency falls with M, ms.
SHORT_MS = 100


@claim(
    "m-slow",
    where="§VI-A, Fig. 17",
    says="With 1 s and Δ of 50 ms efficiency decreases slowly with M.",
    unit="M = 10 / M = 1",
    paper="slowly",
    figures=("fig-17",),
)
def claim_mean_slow(lab: Lab) -> Finding:
    """Compare M of 10 with M of 1, 1 s and 50 ms, Fig. 17."""
    found = [mean_change(lab, 1000, 50, k, 10) for k in (2, 12)]
    return Finding(
        together(
            *(below(each, 1, f"N: {k}Δ, less", of=CHANGE) for k, each in zip((2, 12), found, strict=True)),
            *(
                above(each, 0.8, f"N: {k}Δ, slowly", of=CHANGE)
                for k, each in zip((2, 12), found, strict=True)
            ),
        ),
        f"Efficiency with M 10 over that with M 1: {shown(found[0])} with N: 2Δ, {shown(found[1])} with "
        "N: 12Δ. Slowly is taken as less than a fifth",
    )


@claim(
    "m-flat",
    where="§VI-A, Fig. 18",
    says="With 100 ms and N: 2Δ efficiency is insensitive to M.",
    unit="largest change / M = 1",
    paper=1.0,
    figures=("fig-18",),
)
def claim_mean_flat(lab: Lab) -> Finding:
    """Measure what M changes with N: 2Δ and a holding time of 100 ms, Fig. 18."""
    spread = []
    for delta in lab.judged(cases.M_DELTAS):
        each = [found.mean or 0 for found in by_mean(lab, 100, delta, 2)]
        at_most = lab.points(cases.MEANS)[max(range(len(each)), key=lambda n: abs(each[n] - each[0]))]
        spread.append((delta, mean_change(lab, 100, delta, 2, at_most), at_most))
    numbers = ", ".join(f"{shown(found)} with M {m} at {delta} ms" for delta, found, m in spread)
    return Finding(
        together(
            *(
                with_untried(worst(part), lab.left_out(cases.MEANS))
                for part in at_trips(
                    within, [(delta, found) for delta, found, _ in spread], 1 - SLIGHT, 1 + SLIGHT
                )
            )
        ),
        "The largest change against M 1, among M of "
        f"{', '.join(str(m) for m in lab.points(cases.MEANS))}: {numbers}. Insensitive is within "
        f"{SLIGHT:.0%}",
    )


def _mean_drop(lab: Lab, floor_ms: float) -> list[tuple[int, Estimate]]:
    return [(delta, mean_change(lab, 100, delta, 12, 10, floor_ms)) for delta in lab.points(cases.M_DELTAS)]


def _judged_drop(found: Sequence[tuple[int, Estimate]]) -> Judgement:
    """Judge a drop of 10% to 15% for round trips up to 100 ms, and none for 200 ms."""
    short = [each for each in found if each[0] <= SHORT_MS]
    rest = [each for each in found if each[0] > SHORT_MS]
    return together(
        *at_trips(within, short, *DROP),
        *at_trips(within, rest, 1 - SLIGHT, 1 + SLIGHT),
        rule=f"M = 10 over M = 1 lies within {DROP[0]:g} to {DROP[1]:g} for round trips of 50 and 100 ms and "
        f"within {1 - SLIGHT:g} to {1 + SLIGHT:g} for 200 ms, with the whole 95% interval",
    )


@claim(
    "m-drop",
    where="§VI-A, Fig. 18",
    says="With N: 12Δ it falls by 10% to 15% for Δ of 50 and 100 ms, not for 200 ms.",
    unit="M = 10 / M = 1",
    paper="0.85 to 0.9",
    figures=("fig-18",),
)
def claim_mean_drop(lab: Lab) -> Finding:
    """Compare M of 10 with M of 1 with N: 12Δ and 100 ms, Fig. 18."""
    lab.judged(cases.M_DELTAS)
    found, late = (_mean_drop(lab, floor) for floor in cases.FLOORS_MS)
    return Finding(
        _judged_drop(found),
        f"Efficiency with M 10 over that with M 1, by round trip in ms: {listed(found)}; at 200 ms (psi 0.5) "
        f"none is expected. 10% to 15% is counted from 7% to 18%. With time-outs of at least 1 s: "
        f"{listed(late)}. {WHY_FLOOR}",
    )


@claim(
    "m-drop-late",
    where="beyond the paper, Fig. 18",
    says="Where a time-out takes at least 1 s, efficiency falls with M for Δ of 50 and 100 ms.",
    unit="M = 10 / M = 1",
    paper="below 1",
    figures=("fig-18", "floor"),
)
def claim_mean_drop_late(lab: Lab) -> Finding:
    """Compare them with a time-out of at least 1 s."""
    lab.judged(cases.M_DELTAS.only(lambda delta: delta <= SHORT_MS))
    found = _mean_drop(lab, cases.FLOORS_MS[-1])
    return Finding(
        together(*at_trips(below, [each for each in found if each[0] <= SHORT_MS], 1)),
        "Efficiency with M 10 over that with M 1, by round trip in ms, time-outs of at least 1 s: "
        f"{listed(found)}. Judged are 50 and 100 ms",
    )
