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
#: What is known of a packet's mark.
MARKED, UNMARKED, HIDDEN = 1, 0, -1
#: Of a step this share of the marked packets waited longer, and of the others shorter; of the others more
#: where marks are hidden, and only those count that surely have none.
_STEP, _SURE = 0.97, 0.99
#: Marked packets waited longer than others if chance explains it with less probability.
_CHANCE = 1e-3


def carried(packets: Any, mine: Any) -> Any:
    """Return which packets carry a mark, where they were captured behind the queue."""
    return np.where(packets.ecn[mine] == _CE, MARKED, UNMARKED).astype(np.int8)


def echoed(packets: Any, from_client: bool, when: Any) -> Any:
    """Return what the ACKs that reported packets, at the times `when`, tell of their marks.

    With classic ECN the first ACK with ECE of a series tells of a mark. The receiver repeats ECE until the
    sender has answered (RFC 3168 §6.1.3), so the other ACKs of a series hide whether packets were marked.
    With accurate ECN any change of the counter tells of a mark.
    """
    acks = np.flatnonzero((packets.from_client != from_client) & packets.has_ack)
    acks = acks[(packets.flags[acks] & _SYN) == 0]
    if not len(acks):
        return np.full(len(when), UNMARKED, dtype=np.int8)
    field = packets.flags[acks].astype(np.int64) & (_ACE if _accurate(packets) else _ECE)
    change = np.diff(field, prepend=field[0]) != 0
    if _accurate(packets):
        marks = np.where(change, MARKED, UNMARKED)
    else:
        change[0] = field[0] > 0
        marks = np.where(field > 0, np.where(change, MARKED, HIDDEN), UNMARKED)
    at = np.searchsorted(packets.time_ns[acks], when)
    inside = at < len(acks)
    return np.where(inside, marks[np.minimum(at, len(acks) - 1)], UNMARKED).astype(np.int8)


def _accurate(packets: Any) -> bool:
    """Tell whether both ends speak accurate ECN: the SYN offers it, and the answer is not a classic one."""
    syn = np.flatnonzero((packets.flags & _SYN) > 0)
    offers = packets.flags[syn][~packets.has_ack[syn]] & _ACE
    answers = packets.flags[syn][packets.has_ack[syn]] & _ACE
    return bool((offers == _ACE).any() and ((answers != 0) & (answers != _ECE)).any())


def with_marks(law: Law, packets: Crossings, trip: Any) -> Law:
    """Return the law of a queue with what its marks tell; the law as it is where there are none."""
    if packets.marked is None or not (packets.marked == MARKED).any():
        return law
    marked = np.flatnonzero(packets.marked == MARKED)
    count, judged = len(marked), int(packets.judged.sum())
    found = Number(*share(count, max(count, judged)))
    hidden = bool((packets.marked == HIDDEN).any())
    words = f"{'At least ' if hidden else ''}{percent(found.value, 2)}% of the packets are marked (ECN)"
    rule, threshold = "", None
    waits, others = waits_of(packets, trip)
    if count >= _FEWEST and len(waits):
        threshold = _step(waits, others, _SURE if hidden else _STEP)
        if threshold is not None:
            rule = f": those that wait for more than {number(1e3 * threshold.value)} ms, as with a step"
        elif _longer(packets, trip):
            rule = ": the longer the queue, the likelier, as with CoDel or PIE"
    sentence = law.sentence.replace(
        " Nothing was lost, so the queue's limit is not known.", " Nothing was lost."
    )
    return replace(
        law,
        sentence=f"{sentence} {words}{rule}.",
        drops="early" if law.drops == "none" and rule else law.drops,
        marks=found,
        mark_threshold_s=threshold,
    )


def _longer(packets: Crossings, trip: Any) -> bool:
    """Tell whether marked packets waited for longer than all others, whatever is known of their marks."""
    known, marked = np.flatnonzero(trip > 0), np.flatnonzero(packets.marked == MARKED)
    before = _before(known, marked)
    others = np.setdiff1d(known, before)
    return len(others) > 0 and greater(trip[before], trip[others]) < _CHANCE


def _before(known: Any, places: Any) -> Any:
    """Return which packets stand for some: one without a round trip waited as the one before it."""
    return known[np.maximum(np.searchsorted(known, places, side="right") - 1, 0)]


def waits_of(packets: Crossings, trip: Any) -> tuple[Any, Any]:
    """Return how long marked packets waited, and how long those did that surely have no mark, in seconds."""
    known = np.flatnonzero(trip > 0)
    if not len(known):
        return np.zeros(0), np.zeros(0)
    waits = trip - trip[known].min()
    marked = np.flatnonzero(packets.marked == MARKED)
    own = marked[trip[marked] > 0]
    if len(own) < _FEWEST:
        own = _before(known, marked)
    others = known[packets.marked[known] == UNMARKED]
    return waits[own], waits[np.setdiff1d(others, own)]


def _step(marked: Any, others: Any, most: float) -> Number | None:
    """Return the wait that parts marked packets from most others, in seconds; None where none does."""
    if len(others) < _FEWEST:
        return None
    low, high = float(np.quantile(marked, 1 - _STEP)), float(np.quantile(others, most))
    if high > low:
        # Both may lie in one another by so little as one packet takes.
        middle = (low + high) / 2
        if np.mean(marked < middle) > 1 - _STEP or np.mean(others > middle) > 1 - most:
            return None
        return Number(middle, (low, high))
    return Number((low + high) / 2, (high, low))
