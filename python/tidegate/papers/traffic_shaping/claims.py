"""The claims of the traffic shaping paper, the rules that judge them, and what they rest on."""

from __future__ import annotations

from tidegate.papers.api import Claim
from tidegate.papers.traffic_shaping import efficiency, goodputs, open_choices, twenty, users

TITLE = "TCP Traffic Shaping in ATM Networks"
SOURCE = (
    "I. Kocyigit. Four TCP connections shaped by the GCRA share a link with background traffic; simulated "
    "with CLASS."
)
QUICK = (
    "Quick: runs of 5 s and not 25 or 200, background of 0, 75 and 100 Mbit/s only, and of the open choices "
    "the rounded shapers and the fast retransmit of one segment alone"
)
CLAIMS = [
    Claim(
        "unshaped-falls", "§III, Figs. 3, 5",
        "Without shaping goodput steadily falls with the background.",
        goodputs.claim_falls, "share of steps", 1.0, ("fig-3", "fig-5"),
    ),
    Claim(
        "larger-buffer", "§III, Figs. 3, 5", "A larger buffer raises goodput, not very significantly.",
        goodputs.claim_buffer, "5000 / 1000 cells", "a little above 1", ("fig-3", "fig-5"),
    ),
    Claim(
        "35-saturates", "§III", "Shaped to 35 Mbit/s and without background, TCP completely saturates L0.",
        goodputs.claim_saturates, "share of L0", 1.0, ("fig-3",),
    ),
    Claim(
        "35-always-better", "§III, Figs. 3, 5",
        "Goodput with 35 Mbit/s is always greater than without shaping.",
        goodputs.claim_always_better, "share of points", 1.0, ("fig-3", "fig-5"),
    ),
    Claim(
        "20-flat", "§III, Figs. 3, 5", "With 20 Mbit/s goodput is constant up to 75 Mbit/s of background.",
        twenty.claim_flat, "75 / 0 Mbit/s of background", 1.0, ("fig-3", "fig-5"),
    ),
    Claim(
        "20-knee", "§III, Figs. 3, 5", "It falls from 75 Mbit/s of background on: there is the knee.",
        twenty.claim_knee, "75 / 0 Mbit/s of background", "a knee at 75", ("knee",),
    ),
    Claim(
        "20-limited-by-shaper", "§III",
        "With 20 Mbit/s the shaping limits goodput and not the window.",
        twenty.claim_shaper_limits, "share of the time", "by the shaper", ("fig-3",),
    ),
    Claim(
        "20-beats-both", "§III, Figs. 3, 5",
        "At high load 20 Mbit/s has more goodput than 35 Mbit/s and than no shaping.",
        goodputs.claim_twenty_beats, "share of pairs", 1.0, ("fig-3", "fig-5"),
    ),
    Claim(
        "equal-at-100", "§III", "At 100 Mbit/s of background goodput hardly depends on the shaping.",
        goodputs.claim_equal, "35 Mbit/s / no shaping", 1.0, ("fig-3", "fig-5"),
    ),
    Claim(
        "efficiency-poor", "§III, Figs. 4, 6",
        "Efficiency becomes very poor as soon as more is offered than the bottleneck carries.",
        efficiency.claim_efficiency, "efficiency", "very poor", ("fig-4", "fig-6"),
    ),
    Claim(
        "burstier-poorer", "§III, Figs. 4, 6", "The burstier the traffic, the poorer the efficiency.",
        efficiency.claim_burstier, "share of pairs", 1.0, ("fig-4", "fig-6"),
    ),
    Claim(
        "multiplexer-jitter", "§II",
        "With a shaper for each connection (VC-based) the multiplexer behind them may have a considerable "
        "impact on the cells' jitter.",
        users.claim_multiplexer, "times T", "considerable", (),
    ),
    Claim(
        "vc-over-vp", "beyond the paper, §II",
        "A shaper for each connection (VC-based) gives more goodput than one for all of a user (VP-based).",
        users.claim_policies, "VC / VP", None, (),
    ),
    Claim(
        "fits-no-loss", "beyond the paper",
        "Where the shaped rates and 1.2 of the background fit into L0, no cell is lost.",
        efficiency.claim_fits, "cells", 0.0, ("fig-4", "fig-6"),
    ),
    Claim(
        "lock-out", "beyond the paper", "Without shaping some connection gets less than half its share.",
        goodputs.claim_shares, "least connection / mean", None, ("shares",),
    ),
    Claim(
        "any-lock-out", "beyond the paper",
        "Without shaping some connection gets less than half its share whatever the open choices of TCP.",
        open_choices.claim_any_lock_out, "share of cases", None, ("shares",),
    ),
    Claim(
        "any-35-better", "beyond the paper", "35 Mbit/s is better than no shaping whatever the open choices.",
        open_choices.claim_any_better, "share of cases", None, ("choices",),
    ),
    Claim(
        "any-20-beats", "beyond the paper", "At 75 Mbit/s 20 Mbit/s beats both whatever the open choices.",
        open_choices.claim_any_twenty, "share of cases", None, ("choices",),
    ),
    Claim(
        "any-burstier", "beyond the paper",
        "At 75 Mbit/s the burstier has the poorer efficiency whatever the open choices.",
        open_choices.claim_any_efficiency, "share of cases", None, ("choices",),
    ),
]  # fmt: skip
