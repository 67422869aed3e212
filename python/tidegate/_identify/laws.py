"""The limits that a capture's connections met: which of them share one, and the law of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tidegate._identify.beside import on_the_way
from tidegate._identify.bucket import fit
from tidegate._identify.fair import shared_evenly
from tidegate._identify.found import Law, Limit
from tidegate._identify.law import law_of
from tidegate._identify.queue_laws import fair_queue
from tidegate._identify.share import crossings, groups

if TYPE_CHECKING:
    from tidegate._identify.bucket import Bucket
    from tidegate._identify.streams import Stream

#: Laws under which packets wait.
_QUEUES = ("constant", "token bucket", "two rates", "steps", "varying")
_BLURRED = (
    "Some packets were not captured. They are put in evenly between the others, and intervals do not hold "
    "the error of that."
)
_ACKS = "ACKs of other connections cross this limit as well (of the data of connection {}); they are counted."
_BUCKET = " A bucket seen near the receiver comes out too small."


def limits_of(streams: list[Stream], progress: Callable[[float], object]) -> list[Limit]:
    """Return the limits, from those streams that left, or came to, the same end."""
    paired = any(each.seen_at == "both" for each in streams)
    sides: dict[tuple[bool, str], list[int]] = {}
    for at, stream in enumerate(streams):
        if stream.missed.hides:
            continue
        # All that was captured near its sender left from one place; all that came in, came to one. Of
        # captures at both ends, the sender's tells the place.
        here = stream.seen_at == "receiver"
        sides.setdefault((here, stream.connection.file if paired else ""), []).append(at)
    found: list[Limit] = []
    for at, stream in enumerate(streams):
        if stream.missed.hides:
            found.append(Limit(len(found) + 1, _hidden(stream), [at]))
    for members in sides.values():
        parts: list[tuple[Law, list[int]]] = []
        shared = groups([streams[at].sent for at in members])
        for group, bucket in shared:
            progress((len(found) + len(parts)) / max(1, len(streams)))
            inside = [members[each] for each in group]
            met = [streams[at] for at in inside]
            parts.append((_law(streams, met, bucket, len(shared)), inside))
        for law, inside in _together(streams, parts):
            if any(streams[at].missed.packets for at in inside):
                blurred = _BLURRED + (_BUCKET if law.burst_bytes is not None else "")
                law = replace(law, evidence=[*law.evidence, blurred])
            found.append(Limit(len(found) + 1, law, inside))
    return found


def _law(streams: list[Stream], met: list[Stream], bucket: Bucket | None, parts: int) -> Law:
    """Return the law of those that met one limit, with the ACKs of others where they cross it, too."""
    data = [each.sent for each in met]
    places = {each.connection.file for each in met if each.seen_at != "receiver"}
    beside = [each for each in streams if each.answers is not None and each.answers[1] in places]
    acks = [each.answers[0] for each in beside if each.answers is not None]
    if not on_the_way(data, acks):
        return law_of(data, bucket, parts, _held(met))
    law = law_of(data, fit(crossings([*data, *acks], parts)[0]), parts, _held(met), acks)
    who = ", ".join(str(each.connection.number) for each in beside)
    return replace(law, evidence=[*law.evidence, _ACKS.format(who)])


def _together(streams: list[Stream], parts: list[tuple[Law, list[int]]]) -> list[tuple[Law, list[int]]]:
    """Return the laws, with one for those connections that fair queueing serves together."""
    queued = [part for part in parts if part[0].kind in _QUEUES]
    inside = sorted(at for _, members in queued for at in members)
    rate = shared_evenly([streams[at].sent for at in inside]) if len(queued) > 1 else None
    if rate is None:
        return parts
    law = fair_queue(rate, [law for law, _ in queued])
    others = [part for part in parts if part[0].kind not in _QUEUES]
    return sorted([*others, (law, inside)], key=lambda part: part[1][0])


def _held(streams: list[Stream]) -> float:
    """Return the share of the streams' time in which applications or receivers' windows held them."""
    known = [each.held for each in streams if each.held is not None]
    total = sum(float(each.gap_ns.sum()) for each in known)
    return sum(each.share * float(each.gap_ns.sum()) for each in known) / total if total > 0 else 0.0


def _hidden(stream: Stream) -> Law:
    """Return the law where the capture lacks too much to tell one."""
    return Law(
        "cannot tell",
        "Cannot tell: not all packets were captured. Of the bytes that were acknowledged, "
        f"{stream.missed.share_words} are in no packet of the capture.",
        [],
    )
