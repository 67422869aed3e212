"""Claims on M and N: Section VI, Figs. 14 to 18."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import (
    REPRODUCED,
    Finding,
    Points,
    above,
    claim,
    count,
    ratio_of_means,
    shown,
    together,
    with_untried,
    within,
    worst,
)
from tidegate_papers.tcp_over_abr import cases
from tidegate_papers.tcp_over_abr.cases import (
    by_memory,
    chosen,
    curve,
    memory_change,
    packets,
)
from tidegate_papers.tcp_over_abr.feedback import by_psi, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidegate_papers.api import Estimate, Judgement, Lab

#: "Negligible", "insensitive" to M.
SLIGHT = 0.05
#: "Substantially" more.
SUBSTANTIAL = 1.05
#: The rule of thumb serves if it reaches this share of the best that was tried.
GOOD = 0.95


@claim(
    "n-middle",
    where="§VI-A, Fig. 14",
    says="For psi between 0.3 and 1 a larger N improves efficiency.",
    unit="N: 8Δ / N: 2Δ",
    paper="above 1",
    figures=("fig-14",),
)
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
    return [
        (delta, memory_change(lab, 100, delta, 12, floor_ms=floor_ms)) for delta in lab.points(cases.DELTAS)
    ]


@claim(
    "n-fast",
    where="§VI-A, Fig. 15",
    says="With 100 ms in a state, efficiency improves substantially as N grows.",
    unit="N: 12Δ / N: 2Δ",
    paper="substantially",
    figures=("fig-15",),
)
def claim_memory_fast(lab: Lab) -> Finding:
    """Compare N: 12Δ with N: 2Δ with a holding time of 100 ms, Fig. 15."""
    lab.judged(cases.DELTAS)
    found, late = (_memory_fast(lab, floor) for floor in cases.FLOORS_MS)
    return Finding(
        together(*at_trips(above, found, SUBSTANTIAL)),
        f"Efficiency with N: 12Δ over that with N: 2Δ by round trip in ms: {listed(found)}; at least 5% more "
        f"is counted as substantial. With time-outs of at least 1 s: {listed(late)}. {WHY_FLOOR}",
    )


@claim(
    "n-fast-late",
    where="beyond the paper, Fig. 15",
    says="Where a time-out takes at least 1 s, a larger N improves it at every round trip.",
    unit="N: 12Δ / N: 2Δ",
    paper="above 1",
    figures=("fig-15", "floor"),
)
def claim_memory_fast_late(lab: Lab) -> Finding:
    """Compare them with a time-out of at least 1 s."""
    lab.judged(cases.DELTAS)
    found = _memory_fast(lab, cases.FLOORS_MS[-1])
    return Finding(
        together(*at_trips(above, found, 1)),
        f"Efficiency with N: 12Δ over that with N: 2Δ by round trip in ms, time-outs of at least 1 s: "
        f"{listed(found)}. Those of 500 ms are 1 s in both",
    )


@claim(
    "n-limit",
    where="§VI-A, Fig. 15",
    says="As N grows, efficiency tends to about 0.6, that of the low rate.",
    unit="share of capacity",
    paper=0.6,
    figures=("fig-15",),
)
def claim_limit(lab: Lab) -> Finding:
    """Measure efficiency with the longest memory, a holding time of 100 ms, Fig. 15."""
    deltas = lab.judged(cases.DELTAS.only(lambda delta: 100 <= delta <= 200))
    found = [(delta, by_memory(lab, 100, delta)[-1]) for delta in deltas]
    low = 48 / 53 * 50 / 75
    return Finding(
        together(*at_trips(within, found, 0.57, 0.64)),
        f"Efficiency with N: 12Δ by round trip in ms: {listed(found)}. The low rate is {low:.3f} of the mean "
        "capacity, cells' headers taken off; where psi is small even the least of the means is above it",
    )


@claim(
    "n-slow",
    where="§VI-A, Fig. 16",
    says="With 1 s, a larger N improves efficiency below psi 8; above 10 a smaller one does, negligibly.",
    unit="N: 12Δ / N: 2Δ",
    paper="above 1",
    figures=("fig-16",),
)
def claim_memory_slow(lab: Lab) -> Finding:
    """Compare memories with a holding time of 1 s, Fig. 16, at both ends of psi."""
    long = lab.judged(cases.DELTAS.only(lambda delta: 1000 / delta < 8))
    short = lab.judged(cases.DELTAS.only(lambda delta: 1000 / delta > 10))
    longer = [(delta, memory_change(lab, 1000, delta, 12)) for delta in long]
    shorter = [(delta, memory_change(lab, 1000, delta, 12)) for delta in short]
    return Finding(
        together(
            *at_trips(above, longer, 1),
            *at_trips(within, shorter, 1 - SLIGHT, 1 + SLIGHT / 5),
            rule="the whole 95% interval of the efficiency with N: 12Δ over that with N: 2Δ lies above 1 "
            "where "
            f"psi is below 8, and within {1 - SLIGHT:g} to {1 + SLIGHT / 5:g} where it is above 10",
        ),
        f"Efficiency with N: 12Δ over that with N: 2Δ, by round trip in ms; psi below 8: {listed(longer)}; "
        f"psi above 10: {listed(shorter)}",
    )


def _of_best(
    lab: Lab, holding: float, delta: float, effcap: Sequence[dict[str, int]], chosen_one: int
) -> tuple[Estimate, int]:
    """Return one choice's efficiency over that of the best one tried, run by run, and which is best."""
    study = cases.session(lab, delta, [holding], effcap)
    each = [packets(study, n) for n in range(len(effcap))]
    best = max(range(len(each)), key=lambda n: sum(each[n]))
    return ratio_of_means(each[chosen_one], each[best]), best


