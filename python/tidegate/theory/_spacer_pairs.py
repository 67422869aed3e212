"""The cell spacer with an acknowledgement for every second segment: section 5 of the paper."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING

from tidegate.theory._spacer_model import Model, plus
from tidegate.theory._spacer_results import Interval, Printed

if TYPE_CHECKING:
    from collections.abc import Iterator


class Pairs(Model):
    """An acknowledgement for every second segment: section 5."""

    per_ack = 2

    @cached_property
    def single_trip(self) -> Fraction:
        """Δ; :attr:`round_trip` is Δ'."""
        return self.delta + self.segment_time

    def after(self, interval: Interval) -> Interval:
        """(17), and the times."""
        pairs, odd = divmod(interval.segments - interval.unacknowledged, 2)
        segments = 3 * interval.unacknowledged + 3 * pairs
        start = Fraction(interval.start) + Fraction(interval.length)
        return Interval(interval.n + 1, segments, odd, start, self.single_trip if odd else self.round_trip)

    def until(self, reached: int) -> tuple[Interval, ...]:
        """Intervals 1 to ``reached``, as if slow start went on."""
        found = [Interval(1, self.w0, 0, Fraction(0), self.round_trip)]
        while len(found) < reached:
            found.append(self.after(found[-1]))
        return tuple(found)

    def first(self, holds: str) -> int:
        interval = self.until(1)[0]
        while not getattr(self, holds)(interval):
            interval = self.after(interval)
        return interval.n

    def stays_busy(self, interval: Interval) -> bool:
        return interval.segments * self.sigma > self.c * Fraction(interval.length)

    def reaches_b(self, interval: Interval) -> bool:
        return interval.segments + interval.unacknowledged >= self.b

    @cached_property
    def n0(self) -> int:
        """(20)."""
        return self.first("stays_busy")

    @cached_property
    def n1(self) -> int:
        """(21) for the window, which is p_n + c_n."""
        return self.first("reaches_b")

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        return self.until(self.nu + 1)

    def interval(self, n: int) -> Interval:
        return self.intervals[n - 1]

    def window(self, n: int) -> int:
        """At the end of interval n, while slow start goes on."""
        interval = self.interval(n)
        return interval.segments + interval.unacknowledged

    @cached_property
    def increments(self) -> int:
        """Acknowledgements of interval n1 until the window is b; 0 if it begins there."""
        return self.b - self.window(self.n1 - 1) if self.n1 > 1 else 0

    @cached_property
    def _beyond(self) -> int:
        return 0 if self.n1 <= self.n0 else self.b - self.window(self.nu)

    @cached_property
    def K(self) -> int:  # noqa: N802
        """⌈X⌉⁺: acknowledgements more until the source has caught up; not in the paper."""
        h, c, interval = self.h, self.c, self.interval(self.nu)
        sent = self.b - interval.unacknowledged if self.n1 <= self.n0 else interval.segments
        late = plus(sent * self.sigma - h * Fraction(interval.length))
        return max(0, ceil((self._beyond * (3 * c - 2 * h) + c * late / self.sigma) / (2 * (h - c))))

    @cached_property
    def t_b(self) -> Fraction:
        """When the oscillation at b begins; not in the paper."""
        after = Fraction(self.interval(self.nu + 1).start)
        return after + (self._beyond + self.K) * self.ack_spacing

    @cached_property
    def tau_b(self) -> Fraction:
        """When the window reaches b; not in the paper."""
        if self.n1 == 1:
            return Fraction(0)
        if self.n1 <= self.n0:
            return Fraction(self.interval(self.n1).start) + (self.increments - 1) * self.ack_spacing
        return Fraction(self.interval(self.n0 + 1).start) + (self._beyond - 1) * self.ack_spacing

    @cached_property
    def first_increment(self) -> Fraction:
        """When b segments are acknowledged after that, and the window grows to b + 1."""
        needed = -(-self.b // 2)
        if self.n1 > self.n0:
            return self.tau_b + needed * self.ack_spacing
        # Acknowledgements of interval n1 that come after the window is b.
        rest = self.interval(self.n1).segments // 3 - self.increments if self.n1 > 1 else 0
        if needed <= rest:
            return self.tau_b + needed * self.ack_spacing
        # The next interval acknowledges all whole pairs of the window; with an odd one the
        # last segment waits for the first of the interval after it.
        begin, needed = Fraction(self.interval(self.n1 + 1).start), needed - rest
        if needed <= self.b // 2:
            return begin + (needed - 1) * self.ack_spacing
        return begin + max(self.single_trip, self.b // 2 * self.ack_spacing)

    k0 = None

    def left_after_growth(self) -> Iterator[int]:
        window, credit = self.b, 0
        odd = self.interval(self.n1).unacknowledged
        segments = self.b - odd
        left = self.interval(self.n1).segments // 3 - self.increments if self.n1 > 1 else 0
        while segments * self.sigma <= self.c * (self.single_trip if odd else self.round_trip):
            needed = -(-(window - credit) // 2)
            if needed <= left:
                credit, left = credit + 2 * needed - window, left - needed
                window, segments = window + 1, segments + 1
                yield left
                if window == self.w:
                    return
            else:
                credit += 2 * left
                pairs, rest = divmod(segments - odd, 2)
                left, odd = odd + pairs, rest
                segments = 2 * left

    def peak(self, n: int) -> Fraction:
        """(18), (19): the largest content in interval n of slow start, n up to ν."""
        sigma, c, h = self.sigma, self.c, self.h
        segments = self.interval(n).segments
        if n == 1:
            return min(segments, self.b) * sigma * (1 - c / h)
        if n == self.n1 and self.n1 <= self.n0:
            return self.last_peak
        if 3 * c < 2 * h:
            return (Fraction(segments, 3) - 1) * sigma + 3 * sigma * (1 - c / h)
        return segments * sigma * (1 - c / h)

    @cached_property
    def last_peak(self) -> Fraction:
        """The largest content of interval n1 <= n0."""
        sigma, c, h, tripled = self.sigma, self.c, self.h, self.increments
        rest = self.interval(self.n1).segments // 3 - tripled
        if 3 * c < 2 * h:
            more, climb = 0, (tripled - 1) * sigma + 3 * sigma * (1 - c / h)
        else:
            # Bursts of two follow each other without a pause while the source is behind.
            more = min(floor(tripled * (3 * c - 2 * h) / (2 * (h - c)) + 1), rest)
            climb = (3 * tripled + 2 * more) * sigma * (1 - c / h)
        return max(climb, tripled * sigma + self.jump) if rest > more else climb

    @property
    def rate(self) -> Fraction:
        # Of an odd window one segment always waits for the next acknowledgement.
        odd = self.w % 2
        return min(self.c, (self.w - odd) * self.sigma / (self.single_trip if odd else self.round_trip))

    @cached_property
    def peaks(self) -> tuple[Fraction, ...]:
        return tuple(self.peak(n) for n in range(1, self.nu + 1))

    def printed(self) -> Printed:
        n1 = self.until(1)[0]
        while n1.segments <= self.b:
            n1 = self.after(n1)
        # (12) holds Δ: it is taken over as it stands.
        m0 = ceil(self.c * self.single_trip / self.sigma) - self.b
        intervals = self.until(max(self.n0, n1.n + m0))
        at_b = Fraction(intervals[self.n0 - 1].length)
        at_w = Fraction(intervals[max(n1.n + m0, 1) - 1].length)
        low_b = plus(self.b * self.sigma - self.c * at_b)
        low_w = plus(self.w * self.sigma - self.c * at_w)
        return Printed(
            n0=self.n0,
            n1=n1.n,
            m0=m0,
            V_b_minus=low_b,
            V_b_plus=low_b + self.jump,
            V_w_minus=low_w,
            V_w_plus=low_w + self.jump,
            peaks=tuple(self._printed_peak(n) for n in range(2, self.nu)),
        )

    def _printed_peak(self, n: int) -> Fraction:
        segments, sigma, share = self.interval(n).segments, self.sigma, 1 - self.c / self.h
        if 3 * self.c < 2 * self.h:
            return (Fraction(segments, 3) - 1) * sigma + 3 * sigma * share
        return segments * sigma * share
