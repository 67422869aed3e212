"""A scenario with the law that was found, the round trips, and the applications as the capture shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.text import counted
from tidegate._identify.application import Application, application
from tidegate._identify.words import in_bytes
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from tidegate._identify.found import Direction, Law, Limit

#: A policer or a link without a limit stands on a line that is never the limit itself.
LINE_BPS = 1_000_000_000
#: Where nothing was lost, the queue holds more than was ever in it.
_ROOMY = 4
_LEAST_BYTES = 10_000
#: Laws whose scenario has a queue.
_QUEUES = ("constant", "token bucket", "two rates", "steps", "varying")
#: What held a sender for this share of the time is part of its scenario.
MOSTLY = 0.5
#: A receiver's window is steady if its median is this share of its largest; else the reader is slow.
_STEADY = 0.8
#: A run may take so much longer than the capture before its transfers are cut off.
_MORE = 0.25
#: The congestion control of most senders, and the one that is tried where that one does not fit.
DEFAULT_CC, OTHER_CC = "cubic", "bbr"
#: A think time is not zero; the first one is this.
_AT_ONCE_S = 0.001


def main_limit(directions: list[Direction], limits: list[Limit]) -> Limit | None:
    """Return the limit that most packets met, of those with a law that a scenario can state."""
    known = [each for each in limits if each.law.kind != "cannot tell"]
    return max(known, key=lambda each: sum(directions[at].data_packets for at in each.members), default=None)


def members_of(limit: Limit, directions: list[Direction]) -> list[int]:
    """Return the directions that the scenario of a limit has as flows."""
    return [at for at in limit.members if directions[at].data_bytes >= _LEAST_BYTES] or limit.members


def flow_name(direction: Direction, directions: list[Direction]) -> str:
    """Return the name of a direction's flow."""
    same = sum(each.connection == direction.connection for each in directions) > 1
    way = "" if not same else "up" if direction.from_client else "down"
    return f"connection{direction.connection}{way}"


def scenario(
    directions: list[Direction],
    limits: list[Limit],
    streams: list[Any],
    assumed: str = DEFAULT_CC,
    until_s: float | None = None,
) -> str:
    """Return the scenario of the limit that most packets met, for the whole time or until then.

    ``assumed``: the congestion control of senders whose own the capture does not tell.

    Raises:
        ArgumentError: no limit has a law that a scenario can state.
    """
    limit = main_limit(directions, limits)
    if limit is None:
        raise ArgumentError("no scenario: the capture does not tell the law of its link")
    members = members_of(limit, directions)
    base = min(_round_trip(directions[at]) for at in members)
    end = max(float(streams[at].sent.time_ns[-1]) for at in members)
    begin = min(float(streams[at].sent.time_ns[0]) for at in members)
    lines = [
        f"# Found by tidegate identify in a capture, from {counted(len(members), 'direction')} of data.",
        f"# {limit.law.sentence}",
        *_senders([directions[at] for at in members], assumed),
        *([f"# {queue}"] if (queue := assumed_queue(directions, limits, streams)) else []),
        "",
        'title = "The link of a capture"',
        f'duration = "{_duration(end - begin, [streams[at] for at in members], until_s)}"',
        "seed = 1",
        *_ahead(limit.law),
        "",
        "[gate.link]",
        *_gate(limit.law, base, limit, streams),
    ]
    for at in members:
        lines += ["", *_flow(directions[at], streams[at], int(begin), directions, limit.law, assumed)]
    return "\n".join(lines) + "\n"


def _senders(members: list[Direction], assumed: str) -> list[str]:
    if all(each.congestion.name for each in members):
        return ["# The congestion control is the one that the capture tells."]
    why = (
        "as with most senders"
        if assumed == DEFAULT_CC
        else f"which predicts the capture better than {DEFAULT_CC}"
    )
    return [f"# Where the capture does not tell the congestion control, it is {assumed}, {why}."]