@claim(
    "rule",
    where="§VI, §VIII",
    says="M = ⌈Δ/s⌉ and N of 8 to 12 ⌈Δ/s⌉ is a good rule.",
    unit="share of points",
    paper="good",
    figures=("fig-15", "fig-16", "fig-17", "fig-18"),
)
def claim_rule(lab: Lab) -> Finding:
    """Compare the rule of thumb with the best N and the best M of Figs. 15 to 18."""
    parts, missed = [], []

    def judge(words: str, where: str, found: Estimate, best: str, choices: Points[int]) -> None:
        part = above(found, GOOD, f"{words} {where}")
        parts.append(with_untried(worst(part), lab.left_out(choices)))
        if part.verdict != REPRODUCED:
            missed.append(f"{words} reaches {shown(found)} of {best} {where}")

    ks, ms = lab.points(cases.MEMORIES), lab.points(cases.MEANS)
    for holding in (100, 1000):
        for delta, k in lab.judged(cases.DELTAS.times(Points.always(8, 12))):
            tried = [cases.blocks(delta, each) for each in ks]
            found, best = _of_best(lab, holding, delta, tried, ks.index(k))
            judge(f"N: {k}Δ", f"({holding}, {delta})", found, f"N: {ks[best]}Δ", cases.MEMORIES)
        for delta in lab.judged(cases.M_DELTAS):
            m = cases.blocks(delta, 2)["m"]
            n = cases.blocks(delta, 12)["n"]
            near = min(range(len(ms)), key=lambda at: abs(ms[at] - m))
            tried = [{"m": each, "n": n} for each in ms]
            found, best = _of_best(lab, holding, delta, tried, near)
            judge(f"M: Δ = {m}", f"({holding}, {delta})", found, f"M = {ms[best]}", cases.MEANS)
    return Finding(
        count(parts, runs=cases.runs(lab)),
        f"Efficiency by the rule over that of the best choice tried has to be above {GOOD:.0%}, at points of "
        "(holding time, round trip) in ms"
        + ("; a choice that was not tried may be better still" if lab.left_out(cases.MEMORIES) else "")
        + (f". Not surely: {'; '.join(missed)}" if missed else ""),
    )
