"""What the renewal model takes for granted, held against the numbers it was given."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from tidegate.theory._abr_results import Abr, Assumption

if TYPE_CHECKING:
    from tidegate.theory._abr_model import Rules

#: A share above this is said to be a violation.
_NOTABLE = 0.1
#: Lakshman and Madhow: below this share of the pipe a buffer loses in slow start.
_SLOW_START_SHARE = 1 / 3


def assumptions(found: Abr, rules: Rules) -> tuple[Assumption, ...]:
    """Return the assumptions of Section III, those that the numbers break first."""
    psi = min(found.psi, found.psi_low)
    within = 1 - exp(-1 / psi)
    queued = found.buffer * found.r1 / found.delta_packets
    share = found.buffer / (found.delta_packets / found.r0 + 1)
    at_most = float(found.window_probability[found.windows == found.wmax].sum())
    assumed = [
        Assumption(
            "the link keeps its rate for a whole round trip at least",
            within <= _NOTABLE,
            f"with psi {psi:g}, {within:.0%} of such exponential times are shorter than a round trip",
        ),
        Assumption(
            "a round trip lasts Δ, whatever waits, and no packet is under way at its end",
            queued <= _NOTABLE,
            f"a full queue at the low rate lasts {queued:.0%} of Δ",
        ),
        Assumption(
            "an acknowledgement comes back for every packet, and the window grows by one with "
            "probability 1/W, W that of the round trip's start",
            None,
            "no delayed acknowledgements",
        ),
        Assumption(
            f"a loss costs {rules.recovery} round trips and a slow start: no fast retransmit, a time-out "
            "of 2 Δ without back-off, one loss at a time",
            None,
            "Reno, SACK or CUBIC recover sooner",
        ),
    ]
    if found.scheme == "tcp":
        assumed.insert(
            0,
            Assumption(
                "nothing is lost in slow start",
                share >= _SLOW_START_SHARE,
                f"buffer / (Δ + 1) is {share:.2f}; below 1/3 a slow start overflows it and the throughput is "
                "overestimated"
                if share < _SLOW_START_SHARE
                else f"buffer / (Δ + 1) is {share:.2f}, 1/3 or more",
            ),
        )
        assumed.append(
            Assumption(
                {
                    "link": "packets come spaced by the link's rate of a round trip ago",
                    "even": "packets come evenly over a round trip",
                    "burst": "a window's packets come at once",
                }[rules.spacing],
                None,
                'spacing is "link", "even" or "burst"; this choice moves the result most',
            )
        )
    else:
        assumed.append(
            Assumption(
                "nothing is lost in slow start",
                within <= _NOTABLE,
                f"the rate changes within a round trip of it with probability {within:.0%}",
            )
        )
        assumed.append(
            Assumption(
                "packets leave the source back to back",
                None,
                "where they do not, the link's queue rises more slowly and less is lost",
            )
        )
    if at_most:
        assumed.append(
            Assumption(
                "the largest window does not matter",
                at_most <= _NOTABLE,
                f"the window is at wmax in {at_most:.0%} of the steps",
            )
        )
    return tuple(sorted(assumed, key=lambda each: (each.holds is not False, each.holds is None)))
