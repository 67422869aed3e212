"""Claims on two sessions of different round trips: Section VII, Figs. 19 to 22.

Each is judged without jitter, as the paper says nothing of any, and with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import (
    Finding,
    above,
    below,
    claim,
    count,
    estimate,
    ratio_of_means,
    together,
    within,
)
from tidegate_papers.tcp_over_abr import cases
from tidegate_papers.tcp_over_abr.cases import packets, share
from tidegate_papers.tcp_over_abr.feedback import by_psi, listed
from tidegate_papers.tcp_over_abr.sessions import JITTERS, both, chosen_pairs, far_over_near, pair, pair_psis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tidegate_papers.api import Estimate, Judgement, Lab

    #: What is measured at a rate of change, with or without jitter.
    At = Callable[[float, str], Estimate]
    #: Estimates by rate of change, without and with jitter.
    Found = dict[str, list[tuple[float, Estimate]]]

#: Sessions with shares within this of each other are fair.
FAIR = 0.05
#: A "slight" decrease is of at most this share.
SLIGHT = 0.15


def _found(psis: Iterable[float], at: At) -> Found:
    """Return what is measured without and with jitter, by rate of change."""
    return {jitter: [(psi, at(psi, jitter)) for psi in psis] for jitter in JITTERS}


def _judged(rule: Callable[..., Judgement], found: Found, *bounds: float) -> list[Judgement]:
    """Judge each rate of change without and with jitter; both are named."""
    return [part for jitter, each in found.items() for part in by_psi(rule, each, *bounds, what=jitter)]


def _by_jitter(found: Found) -> str:
    return "; ".join(
        f"{jitter}{f' of up to {JITTERS[jitter]}' if JITTERS[jitter] else ''} {listed(each)}"
        for jitter, each in found.items()
    )


def _middle(lab: Lab) -> tuple[float, ...]:
    return chosen_pairs(lab, lambda psi: 0.3 < psi < 20)


def _shares(lab: Lab, case: str, psis: Iterable[float], tcp: str = "model") -> Found:
    """Return the far session's throughput over the near one's."""
    return _found(psis, lambda psi, jitter: far_over_near(lab, case, psi, tcp, jitter))


def _fairer(lab: Lab, case: str, other: str, psis: Iterable[float], tcp: str = "model") -> Found:
    """Return by how much the far session's part of both is nearer to a half, run by run."""

    def at(psi: float, jitter: str) -> Estimate:
        point = pair_psis(lab, tcp).index(psi)
        gaps = []
        for one in (case, other):
            far, near = (packets(pair(lab, one, tcp, jitter), point, flow) for flow in ("far", "near"))
            gaps.append([abs(0.5 - a / (a + b)) for a, b in zip(far, near, strict=True)])
        return estimate(b - a for a, b in zip(*gaps, strict=True))

    return _found(psis, at)


def _both_over(lab: Lab, case: str, other: str, psis: Iterable[float]) -> Found:
    """Return the efficiency of both sessions together, one case over the other."""

    def at(psi: float, jitter: str) -> Estimate:
        point = pair_psis(lab).index(psi)
        these, those = (
            [share(one) * value for value in packets(pair(lab, one, jitter=jitter), point)]
            for one in (case, other)
        )
        return ratio_of_means(these, those)

    return _found(psis, at)


@claim(
    "fair-fast",
    where="§VII-A, Fig. 19",
    says="Two sessions have equal throughput for psi below 0.3.",
    unit="far / near",
    paper=1.0,
    figures=("fig-19", "fig-20"),
)
def claim_equal(lab: Lab) -> Finding:
    """Compare shares where changes are fast, Case 1, Fig. 19."""
    found = _shares(lab, "Case 1", chosen_pairs(lab, lambda psi: psi < 0.3))
    return Finding(
        together(*_judged(within, found, 1 - FAIR, 1 + FAIR)),
        f"The far session's throughput over the near one's by psi, {_by_jitter(found)}",
    )


@claim(
    "unfair-middle",
    where="§VII-A, Fig. 20",
    says="For psi between 0.3 and 20 the far session has less.",
    unit="far / near",
    paper="below 1",
    figures=("fig-19", "fig-20", "jitter"),
)
def claim_unfair(lab: Lab) -> Finding:
    """Compare shares at middle rates of change, Case 1, Fig. 20."""
    found = _shares(lab, "Case 1", _middle(lab))
    return Finding(
        together(*_judged(below, found, 1 - FAIR)),
        f"The far session's throughput over the near one's by psi, {_by_jitter(found)}",
    )


