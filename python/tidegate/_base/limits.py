"""The largest whole numbers that commands and calls take, by the names of their arguments."""

from __future__ import annotations

#: The largest whole number of any kind: 64 bits.
MOST_WHOLE = 2**64 - 1

#: Of some arguments less: ``runs`` is that of the scenario language.
MOST = {
    "runs": 1_000_000,
    "workers": 1024,
    "threads": 1024,
    "perturb": 10_000,
    "shards": 1_000_000,
    "opportunity_bytes": 2**32 - 1,
    "most_packets": 10**9,
}

#: So many packets of TCP are looked at of captures, unless told otherwise. Measured: identify takes 262 MB
#: for them, regress 503 MB; 100,000 connections, the most that are read, take 740 MB.
MOST_PACKETS = 1_200_000


def most(name: str) -> int:
    """Return the largest value of an argument."""
    return MOST.get(name, MOST_WHOLE)
