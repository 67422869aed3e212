"""The claims of the cell spacing paper, the rules that judge them, and what they rest on."""

from __future__ import annotations

from tidegate.papers.api import Claim
from tidegate.papers.cell_spacing import experiment, formulas
from tidegate.papers.cell_spacing.cases import ALONE, EXACT

TITLE = "Analysis of Cell Spacing on a TCP Flow Mapped onto an ATM Connection"
SOURCE = (
    "F. Guillemin, J. Boyer, O. Dugeon and C. Mangin. Theorems on the content of a cell spacer "
    "under one TCP connection, and an experiment."
)
QUICK = "Quick: 120 parameter sets and not 600, fewer simulated ones, fewer rates and round trips"
CLAIMS = [
    Claim(
        "theorem-1", "§3, (3)",
        "At the end of slow start the content oscillates between (bσ - cΔ)+ and σ(1 - c/h) more.",
        formulas.claim_theorem_1, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "oscillation-begins", "§3, (4)-(6)", "That oscillation starts at t_b.",
        formulas.claim_t_b, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "thresholds", "§3, (1), (2)",
        "The window reaches b in interval n1, and n0 is the first interval in which the spacer does not "
        "empty.",
        formulas.claim_thresholds, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "end-of-slow-start", "§3",
        "Slow start ends at (n1+1)Δ, and the content there is that of the oscillation at b.",
        formulas.claim_end_of_slow_start, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "oscillation-at-threshold", "§3, (10)",
        "Once the window is b the content oscillates between (b - 2^(n1-1) w0)σ and σ(1 - c/h) more.",
        formulas.claim_at_threshold, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "ramp", "§3, after (10)",
        "Where h < 2c the content first climbs to (2(b - 2^(n1-1) w0) + k0)σ(1 - c/h).",
        formulas.claim_ramp, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "peaks", "§3, (7), (8)",
        "The largest content of each interval of slow start in which the spacer empties.",
        formulas.claim_peaks, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "condition-c1", "§4, (C1)",
        "Where (C1) holds, the content oscillates before the window grows further.",
        formulas.claim_c1, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "levels", "§4, (14), (16)",
        "While the window grows, the content stands at one level for each window.",
        formulas.claim_levels, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "growth-fast", "§4, h < 2c",
        "Where h < 2c and the window grows by one, the content climbs by (2+k)σ(1 - c/h) and stays σ higher.",
        formulas.claim_growth_fast, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "theorem-2", "§4, (13)",
        "At the end of congestion avoidance it oscillates between (wσ - cΔ)+ and σ(1 - c/h) more.",
        formulas.claim_theorem_2, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "recursion", "§5, (17)", "With delayed ACKs p and c of (17) say how many segments an interval has.",
        formulas.claim_recursion, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "first-busy", "§5, (20)",
        "With delayed ACKs n0 of (20) is the first interval in which the spacer does not empty.",
        formulas.claim_first_busy, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "peaks-delayed", "§5, (18), (19)", "The largest content of each such interval with delayed ACKs.",
        formulas.claim_peaks_delayed, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "theorem-3", "§5, (22), (23)", "The same limits with an ACK for every second segment.",
        formulas.claim_theorem_3, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "corrected", "beyond the paper",
        "The corrected formulas are right in every set of parameters.",
        formulas.claim_corrected, "share of parameter sets", None, ("formulas",), exact=EXACT,
    ),
    Claim(
        "simulator", "beyond the paper",
        "Cells simulated one by one meet the theory: fluid content to a millionth of a cell, whole "
        "cells within "
        "two.",
        formulas.claim_simulator, "cells", None, (), exact=ALONE,
    ),
    Claim(
        "fig-3-limits", "§6, (24), Fig. 3",
        "At 15.264 Mbit/s the content oscillates between 118 and 1217 cells.",
        experiment.claim_limits, "cells", "118 and 1217", ("fig-3",), exact=ALONE,
    ),
    Claim(
        "fig-3-growth", "§6, Fig. 3", "Once the spacer no longer empties, its content grows at about c/2.",
        experiment.claim_growth, "times c", 0.5, ("fig-3",), exact=ALONE,
    ),
    Claim(
        "fig-3-empties", "§6, (20), Fig. 3",
        "First come intervals in which the spacer empties, then it does no more.",
        experiment.claim_empties, "ms", "above 0", ("fig-3",), exact=ALONE,
    ),
    Claim(
        "fig-3-no-loss", "§6", "With a buffer of 1300 cells nothing is lost.",
        experiment.claim_no_loss, "cells lost", 0.0, ("fig-3",), exact=ALONE,
    ),
    Claim(
        "fig-2-rate", "§6, Fig. 2",
        "TCP follows the spacing rate: 2 Mbyte/s unconstrained, 0.5 at 5 Mbit/s, 1 at 10 Mbit/s.",
        experiment.claim_rate, "Mbyte/s at 5 Mbit/s", 0.5, ("fig-2",), exact=ALONE,
    ),
    Claim(
        "fig-2-no-loss", "§6, Fig. 2", "It adapts without information loss.",
        experiment.claim_figure_2_loss, "share of the cells lost", 0.0, ("fig-2",), exact=ALONE,
    ),
    Claim(
        "larger-c", "§4", "The larger the spacing rate, the less waits in the spacer.",
        experiment.claim_larger_c, "share of steps", 1.0, ("standing",), exact=ALONE,
    ),
    Claim(
        "larger-round-trip", "§4", "The larger the round trip, the less waits in the spacer.",
        experiment.claim_larger_trip, "share of steps", 1.0, ("standing",), exact=ALONE,
    ),
    Claim(
        "one-window", "§7", "A buffer of one window per connection loses nothing.",
        experiment.claim_one_window, "share of cases", 1.0, (), exact=EXACT,
    ),
]  # fmt: skip
