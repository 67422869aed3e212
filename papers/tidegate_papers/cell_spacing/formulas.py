"""Claims on the paper's formulas, as printed, against exact simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import Finding, claim, count
from tidegate_papers.cell_spacing import cases
from tidegate_papers.cell_spacing.cases import EXACT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate_papers.api import Lab


def printed_holds(lab: Lab, names: Sequence[str], per_ack: int | None = None) -> tuple[list[bool], str]:
    """Return where printed formulas hold, and how the corrected ones do, in words."""
    sets = cases.judged_sets(lab, per_ack)
    printed = [
        all(each.printed[name] for name in names if name in each.printed)
        for each in sets
        if any(name in each.printed for name in names)
    ]
    right = [
        all(each.corrected[name] for name in names if name in each.corrected)
        for each in sets
        if any(name in each.corrected for name in names)
    ]
    corrected = f"The corrected form holds in {sum(right)} of {len(right)}" if right else ""
    return printed, corrected


def theorem(lab: Lab, names: Sequence[str], per_ack: int | None, note: str = "") -> Finding:
    """Judge printed formulas by the share of the parameter sets in which they are right."""
    printed, corrected = printed_holds(lab, names, per_ack)
    judged = count(
        printed, runs=len(printed), rule="the printed formula gives what the exact simulation gives"
    )
    return Finding(judged, ". ".join(part for part in (corrected, note) if part))


@claim(
    "theorem-1",
    where="§3, (3)",
    says="At the end of slow start the content oscillates between (bσ - cΔ)+ and σ(1 - c/h) more.",
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_theorem_1(lab: Lab) -> Finding:
    """Compare (3) with exact simulations."""
    return theorem(lab, ["V_b"], 1)


@claim(
    "oscillation-begins",
    where="§3, (4)-(6)",
    says="That oscillation starts at t_b.",
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_t_b(lab: Lab) -> Finding:
    """Compare (4) to (6) with exact simulations."""
    return theorem(
        lab, ["t_b"], 1,
        'K in (6) has a "+1" too many, no integer bracket, no positive part of b - 2^ν w0, and w0 2^ν '
        "where the window of b ends the burst before",
    )  # fmt: skip


@claim(
    "peaks",
    where="§3, (7), (8)",
    says="The largest content of each interval of slow start in which the spacer empties.",
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_peaks(lab: Lab) -> Finding:
    """Compare (7) and (8) with exact simulations."""
    return theorem(lab, ["(7)", "(8)"], 1, "(8) is right; (7) is not for the first interval, n = 0")


@claim(
    "condition-c1",
    where="§4, (C1)",
    says="Where (C1) holds, the content oscillates before the window grows further.",
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_c1(lab: Lab) -> Finding:
    """Compare condition (C1) with whether the window grows after the oscillation has begun."""
    return theorem(
        lab, ["C1"], 1,
        "The first growth comes not a window minus one after τ_b, but when the window at τ_b has been "
        "acknowledged",
    )  # fmt: skip


@claim(
    "levels",
    where="§4, (14), (16)",
    says="While the window grows, the content stands at one level for each window.",
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_levels(lab: Lab) -> Finding:
    """Compare (14) and the levels before (16) with exact simulations."""
    return theorem(
        lab, ["(14)", "(16)"], 1,
        "(14), where the spacer is busy at b already, is right; before (16) the level is (b+m)σ - cΔ, and "
        "not (b+m-1)σ",
    )  # fmt: skip


@claim(
    "thresholds",
    where="§3, (1), (2)",
    says=(
        "The window reaches b in interval n1, and n0 is the first interval in which the spacer does not "
        "empty."
    ),
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_thresholds(lab: Lab) -> Finding:
    """Compare (1) and (2) with the intervals in which the window reaches b and the spacer stays busy."""
    return theorem(
        lab, ["(1)", "(2)"], 1,
        "Where the spacer stays busy before the threshold (n0 < n1), intervals take longer than Δ, and b is "
        "reached after (n1+1)Δ: then (1) counts doublings only. Where n0 = n1 the window may stop at b "
        "before "
        "it fills the pipe, and the spacer empties in n0 as well",
    )  # fmt: skip


@claim(
    "end-of-slow-start",
    where="§3",
    says="Slow start ends at (n1+1)Δ, and the content there is that of the oscillation at b.",
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_end_of_slow_start(lab: Lab) -> Finding:
    """Compare the content at (n1+1)Δ with the limits of Theorem 1."""
    return theorem(
        lab, ["(n1+1)Δ"], 1,
        "Judged is whether the content is within (3)'s limits at that time. It is not where slow start "
        "takes longer (n0 < n1) or the source is still behind: what is right is the later of (n1+1)Δ and t_b",
    )  # fmt: skip


@claim(
    "oscillation-at-threshold",
    where="§3, (10)",
    says="Once the window is b the content oscillates between (b - 2^(n1-1) w0)σ and σ(1 - c/h) more.",
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_at_threshold(lab: Lab) -> Finding:
    """Compare (10) with exact simulations."""
    return theorem(
        lab, ["(10)"], 1,
        "Judged from the end of the ramp to the last acknowledgement of interval n1, where n1 is not after "
        "n0",
    )  # fmt: skip


@claim(
    "ramp",
    where="§3, after (10)",
    says="Where h < 2c the content first climbs to (2(b - 2^(n1-1) w0) + k0)σ(1 - c/h).",
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_ramp(lab: Lab) -> Finding:
    """Compare the ramp before (10), where h < 2c, with exact simulations."""
    return theorem(
        lab, ["ramp"], 1,
        "Print lets the content climb for k0 acknowledgements more, rounded up, even where fewer come before "
        "the window is whole; right is k0 rounded down, and at most bσ(1 - c/h)",
    )  # fmt: skip


@claim(
    "growth-fast",
    where="§4, h < 2c",
    says=(
        "Where h < 2c and the window grows by one, the content climbs by (2+k)σ(1 - c/h) and stays σ higher."
    ),
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_growth_fast(lab: Lab) -> Finding:
    """Compare the transition after a growth of the window, where h < 2c, with exact simulations."""
    return theorem(
        lab, ["h < 2c"], 1,
        "The level after k = ⌊c/(h-c)⌋ acknowledgements is right. The condition printed above it, "
        "(1+k)σ/c ≤ (2+k-1)σ/h, never holds, as c < h: it is kσ/c ≤ (k+1)σ/h that gives this k",
    )  # fmt: skip


@claim(
    "theorem-2",
    where="§4, (13)",
    says="At the end of congestion avoidance it oscillates between (wσ - cΔ)+ and σ(1 - c/h) more.",
    unit="share of parameter sets",
    paper=1.0,
    figures=("formulas",),
    exact=EXACT,
)
def claim_theorem_2(lab: Lab) -> Finding:
    """Compare (13) with exact simulations."""
    return theorem(lab, ["V_w"], 1)
