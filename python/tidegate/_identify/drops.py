"""Why a queue dropped packets: it was full, it drops early, or losses fall at random."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.chances import TAIL, greater
from tidegate._identify.crossings import at_least
from tidegate._identify.found import Number
from tidegate._identify.losses import Losses, losses

if TYPE_CHECKING:
    from tidegate._identify.bucket import Bucket
    from tidegate._identify.crossings import Crossings

#: A delay that rises by less than this is no queue, whatever its shape.
RISE_S = 0.003
#: More than this share of deviance, or of spread, is "explained".
HALF = 0.5
#: A queue was full where its limit explains this share of the deviance of drops.
_FULL = 0.3
#: And this share where losses do not all follow the longest waits.
_SURE = 0.75
#: Nine of ten losses at a full queue follow waits of this share of the longest.
_FEW_LOWER, _LONGEST = 0.1, 0.8
#: Waits before losses must be longer by so many packets, or by `RISE_S`.
_PACKETS = 2.0
#: So many packets on each side are neighbours.
_NEIGHBOURS = 2
#: RED looks at an average in which each packet has a weight of one in so many. That this is higher before
#: losses by chance is less probable than the first; below the second, they may be random or not.
_SPANS, _CHANCE, _DOUBT = (128, 512), 1e-5, 0.005
#: Losses so many packets apart, or nearer, are one burst, which counts once.
_BURST = 8
#: Fewer data packets than this say nothing.
FEWEST = 20
#: Losses fewer than this do not make a law.
FEW_LOSSES = 3
#: A packet that waits for less than this share of the longest waits hardly waits.
_SHORT = 0.25
#: So many packets that hardly waited would be lost, if losses fell at random, before their absence tells.
_EXPECTED = 3.0


def drops_of(
    packets: Crossings,
    trip: Any,
    bucket: Bucket | None,
    allowance: Number | None,
    rate_bps: float,
    *,
    one_rate: bool = True,
) -> tuple[str, Number | None, str, Losses | None]:
    """Return what dropped packets in a queue: a name, the queue's limit, words, the losses if random.

    ``one_rate``: the queue drains at one rate, so packets wait the longest where it is full.
    """
    if packets.drops == 0:
        return "none", None, "Nothing was lost, so the queue's limit is not known.", None
    words = "It loses packets when it is full."
    beside = _beside(packets, trip)
    longest = _longest_waits(beside, 8 * packets.largest / rate_bps)
    if (
        bucket is not None
        and bucket.gain > 0
        and not (one_rate and beside is not None and beside.sooner)
        and bucket.explained >= (_FULL if longest or not one_rate else _SURE)
    ):
        limit = limit_of(packets, bucket, allowance)
        return "queue full", _bound(packets, limit, rate_bps), words, None
    if longest is not None and one_rate:
        # Other traffic fills the queue as well: what packets waited tells its limit, and not what was sent.
        low, middle, high = (each * rate_bps / 8 for each in longest)
        packet = packets.largest
        limit = Number(middle, (max(0.0, low - packet), high + packet))
        return "queue full", _bound(packets, limit, rate_bps), words, None
    odds = risk(packets, trip)
    if odds is None:
        return "cannot tell", None, f"{packets.drops} losses are too few to tell why.", None
    wait, chance = odds
    average = _on_average(packets, trip)
    # An ACK of a packet before a loss is seldom delayed, or once more: that moves round trips by a packet.
    least = min(RISE_S, _PACKETS * 8 * packets.largest / rate_bps)
    if (chance < 0.001 and wait > least) or average < _CHANCE:
        return (
            "early",
            None,
            "The longer its queue, the likelier it loses packets: an AQM, or a queue often full.",
            None,
        )
    if average < _DOUBT or not _seen_without_wait(packets, trip):
        return (
            "cannot tell",
            None,
            "Its losses may be random or an AQM's: waits before them do not tell.",
            None,
        )
    loss = losses(packets)
    return "random", None, f"{loss.words}, whatever the queue holds.", loss


def _bound(packets: Crossings, limit: Number, rate_bps: float) -> Number:
    """Return the limit, without an upper end where it is a lower bound."""
    if not at_least(packets, limit.value, rate_bps):
        return limit
    return Number(limit.value, (limit.interval[0], inf))


@dataclass(frozen=True)
class _Beside:
    """What packets beside losses waited, in seconds.

    Args:
        each: of each loss.
        first: of the first loss of each series. Losses within a round trip are one: a sender learns only then
            of the first.
        longest: the longest wait that several packets one after the other have.
    """

    each: Any
    first: Any
    longest: float

    @property
    def sooner(self) -> bool:
        """Whether most series began long before packets waited for as long as they ever do."""
        return len(self.first) >= FEW_LOSSES and float(np.median(self.first)) < HALF * self.longest


def _beside(packets: Crossings, trip: Any) -> _Beside | None:
    """Return what packets beside losses waited; None where there are too few."""
    known = np.flatnonzero(trip > 0)
    lost = np.flatnonzero(packets.judged & ~packets.passed)
    if len(known) < FEWEST or len(lost) < FEW_LOSSES:
        return None
    waits = trip[known] - trip[known].min()
    # An ACK that was delayed makes one wait longer, and not those of its neighbours.
    neighbours = [np.roll(waits, by)[_NEIGHBOURS:-_NEIGHBOURS] for by in range(-_NEIGHBOURS, _NEIGHBOURS + 1)]
    longest = float(np.median(neighbours, axis=0).max())
    after = np.minimum(np.searchsorted(known, lost), len(known) - 1)
    near = np.minimum(longest, np.maximum(waits[after], waits[np.maximum(after - 1, 0)]))
    apart = np.diff(packets.time_s[lost], prepend=-np.inf) > float(np.median(trip[known]))
    return _Beside(near, near[apart], longest)


def _longest_waits(beside: _Beside | None, packet_s: float) -> tuple[float, float, float] | None:
    """Return least, median and longest wait, in seconds, of nine of ten losses, if no packet waits longer.

    A queue that was full made packets wait for as long as they ever do, less the packet that has no room.
    What drops early does so at any wait.
    """
    if beside is None or beside.sooner:
        return None
    low, middle = (float(each) for each in np.quantile(beside.each, (_FEW_LOWER, 0.5)))
    return (low, middle, beside.longest) if low + packet_s > _LONGEST * beside.longest else None


def _on_average(packets: Crossings, trip: Any) -> float:
    """Return the probability by chance that waits before losses are so long, on the average of many packets.

    RED drops by that average. It is 1 where there are too few losses.
    """
    packets, trip = packets.part(0, packets.searched), trip[: packets.searched]
    known = np.flatnonzero(trip > 0)
    lost = np.flatnonzero(packets.judged & ~packets.passed)
    before = np.maximum(lost[np.diff(lost, prepend=-_BURST - 1) > _BURST] - 1, 0)
    if len(before) < FEW_LOSSES or len(known) < FEWEST:
        return 1.0
    waits = _waits_of_all(known, trip)
    found = [1.0]
    for span in _SPANS:
        mean = np.fromiter(accumulate(waits, partial(_averaged, 1 / span)), float)
        if np.median(mean[before]) > np.median(mean):
            found.append(greater(mean[before], mean))
    return min(found)


def _averaged(weight: float, average: float, wait: float) -> float:
    return average + weight * (wait - average)


def _seen_without_wait(packets: Crossings, trip: Any) -> bool:
    """Tell whether losses also fell on packets that hardly waited, which no queue drops."""
    known = np.flatnonzero(trip > 0)
    lost = np.flatnonzero(packets.judged & ~packets.passed)
    before = np.searchsorted(known, lost) - 1
    waits = trip[known] - trip[known].min()
    short = waits < _SHORT * float(np.quantile(waits, 0.95))
    if short.mean() * len(lost) < _EXPECTED:
        return False
    return bool(np.count_nonzero(short[before[before >= 0]]) > 0)


def limit_of(packets: Crossings, bucket: Bucket, allowance: Number | None) -> Number:
    """Return the queue's limit: the bucket's, corrected by the packet that is about to leave.

    A queue counts whole packets that wait; the bucket drains byte by byte. Before a constant rate the bucket
    also holds what is left of the packet in transmission, so a drop at the fullness `v` tells a limit between
    `v` less a packet and `v`. In a shaper the first packet waits until its tokens are whole: between `v` and
    `v` and a packet, less the burst. Each value between is as likely as the next.
    """
    packet = packets.largest
    if allowance is None:
        burst, value = (0.0, 0.0), bucket.limit - packet / 2
    else:
        burst, value = allowance.interval, bucket.limit - allowance.value + packet / 2
    parts = (
        (0.5 - TAIL) * packet,
        (bucket.limit_interval[1] - bucket.limit_interval[0]) / 2,
        (burst[1] - burst[0]) / 2,
        packets.coarse_s * bucket.rate_bps / 8,
    )
    half = float(np.sqrt(sum(each**2 for each in parts)))
    return Number(value, (max(0.0, value - half), value + half))


def risk(packets: Crossings, trip: Any) -> tuple[float, float] | None:
    """Return by how many seconds waits before losses exceed others, and the probability by chance."""
    known = np.flatnonzero(trip > 0)
    lost = np.flatnonzero(packets.judged & ~packets.passed)
    # Losses in one burst follow the same wait, which counts once.
    _, first = np.unique(np.searchsorted(known, lost), return_index=True)
    if len(first) < FEW_LOSSES or len(known) < FEWEST:
        return None
    waits = _waits_of_all(known, trip)
    before = waits[np.maximum(lost[first] - 1, 0)]
    return float(np.median(before) - np.median(waits)), greater(before, waits)


def _waits_of_all(known: Any, trip: Any) -> Any:
    """Return what all packets waited, in seconds: one without a round trip waited as its neighbours did."""
    return np.interp(np.arange(len(trip)), known, trip[known] - trip[known].min())
