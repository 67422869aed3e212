"""The rate of a link from neighbours in its queue, and the traffic that a capture does not show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._base.text import number, rate
from tidegate._identify.dispersion import SHARP, Mode, fastest_mode, gaps
from tidegate._identify.found import Number, clocked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.crossings import Crossings
    from tidegate._identify.delay import Waiting
    from tidegate._identify.losses import Losses
    from tidegate._identify.sent import Sent
    from tidegate._identify.two_rates import TwoRates

#: Traffic that the capture does not show may be there if round trips differ by so many packets and seconds,
#: and the rates of busy times by such a share.
_HIDDEN_PACKETS, _HIDDEN_S, _UNSTEADY = 0.2, 0.0005, 0.004
#: Neighbours tell the link's rate if this share of all has it. It is not below what passes, but for so much,
#: and not above it by more than so many times.
_SHARE, _NEARLY, _OTHERS = 0.1, 0.02, 2.5
#: From this share on, hidden traffic is told.
_HIDDEN = 0.003
#: Unless it is no more than so many times the share of losses.
_LOST = 2.0


def link_rate(streams: Sequence[Sent], passing_bps: float, below_bps: float = np.inf) -> Mode | None:
    """Return the rate at which neighbours leave the queue, where most of them leave at one rate.

    It is the link's, whatever other traffic passes between them, and not below what passes over long times.
    ``below_bps``: nor above this.
    """
    between = gaps(streams)
    least = (1 - _NEARLY) * passing_bps
    mode = fastest_mode(between, least, min(below_bps, _OTHERS * passing_bps))
    if mode is None or mode.sharp < SHARP or mode.share < _SHARE:
        return None
    # Where more of them leave at the rate that passes, it is the link's: faster ones are ACKs sent together.
    same = fastest_mode(between, least, (1 + _NEARLY) * passing_bps)
    return mode if same is None or same.share < mode.share else same


def queue_rate(link: Mode | None, found: Waiting | TwoRates) -> Number:
    """Return the rate of a queue, by what passes over long times or by neighbours (`link_rate`).

    Noise of hosts makes gaps of neighbours shorter and longer, and hardly changes what passes. So the latter
    tells the rate where both are alike, and the interval holds both.
    """
    if link is None:
        return clocked(found.rate_bps, found.rate_interval)
    if abs(1 - found.rate_bps / link.rate_bps) >= _HIDDEN:
        return clocked(link.rate_bps, link.interval)
    low, high = link.interval
    return clocked(found.rate_bps, (min(low, found.rate_bps), max(high, found.rate_bps)))


def hidden_traffic(link: Mode, passing_bps: float, loss: Losses | None) -> list[str]:
    """Return what to say where less passes than the link's rate: traffic that the capture does not show.

    What is lost at random has taken its part of the link.
    """
    hidden = 1 - passing_bps / link.rate_bps
    if hidden < max(_HIDDEN, 0.0 if loss is None else _LOST * loss.share.value):
        return []
    return [
        (
            f"{100 * link.share:.0f}% of the packets that waited leave as far apart as {rate(link.rate_bps)} "
            f"send them; over longer times only {rate(passing_bps)} pass. Traffic that the capture does not "
            f"show takes {100 * hidden:.2g}% of the link while packets wait."
        )
    ]


def unexplained(packets: Crossings, found: Waiting) -> list[str]:
    """Return what to say where packets waited for more than the capture shows."""
    others = found.noise_s * found.rate_bps / (8 * packets.largest)
    # What hidden traffic leaves is now more, now less; the noise of hosts leaves as much at all times.
    if others < _HIDDEN_PACKETS or found.noise_s < _HIDDEN_S or found.unsteady < _UNSTEADY:
        return []
    return [
        (
            f"What it leaves is the time of {number(others)} packets: traffic that the capture does not show "
            "may share the link. The rate is then what that traffic leaves, and the link's is higher."
        )
    ]
