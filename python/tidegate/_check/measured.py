"""What was measured: transfers with their sizes and pauses, and the numbers of each."""

from __future__ import annotations

from dataclasses import dataclass

#: The longest test, seconds; the most bytes of a transfer; the highest rate, bit/s. A scenario takes no more.
MOST_S, MOST_BYTES, MOST_BPS = 1e6, 1e15, 1e13


@dataclass(frozen=True)
class Transfer:
    """What one connection carried, and how it went; a number that was not measured is None.

    Attributes:
        label: what tables call it.
        start_s: when its first data left, from the first of all.
        sizes: bytes of user data in each piece; pieces are parted by pauses.
        pauses_s: before each piece but the first, from the report of the last byte.
        goodput_bps: user data that arrived, over the time from the first data to the last report.
        resent: share of the sent user data that was sent again.
        rtt_mean_ms: mean round trip of data that was sent once.
        completion_s: from the first data to the report of the last byte.
        window_s: where only a part was measured: from when on, from the first data, and how long. The sender
            sent all the time; sizes are those of the part.
    """

    label: str
    start_s: float
    sizes: tuple[int, ...]
    pauses_s: tuple[float, ...]
    goodput_bps: float | None = None
    resent: float | None = None
    rtt_mean_ms: float | None = None
    completion_s: float | None = None
    window_s: tuple[float, float] | None = None


@dataclass(frozen=True)
class Measurement:
    """Transfers that were measured together, in the order of their starts.

    Attributes:
        source: where they come from.
        transfers: each of them.
        notes: what should be known of them.
    """

    source: str
    transfers: tuple[Transfer, ...]
    notes: tuple[str, ...] = ()