def assumed_queue(directions: list[Direction], limits: list[Limit], streams: list[Any]) -> str | None:
    """Return what the scenario assumes of a queue that the capture does not tell, as a sentence."""
    limit = main_limit(directions, limits)
    if limit is None:
        return None
    law, rule = limit.law, None
    if law.fair:
        rule = "FQ-CoDel with its usual constants"
    elif law.mark_threshold_s is not None:
        return None
    elif law.aqm is not None or law.marks is not None:
        rule = None if law.aqm == "codel" else f"{_aqm(law)} with its usual constants"
    elif law.kind in _QUEUES and law.queue_bytes is None:
        base = min(_round_trip(directions[at]) for at in members_of(limit, directions))
        size = in_bytes(_queue(law, base, limit, streams))
        rule = f"that it holds {size} and drops only when it is full"
    return (
        None if rule is None else f"The capture does not tell all of the queue: the scenario assumes {rule}."
    )


def _aqm(law: Law) -> str:
    return "PIE" if law.aqm == "at random" else "CoDel"


def still_sending(stream: Any) -> bool:
    """Tell whether the capture ends before the transfer: its sender has not closed the connection."""
    return not stream.acks.closed


def _duration(span_ns: float, streams: list[Any], until_s: float | None) -> str:
    if until_s is not None:
        return f"{until_s:.3f} s"
    # What ends by itself has some time to do so; what does not, ends with the capture.
    more = 0.0 if all(still_sending(each) for each in streams) else _MORE * span_ns
    return f"{max(1.0, (span_ns + more) / 1e9):.3f} s"


def _round_trip(direction: Direction) -> float:
    return direction.base_round_trip_s.value if direction.base_round_trip_s is not None else 0.05


def _ahead(law: Law) -> list[str]:
    """Return the gate of the queue before a policer."""
    if law.ahead_bps is None:
        return []
    return ["", "[gate.queue]", f'rate = "{round(law.ahead_bps.value)} bit/s"']


def _police(law: Law, rate: str | None) -> str:
    bucket = 0 if law.burst_bytes is None else round(law.burst_bytes.value)
    if law.peak_bps is None or law.peak_burst_bytes is None:
        return f'police = {{ rate = "{rate}", burst = "{bucket} B" }}'
    peak, size = round(law.peak_bps.value), round(law.peak_burst_bytes.value)
    return f'police = {{ cir = "{rate}", cbs = "{bucket} B", pir = "{peak} bit/s", pbs = "{size} B" }}'


def _gate(law: Law, base: float, limit: Limit, streams: list[Any]) -> list[str]:
    rate = None if law.rate_bps is None else f"{round(law.rate_bps.value)} bit/s"
    lines = []
    if law.kind == "policer":
        lines += [f'rate = "{LINE_BPS} bit/s"', _police(law, rate)]
        if law.header_bytes:
            lines.append(f'framing = {{ overhead = "{law.header_bytes} B" }}')
    elif law.kind == "token bucket" and law.burst_bytes is not None:
        lines.append(f'rate.token_bucket = {{ rate = "{rate}", burst = "{round(law.burst_bytes.value)} B" }}')
    elif law.kind == "two rates" and law.burst_bytes is not None and law.peak_bps is not None:
        size, peak = round(law.burst_bytes.value), round(law.peak_bps.value)
        lines.append(f'rate.token_bucket = {{ rate = "{rate}", burst = "{size} B", peak = "{peak} bit/s" }}')
    elif law.trace:
        steps = [
            f'["{0.0 if not at else start:.3f} s", "{round(each)} bit/s"]'
            for at, (start, each) in enumerate(law.trace)
        ]
        lines.append(f"rate.steps = [{', '.join(steps)}]")
    elif law.pieces:
        steps = [
            f'["{0.0 if not at else start:.3f} s", "{round(each.value)} bit/s"]'
            for at, (start, each) in enumerate(law.pieces)
        ]
        lines.append(f"rate.steps = [{', '.join(steps)}]")
    else:
        lines.append(f'rate = "{rate or f"{LINE_BPS} bit/s"}"')
    if law.fair:
        lines.append('queue.aqm = "fq_codel"')
    elif law.mark_threshold_s is not None:
        lines.append(f'queue.aqm.step = {{ threshold = "{1e3 * law.mark_threshold_s.value:.3f} ms" }}')
    elif law.aqm is not None or law.marks is not None:
        lines.append(f'queue.aqm = "{_aqm(law).lower()}"')
    elif law.kind in _QUEUES:
        lines.append(f'queue = "{_queue(law, base, limit, streams)} B"')
    lines += _losses(law)
    lines.append(f'delay = "{1e3 * base / 2:.3f} ms"')
    return lines


