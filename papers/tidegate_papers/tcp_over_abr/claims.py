"""The claims of the paper on TCP over ABR, in the order of its reports.

Each is defined in a module beside this, with the rule that judges it.
"""

from tidegate_papers.tcp_over_abr import (
    analysis,
    beyond,
    choice,
    choice_of_m,
    delta,
    dynamics,
    fairness,
    feedback,
    slow_start,
)

TITLE = "TCP Performance Over End-to-End Rate Control and Stochastic Available Capacity"
SOURCE = (
    "S. Shakkottai, A. Kumar, A. Karnik and A. Anvekar. The rate of a random link is fed back to TCP's "
    "source: a Markov renewal model, and Linux TCP over an emulated network."
)
QUICK = (
    "Quick: runs of 110 s and not 600 s, 16 and not 20 of them, with fewer rates of change, M, N and round "
    "trips"
)
CLAIMS = [
    feedback.claim_cells,
    feedback.claim_helps,
    feedback.claim_cost,
    feedback.claim_gain,
    feedback.claim_near_one,
    feedback.claim_always,
    feedback.claim_buffers,
    feedback.claim_buffers_alone,
    analysis.claim_optimistic,
    analysis.claim_conservative,
    analysis.claim_optimistic_small,
    analysis.claim_conservative_small,
    analysis.claim_analysis_alone,
    slow_start.claim_slow_start,
    dynamics.claim_dynamics,
    dynamics.claim_fed_back,
    feedback.claim_asymptote,
    feedback.claim_fast,
    choice.claim_memory_middle,
    choice.claim_memory_fast,
    choice.claim_memory_fast_late,
    choice.claim_limit,
    choice.claim_memory_slow,
    choice_of_m.claim_mean_slow,
    choice_of_m.claim_mean_flat,
    choice_of_m.claim_mean_drop,
    choice_of_m.claim_mean_drop_late,
    dynamics.claim_absolute,
    choice.claim_rule,
    delta.claim_delta,
    fairness.claim_equal,
    fairness.claim_unfair,
    fairness.claim_fairer,
    fairness.claim_case_two,
    fairness.claim_case_two_costs,
    fairness.claim_slight,
    fairness.claim_instcap,
    fairness.claim_instcap_slow,
    beyond.claim_reno,
    beyond.claim_reno_effcap,
    fairness.claim_reno,
    beyond.claim_newer,
    beyond.claim_traces,
]
