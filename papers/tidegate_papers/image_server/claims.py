"""The claims of the image server paper, in the order of its reports.

Each is defined in a module beside this, with the rule that judges it.
"""

from tidegate_papers.image_server import circuits, open_choices, windows

TITLE = "A Simulation Study of TCP/IP over ATM on Interactive Environment"
SOURCE = (
    "U. Bunworasate, T. Aoki, H. Aida and T. Saito. Five clients fetch images over circuits from one virtual "
    "path, through an IP processor that may be slow for a while."
)
QUICK = "Quick: fewer rates and windows, and two of the open choices"
CLAIMS = [
    circuits.claim_slow,
    circuits.claim_low,
    circuits.claim_rises,
    circuits.claim_circuits,
    circuits.claim_higher,
    windows.claim_faster,
    windows.claim_not_faster,
    windows.claim_why,
    windows.claim_queue,
    windows.claim_forty,
    circuits.claim_hold,
    circuits.claim_theory,
    windows.claim_steps,
    windows.claim_today,
    open_choices.claim_any_rise,
    open_choices.claim_any_faster,
    open_choices.claim_any_dips,
]