def _losses(law: Law) -> list[str]:
    if law.loss_every is not None:
        return [f"loss.every = {law.loss_every}"]
    if law.loss_bursts is not None:
        bad, good = (each.value for each in law.loss_bursts)
        chain = f"good_to_bad = {bad:.6f}, bad_to_good = {good:.4f}, loss_good = 0, loss_bad = 1"
        return [f"loss.gilbert_elliott = {{ {chain} }}"]
    return [] if law.random_loss is None else [f"loss = {law.random_loss.value:.6f}"]


def _queue(law: Law, base: float, limit: Limit, streams: list[Any]) -> int:
    if law.queue_bytes is not None:
        return max(3000, round(law.queue_bytes.value))
    longest = max((float(streams[at].sent.round_trip_ns.max()) / 1e9 for at in limit.members), default=base)
    assert law.rate_bps is not None
    return max(30_000, round(_ROOMY * (longest - base) * law.rate_bps.value / 8))


def _flow(
    direction: Direction, stream: Any, begin: int, directions: list[Direction], law: Law, assumed: str
) -> list[str]:
    did = application(stream.sent, begin, stream.held, reckoned=stream.seen_at == "receiver")
    lines = [
        f"[flow.{flow_name(direction, directions)}]",
        'path = ["link"]' if law.ahead_bps is None else 'path = ["queue", "link"]',
        f'rtt = "{1e3 * _round_trip(direction):.3f} ms"',
        f'start = "{did.start_s:.3f} s"',
        'tcp.base = "linux"',
        f'tcp.cc = "{direction.congestion.name or assumed}"',
    ]
    if law.marks is not None:
        lines.append('tcp.ecn = "classic"')
    lines += _receiver(direction, stream, asks=bool(did.pauses_s))
    if direction.limited_by.get("application", 0.0) > MOSTLY and (did.paced or not did.pauses_s):
        return [*lines, *_writes(did)]
    if did.pauses_s:
        mean = sum(did.bytes) // len(did.bytes)
        thinks = ", ".join(f'"{each:.3f} s"' for each in [_AT_ONCE_S, *did.pauses_s])
        return [
            *lines,
            f'app.request.response = "{mean} B"',
            f"app.request.think = [{thinks}]",
            f"app.request.count = {len(did.bytes)}",
        ]
    if still_sending(stream):
        return lines if lines[-1].startswith("app.") else [*lines, 'app = "bulk"']
    return [*lines, f'app.transfer = "{did.bytes[0]} B"']


def _receiver(direction: Direction, stream: Any, *, asks: bool) -> list[str]:
    """Return what holds the sender back at the receiver: its window, or how fast its application reads.

    ``asks``: whether it is a client of requests, which reads at once.
    """
    if direction.limited_by.get("receiver window", 0.0) <= MOSTLY:
        return []
    window = np.sort(stream.acks.window)
    median, most = int(window[len(window) // 2]), int(window[-1])
    if asks or median >= _STEADY * most:
        return [f'tcp.window = "{median} B"']
    return [f'app.read = "{round(direction.goodput_bps)} bit/s"']


def _writes(did: Application) -> list[str]:
    """Return an application that writes at a rate of its own, all the time or now and then."""
    rate, write = f"{round(did.rate_bps)} bit/s", f"{did.write_bytes} B"
    if not did.pauses_s:
        return [f'app.constant = {{ rate = "{rate}", write = "{write}" }}']
    on, off = (sum(each) / len(each) for each in (did.lasted_s, did.pauses_s))
    return [f'app.on_off = {{ rate = "{rate}", write = "{write}", on = "{on:.3f} s", off = "{off:.3f} s" }}']
