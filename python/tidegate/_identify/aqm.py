"""Whether a queue that drops or marks early does so when CoDel would (RFC 8289)."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.chances import special
from tidegate._identify.crossings import leaving
from tidegate._identify.marks import HIDDEN, MARKED, waits_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate._identify.crossings import Crossings
    from tidegate._identify.found import Law

#: RFC 8289 §4.2 and §4.3: packets may wait so long, and longer for so long at once.
_TARGET_S, _INTERVAL_S = 0.005, 0.1
#: RFC 8289 §5.4, with Linux's number: after so many intervals without a drop the count begins anew.
_ANEW = 16
#: The shortest round trip, from which waits are counted, is known so well. Each of these steps is tried.
_BASES_S = np.arange(-5, 6) * 2e-4
#: Two times agree if they lie so near, and so many packets more.
_NEAR_S, _NEAR_PACKETS = 0.003, 3
#: So many drops or marks are needed. Of a CoDel's this share come at its times; beside another's, CoDel would
#: have more than so many times as many.
_FEWEST, _MOST, _TOO_MANY = 6, 0.75, 8.0
#: That CoDel's times agree by chance has a smaller probability.
_CHANCE = 1e-3
#: Marks are drawn only if more than this share of the packets that surely have none waited for longer than
#: one in four that have one. Of a step hardly any did.
_ALSO = 0.01
#: So many packets are replayed.
_PACKETS = 40_000


def with_aqm(law: Law, packets: Crossings, trip: Any) -> Law:
    """Return the law of a queue that drops or marks early, with whether that is CoDel; others as they are.

    CoDel is replayed over the waits of all packets, and its times stand beside those of drops or marks.
    """
    if law.drops != "early" or law.rate_bps is None or law.pieces or law.mark_threshold_s is not None:
        return law
    what, hit, hidden = "losses", packets.judged & ~packets.passed, np.zeros(len(trip), dtype=bool)
    if packets.marked is not None and np.count_nonzero(packets.marked == MARKED) >= _FEWEST:
        what, hit, hidden = "marks", packets.marked == MARKED, packets.marked == HIDDEN
    left = leaving(packets, trip)
    waits = _waits(packets, left, law.rate_bps.value)
    seen = int(np.count_nonzero(hit[:_PACKETS]))
    if seen < _FEWEST:
        return law
    part = slice(0, _PACKETS)
    met, own, chance = _beside_codel(left[part], waits[part], left[part][hit[part]], hidden[part])
    rule = f"a CoDel with a target of {1e3 * _TARGET_S:.0f} ms and an interval of {1e3 * _INTERVAL_S:.0f} ms"
    beside = f"{met} of {seen} {what} come when {rule} would have one"
    name = None
    if own > _TOO_MANY * seen and (what == "losses" or _also_unmarked(packets, trip)):
        name = "at random"
        words = (
            f"It is no CoDel, but draws at random, as PIE and RED do: {rule} would have {own} {what} where "
            f"{seen} are."
        )
    elif met >= _MOST * seen and chance < _CHANCE:
        name, words = "codel", f"It is a CoDel: {beside}."
    else:
        words = f"Which AQM it is cannot be told: {beside}."
    return replace(law, aqm=name, evidence=[*law.evidence, words])


def _waits(packets: Crossings, left: Any, rate_bps: float) -> Any:
    """Return the waits that CoDel looks at, in seconds.

    A packet's own transmission is none. Nor does a packet wait that leaves no more than one behind (RFC 8289
    §5.4), which else would wait for too long on a slow link.
    """
    begins = left - 8 * packets.size / rate_bps
    came = np.concatenate([[0.0], np.cumsum(np.where(packets.passed, packets.size, 0.0))])
    behind = came[np.searchsorted(packets.time_s, begins, side="right")] - came[1:]
    return np.where(behind > packets.largest, begins - packets.time_s, 0.0)


def _also_unmarked(packets: Crossings, trip: Any) -> bool:
    """Tell whether packets that surely have no mark waited as long as marked ones, as if marks were drawn."""
    marked, others = waits_of(packets, trip)
    return len(marked) > 0 and float(np.mean(others > np.quantile(marked, 0.25))) > _ALSO


def _beside_codel(left: Any, waits: Any, seen: Any, hidden: Any) -> tuple[int, int, float]:
    """Return how many of the times `seen` CoDel has too, how many it has, and whether that is chance.

    Of the base round trip with which most agree; what is hidden does not count. The last is the probability
    that so many agree by chance, of all base round trips that are tried.
    """
    best = (0, len(left), 1.0)
    for base in _BASES_S:
        above = waits + base >= _TARGET_S
        own = np.fromiter(_codel(left, waits + base), float)
        if not len(own):
            continue
        gaps = np.diff(left)[above[1:]]
        near = _NEAR_S + _NEAR_PACKETS * float(np.median(gaps)) if len(gaps) else _NEAR_S
        met = _pairs(own, seen, near)
        covered = min(1.0, 2 * near * len(own) / max(float(gaps.sum()), near))
        chance = min(1.0, len(_BASES_S) * float(special.bdtrc(met - 1, len(seen), covered))) if met else 1.0
        shown = int(np.count_nonzero(~hidden[np.searchsorted(left, own)]))
        best = max(best, (met, shown, chance), key=lambda each: (each[0], -each[1]))
    return best


def _pairs(some: Any, others: Any, near: float) -> int:
    """Return how many pairs of one time of each lie so near; each time is in one pair at most."""
    count = at = 0
    for time in others.tolist():
        while at < len(some) and some[at] < time - near:
            at += 1
        if at < len(some) and some[at] <= time + near:
            count += 1
            at += 1
    return count


def _codel(left: Any, waits: Any) -> Iterator[float]:
    """Return when CoDel drops or marks: RFC 8289 §5, packet by packet."""
    above_until, dropping, following, count, last = 0.0, False, 0.0, 0, 0
    for now, wait in zip(left.tolist(), waits.tolist(), strict=True):
        if wait < _TARGET_S:
            above_until, dropping = 0.0, False
            continue
        if above_until == 0.0:
            above_until = now + _INTERVAL_S
        if now < above_until:
            dropping = False
        elif dropping:
            if now >= following:
                yield now
                count += 1
                following += _INTERVAL_S / sqrt(count)
        else:
            yield now
            dropping = True
            since = count - last
            count = since if since > 1 and now - following < _ANEW * _INTERVAL_S else 1
            following = now + _INTERVAL_S / sqrt(count)
            last = count
