"""What the renewal model of TCP over a rate-controlled link gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidegate._base.lazy import Lazy

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Lazy("numpy")
    npt = Lazy("numpy.typing")


@dataclass(frozen=True)
class Assumption:
    """What the model takes for granted: whether these numbers keep to it, and by how much.

    ``holds`` is None where the numbers cannot tell.
    """

    text: str
    holds: bool | None
    why: str

    def __str__(self) -> str:
        verdict = {True: "holds", False: "violated", None: "assumed"}[self.holds]
        return f"{verdict}: {self.text} ({self.why})"


@dataclass(frozen=True)
class Abr:
    """The renewal model's answer. A unit of time is a packet's at the link's high rate if r0 is 1."""

    #: Mean time at the high rate, in round trips, and at the low one.
    psi: float
    psi_low: float
    #: Δ: the round trip without queues, in units of time.
    delta_packets: float
    #: B_max, packets, the one in service included.
    buffer: int
    #: The largest window, packets.
    wmax: int
    #: Times of a packet at the link's high and low rate.
    r0: float
    r1: float
    scheme: str
    reward: str
    #: Throughput over the link's mean capacity, cell headers taken off (overhead): the paper's
    #: efficiency, with the reward that was asked for.
    efficiency: float
    #: The same with the conservative and with the optimistic reward.
    bounds: tuple[float, float]
    #: Packets per unit of time, cell headers not taken off.
    throughput_packets: float
    #: The link's mean capacity, packets per unit of time.
    capacity_packets: float
    #: The share of a packet's bits that are not cell headers: 48/53, or 1 for TCP alone.
    overhead: float
    #: Losses (each ends in a time-out) per round trip, recoveries counted as time.
    loss_per_round_trip: float
    #: Probability that a step of the chain loses something.
    loss_per_step: float
    #: Mean length of a step of the chain, round trips: 1 without loss, more with a recovery.
    mean_cycle_rounds: float
    #: Recurrent states of the chain.
    states: int
    #: Windows, packets, and the probability of each at the chain's steps; arrays of one length.
    windows: npt.NDArray[np.int64] = field(repr=False)
    window_probability: npt.NDArray[np.float64] = field(repr=False)
    #: What was taken for granted; empty without explain=True.
    assumptions: tuple[Assumption, ...] = field(default=(), repr=False)

    @property
    def mean_window(self) -> float:
        """Mean window at the chain's steps, packets."""
        return float(self.windows @ self.window_probability)

    @property
    def violated(self) -> tuple[Assumption, ...]:
        """The assumptions that these numbers do not keep to."""
        return tuple(each for each in self.assumptions if each.holds is False)
