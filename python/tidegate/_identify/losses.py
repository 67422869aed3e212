"""How losses that no limit explains follow one another: independently, in bursts, or periodically."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.text import number, percent
from tidegate._identify.chances import share, special
from tidegate._identify.found import Number

if TYPE_CHECKING:
    from tidegate._identify.crossings import Crossings

#: Losses follow one another oftener than independent ones do if chance explains it with less probability.
_CHANCE = 1e-4
#: So many losses at equal distances are periodic: this share of the distances is within so many packets of
#: the median, which is longer than that.
_FEWEST, _EQUAL, _WITHIN, _LEAST = 6, 0.9, 2, 20


@dataclass(frozen=True)
class Losses:
    """Losses that no limit explains.

    Args:
        share: of packets with data.
        bursts: probabilities to go from good to bad and from bad to good, at each packet, where losses come
            in bursts: Gilbert's chain (1960), which loses every packet while it is bad; else None.
        every: packets from one loss to the next, where they are periodic; else None.
    """

    share: Number
    bursts: tuple[Number, Number] | None
    every: int | None

    @property
    def words(self) -> str:
        """How much is lost, and how."""
        lost = f"{percent(self.share.value, 2)}% are lost"
        if self.every is not None:
            return f"{lost}, one packet of every {self.every}"
        if self.bursts is not None:
            return f"{lost} in bursts of {number(1 / self.bursts[1].value, 2)} packets on average"
        return f"{lost} at random"

    @property
    def of_law(self) -> dict[str, Any]:
        """The fields of a law that say so."""
        return {"random_loss": self.share, "loss_bursts": self.bursts, "loss_every": self.every}


def losses(packets: Crossings) -> Losses:
    """Return how the packets with data that are known to have passed or not were lost."""
    judged = np.flatnonzero(packets.judged)
    lost = ~packets.passed[judged]
    whole = Number(*share(packets.drops, len(judged)))
    every = _period(np.flatnonzero(packets.judged & ~packets.passed))
    return Losses(whole, None if every else _bursts(packets, judged, lost), every)


def _period(places: Any) -> int | None:
    apart = np.diff(places)
    if len(apart) < _FEWEST - 1:
        return None
    middle = int(np.median(apart))
    return middle if middle >= _LEAST and np.mean(np.abs(apart - middle) <= _WITHIN) >= _EQUAL else None


def _bursts(packets: Crossings, judged: Any, lost: Any) -> tuple[Number, Number] | None:
    # Of each connection, whether a packet and the one before it were lost.
    order = np.argsort(packets.owner[judged], kind="stable")
    gone = lost[order]
    same = np.diff(packets.owner[judged][order]) == 0
    before, after = gone[:-1][same], gone[1:][same]
    bad, both = int(before.sum()), int((before & after).sum())
    if bad == 0 or both < 2:
        return None
    # The chance of at least so many pairs, if losses were independent.
    if float(special.bdtrc(both - 1, bad, float(gone.mean()))) > _CHANCE:
        return None
    good = len(before) - bad
    return Number(*share(int((~before & after).sum()), good)), Number(*share(bad - both, bad))
