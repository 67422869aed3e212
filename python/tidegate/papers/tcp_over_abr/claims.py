"""The claims of the paper on TCP over ABR, and some beyond it. The rules are in the modules beside this."""

from tidegate.papers.api import Claim
from tidegate.papers.tcp_over_abr import beyond, choice, delta, dynamics, fairness, feedback, slow_start

TITLE = "TCP Performance Over End-to-End Rate Control and Stochastic Available Capacity"
SOURCE = (
    "S. Shakkottai, A. Kumar, A. Karnik and A. Anvekar. The rate of a random link is fed back to TCP's "
    "source: a Markov renewal model, and Linux TCP over an emulated network."
)
QUICK = (
    "Quick: runs of 110 s and not 600 s, 16 and not 20 of them, with fewer rates of change, M, N and round "
    "trips"
)
ONE_RUN = "Nothing is random here: one run tells all"
CLAIMS = [
    Claim(
        "cells", "§V, footnote 5", "A constant link under ABR gives 48/53 of its capacity: cells' headers.",
        feedback.claim_cells, "share of capacity", 48 / 53, (), ONE_RUN,
    ),
    Claim(
        "helps-slow", "Abstract, Fig. 12", "TCP over ABR (INSTCAP) has 25% to 30% more than TCP alone for "
        "slow changes.",
        feedback.claim_helps, "INSTCAP / TCP alone", "1.25 to 1.30", ("fig-12",),
    ),
    Claim(
        "effcap-cost", "§V-B, Fig. 10", "For large psi EFFCAP is 3% to 4% below INSTCAP.",
        feedback.claim_cost, "EFFCAP / INSTCAP", "0.96 to 0.97", ("fig-10",),
    ),
    Claim(
        "effcap-gain", "§V-B, Fig. 11", "For small psi EFFCAP is 10% to 20% above INSTCAP.",
        feedback.claim_gain, "EFFCAP / INSTCAP", "1.1 to 1.2", ("fig-11",),
    ),
    Claim(
        "instcap-near-1", "§V-B, Fig. 13", "With psi near 1, TCP alone does better than with INSTCAP.",
        feedback.claim_near_one, "INSTCAP / TCP alone", "below 1", ("fig-13",),
    ),
    Claim(
        "effcap-always", "§V-B, §VIII, Figs. 12, 13", "EFFCAP always beats TCP alone.",
        feedback.claim_always, "share of points", 1.0, ("fig-12", "fig-13"),
    ),
    Claim(
        "buffers", "Abstract, Figs. 8, 10", "TCP over ABR is insensitive to the buffer, of 8 to 12 packets.",
        feedback.claim_buffers, "12 packets / 8 packets", "about 1", ("fig-8", "fig-10", "fig-11"),
    ),
    Claim(
        "buffers-alone", "§V-A, Fig. 9", "TCP alone gets worse with a smaller buffer.",
        feedback.claim_buffers_alone, "12 packets / 8 packets", "above 1", ("fig-9",),
    ),
    Claim(
        "analysis-optimistic", "§V-A, Fig. 8",
        "The optimistic analysis and the simulation of INSTCAP agree to a few percent, except at small psi.",
        feedback.claim_optimistic, "share of the analysis more", 0.0, ("fig-8",),
    ),
    Claim(
        "analysis-conservative", "§V-A, Fig. 8",
        "The conservative analysis and the simulation of INSTCAP agree to a few percent, except at "
        "small psi.",
        feedback.claim_conservative, "share of the analysis more", 0.0, ("fig-8",),
    ),
    Claim(
        "small-optimistic", "§V-A, Fig. 8",
        "At small psi the optimistic analysis is 10% to 20% below the simulation.",
        feedback.claim_optimistic_small, "share of the simulation less", "10% to 20%", ("fig-8",),
    ),
    Claim(
        "small-conservative", "§V-A, Fig. 8",
        "At small psi the conservative analysis is 10% to 20% below the simulation.",
        feedback.claim_conservative_small, "share of the simulation less", "10% to 20%", ("fig-8",),
    ),
    Claim(
        "analysis-alone", "§V-A, Fig. 9", "TCP alone, simulated, has up to 20% less than by analysis.",
        feedback.claim_analysis_alone, "share of the analysis less", 0.2, ("fig-9",),
    ),
    Claim(
        "slow-start", "§III-B, §V-A", "TCP alone loses packets in slow start with a buffer below 1/3 of Δ + "
        "1, not with a larger one.",
        slow_start.claim_slow_start, "packets", 41 / 3, (),
        "Without jitter nothing is random, and one run tells all; with jitter there are 16",
    ),
    Claim(
        "dynamics", "§V-A, §VIII", "TCP's dynamics do not matter to the throughput under INSTCAP for large "
        "psi.",
        dynamics.claim_dynamics, "Reno / model's TCP", "about 1", ("newer",),
    ),
    Claim(
        "fed-back", "§IV-A, §VI", "EFFCAP feeds back nearly the mean capacity for psi below 0.2, the low "
        "rate in between, and the link's own rate for large psi.",
        dynamics.claim_fed_back, "share of the mean capacity at psi 0.16", "adapts", ("fed-back",),
    ),
    Claim(
        "asymptote", "§V, footnote 5", "For large psi efficiency with ABR tends to about 90%.",
        feedback.claim_asymptote, "share of capacity", 0.9, ("fig-10", "fig-12"),
    ),
    Claim(
        "fast", "§VI, Fig. 11", "With psi below 0.2 both kinds of feedback give a high throughput.",
        feedback.claim_fast, "share of capacity", "high", ("fig-11",),
    ),
    Claim(
        "n-middle", "§VI-A, Fig. 14", "For psi between 0.3 and 1 a larger N improves efficiency.",
        choice.claim_memory_middle, "N: 8Δ / N: 2Δ", "above 1", ("fig-14",),
    ),
    Claim(
        "n-fast", "§VI-A, Fig. 15", "With 100 ms in a state, efficiency improves substantially as N grows.",
        choice.claim_memory_fast, "N: 12Δ / N: 2Δ", "substantially", ("fig-15",),
    ),
    Claim(
        "n-fast-late", "beyond the paper, Fig. 15",
        "Where a time-out takes at least 1 s, a larger N improves it at every "
        "round trip.",
        choice.claim_memory_fast_late, "N: 12Δ / N: 2Δ", "above 1", ("fig-15", "floor"),
    ),
    Claim(
        "n-limit", "§VI-A, Fig. 15", "As N grows, efficiency tends to about 0.6, that of the low rate.",
        choice.claim_limit, "share of capacity", 0.6, ("fig-15",),
    ),
    Claim(
        "n-slow", "§VI-A, Fig. 16", "With 1 s, a larger N improves efficiency below psi 8; above 10 a "
        "smaller one does, negligibly.",
        choice.claim_memory_slow, "N: 12Δ / N: 2Δ", "above 1", ("fig-16",),
    ),
    Claim(
        "m-slow", "§VI-A, Fig. 17", "With 1 s and Δ of 50 ms efficiency decreases slowly with M.",
        choice.claim_mean_slow, "M = 10 / M = 1", "slowly", ("fig-17",),
    ),
    Claim(
        "m-flat", "§VI-A, Fig. 18", "With 100 ms and N: 2Δ efficiency is insensitive to M.",
        choice.claim_mean_flat, "largest change / M = 1", 1.0, ("fig-18",),
    ),
    Claim(
        "m-drop", "§VI-A, Fig. 18", "With N: 12Δ it falls by 10% to 15% for Δ of 50 and 100 ms, not for "
        "200 ms.",
        choice.claim_mean_drop, "M = 10 / M = 1", "0.85 to 0.9", ("fig-18",),
    ),
    Claim(
        "m-drop-late", "beyond the paper, Fig. 18",
        "Where a time-out takes at least 1 s, efficiency falls with M for Δ "
        "of 50 and 100 ms.",
        choice.claim_mean_drop_late, "M = 10 / M = 1", "below 1", ("fig-18", "floor"),
    ),
    Claim(
        "delta-absolute", "§V, §VI-A, Figs. 15, 16",
        "Δ is an absolute parameter: at the same psi another Δ gives a considerably different throughput.",
        dynamics.claim_absolute, "50 ms / 500 ms", "considerable", ("fig-15", "fig-16"),
    ),
    Claim(
        "rule", "§VI, §VIII", "M = ⌈Δ/s⌉ and N of 8 to 12 ⌈Δ/s⌉ is a good rule.",
        choice.claim_rule, "share of points", "good", ("fig-15", "fig-16", "fig-17", "fig-18"),
    ),
    Claim(
        "delta", "§IV", "The delta whose effective capacity is the constant rate that serves TCP best is "
        "consistently large, 60 to 70.",
        delta.claim_delta, "share of cases", "60 to 70", ("delta",),
    ),
    Claim(
        "fair-fast", "§VII-A, Fig. 19", "Two sessions have equal throughput for psi below 0.3.",
        fairness.claim_equal, "far / near", 1.0, ("fig-19", "fig-20"),
    ),
    Claim(
        "unfair-middle", "§VII-A, Fig. 20", "For psi between 0.3 and 20 the far session has less.",
        fairness.claim_unfair, "far / near", "below 1", ("fig-19", "fig-20", "jitter"),
    ),
    Claim(
        "fairer", "§VII-A, Fig. 20", "Shares are fairer than with TCP alone.",
        fairness.claim_fairer, "nearer to 1/2", "above 0", ("fig-20", "jitter"),
    ),
    Claim(
        "case-2-fairer", "§VII-B, Fig. 22", "One M for both (Case 2) is fairer than each its own (Case 1).",
        fairness.claim_case_two, "nearer to 1/2", "above 0", ("fig-21", "fig-22", "jitter"),
    ),
    Claim(
        "case-2-costs", "§VII-B, Fig. 22", "But it costs overall efficiency.",
        fairness.claim_case_two_costs, "Case 2 / Case 1", "below 1", ("fig-22",),
    ),
    Claim(
        "slight-decrease", "§VII-B, Fig. 22", "Overall efficiency is slightly below that of TCP alone.",
        fairness.claim_slight, "Case 2 / TCP alone", "slightly below 1", ("fig-22",),
    ),
    Claim(
        "effcap-fairer", "§VII-B", "For psi below 20 EFFCAP is fairer than INSTCAP.",
        fairness.claim_instcap, "share of points", 1.0, (),
    ),
    Claim(
        "instcap-fair", "§VII", "INSTCAP is fair where changes are slow.",
        fairness.claim_instcap_slow, "far / near", 1.0, (),
    ),
    Claim(
        "reno", "beyond the paper", "The gain of INSTCAP for slow changes holds for Reno with fast "
        "retransmit.",
        beyond.claim_reno, "INSTCAP / TCP alone", "1.25 to 1.30", ("reno",),
    ),
    Claim(
        "reno-effcap", "beyond the paper", "EFFCAP always beats TCP alone for Reno, too.",
        beyond.claim_reno_effcap, "share of points", 1.0, ("reno",),
    ),
    Claim(
        "reno-fairer", "beyond the paper", "Shares of two sessions are fairer than with TCP alone for Reno, "
        "too.",
        fairness.claim_reno, "nearer to 1/2", "above 0", (),
    ),
    Claim(
        "newer", "beyond the paper", "Feedback beats TCP alone for SACK and CUBIC.",
        beyond.claim_newer, "share of points", None, ("newer",),
    ),
    Claim(
        "cellular", "beyond the paper", "Over a cellular link feedback gives CUBIC more goodput than it "
        "has alone.",
        beyond.claim_traces, "feedback / TCP alone", None, ("cellular",),
    ),
]  # fmt: skip
