"""Figs. 8 to 22 of the paper on TCP over ABR, and pictures of what goes beyond it."""

from tidegate_papers.api import Figure
from tidegate_papers.tcp_over_abr import draw, draw_choice, draw_pairs

BEYOND = "Beyond the paper"
FIGURES = [
    Figure(
        "fig-8", "Fig. 8", "INSTCAP: analysis and simulation",
        "Efficiency: throughput over the mean capacity, less cells' headers. Bars are 95% intervals. The "
        "analysis "
        "needs psi above 1.", draw.draw_8,
    ),
    Figure(
        "fig-9", "Fig. 9", "TCP alone: analysis and simulation",
        "The analysis has no loss in slow start; buffers below a third of the pipe lose there.", draw.draw_9,
    ),
    Figure(
        "fig-10", "Fig. 10", "EFFCAP and INSTCAP, slow changes", "M = 7, N = 49: a mean over a round trip, "
        "the least "
        "of eight.", draw.draw_10,
    ),
    Figure("fig-11", "Fig. 11", "EFFCAP and INSTCAP, fast changes", "The same, psi up to 5.", draw.draw_11),
    Figure(
        "fig-12", "Fig. 12", "EFFCAP, INSTCAP and TCP alone, slow changes", "A buffer of ten "
        "packets.", draw.draw_12,
    ),
    Figure(
        "fig-13", "Fig. 13", "EFFCAP, INSTCAP and TCP alone, fast changes", "A buffer of ten "
        "packets.", draw.draw_13,
    ),
    Figure(
        "fig-14", "Fig. 14", "N, for one round trip", "EFFCAP with M: Δ and three memories. The paper "
        "prints N = 14 for "
        "4Δ; by its own rule it is 21.", draw_choice.draw_14,
    ),
    Figure(
        "fig-15", "Fig. 15", "N, with 100 ms in a state", "Round trips of 50 to 500 ms. Dotted: the low "
        "rate, cells' "
        "headers taken off.", draw_choice.draw_15,
    ),
    Figure("fig-16", "Fig. 16", "N, with 1 s in a state", "As Fig. 15.", draw_choice.draw_16),
    Figure("fig-17", "Fig. 17", "M, with 1 s in a state", "EFFCAP with two memories.", draw_choice.draw_17),
    Figure("fig-18", "Fig. 18", "M, with 100 ms in a state", "As Fig. 17.", draw_choice.draw_18),
    Figure(
        "fig-19", "Fig. 19", "Two sessions, Case 1, fast changes", "Each session's own M and N. Dotted: "
        "half of the "
        "capacity, cells' headers taken off.", draw_pairs.draw_19,
    ),
    Figure("fig-20", "Fig. 20", "Two sessions, Case 1, and TCP alone", "As Fig. 19.", draw_pairs.draw_20),
    Figure(
        "fig-21", "Fig. 21", "Two sessions, Case 2, fast changes", "M = 10 and N = 110 for "
        "both.", draw_pairs.draw_21,
    ),
    Figure("fig-22", "Fig. 22", "Two sessions, Case 2, and TCP alone", "As Fig. 21.", draw_pairs.draw_22),
    Figure(
        "jitter", BEYOND, "How two sessions share, without jitter and with it",
        "Throughput of the session of 360 ms over that of the one of 240 ms. Dotted: equal shares. Each "
        "packet is delayed at random before the link; order is kept.", draw_pairs.draw_jitter,
    ),
    Figure(
        "delta", "Section IV", "Which constant rate serves TCP best?", "Each point is the constant rate that "
        "is the effective capacity at this delta; a buffer of ten packets.", draw.draw_delta,
    ),
    Figure(
        "fed-back", "§IV-A, §VI", "The rate that is fed back",
        "Mean rate of the source. EFFCAP: M = 7, N = 49.",
        draw.draw_fed_back,
    ),
    Figure(
        "floor", "Beyond the paper", "What the time-out does to N and M", "100 ms in a state. In the paper's "
        "simulations a time-out takes two round trips.", draw_choice.draw_floor,
    ),
    Figure(
        "reno", BEYOND, "With fast retransmit", "All three schemes at every rate of change. Below: Reno "
        "instead of the "
        "TCP that waits for its timer after every loss.", draw.draw_buffers,
    ),
    Figure("newer", BEYOND, "SACK and CUBIC", "A buffer of ten packets.", draw.draw_newer),
    Figure(
        "cellular", BEYOND, "Feedback over cellular links", "CUBIC over a moving phone's link with 100 "
        "packets of buffer; "
        "a round trip of 50 ms. Recorded links are added where TIDEGATE_TRACES names their folder.",
        draw.draw_cellular,
    ),
]  # fmt: skip
