"""The whole numbers that commands and calls take, by the names of their arguments."""

from __future__ import annotations

#: The largest whole number of any kind: 64 bits.
MOST_WHOLE = 2**64 - 1

#: The ranges of some arguments; ``seed`` and ``runs`` are those of the scenario language.
_RANGES = {
    "seed": (0, 2**63 - 1),
    "runs": (1, 1_000_000),
    "workers": (1, 1024),
    "threads": (1, 1024),
    "perturb": (1, 10_000),
    "shards": (1, 1_000_000),
    "opportunity_bytes": (1, 2**32 - 1),
    "most_packets": (1, 10**9),
    "port": (0, 65535),
}

#: So many packets of TCP are looked at of captures, unless told otherwise. Measured: identify takes 262 MB
#: for them, regress 503 MB; 100,000 connections, the most that are read, take 740 MB.
MOST_PACKETS = 1_200_000


def bounds(name: str) -> tuple[int, int]:
    """Return the smallest and the largest value of an argument."""
    return _RANGES.get(name, (0, MOST_WHOLE))


def most(name: str) -> int:
    """Return the largest value of an argument."""
    return bounds(name)[1]


def takes(least: int, greatest: int) -> str:
    """Return in words what an argument of this range takes."""
    return f"takes a whole number from {least} to {greatest}"
