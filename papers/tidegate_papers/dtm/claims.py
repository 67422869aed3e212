"""The claims of the DTM paper, in the order of its reports.

Each is defined in a module beside this, with the rule that judges it.
Reno over a queue of ten packets is chaotic: a start moved by less than a packet's time decides
whether it times out.
"""

from tidegate_papers.dtm import beyond, one_flow, queue_limit, remedies, two_flows

TITLE = "TCP over High Speed Variable Capacity Links: A Simulation Study for Bandwidth Allocation"
SOURCE = (
    "H. Abrahamsson, O. Hagsand and I. Marsh. Slots of a DTM channel follow the measured rate of the TCP "
    "flows in it; simulated with ns-2."
)
#: What --quick leaves out; it stands once in the report of such a run.
QUICK = (
    "Quick: two flows run for 35 s and not for 100 s (with a slower decrease 100 s as well), with fewer "
    "round "
    "trips, queues and shifts"
)
CLAIMS = [
    one_flow.claim_first_change,
    one_flow.claim_margin,
    one_flow.claim_halving,
    one_flow.claim_over_allocation,
    one_flow.claim_corridor,
    one_flow.claim_tahoe_follows,
    one_flow.claim_tahoe_timer,
    two_flows.claim_static,
    two_flows.claim_dynamic,
    two_flows.claim_windows,
    two_flows.claim_allocates_observed,
    remedies.claim_longer_queue,
    remedies.claim_hold_tick,
    remedies.claim_hold_second,
    remedies.claim_hold_link,
    remedies.claim_slower,
    two_flows.claim_same_as_static,
    two_flows.claim_return,
    beyond.claim_variants,
    beyond.claim_saving_steady,
    beyond.claim_saving_two,
    beyond.claim_saving_backup,
    beyond.claim_map,
    queue_limit.claim_queue_limit,
]
