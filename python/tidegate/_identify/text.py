"""What a capture tells, as text for people."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from tidegate._base.text import number, percent, table, wrapped
from tidegate._identify.predicted import prediction_text

if TYPE_CHECKING:
    from tidegate._identify.found import Direction, Law, Limit, Number
    from tidegate._identify.prediction import Predicted


def report(
    directions: list[Direction], limits: list[Limit], predicted: list[Predicted], assumed: str | None
) -> str:
    """Return a table of directions, the law of each limit with its evidence, and what limited each sender.

    ``assumed``: what the scenario assumes of the queue.
    """
    if not directions:
        return "Nothing to identify."
    missed = any(each.uncaptured_packets for each in directions)
    rows = [
        [
            str(each.connection),
            f"{each.sender} to {each.receiver}",
            str(each.data_packets),
            *([str(each.uncaptured_packets)] if missed else []),
            str(each.lost),
            percent(each.lost / each.data_packets if each.data_packets else None),
            number(None if each.base_round_trip_s is None else 1e3 * each.base_round_trip_s.value),
            number(each.goodput_bps / 1e6),
            str(each.limit),
        ]
        for each in directions
    ]
    head = [
        ["no", "direction", "data", *["not"] * missed, "lost", "loss", "round trip", "goodput", "limit"],
        ["", "", "packets", *["captured"] * missed, "packets", "%", "base, ms", "Mbit/s", ""],
    ]
    parts: list[str] = [table(head, rows, left=2)]
    for limit in limits:
        parts.append("\n".join(_limit(limit, directions)))
    shares = [
        f"  {each.connection}: "
        + ", ".join(f"{cause} {100 * share:.0f}%" for cause, share in _largest(each.limited_by))
        for each in directions
        if each.limited_by
    ]
    if shares:
        parts.append("\n".join(["What limited each sender (share of the time)", *shares]))
    senders = [
        "  " + wrapped(f"{each.connection}: {each.congestion.sentence}", "    ") for each in directions
    ]
    parts.append("\n".join(["Congestion control of each sender", *senders]))
    if predicted:
        parts.append(prediction_text(predicted, assumed))
    return "\n\n".join(parts)


def _largest(shares: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(
        ((cause, share) for cause, share in shares.items() if share >= 0.005), key=lambda each: -each[1]
    )


def _limit(limit: Limit, directions: list[Direction]) -> list[str]:
    law = limit.law
    who = ", ".join(str(directions[at].connection) for at in limit.members)
    shared = "shared by connections" if len(limit.members) > 1 else "of connection"
    lines = [f"Limit {limit.number}, {shared} {who}", wrapped(law.sentence, "  ")]
    lines.extend(numbers_of(law))
    lines.extend(wrapped(f"- {each}", "  ") for each in law.evidence)
    return lines


def numbers_of(law: Law) -> list[str]:
    """Return a line for each number of a law, with its interval."""
    lines = []
    if law.rate_bps is not None and not law.pieces:
        lines.append(f"  rate       {_interval(law.rate_bps, 1e6, 'Mbit/s')}, in {law.counts}")
    for start, each in law.pieces:
        lines.append(f"  rate       {_interval(each, 1e6, 'Mbit/s')} from {start:.1f} s")
    if law.peak_bps is not None:
        lines.append(f"  peak       {_interval(law.peak_bps, 1e6, 'Mbit/s')}")
    if law.burst_bytes is not None:
        lines.append(f"  bucket     {_interval(law.burst_bytes, 1e3, 'kB')}")
    if law.peak_burst_bytes is not None:
        lines.append(f"  bucket     {_interval(law.peak_burst_bytes, 1e3, 'kB')}, of the peak")
    if law.queue_bytes is not None:
        lines.append(f"  queue      {_interval(law.queue_bytes, 1e3, 'kB')}")
    if law.random_loss is not None:
        lines.append(f"  loss       {_interval(law.random_loss, 0.01, '%')}")
    if law.loss_bursts is not None:
        begins, ends = law.loss_bursts
        lines.append(f"  bursts     {_interval(begins, 0.01, '%')} of packets outside a burst begin one")
        lines.append(f"  bursts     {_interval(ends, 0.01, '%')} of packets inside one end it")
    if law.standing_delay_s is not None:
        lines.append(f"  wait       {number(1e3 * law.standing_delay_s)} ms, median")
    return lines


def _interval(value: Number, unit: float, name: str) -> str:
    low, high = (each / unit for each in value.interval)
    to = f"{number(low, 5)} to {number(high, 5)}" if isfinite(high) else f"{number(low, 5)} or more"
    # With as many digits as its interval where fewer would lie outside of it.
    shown = number(value.value / unit, 4)
    if not float(number(low, 5)) <= float(shown) <= high:
        shown = number(value.value / unit, 5)
    return f"{shown} {name} (95%: {to})"
