"""The claims of the policing paper, in the order of its reports.

Each is defined in a module beside this, with the rule that judges it.
"""

from tidegate_papers.policing import laboratory, remedies, video

TITLE = "An Internet-Wide Analysis of Traffic Policing"
SOURCE = (
    "T. Flach, P. Papageorge, A. Terzis, L. Pedrosa, Y. Cheng, T. Karim, E. Katz-Bassett and R. Govindan, "
    "SIGCOMM 2016. A carrier's device polices or shapes transfers of Linux CUBIC in a laboratory."
)
QUICK = (
    "Quick: four settings of the grid and not 16, half of the measured settings, three buckets of Table 5, "
    "and of the TCPs CUBIC and BBR"
)
CLAIMS = [
    laboratory.claim_goodput,
    laboratory.claim_loss,
    laboratory.claim_shaped,
    laboratory.claim_shaped_loss,
    laboratory.claim_burst,
    laboratory.claim_more,
    remedies.claim_plain,
    remedies.claim_paced,
    remedies.claim_limited,
    remedies.claim_helps,
    video.claim_small,
    video.claim_seconds,
    video.claim_misled,
    video.claim_join,
    video.claim_order,
    remedies.claim_today,
    remedies.claim_random,
]
