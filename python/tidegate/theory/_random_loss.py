"""TCP under random loss in closed form: Mathis et al. 1997, Padhye et al. 1998, RFC 9438."""

from __future__ import annotations

from math import sqrt
from typing import Any

from tidegate._base.arguments import above_zero
from tidegate.theory._arguments import flag, share, whole

#: Mathis et al., table 1: C where losses come regularly, sqrt(3/2), and at random, with an ACK for each
#: segment. With an ACK for every d-th C is less by sqrt(d): 1.22 becomes 0.87, and 1.31 becomes 0.93.
REGULAR = sqrt(3 / 2)
RANDOM = 1.31

#: RFC 9438 §4.6: the multiplicative decrease factor; §5: the constant of growth, segments/s^3.
BETA = 0.7
C = 0.4


def mathis(loss: Any, rtt: Any, *, segments_per_ack: int = 1, regular: bool = False) -> float:
    """Return the mean rate of Reno in segments per second: C / (RTT sqrt(p)).

    Source: M. Mathis, J. Semke, J. Mahdavi, T. Ott: The Macroscopic Behavior of the TCP Congestion Avoidance
    Algorithm, CCR 27(3), 1997, table 1.
    It counts no time-outs and no limit of the window.

    Args:
        loss: probability that a segment is lost (or the share that is lost).
        rtt: round trip, seconds.
        segments_per_ack: segments for which the window grows once: 2 with delayed ACKs that are counted,
            1 where bytes are counted.
        regular: every 1/p-th segment is lost; False: at random.

    Raises:
        ArgumentError: an argument is out of range.
    """
    p, trip = share("loss", loss), above_zero("rtt", rtt)
    c = (REGULAR if flag("regular", regular) else RANDOM) / sqrt(
        whole("segments_per_ack", segments_per_ack, 1, 1000)
    )
    return c / (trip * sqrt(p))


def pftk(loss: Any, rtt: Any, timeout: Any, *, segments_per_ack: int = 1, window: Any = None) -> float:
    """Return the mean rate at which Reno sends, time-outs counted, in segments per second.

    Source: J. Padhye, V. Firoiu, D. Towsley, J. Kurose: Modeling TCP Throughput: A Simple Model and its
    Empirical Validation, SIGCOMM 1998: the full model, with time-outs and the receiver's window.
    In it, once a segment is lost, so are all that follow it in its round trip.

    Args:
        loss: probability that a loss begins at a segment of a round trip.
        rtt: round trip, seconds.
        timeout: the first time-out, T0, seconds.
        segments_per_ack: b of the paper: segments for which the window grows once.
        window: the receiver's window in segments; None: no limit.

    Raises:
        ArgumentError: an argument is out of range.
    """
    p, trip, first = share("loss", loss), above_zero("rtt", rtt), above_zero("timeout", timeout)
    b = whole("segments_per_ack", segments_per_ack, 1, 1000)
    fixed = (2 + b) / (3 * b)
    free: float = fixed + sqrt(8 * (1 - p) / (3 * b * p) + fixed * fixed)
    backed_off = 1 + sum(2**n * p ** (n + 1) for n in range(6))  # f(p): 1 + p + 2p^2 + ... + 32p^6
    most = None if window is None else above_zero("window", window)
    limited = most is not None and most <= free
    w = most if limited and most is not None else free
    ends = _by_timeout(p, w)
    spent = ends * first * backed_off / (1 - p)
    rounds = b / 8 * w + (1 - p) / (p * w) + 2 if limited else b / 2 * w + 1
    rate: float = ((1 - p) / p + w + ends / (1 - p)) / (trip * rounds + spent)
    return rate


def _by_timeout(p: float, w: float) -> float:
    """Return the probability that a loss in a window ends by a time-out."""
    if w <= 3:
        return 1.0
    q = 1 - p
    likely: float = (1 - q**3) * (1 + q**3 * (1 - q ** (w - 3))) / (1 - q**w)
    return min(1.0, likely)


def cubic(loss: Any, rtt: Any) -> float:
    """Return the mean rate of CUBIC in segments per second, by its response function.

    Source: RFC 9438 §5: the larger of the window in its concave and convex regions,
    (C (3 + beta) / (4 (1 - beta)))^(1/4) RTT^(3/4) / p^(3/4), and of the one of the Reno-friendly region,
    sqrt(3/2) / sqrt(p). Losses are regular in it.

    Args:
        loss: share of segments that is lost.
        rtt: round trip, seconds.

    Raises:
        ArgumentError: an argument is out of range.
    """
    p, trip = share("loss", loss), above_zero("rtt", rtt)
    own = float((C * (3 + BETA) / (4 * (1 - BETA))) ** 0.25 * (trip / p) ** 0.75)
    return max(own, REGULAR / sqrt(p)) / trip
