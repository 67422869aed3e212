"""Claims on the paper's formulas with delayed ACKs, Section 5, against exact simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import Finding, claim
from tidegate_papers.cell_spacing.cases import EXACT
from tidegate_papers.cell_spacing.formulas import theorem

if TYPE_CHECKING:
    from tidegate_papers.api import Lab


@claim(
    "recursion",
    where="§5, (17)",
    says="With delayed ACKs p and c of (17) say how many segments an interval has.",
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_recursion(lab: Lab) -> Finding:
    """Compare (17) with the segments sent in each interval."""
    return theorem(lab, ["(17)"], 2)


@claim(
    "first-busy",
    where="§5, (20)",
    says="With delayed ACKs n0 of (20) is the first interval in which the spacer does not empty.",
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_first_busy(lab: Lab) -> Finding:
    """Compare (20) with the first interval in which the spacer does not empty."""
    return theorem(
        lab, ["(20)"], 2,
        "Where n0 = n1 the window may stop at b before the interval's segments are sent, and the spacer "
        "empties",
    )  # fmt: skip


@claim(
    "theorem-3",
    where="§5, (22), (23)",
    says="The same limits with an ACK for every second segment.",
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_theorem_3(lab: Lab) -> Finding:
    """Compare (22) and (23) with exact simulations."""
    return theorem(
        lab, ["V_b", "V_w"], 2,
        "Print takes L of one interval, which is Δ where a segment waits for its second; right is Δ' always. "
        "Where c_n = 1 and the spacer stays busy the print is a segment too high",
    )  # fmt: skip


@claim(
    "peaks-delayed",
    where="§5, (18), (19)",
    says="The largest content of each such interval with delayed ACKs.",
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_peaks_delayed(lab: Lab) -> Finding:
    """Compare (18) and (19) with exact simulations."""
    return theorem(lab, ["(18)", "(19)"], 2)
