"""The idealised TCP source of the cell spacing paper, simulated exactly; shares no code with the theory.

A source with peak rate h sends segments of sigma cells into a spacer of rate c, as fluid; an
acknowledgement comes back delta after the last bit of every (or every second) segment has left.
The window begins at w0, grows by one with each acknowledgement up to b, then by one for each
window acknowledged, up to w. Content is A(t) - D(t): arrivals at h, service at c.

Everything is whole numbers: times in 1/scale, content in 1/(c.denominator * scale).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass
class Flow:
    """What happened: times and contents as fractions."""

    c: Fraction
    sigma: int
    scale: int
    span_h: int
    span_c: int
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    #: When each acknowledgement came, the window after it, segments sent before it.
    acks: list[int] = field(default_factory=list)
    windows: list[int] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)

    def time(self, at: int) -> Fraction:
        """Return a time of the simulation in cell times."""
        return Fraction(at, self.scale)

    def arrived(self, at: int) -> Fraction:
        """Return the cells that have come to the spacer: A(t)."""
        k = bisect_right(self.starts, at)
        if k == 0:
            return Fraction(0)
        part = min(at - self.starts[k - 1], self.span_h)
        return (k - 1 + Fraction(part, self.span_h)) * self.sigma

    def left(self, at: int) -> Fraction:
        """Return the cells that have left it: D(t)."""
        k = bisect_right(self.ends, at)
        if k == len(self.ends):
            return Fraction(k * self.sigma)
        begin = self.ends[k] - self.span_c
        return (k + Fraction(max(at - begin, 0), self.span_c)) * self.sigma

    def content(self, at: int) -> Fraction:
        """Return A(t) - D(t)."""
        return self.arrived(at) - self.left(at)

    def extremes(self, begin: int, end: int) -> tuple[Fraction, Fraction]:
        """Return the least and the largest content in [begin, end].

        Content bends only where a segment begins or ends to arrive, or where the spacer runs empty.
        """
        first = max(bisect_right(self.starts, begin) - 2, 0)
        last = bisect_right(self.starts, end)
        points = [begin, end]
        for k in range(first, last):
            points += [self.starts[k], self.starts[k] + self.span_h, self.ends[k]]
        inside = [self.content(at) for at in points if begin <= at <= end]
        return min(inside), max(inside)


def simulate(
    *,
    h: Fraction,
    c: Fraction,
    delta: Fraction,
    sigma: int,
    b: int,
    w: int,
    w0: int = 1,
    per_ack: int = 1,
    until_acks: int,
) -> Flow:
    """Follow the source until so many acknowledgements have come."""
    scale = math.lcm((sigma / h).denominator, (sigma / c).denominator, Fraction(delta).denominator)
    span_h, span_c, back = (int(Fraction(x) * scale) for x in (sigma / h, sigma / c, delta))
    flow = Flow(c, sigma, scale, span_h, span_c)
    window, credit, acked, free = w0, 0, 0, 0

    def send(now: int) -> None:
        nonlocal free
        while len(flow.starts) - acked < min(window, w):
            begin = max(now, free)
            free = begin + span_h
            flow.starts.append(begin)
            flow.ends.append(max(begin, flow.ends[-1] if flow.ends else 0) + span_c)

    send(0)
    for _ in range(until_acks):
        acked += per_ack
        if acked > len(flow.ends):
            raise ValueError("the acknowledgement waits for a segment that is never sent")
        now = flow.ends[acked - 1] + back
        flow.acks.append(now)
        flow.sent.append(len(flow.starts))
        if window < b:
            window += 1
        else:
            credit += per_ack
            if credit >= window:
                credit -= window
                window += 1
        flow.windows.append(window)
        send(now)
    return flow
