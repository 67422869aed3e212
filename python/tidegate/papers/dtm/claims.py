"""The claims of the DTM paper, and some beyond it. The rules that judge them are in the modules beside this.

Reno over a queue of ten packets is chaotic: a start moved by less than a packet's time decides
whether it times out.
"""

from tidegate.papers.api import Claim
from tidegate.papers.dtm import beyond, one_flow, queue_limit, two_flows

TITLE = "TCP over High Speed Variable Capacity Links: A Simulation Study for Bandwidth Allocation"
SOURCE = (
    "H. Abrahamsson, O. Hagsand and I. Marsh. Slots of a DTM channel follow the measured rate of the TCP "
    "flows in it; simulated with ns-2."
)
#: What --quick leaves out; it stands once in the report of such a run.
QUICK = "Quick: two flows run for 35 s and not for 100 s, with fewer round trips, queues and shifts"
CLAIMS = [
    Claim(
        "first-change", "§2.1, Fig. 2",
        "Estimation starts after 100 ms, but the offered bandwidth does not change before the first second.",
        one_flow.claim_first_change, "s", 1.0, ("fig-2",),
    ),
    Claim(
        "margin", "§2.1, Fig. 2",
        "Allocating just the estimate gives TCP too little; MARGIN prevents that.",
        one_flow.claim_margin, "share of what the bottleneck carries", "under-allocates", ("fig-2", "margin"),
    ),
    Claim(
        "halving", "§3, Fig. 4",
        "With 50 packets of queue, halving the window does not move the rate past the bottleneck.",
        one_flow.claim_halving, "share of the mean rate in the least second", "not affected", ("fig-4",),
    ),
    Claim(
        "over-allocation", "§3, Fig. 4",
        "The channel gets about one Mbit/s more than the flow uses.",
        one_flow.claim_over_allocation, "Mbit/s", 1.0, ("fig-4",),
    ),
    Claim(
        "corridor", "§3, Fig. 5",
        "With 10 packets of queue the rate follows the window, but the corridor keeps the allocation still.",
        one_flow.claim_corridor, "share of phases", "no changes", ("fig-5",),
    ),
    Claim(
        "tahoe-follows", "§3, Fig. 6",
        "The allocation closely follows Tahoe's sharp sawtooth.",
        one_flow.claim_tahoe_follows, "correlation", "closely", ("fig-6",),
    ),
    Claim(
        "tahoe-timer", "§3",
        "Tahoe relies on the retransmission timer alone and does not use fast retransmit.",
        one_flow.claim_tahoe_timer, "share of recoveries", 1.0, ("fig-6",),
    ),
    Claim(
        "static", "§3.1, Fig. 8",
        "Over a static channel of 10 Mbit/s both flows reach their 5 Mbit/s.",
        two_flows.claim_static, "Mbit/s", 5.0, ("fig-8",),
    ),
    Claim(
        "dynamic", "§3.1, Fig. 9",
        "Over a dynamic channel neither flow reaches 5 Mbit/s; packets are lost at node 3.",
        two_flows.claim_dynamic, "Mbit/s", "below 5", ("fig-9",),
    ),
    Claim(
        "windows", "§3.1, Fig. 9",
        "The windows never keep the size that they have on the static channel.",
        two_flows.claim_windows, "dynamic / static channel, mean window", "below 1", ("fig-9",),
    ),
    Claim(
        "allocates-observed", "§3.1, Fig. 9",
        "The algorithm allocates correctly for the throughput that it observes.",
        two_flows.claim_allocates_observed, "slots above", "0.75 to 1.75", ("fig-9",),
    ),
    Claim(
        "longer-queue", "§3.1",
        "A longer queue at the channel helps: more packets press for a higher rate.",
        two_flows.claim_longer_queue, "Mbit/s", "helps", ("queue",),
    ),
    Claim(
        "hold-tick", "§3.1, §5",
        "Not lowering the estimate while packets are lost lets TCP recover (a tick with a loss lowers "
        "nothing).",
        two_flows.claim_hold_tick, "share of the gap", "recovers", ("remedies",),
    ),
    Claim(
        "hold-second", "§3.1, §5",
        "The same, for the whole second in which a packet is lost.",
        two_flows.claim_hold_second, "share of the gap", "recovers", ("remedies",),
    ),
    Claim(
        "hold-link", "§3.1, §5",
        "The same, read as: the link is not lowered at the end of a second with a loss.",
        two_flows.claim_hold_link, "share of the gap", "recovers", ("remedies",),
    ),
    Claim(
        "slower-decrease", "§3.1",
        "Lowering more slowly than raising (SHIFT_DEC > SHIFT_INC) solves the problem.",
        two_flows.claim_slower, "share of the gap", "might", ("remedies",),
    ),
    Claim(
        "same-as-static", "§5",
        "TCP gets the share that it would have on a fixed network in all cases but one: two flows in one "
        "channel.",
        two_flows.claim_same_as_static, "share of cases", 1.0, (),
    ),
    Claim(
        "return-channel", "§5",
        "A return channel of 512 kbit/s is more than adequate, up to forward rates of 100 Mbit/s.",
        two_flows.claim_return, "goodput with 512 kbit/s / 100 Mbit/s", 1.0, (),
    ),
    Claim(
        "newer-tcp", "beyond the paper",
        "NewReno, SACK and CUBIC do as well in Fig. 9's dynamic channel as in a static one.",
        beyond.claim_variants, "share of TCPs", None, ("variants",),
    ),
    Claim(
        "saving-steady", "beyond the paper, Fig. 4",
        "For one steady flow a dynamic channel takes less capacity than a static one of the same goodput.",
        beyond.claim_saving_steady, "share of the static capacity saved", "considerable", ("saving",),
    ),
    Claim(
        "saving-two-flows", "beyond the paper, Fig. 9",
        "For two flows in one channel it takes less than a static one of the same goodput.",
        beyond.claim_saving_two, "share of the static capacity saved", "considerable", ("saving",),
    ),
    Claim(
        "saving-backup", "beyond the paper",
        "For a transfer that ends it takes less than a static one that is as fast.",
        beyond.claim_saving_backup, "share of the static capacity saved", "considerable", ("saving",),
    ),
    Claim(
        "map", "beyond the paper",
        "One remedy makes a dynamic channel as good as a static one at every round trip and queue of the "
        "map.",
        beyond.claim_map, "share of cells", None, ("map",),
    ),
    Claim(
        "queue-limit", "beyond the paper",
        "A queue of N packets may be read as N waiting packets or, as in ns-2, as N - 1: goodput is the same "
        "within 5%.",
        queue_limit.claim_queue_limit, "share of cases", None, (),
    ),
]  # fmt: skip
