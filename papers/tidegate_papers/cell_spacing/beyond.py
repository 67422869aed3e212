"""Claims beyond the paper: the corrected formulas, and the simulator beside the theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import Finding, below, claim, count, together, worst
from tidegate_papers.cell_spacing import cases
from tidegate_papers.cell_spacing.cases import ALONE, EXACT, one

if TYPE_CHECKING:
    from tidegate_papers.api import Lab


@claim(
    "corrected",
    where="beyond the paper",
    says="The corrected formulas are right in every set of parameters.",
    unit="share of parameter sets",
    figures=("formulas",),
    exact=EXACT,
)
def claim_corrected(lab: Lab) -> Finding:
    """Judge every corrected formula on every set."""
    sets = cases.judged_sets(lab)
    holds = [all(each.corrected.values()) for each in sets]
    formulas = sum(len(each.corrected) for each in sets)
    return Finding(
        count(holds, runs=len(sets), rule="every corrected formula gives what the exact simulation gives"),
        f"{formulas} comparisons in fractions on {len(sets)} sets, h above, at and below 2c, the pipe longer "
        "and shorter than the threshold",
    )


@claim(
    "simulator",
    where="beyond the paper",
    says=(
        "Cells simulated one by one meet the theory: fluid content to a millionth of a cell, whole cells "
        "within two."
    ),
    unit="cells",
    exact=ALONE,
)
def claim_simulator(lab: Lab) -> Finding:
    """Compare the simulator, cell by cell, with the corrected theory."""
    fluid, cells = [], []
    for changes in cases.judged_scenarios(lab):
        expected, got = cases.theory(lab, changes=changes), cases.simulated(lab, changes=changes)
        fluid += [
            abs(got["fluid_min"] - float(expected.V_w_minus)),
            abs(got["fluid_max"] - float(expected.V_w_plus)),
            abs(got["fluid_ever"] - float(expected.buffer)),
        ]
        cells += [
            abs(got["cells_min"] - expected.V_w_minus_cells),
            abs(got["cells_max"] - expected.V_w_plus_cells),
            abs(got["cells_ever"] - expected.buffer_cells),
        ]
    return Finding(
        worst(
            together(
                below(one(max(fluid)), 1e-6, of="the largest difference of the fluid content's limits"),
                below(one(max(cells)), 2.5, of="the largest difference in whole cells"),
            )
        ),
        f"Largest difference of the fluid content's limits over {len(fluid) // 3} drawn scenarios; whole "
        f"cells are at most {max(cells):.0f} away",
    )
