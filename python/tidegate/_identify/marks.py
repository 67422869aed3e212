"""Marks of congestion (ECN): which packets had them, and what that tells of the queue."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.text import number, percent
from tidegate._identify.chances import greater, share
from tidegate._identify.found import Number

if TYPE_CHECKING:
    from tidegate._identify.crossings import Crossings
    from tidegate._identify.found import Law

#: IP's codepoint CE (RFC 3168 §5), and TCP's flags: the counter of accurate ECN is AE, CWR and ECE (RFC 9768
#: §3.2.2).
_CE, _SYN, _ECE, _ACE = 3, 2, 0x40, 0x1C0
#: Marks that are needed to speak of a rule.
_FEWEST = 8
#: Of a step this share of the marked packets waited longer, and of the others shorter.
_STEP = 0.97
#: Marked packets waited longer than others if chance explains it with less probability.
_CHANCE = 1e-3


def carried(packets: Any, mine: Any) -> Any:
    """Return which packets carry a mark, where they were captured behind the queue."""
    return packets.ecn[mine] == _CE


def echoed(packets: Any, from_client: bool, when: Any) -> Any:
    """Return which packets were reported, at the times `when`, by an ACK that tells of a new mark.

    With classic ECN that is the first ACK with ECE of a series, as the receiver repeats it until the sender
    has answered (RFC 3168 §6.1.3), so marks are at least so many. With accurate ECN it is any change of the
    counter.
    """
    acks = np.flatnonzero((packets.from_client != from_client) & packets.has_ack)
    acks = acks[(packets.flags[acks] & _SYN) == 0]
    if not len(acks):
        return np.zeros(len(when), dtype=bool)
    field = packets.flags[acks].astype(np.int64) & (_ACE if _accurate(packets) else _ECE)
    change = np.diff(field, prepend=field[0]) != 0
    new = change if _accurate(packets) else change & (field > 0)
    if not _accurate(packets):
        new[0] = field[0] > 0
    time = packets.time_ns[acks]
    at = np.searchsorted(time, when)
    inside = at < len(acks)
    return inside & new[np.minimum(at, len(acks) - 1)]


def _accurate(packets: Any) -> bool:
    """Tell whether both ends speak accurate ECN: the SYN offers it, and the answer is not a classic one."""
    syn = np.flatnonzero((packets.flags & _SYN) > 0)
    offers = packets.flags[syn][~packets.has_ack[syn]] & _ACE
    answers = packets.flags[syn][packets.has_ack[syn]] & _ACE
    return bool((offers == _ACE).any() and ((answers != 0) & (answers != _ECE)).any())


def with_marks(law: Law, packets: Crossings, trip: Any) -> Law:
    """Return the law of a queue with what its marks tell; the law as it is where there are none."""
    if packets.marked is None or not packets.marked.any():
        return law
    known = np.flatnonzero(trip > 0)
    marked = np.flatnonzero(packets.marked)
    count, judged = len(marked), int(packets.judged.sum())
    found = Number(*share(count, max(count, judged)))
    told = f"{percent(found.value, 2)}% of the packets are marked (ECN)"
    rule, threshold = "", None
    if count >= _FEWEST and len(known):
        # A packet whose own round trip is not known waited as the one before it.
        before = known[np.maximum(np.searchsorted(known, marked, side="right") - 1, 0)]
        waits = trip - trip[known].min()
        others = np.setdiff1d(known, before)
        threshold = _step(waits[np.unique(before)], waits[others])
        if threshold is not None:
            rule = f": those that wait for more than {number(1e3 * threshold.value)} ms, as with a step"
        elif len(others) and greater(waits[before], waits[others]) < _CHANCE:
            rule = ": the longer the queue, the likelier, as with CoDel or PIE"
    sentence = law.sentence.replace(
        " Nothing was lost, so the queue's limit is not known.", " Nothing was lost."
    )
    return replace(
        law,
        sentence=f"{sentence} {told}{rule}.",
        drops="early" if law.drops == "none" and rule else law.drops,
        marks=found,
        mark_threshold_s=threshold,
    )


def _step(marked: Any, others: Any) -> Number | None:
    """Return the wait that parts marked packets from others, in seconds; None where none does."""
    if len(others) < _FEWEST:
        return None
    low, high = float(np.quantile(marked, 1 - _STEP)), float(np.quantile(others, _STEP))
    if high > low:
        # Both may lie in one another by so little as one packet takes.
        middle = (low + high) / 2
        wrong = np.mean(marked < middle), np.mean(others > middle)
        if max(wrong) > 1 - _STEP:
            return None
        return Number(middle, (low, high))
    return Number((low + high) / 2, (high, low))