@claim(
    "fairer",
    where="§VII-A, Fig. 20",
    says="Shares are fairer than with TCP alone.",
    unit="nearer to 1/2",
    paper="above 0",
    figures=("fig-20", "jitter"),
)
def claim_fairer(lab: Lab) -> Finding:
    """Compare Case 1 with TCP alone at every rate of change, Fig. 20."""
    found = _fairer(lab, "Case 1", "TCP alone", chosen_pairs(lab))
    return Finding(
        together(*_judged(above, found, 0)),
        f"By how much the far session's part is nearer to a half than with TCP alone, {_by_jitter(found)}. "
        "With TCP alone it has over the near one's, "
        f"{_by_jitter(_shares(lab, 'TCP alone', pair_psis(lab)))}. There the jitter tells: without any, "
        "which session's packets find the queue full depends on how the two round trips fit together",
    )


@claim(
    "case-2-fairer",
    where="§VII-B, Fig. 22",
    says="One M for both (Case 2) is fairer than each its own (Case 1).",
    unit="nearer to 1/2",
    paper="above 0",
    figures=("fig-21", "fig-22", "jitter"),
)
def claim_case_two(lab: Lab) -> Finding:
    """Compare Case 2 with Case 1 at middle rates of change, Fig. 22."""
    psis = _middle(lab)
    found = _fairer(lab, "Case 2", "Case 1", psis)
    return Finding(
        together(*_judged(above, found, 0)),
        f"By how much the far session's part is nearer to a half than in Case 1, {_by_jitter(found)}. In "
        f"Case 2 it has over the near one's, {_by_jitter(_shares(lab, 'Case 2', psis))}",
    )


@claim(
    "case-2-costs",
    where="§VII-B, Fig. 22",
    says="But it costs overall efficiency.",
    unit="Case 2 / Case 1",
    paper="below 1",
    figures=("fig-22",),
)
def claim_case_two_costs(lab: Lab) -> Finding:
    """Compare the efficiency of both cases."""
    found = _both_over(lab, "Case 2", "Case 1", _middle(lab))
    return Finding(
        together(*_judged(below, found, 1)),
        f"Efficiency of both sessions in Case 2 over Case 1 by psi, {_by_jitter(found)}",
    )


@claim(
    "slight-decrease",
    where="§VII-B, Fig. 22",
    says="Overall efficiency is slightly below that of TCP alone.",
    unit="Case 2 / TCP alone",
    paper="slightly below 1",
    figures=("fig-22",),
)
def claim_slight(lab: Lab) -> Finding:
    """Compare the efficiency of both sessions with that of TCP alone, Fig. 22."""
    found = _both_over(lab, "Case 2", "TCP alone", chosen_pairs(lab))
    raw = _found(pair_psis(lab), lambda psi, jitter: both(lab, "Case 2", psi, jitter))
    return Finding(
        together(*_judged(within, found, 1 - SLIGHT, 1)),
        f"Efficiency of both sessions, Case 2 over TCP alone, {_by_jitter(found)}. By itself, "
        f"{_by_jitter(raw)}. A "
        f"slight decrease is taken as up to {SLIGHT:.0%}; the cells' headers alone are 9%",
    )


@claim(
    "effcap-fairer",
    where="§VII-B",
    says="For psi below 20 EFFCAP is fairer than INSTCAP.",
    unit="share of points",
    paper=1.0,
)
def claim_instcap(lab: Lab) -> Finding:
    """Compare the fairness of EFFCAP with that of INSTCAP, psi below 20."""
    found = _fairer(lab, "Case 1", "INSTCAP", chosen_pairs(lab, lambda psi: psi < 20))
    return Finding(
        count(_judged(above, found, 0), runs=cases.runs(lab)),
        "By how much the far session's part is nearer to a half in Case 1 than with INSTCAP, psi below 20, "
        f"{_by_jitter(found)}",
    )


@claim(
    "reno-fairer",
    where="beyond the paper",
    says="Shares of two sessions are fairer than with TCP alone for Reno, too.",
    unit="nearer to 1/2",
    paper="above 0",
)
def claim_reno(lab: Lab) -> Finding:
    """Compare Case 1 with TCP alone for Reno with fast retransmit."""
    psis = chosen_pairs(lab, tcp="Reno")
    found = _fairer(lab, "Case 1", "TCP alone", psis, "Reno")
    numbers = [f"{case}, {_by_jitter(_shares(lab, case, psis, 'Reno'))}" for case in ("Case 1", "TCP alone")]
    return Finding(
        together(*_judged(above, found, 0)),
        "By how much the far session's part is nearer to a half than with TCP alone, Reno, "
        f"{_by_jitter(found)}. The far session's throughput over the near one's: {'. '.join(numbers)}",
    )


@claim(
    "instcap-fair",
    where="§VII",
    says="INSTCAP is fair where changes are slow.",
    unit="far / near",
    paper=1.0,
)
def claim_instcap_slow(lab: Lab) -> Finding:
    """Compare shares under INSTCAP where changes are rare."""
    found = _shares(lab, "INSTCAP", chosen_pairs(lab, lambda psi: psi >= 50))
    return Finding(
        together(*_judged(within, found, 1 - FAIR, 1 + FAIR)),
        f"The far session's throughput over the near one's under INSTCAP, {_by_jitter(found)}",
    )
