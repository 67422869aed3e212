"""Claims on the paper's formulas, as printed, against exact simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.api import Finding, below, count, together
from tidegate.papers.cell_spacing import cases
from tidegate.papers.cell_spacing.cases import one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate.papers.api import Lab


def printed_holds(lab: Lab, names: Sequence[str], per_ack: int | None = None) -> tuple[list[bool], str]:
    """Return where printed formulas hold, and how the corrected ones do, in words."""
    sets = [each for each in cases.checked(lab) if per_ack in (None, each.per_ack)]
    said = [
        all(each.printed[name] for name in names if name in each.printed)
        for each in sets
        if any(name in each.printed for name in names)
    ]
    right = [
        all(each.corrected[name] for name in names if name in each.corrected)
        for each in sets
        if any(name in each.corrected for name in names)
    ]
    told = f"The corrected form holds in {sum(right)} of {len(right)}" if right else ""
    return said, told


def theorem(lab: Lab, names: Sequence[str], per_ack: int | None, note: str = "") -> Finding:
    """Judge printed formulas by the share of the parameter sets in which they are right."""
    said, told = printed_holds(lab, names, per_ack)
    return Finding(count(said, runs=len(said)), ". ".join(part for part in (told, note) if part))


def claim_theorem_1(lab: Lab) -> Finding:
    """Compare (3) with exact simulations."""
    return theorem(lab, ["V_b"], 1)


def claim_t_b(lab: Lab) -> Finding:
    """Compare (4) to (6) with exact simulations."""
    return theorem(
        lab, ["t_b"], 1,
        'K in (6) has a "+1" too many, no integer bracket, no positive part of b - 2^ν w0, and w0 2^ν '
        "where the window of b ends the burst before",
    )  # fmt: skip


def claim_peaks(lab: Lab) -> Finding:
    """Compare (7) and (8) with exact simulations."""
    return theorem(lab, ["(7)", "(8)"], 1, "(8) is right; (7) is not for the first interval, n = 0")


def claim_c1(lab: Lab) -> Finding:
    """Compare condition (C1) with whether the window grows after the oscillation has begun."""
    return theorem(
        lab, ["C1"], 1,
        "The first growth comes not a window minus one after τ_b, but when the window at τ_b has been "
        "acknowledged",
    )  # fmt: skip


def claim_levels(lab: Lab) -> Finding:
    """Compare (14) and the levels before (16) with exact simulations."""
    return theorem(
        lab, ["(14)", "(16)"], 1,
        "(14), where the spacer is busy at b already, is right; before (16) the level is (b+m)σ - cΔ, and "
        "not (b+m-1)σ",
    )  # fmt: skip


def claim_thresholds(lab: Lab) -> Finding:
    """Compare (1) and (2) with the intervals in which the window reaches b and the spacer stays busy."""
    return theorem(
        lab, ["(1)", "(2)"], 1,
        "Where the spacer stays busy before the threshold (n0 < n1), intervals take longer than Δ, and b is "
        "reached after (n1+1)Δ: then (1) counts doublings only. Where n0 = n1 the window may stop at b "
        "before "
        "it fills the pipe, and the spacer empties in n0 as well",
    )  # fmt: skip


def claim_end_of_slow_start(lab: Lab) -> Finding:
    """Compare the content at (n1+1)Δ with the limits of Theorem 1."""
    return theorem(
        lab, ["(n1+1)Δ"], 1,
        "Judged is whether the content is within (3)'s limits at that time. It is not where slow start "
        "takes longer (n0 < n1) or the source is still behind: what is right is the later of (n1+1)Δ and t_b",
    )  # fmt: skip


def claim_at_threshold(lab: Lab) -> Finding:
    """Compare (10) with exact simulations."""
    return theorem(
        lab, ["(10)"], 1,
        "Judged from the end of the ramp to the last acknowledgement of interval n1, where n1 is not after "
        "n0",
    )  # fmt: skip


def claim_ramp(lab: Lab) -> Finding:
    """Compare the ramp before (10), where h < 2c, with exact simulations."""
    return theorem(
        lab, ["ramp"], 1,
        "Print lets the content climb for k0 acknowledgements more, rounded up, even where fewer come before "
        "the window is whole; right is k0 rounded down, and at most bσ(1 - c/h)",
    )  # fmt: skip


def claim_growth_fast(lab: Lab) -> Finding:
    """Compare the transition after a growth of the window, where h < 2c, with exact simulations."""
    return theorem(
        lab, ["h < 2c"], 1,
        "The level after k = ⌊c/(h-c)⌋ acknowledgements is right. The condition printed above it, "
        "(1+k)σ/c ≤ (2+k-1)σ/h, never holds, as c < h: it is kσ/c ≤ (k+1)σ/h that gives this k",
    )  # fmt: skip


def claim_recursion(lab: Lab) -> Finding:
    """Compare (17) with the segments sent in each interval."""
    return theorem(lab, ["(17)"], 2)


def claim_first_busy(lab: Lab) -> Finding:
    """Compare (20) with the first interval in which the spacer does not empty."""
    return theorem(
        lab, ["(20)"], 2,
        "Where n0 = n1 the window may stop at b before the interval's segments are sent, and the spacer "
        "empties",
    )  # fmt: skip


def claim_theorem_2(lab: Lab) -> Finding:
    """Compare (13) with exact simulations."""
    return theorem(lab, ["V_w"], 1)


def claim_theorem_3(lab: Lab) -> Finding:
    """Compare (22) and (23) with exact simulations."""
    return theorem(
        lab, ["V_b", "V_w"], 2,
        "Print takes L of one interval, which is Δ where a segment waits for its second; right is Δ' always. "
        "Where c_n = 1 and the spacer stays busy the print is a segment too high",
    )  # fmt: skip


def claim_peaks_delayed(lab: Lab) -> Finding:
    """Compare (18) and (19) with exact simulations."""
    return theorem(lab, ["(18)", "(19)"], 2)


def claim_corrected(lab: Lab) -> Finding:
    """Judge every corrected formula on every set."""
    sets = cases.checked(lab)
    holds = [all(each.corrected.values()) for each in sets]
    formulas = sum(len(each.corrected) for each in sets)
    return Finding(
        count(holds, runs=len(sets)),
        f"{formulas} comparisons in fractions on {len(sets)} sets, h above, at and below 2c, the pipe longer "
        "and shorter than the threshold",
    )


def claim_simulator(lab: Lab) -> Finding:
    """Compare the simulator, cell by cell, with the corrected theory."""
    fluid, cells = [], []
    for changes in cases.scenarios(lab):
        told, got = cases.theory(lab, changes=changes), cases.simulated(lab, changes=changes)
        fluid += [
            abs(got["fluid_min"] - float(told.V_w_minus)),
            abs(got["fluid_max"] - float(told.V_w_plus)),
            abs(got["fluid_ever"] - float(told.buffer)),
        ]
        cells += [
            abs(got["cells_min"] - told.V_w_minus_cells),
            abs(got["cells_max"] - told.V_w_plus_cells),
            abs(got["cells_ever"] - told.buffer_cells),
        ]
    return Finding(
        together(below(one(max(fluid)), 1e-6), below(one(max(cells)), 2.5)),
        f"Largest difference of the fluid content's limits over {len(fluid) // 3} drawn scenarios; whole "
        f"cells are at most {max(cells):.0f} away",
    )
