"""Times and shares as tc reads them, and what it counts of a packet."""

from __future__ import annotations

#: Bytes of an Ethernet header, which tc counts with each packet.
ETHERNET = 14


def time(picos: int) -> str:
    """Return a time as tc reads it, rounded to nanoseconds."""
    for size, unit in ((1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us")):
        if picos % size == 0:
            return f"{picos // size}{unit}"
    return f"{round(picos / 1000)}ns"


def percent(share: float) -> str:
    """Return a share as tc reads it."""
    return f"{100 * share:.6f}".rstrip("0").rstrip(".") + "%"
