"""The claims of the cell spacing paper, in the order of its reports.

Each is defined in a module beside this, with the rule that judges it.
"""

from tidegate_papers.cell_spacing import beyond, delayed_acks, experiment, formulas

TITLE = "Analysis of Cell Spacing on a TCP Flow Mapped onto an ATM Connection"
SOURCE = (
    "F. Guillemin, J. Boyer, O. Dugeon and C. Mangin. Theorems on the content of a cell spacer "
    "under one TCP connection, and an experiment."
)
QUICK = "Quick: 120 parameter sets and not 600, fewer simulated ones, fewer rates and round trips"
CLAIMS = [
    formulas.claim_theorem_1,
    formulas.claim_t_b,
    formulas.claim_thresholds,
    formulas.claim_end_of_slow_start,
    formulas.claim_at_threshold,
    formulas.claim_ramp,
    formulas.claim_peaks,
    formulas.claim_c1,
    formulas.claim_levels,
    formulas.claim_growth_fast,
    formulas.claim_theorem_2,
    delayed_acks.claim_recursion,
    delayed_acks.claim_first_busy,
    delayed_acks.claim_peaks_delayed,
    delayed_acks.claim_theorem_3,
    beyond.claim_corrected,
    beyond.claim_simulator,
    experiment.claim_limits,
    experiment.claim_growth,
    experiment.claim_empties,
    experiment.claim_no_loss,
    experiment.claim_rate,
    experiment.claim_figure_2_loss,
    experiment.claim_larger_c,
    experiment.claim_larger_trip,
    experiment.claim_one_window,
]
