"""The claims of the traffic shaping paper, in the order of its reports.

Each is defined in a module beside this, with the rule that judges it.
"""

from tidegate_papers.traffic_shaping import efficiency, goodputs, open_choices, twenty, users

TITLE = "TCP Traffic Shaping in ATM Networks"
SOURCE = (
    "I. Kocyigit. Four TCP connections shaped by the GCRA share a link with background traffic; simulated "
    "with CLASS."
)
QUICK = (
    "Quick: runs of 5 s and not 25 or 200 (equal-at-100 25 s as well), background of 0, 75 and 100 Mbit/s "
    "only, and of the open choices "
    "the rounded shapers and the fast retransmit of one segment alone"
)
CLAIMS = [
    goodputs.claim_falls,
    goodputs.claim_buffer,
    goodputs.claim_saturates,
    goodputs.claim_always_better,
    twenty.claim_flat,
    twenty.claim_knee,
    twenty.claim_shaper_limits,
    goodputs.claim_twenty_beats,
    goodputs.claim_equal,
    efficiency.claim_efficiency,
    efficiency.claim_burstier,
    users.claim_multiplexer,
    users.claim_policies,
    efficiency.claim_fits,
    goodputs.claim_shares,
    open_choices.claim_any_lock_out,
    open_choices.claim_any_better,
    open_choices.claim_any_twenty,
    open_choices.claim_any_efficiency,
]
