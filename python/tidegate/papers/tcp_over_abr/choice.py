"""Claims on M and N: Section VI, Figs. 14 to 18."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.api import (
    REPRODUCED,
    Finding,
    above,
    below,
    count,
    ratio_of_means,
    shown,
    together,
    within,
)
from tidegate.papers.tcp_over_abr import cases
from tidegate.papers.tcp_over_abr.cases import (
    by_mean,
    by_memory,
    chosen,
    curve,
    mean_change,
    memory_change,
    packets,
)
from tidegate.papers.tcp_over_abr.feedback import by_psi, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidegate.papers.api import Estimate, Judgement, Lab

#: "Negligible", "insensitive" to M.
SLIGHT = 0.05
#: "Substantially" more.
SUBSTANTIAL = 1.05
#: "10% to 15%" less.
DROP = (0.82, 0.93)
#: Round trips for which efficiency falls with M, ms.
SHORT_MS = 100
#: The rule of thumb serves if it reaches this share of the best that was tried.
GOOD = 0.95


def claim_memory_middle(lab: Lab) -> Finding:
    """Compare N: 8Δ with N: 2Δ where a rate lasts less than a round trip, Fig. 14."""
    found = []
    for psi in chosen(lab, (0.3, 0.5, 0.8, 1)):
        point = cases.psis(lab).index(psi)
        these, those = (packets(curve(lab, "EFFCAP", n_round_trips=k), point) for k in (8, 2))
        found.append((psi, ratio_of_means(these, those)))
    return Finding(
        together(*by_psi(above, found, 1)),
        f"Efficiency with N: 8Δ over that with N: 2Δ by psi: {listed(found)}",
    )


def at_trips(
    rule: Callable[..., Judgement], found: Sequence[tuple[int, Estimate]], *bounds: float
) -> list[Judgement]:
    """Judge each of some estimates by round trip, with the round trip as its name."""
    return [rule(each, *bounds, name=f"at {delta} ms") for delta, each in found]


#: Why the time-out matters to M and N.
WHY_FLOOR = (
    "The time-out is twice the round trip here, so losing a packet costs little where the round trip is "
    "short, and a rate above the link's is soon made good; a time-out of 1 s makes each loss dear"
)


def _memory_fast(lab: Lab, floor_ms: float) -> list[tuple[int, Estimate]]:
    return [(delta, memory_change(lab, 100, delta, 12, floor_ms=floor_ms)) for delta in cases.deltas(lab)]


def claim_memory_fast(lab: Lab) -> Finding:
    """Compare N: 12Δ with N: 2Δ with a holding time of 100 ms, Fig. 15."""
    found, late = (_memory_fast(lab, floor) for floor in cases.FLOORS_MS)
    return Finding(
        together(*at_trips(above, found, SUBSTANTIAL)),
        f"Efficiency with N: 12Δ over that with N: 2Δ by round trip in ms: {listed(found)}; at least 5% more "
        f"is counted as substantial. With time-outs of at least 1 s: {listed(late)}. {WHY_FLOOR}",
    )


def claim_memory_fast_late(lab: Lab) -> Finding:
    """Compare them with a time-out of at least 1 s."""
    found = _memory_fast(lab, cases.FLOORS_MS[-1])
    return Finding(
        together(*at_trips(above, found, 1)),
        f"Efficiency with N: 12Δ over that with N: 2Δ by round trip in ms, time-outs of at least 1 s: "
        f"{listed(found)}. Those of 500 ms are 1 s in both",
    )


def claim_limit(lab: Lab) -> Finding:
    """Measure efficiency with the longest memory, a holding time of 100 ms, Fig. 15."""
    found = [(delta, by_memory(lab, 100, delta)[-1]) for delta in cases.deltas(lab) if 100 <= delta <= 200]
    low = 48 / 53 * 50 / 75
    return Finding(
        together(*at_trips(within, found, 0.57, 0.64)),
        f"Efficiency with N: 12Δ by round trip in ms: {listed(found)}. The low rate is {low:.3f} of the mean "
        "capacity, cells' headers taken off; where psi is small even the least of the means is above it",
    )


def claim_memory_slow(lab: Lab) -> Finding:
    """Compare memories with a holding time of 1 s, Fig. 16, at both ends of psi."""
    longer = [(d, memory_change(lab, 1000, d, 12)) for d in cases.deltas(lab) if 1000 / d < 8]
    shorter = [(d, memory_change(lab, 1000, d, 12)) for d in cases.deltas(lab) if 1000 / d > 10]
    return Finding(
        together(
            *at_trips(above, longer, 1),
            *at_trips(within, shorter, 1 - SLIGHT, 1 + SLIGHT / 5),
        ),
        f"Efficiency with N: 12Δ over that with N: 2Δ, by round trip in ms; psi below 8: {listed(longer)}; "
        f"psi above 10: {listed(shorter)}",
    )


def claim_mean_slow(lab: Lab) -> Finding:
    """Compare M of 10 with M of 1, 1 s and 50 ms, Fig. 17."""
    found = [mean_change(lab, 1000, 50, k, 10) for k in (2, 12)]
    return Finding(
        together(
            *(below(each, 1, f"N: {k}Δ, less") for k, each in zip((2, 12), found, strict=True)),
            *(above(each, 0.8, f"N: {k}Δ, slowly") for k, each in zip((2, 12), found, strict=True)),
        ),
        f"Efficiency with M 10 over that with M 1: {shown(found[0])} with N: 2Δ, {shown(found[1])} with "
        "N: 12Δ. Slowly is taken as less than a fifth",
    )


def claim_mean_flat(lab: Lab) -> Finding:
    """Measure what M changes with N: 2Δ and a holding time of 100 ms, Fig. 18."""
    spread = []
    for delta in cases.m_deltas(lab):
        each = [found.mean or 0 for found in by_mean(lab, 100, delta, 2)]
        at_most = cases.means(lab)[max(range(len(each)), key=lambda n: abs(each[n] - each[0]))]
        spread.append((delta, mean_change(lab, 100, delta, 2, at_most), at_most))
    told = ", ".join(f"{shown(found)} with M {m} at {delta} ms" for delta, found, m in spread)
    return Finding(
        together(*at_trips(within, [(delta, found) for delta, found, _ in spread], 1 - SLIGHT, 1 + SLIGHT)),
        f"The largest change against M 1: {told}. Insensitive is within {SLIGHT:.0%}",
    )


def _mean_drop(lab: Lab, floor_ms: float) -> list[tuple[int, Estimate]]:
    return [(delta, mean_change(lab, 100, delta, 12, 10, floor_ms)) for delta in cases.m_deltas(lab)]


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


def claim_mean_drop(lab: Lab) -> Finding:
    """Compare M of 10 with M of 1 with N: 12Δ and 100 ms, Fig. 18."""
    found, late = (_mean_drop(lab, floor) for floor in cases.FLOORS_MS)
    return Finding(
        _judged_drop(found),
        f"Efficiency with M 10 over that with M 1, by round trip in ms: {listed(found)}; at 200 ms (psi 0.5) "
        f"none is expected. 10% to 15% is counted from 7% to 18%. With time-outs of at least 1 s: "
        f"{listed(late)}. {WHY_FLOOR}",
    )


def claim_mean_drop_late(lab: Lab) -> Finding:
    """Compare them with a time-out of at least 1 s."""
    found = _mean_drop(lab, cases.FLOORS_MS[-1])
    return Finding(
        together(*at_trips(below, [each for each in found if each[0] <= SHORT_MS], 1)),
        "Efficiency with M 10 over that with M 1, by round trip in ms, time-outs of at least 1 s: "
        f"{listed(found)}. Judged are 50 and 100 ms",
    )


def _of_best(
    lab: Lab, holding: float, delta: float, effcap: Sequence[dict[str, int]], chosen_one: int
) -> tuple[Estimate, int]:
    """Return one choice's efficiency over that of the best one tried, run by run, and which is best."""
    study = cases.session(lab, delta, [holding], effcap)
    each = [packets(study, n) for n in range(len(effcap))]
    best = max(range(len(each)), key=lambda n: sum(each[n]))
    return ratio_of_means(each[chosen_one], each[best]), best


