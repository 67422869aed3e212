"""Claims on two sessions of different round trips: Section VII, Figs. 19 to 22."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._estimate import Estimate, estimate
from tidegate._paper import Finding
from tidegate._paper_parts import ratio_of_means
from tidegate._verdict import above, below, count, together, within
from tidegate.papers.tcp_over_abr import cases
from tidegate.papers.tcp_over_abr.cases import packets, share
from tidegate.papers.tcp_over_abr.feedback import by_psi, listed
from tidegate.papers.tcp_over_abr.sessions import PAIR_PSIS, both, far_over_near, pair, pair_psis

if TYPE_CHECKING:
    from tidegate._paper import Lab

#: Sessions with shares within this of each other are fair.
FAIR = 0.05


def _middle(lab: Lab) -> list[float]:
    return [psi for psi in pair_psis(lab) if 0.3 < psi < 20]


def _by_psi(lab: Lab, case: str, psis: list[float]) -> list[tuple[float, Estimate]]:
    return [(psi, far_over_near(lab, case, psi)) for psi in psis]


def _fairer(lab: Lab, case: str, other: str, psi: float, tcp: str = "model") -> Estimate:
    """Return by how much the far session's part of both is nearer to a half, run by run."""
    point = pair_psis(lab, tcp).index(psi)
    gaps = []
    for one in (case, other):
        far, near = (packets(pair(lab, one, tcp), point, flow) for flow in ("far", "near"))
        gaps.append([abs(0.5 - a / (a + b)) for a, b in zip(far, near, strict=True)])
    return estimate(b - a for a, b in zip(*gaps, strict=True))


def claim_equal(lab: Lab) -> Finding:
    """Compare shares where changes are fast, Case 1, Fig. 19."""
    found = _by_psi(lab, "Case 1", [psi for psi in pair_psis(lab) if psi < 0.3])
    return Finding(
        together(*by_psi(within, found, 1 - FAIR, 1 + FAIR)),
        f"The far session's throughput over the near one's by psi: {listed(found)}",
    )


def claim_unfair(lab: Lab) -> Finding:
    """Compare shares at middle rates of change, Case 1, Fig. 20."""
    found = _by_psi(lab, "Case 1", _middle(lab))
    return Finding(
        together(*by_psi(below, found, 1 - FAIR)),
        f"The far session's throughput over the near one's by psi: {listed(found)}",
    )


def claim_fairer(lab: Lab) -> Finding:
    """Compare Case 1 with TCP alone at every rate of change, Fig. 20."""
    found = [(psi, _fairer(lab, "Case 1", "TCP alone", psi)) for psi in pair_psis(lab)]
    alone = _by_psi(lab, "TCP alone", list(pair_psis(lab)))
    return Finding(
        together(*by_psi(above, found, 0)),
        f"By how much the far session's part is nearer to a half than with TCP alone: {listed(found)}. "
        "With TCP "
        f"alone it has over the near one's: {listed(alone)}",
    )


def claim_case_two(lab: Lab) -> Finding:
    """Compare Case 2 with Case 1 at middle rates of change, Fig. 22."""
    found = [(psi, _fairer(lab, "Case 2", "Case 1", psi)) for psi in _middle(lab)]
    two = _by_psi(lab, "Case 2", _middle(lab))
    return Finding(
        together(*by_psi(above, found, 0)),
        f"By how much the far session's part is nearer to a half than in Case 1: {listed(found)}. In Case "
        "2 it "
        f"has over the near one's: {listed(two)}",
    )


def _both_over(lab: Lab, case: str, other: str, psi: float) -> Estimate:
    point = pair_psis(lab).index(psi)
    these = [share(case) * value for value in packets(pair(lab, case), point)]
    those = [share(other) * value for value in packets(pair(lab, other), point)]
    return ratio_of_means(these, those)


def claim_case_two_costs(lab: Lab) -> Finding:
    """Compare the efficiency of both cases."""
    found = [(psi, _both_over(lab, "Case 2", "Case 1", psi)) for psi in _middle(lab)]
    return Finding(
        together(*by_psi(below, found, 1)),
        f"Efficiency of both sessions in Case 2 over Case 1 by psi: {listed(found)}",
    )


def claim_slight(lab: Lab) -> Finding:
    """Compare the efficiency of both sessions with that of TCP alone, Fig. 22."""
    found = [(psi, _both_over(lab, "Case 2", "TCP alone", psi)) for psi in pair_psis(lab)]
    raw = [(psi, both(lab, "Case 2", psi)) for psi in pair_psis(lab)]
    return Finding(
        together(*by_psi(within, found, 0.85, 1)),
        f"Efficiency of both sessions, Case 2 over TCP alone: {listed(found)}; by itself {listed(raw)}. A "
        "slight "
        "decrease is taken as up to 15%; the cells' headers alone are 9%",
    )


def claim_instcap(lab: Lab) -> Finding:
    """Compare the fairness of EFFCAP with that of INSTCAP, psi below 20."""
    psis = [psi for psi in pair_psis(lab) if psi < 20]
    found = [(psi, _fairer(lab, "Case 1", "INSTCAP", psi)) for psi in psis]
    untried = sum(psi < 20 for psi in PAIR_PSIS) - len(found)
    return Finding(
        count(by_psi(above, found, 0), runs=cases.runs(lab), untried=untried),
        f"By how much the far session's part is nearer to a half in Case 1 than with INSTCAP, psi below 20: "
        f"{listed(found)}",
    )


def claim_reno(lab: Lab) -> Finding:
    """Compare Case 1 with TCP alone for Reno with fast retransmit."""
    found = [(psi, _fairer(lab, "Case 1", "TCP alone", psi, "Reno")) for psi in pair_psis(lab, "Reno")]
    told = [
        f"{case}: {listed((psi, far_over_near(lab, case, psi, 'Reno')) for psi in pair_psis(lab, 'Reno'))}"
        for case in ("Case 1", "TCP alone")
    ]
    return Finding(
        together(*by_psi(above, found, 0)),
        f"By how much the far session's part is nearer to a half than with TCP alone, Reno: {listed(found)}. "
        f"The far session's throughput over the near one's, {'; '.join(told)}",
    )


def claim_instcap_slow(lab: Lab) -> Finding:
    """Compare shares under INSTCAP where changes are rare."""
    psis = [psi for psi in pair_psis(lab) if psi >= 50]
    found = _by_psi(lab, "INSTCAP", psis)
    return Finding(
        together(*by_psi(within, found, 1 - FAIR, 1 + FAIR)),
        f"The far session's throughput over the near one's under INSTCAP: {listed(found)}",
    )
