"""Claims on what is fed back, on Δ by itself, and on how much TCP's own dynamics matter: Sections V, VI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import Finding, above, claim, ratio_of_means, together, within
from tidegate_papers.tcp_over_abr import cases
from tidegate_papers.tcp_over_abr.cases import PSIS, chosen, curve, packets, psis
from tidegate_papers.tcp_over_abr.feedback import FEW, LARGE, by_psi, listed

if TYPE_CHECKING:
    from tidegate_papers.api import Estimate, Lab

#: "Close to": within this share.
CLOSE = 0.1
#: "Considerable": at least this share.
CONSIDERABLE = 0.05
#: The low rate over the mean capacity.
LOW = 2 / 3


def fed_back(lab: Lab, scheme: str, psi: float) -> Estimate:
    """Return the mean rate of the source over the link's mean capacity."""
    study, point = curve(lab, scheme), psis(lab).index(psi)
    return ratio_of_means(
        study.values("gate.abr.rate_mean_bps", point), study.values("gate.link.rate_mean_bps", point)
    )


@claim(
    "fed-back",
    where="§IV-A, §VI",
    says=(
        "EFFCAP feeds back nearly the mean capacity for psi below 0.2, the low rate in between, and the "
        "link's own rate for large psi."
    ),
    unit="share of the mean capacity",
    paper="adapts",
    figures=("fed-back",),
)
def claim_fed_back(lab: Lab) -> Finding:
    """Measure the rate that EFFCAP feeds back, at every rate of change."""
    found = {psi: fed_back(lab, "EFFCAP", psi) for psi in psis(lab)}
    fast = [(psi, found[psi]) for psi in lab.judged(PSIS.only(lambda psi: psi < 0.2))]
    middle = [(psi, found[psi]) for psi in lab.judged(PSIS.only(lambda psi: 0.5 < psi < 20))]
    slow = [(psi, found[psi]) for psi in lab.judged(PSIS.only(lambda psi: psi >= LARGE[0]))]
    instcap = [(psi, fed_back(lab, "INSTCAP", psi)) for psi in psis(lab)]
    return Finding(
        together(
            *by_psi(above, fast, 1 - CLOSE),
            *by_psi(within, middle, LOW - CLOSE / 2, LOW + CLOSE / 2),
            *by_psi(above, slow, 1 - CLOSE),
            rule=f"with the whole 95% interval the rate is at least {1 - CLOSE:g} of the mean capacity for "
            "psi "
            f"below 0.2 and from {LARGE[0]} on, and {LOW - CLOSE / 2:.2f} to {LOW + CLOSE / 2:.2f} of it, "
            "the "
            "low rate, for psi between 0.5 and 20",
        ),
        f"Mean rate of the source with EFFCAP (M 7, N 49) over the mean capacity, by psi: "
        f"{listed(found.items())}. With INSTCAP: {listed(instcap)}. The least of N means lies below the "
        "mean of "
        "all, also where changes are fast",
    )


@claim(
    "delta-absolute",
    where="§V, §VI-A, Figs. 15, 16",
    says="Δ is an absolute parameter: at the same psi another Δ gives a considerably different throughput.",
    unit="50 ms / 500 ms",
    paper="considerable",
    figures=("fig-15", "fig-16"),
)
def claim_absolute(lab: Lab) -> Finding:
    """Compare efficiencies at the same psi and another round trip, Figs. 15 and 16."""
    parts, numbers = [], []
    ks = lab.points(cases.MEMORIES)
    for k in (ks[0], 8, ks[-1]):
        short, long = (
            packets(
                cases.session(lab, delta, [holding], [cases.blocks(delta, each) for each in ks]), ks.index(k)
            )
            for delta, holding in ((50, 100), (500, 1000))
        )
        found = ratio_of_means(short, long)
        parts.append(above(found, 1 + CONSIDERABLE, f"N: {k}Δ"))
        numbers.append((k, found))
    return Finding(
        together(*parts),
        "Efficiency with a round trip of 50 ms and 100 ms in a state over that with 500 ms and 1 s, by k of "
        f"N: kΔ, psi being 2 in both: {listed(numbers)}. A difference of {CONSIDERABLE:.0%} is counted as "
        "considerable. A loss costs so many round trips, and the buffer of ten packets is another share of "
        "the "
        "pipe",
    )


@claim(
    "dynamics",
    where="§V-A, §VIII",
    says="TCP's dynamics do not matter to the throughput under INSTCAP for large psi.",
    unit="another TCP / the model's",
    paper="about 1",
    figures=("newer",),
)
def claim_dynamics(lab: Lab) -> Finding:
    """Compare TCPs under INSTCAP, and alone, where changes are rare."""
    parts, numbers = [], []
    for scheme in ("INSTCAP", "TCP alone"):
        for tcp in ("Reno", "SACK", "CUBIC"):
            found = []
            judged = scheme == "INSTCAP"
            large = chosen(lab, LARGE, tcp) if judged else [psi for psi in psis(lab, tcp) if psi in LARGE]
            for psi in large:
                these = packets(curve(lab, scheme, 10, tcp), psis(lab, tcp).index(psi))
                those = packets(curve(lab, scheme), psis(lab).index(psi))
                found.append((psi, ratio_of_means(these, those)))
            numbers.append(f"{scheme}, {tcp} {listed(found)}")
            if judged:
                parts += by_psi(within, found, 1 - FEW, 1 + FEW, what=tcp)
    return Finding(
        together(*parts),
        f"Throughput with another TCP over that with the model's, by psi: {'; '.join(numbers)}. Not "
        "important is "
        f"taken as within {FEW:.0%}: under INSTCAP; TCP alone shows how much more it matters there",
    )
