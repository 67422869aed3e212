"""What a link of one rate lets TCP do, as RFC 6349 counts it: frames, bandwidth-delay product, buffer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate._base.arguments import above_zero
from tidegate.theory._arguments import whole


@dataclass(frozen=True)
class Achievable:
    """The figures of RFC 6349 for a bottleneck.

    ``frames`` per second (§4.1.1: the maximum frame rate), ``rate_bps`` of user data at that frame rate,
    ``bdp_bytes`` (§3.3.1), ``goodput_bps`` with the window that there is, and ``window_limits``, whether
    that window is below the product.
    """

    frames: float
    rate_bps: float
    bdp_bytes: float
    goodput_bps: float
    window_limits: bool


def rfc6349(
    rate: Any, rtt: Any, *, mss: int = 1460, headers: int = 40, overhead: int = 38, window: Any = None
) -> Achievable:
    """Return what TCP can have of a link with one rate, as RFC 6349 §3.3.1 and §4.1.1 count it.

    Args:
        rate: the bottleneck's bandwidth, bit/s on the wire.
        rtt: the baseline round trip, seconds.
        mss: user bytes of a segment.
        headers: bytes of IP and TCP headers.
        overhead: bytes of layers 1 and 2 with each packet; 38 for Ethernet with preamble and gap.
        window: the receiver's window in bytes; None: it does not limit.

    Raises:
        ArgumentError: an argument is out of range.
    """
    bps, trip = above_zero("rate", rate), above_zero("rtt", rtt)
    data = whole("mss", mss, 1)
    frame = data + whole("headers", headers) + whole("overhead", overhead)
    frames = bps / (8 * frame)
    most = frames * 8 * data
    product = bps * trip / 8
    by_window = None if window is None else 8 * above_zero("window", window) / trip
    limited = by_window is not None and by_window < most
    return Achievable(
        frames=frames,
        rate_bps=most,
        bdp_bytes=product,
        goodput_bps=by_window if limited and by_window is not None else most,
        window_limits=limited,
    )