def claim_rule(lab: Lab) -> Finding:
    """Compare the rule of thumb with the best N and the best M of Figs. 15 to 18."""
    parts, told = [], []

    def judge(words: str, where: str, found: Estimate, best: str) -> None:
        part = above(found, GOOD, f"{words} {where}")
        parts.append(part)
        if part.verdict != REPRODUCED:
            told.append(f"{words} reaches {shown(found)} of {best} {where}")

    ks, ms = cases.memories(lab), cases.means(lab)
    for holding in (100, 1000):
        for delta in cases.deltas(lab):
            where = f"({holding}, {delta})"
            for k in (8, 12):
                tried = [cases.blocks(delta, each) for each in ks]
                found, best = _of_best(lab, holding, delta, tried, ks.index(k))
                judge(f"N: {k}Δ", where, found, f"N: {ks[best]}Δ")
        for delta in cases.m_deltas(lab):
            m = cases.blocks(delta, 2)["m"]
            n = cases.blocks(delta, 12)["n"]
            near = min(range(len(ms)), key=lambda at: abs(ms[at] - m))
            tried = [{"m": each, "n": n} for each in ms]
            found, best = _of_best(lab, holding, delta, tried, near)
            judge(f"M: Δ = {m}", f"({holding}, {delta})", found, f"M = {ms[best]}")
    return Finding(
        count(parts, runs=cases.runs(lab)),
        f"Efficiency by the rule over that of the best choice tried has to be above {GOOD:.0%}, at points of "
        "(holding time, round trip) in ms" + (f". Not surely: {'; '.join(told)}" if told else ""),
    )
