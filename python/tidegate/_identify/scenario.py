"""A scenario with the law that was found, the round trips, and the applications as the capture shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.errors import ArgumentError
from tidegate._base.text import counted
from tidegate._identify.application import application

if TYPE_CHECKING:
    from tidegate._identify.found import Direction, Law, Limit

#: A policer or a link without a limit stands on a line that is never the limit itself.
_LINE_BPS = 1_000_000_000
#: Where nothing was lost, the queue holds more than was ever in it.
_ROOMY = 4
_LEAST_BYTES = 10_000
#: A run may take so much longer than the capture before its transfers are cut off.
_MORE = 0.25
#: The congestion control of most senders.
_USUAL = "cubic"
#: A think time is not zero; the first one is this.
_AT_ONCE_S = 0.001


def scenario(directions: list[Direction], limits: list[Limit], streams: list[Any]) -> str:
    """Return the scenario of the limit that most packets met.

    Raises:
        ArgumentError: no limit has a law that a scenario can state.
    """
    known = [each for each in limits if each.law.kind != "cannot tell"]
    if not known:
        raise ArgumentError("no scenario: the capture does not tell the law of its link")
    limit = max(known, key=lambda each: sum(directions[at].data_packets for at in each.members))
    members = [at for at in limit.members if directions[at].data_bytes >= _LEAST_BYTES] or limit.members
    base = min(_round_trip(directions[at]) for at in members)
    end = max(float(streams[at].sent.time_ns[-1]) for at in members)
    begin = min(float(streams[at].sent.time_ns[0]) for at in members)
    lines = [
        f"# Found by tidegate identify in a capture, from {counted(len(members), 'direction')} of data.",
        f"# {limit.law.sentence}",
        *_senders([directions[at] for at in members]),
        "",
        'title = "The link of a capture"',
        f'duration = "{_duration(end - begin, [streams[at] for at in members])}"',
        "seed = 1",
        "",
        "[gate.link]",
        *_gate(limit.law, base, limit, streams),
    ]
    for at in members:
        lines += ["", *_flow(directions[at], streams[at], int(begin), directions)]
    return "\n".join(lines) + "\n"


def _senders(members: list[Direction]) -> list[str]:
    if all(each.congestion.name for each in members):
        return ["# The congestion control is the one that the capture tells."]
    return [
        f"# Where the capture does not tell the congestion control, it is {_USUAL}, as with most senders."
    ]


def still_sending(stream: Any) -> bool:
    """Tell whether the capture ends before the transfer: its sender has not closed the connection."""
    return not stream.acks.closed


def _duration(span_ns: float, streams: list[Any]) -> str:
    # What ends by itself has some time to do so; what does not, ends with the capture.
    more = 0.0 if all(still_sending(each) for each in streams) else _MORE * span_ns
    return f"{max(1.0, (span_ns + more) / 1e9):.3f} s"


def _round_trip(direction: Direction) -> float:
    return direction.base_round_trip_s.value if direction.base_round_trip_s is not None else 0.05


def _gate(law: Law, base: float, limit: Limit, streams: list[Any]) -> list[str]:
    rate = None if law.rate_bps is None else f"{round(law.rate_bps.value)} bit/s"
    lines = []
    if law.kind == "policer":
        bucket = 0 if law.burst_bytes is None else round(law.burst_bytes.value)
        lines += [f'rate = "{_LINE_BPS} bit/s"', f'police = {{ rate = "{rate}", burst = "{bucket} B" }}']
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
        lines.append(f'rate = "{rate or f"{_LINE_BPS} bit/s"}"')
    if law.kind in ("constant", "token bucket", "two rates", "steps", "varying"):
        lines.append(f'queue = "{_queue(law, base, limit, streams)} B"')
    if law.random_loss is not None:
        lines.append(f"loss = {law.random_loss.value:.6f}")
    lines.append(f'delay = "{1e3 * base / 2:.3f} ms"')
    return lines


def _queue(law: Law, base: float, limit: Limit, streams: list[Any]) -> int:
    if law.queue_bytes is not None:
        return max(3000, round(law.queue_bytes.value))
    longest = max((float(streams[at].sent.round_trip_ns.max()) / 1e9 for at in limit.members), default=base)
    assert law.rate_bps is not None
    return max(30_000, round(_ROOMY * (longest - base) * law.rate_bps.value / 8))


def _flow(direction: Direction, stream: Any, begin: int, directions: list[Direction]) -> list[str]:
    same = sum(each.connection == direction.connection for each in directions) > 1
    name = f"connection{direction.connection}" + (
        "" if not same else "up" if direction.from_client else "down"
    )
    did = application(stream.sent, begin)
    lines = [
        f"[flow.{name}]",
        'path = ["link"]',
        f'rtt = "{1e3 * _round_trip(direction):.3f} ms"',
        f'start = "{did.start_s:.3f} s"',
        'tcp.base = "linux"',
        f'tcp.cc = "{direction.congestion.name or _USUAL}"',
    ]
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
        return [*lines, 'app = "bulk"']
    return [*lines, f'app.transfer = "{did.bytes[0]} B"']
