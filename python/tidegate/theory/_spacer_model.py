"""The cell spacer's formulas, in fractions.

Source: F. Guillemin, J. Boyer, O. Dugeon and C. Mangin, "Analysis of Cell Spacing on a TCP Flow
Mapped onto an ATM Connection". Numbers in brackets are its equations, with the errors of the
print corrected; ``printed`` keeps what it says. An exact simulation
(``tests/independent/spacer_fluid.py``) agrees on every quantity.

A source with peak rate h sends segments of sigma cells through a server of rate c < h; an
acknowledgement comes back delta after the last bit of a segment (or of every second one) has
left the server. The window starts at w0, grows by one with each acknowledgement up to b, then by
one with each window acknowledged, up to w.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING

from tidegate.theory._spacer_results import Interval, Printed

if TYPE_CHECKING:
    from collections.abc import Iterator


def _plus(value: Fraction) -> Fraction:
    return max(value, Fraction(0))


@dataclass(frozen=True)
class Model(ABC):
    """The same formulas for one and for two segments per acknowledgement, in fractions."""

    h: Fraction
    c: Fraction
    delta: Fraction
    sigma: int
    b: int
    w: int
    w0: int

    #: Segments of an acknowledgement.
    per_ack = 1

    @cached_property
    def segment_time(self) -> Fraction:
        """Time in which the spacer serves a segment."""
        return self.sigma / self.c

    @cached_property
    def round_trip(self) -> Fraction:
        """Δ, or Δ' with an acknowledgement for every second segment."""
        return self.delta + self.per_ack * self.segment_time

    @property
    def ack_spacing(self) -> Fraction:
        return self.per_ack * self.segment_time

    @property
    def jump(self) -> Fraction:
        """What the segments of one acknowledgement add to the content while they arrive."""
        return self.per_ack * self.sigma * (1 - self.c / self.h)

    def level(self, segments: int) -> tuple[Fraction, Fraction]:
        """Return the limits of the oscillation at a window of so many segments: (3), (13), (14)."""
        low = _plus(segments * self.sigma - self.c * self.round_trip)
        return low, low + self.jump

    @cached_property
    def m0(self) -> int:
        """(12), over m >= 0: windows above b from which the spacer never empties."""
        return max(0, ceil(self.c * self.round_trip / self.sigma) - self.b)

    @cached_property
    def transition(self) -> Fraction | None:
        """The largest content right after the window has grown by one, while the spacer still empties.

        The extra segment lets the content climb for k more acknowledgements, k <= c/(h - c) (in
        pairs: half of that), if there are as many left in the interval; then it oscillates one
        segment higher until the interval ends. None where that does not happen.
        """
        if self.w <= self.b or self.b * self.sigma >= self.c * self.round_trip:
            return None
        sigma, share, s = self.sigma, 1 - self.c / self.h, self.per_ack
        k = floor(self.c / (s * (self.h - self.c)))
        most = Fraction(0)
        for left in set(self.left_after_growth()):
            climb = (s + 1 + s * min(k, left)) * sigma * share
            most = max(most, climb, sigma + self.jump if left > k else climb)
        return most

    @cached_property
    def buffer(self) -> Fraction:
        """The largest content there ever is: the smallest buffer without loss, as fluid."""
        return max(self.level(self.w)[1], *self.peaks, self.transition or Fraction(0))

    @cached_property
    def nu(self) -> int:
        """(5)."""
        return min(self.n0, self.n1)

    @property
    @abstractmethod
    def rate(self) -> Fraction:
        """Cells per unit of time in the end."""

    @property
    @abstractmethod
    def peaks(self) -> tuple[Fraction, ...]:
        """The largest content in each interval of slow start up to ν."""

    @abstractmethod
    def left_after_growth(self) -> Iterator[int]:
        """Acknowledgements left in the interval after each growth, while the spacer empties."""

    @property
    @abstractmethod
    def n0(self) -> int:
        """The first interval of slow start in which the spacer does not empty."""

    @property
    @abstractmethod
    def n1(self) -> int:
        """The interval in which the window reaches b."""


class Single(Model):
    """An acknowledgement per segment: sections 3 and 4."""

    @cached_property
    def n0(self) -> int:
        """(2) with ceilings: the first interval in which the spacer does not empty."""
        return _doublings(self.w0 * self.sigma, self.c * self.round_trip)

    @cached_property
    def n1(self) -> int:
        """(1) with ceilings: the interval in which the window reaches b."""
        return _doublings(self.w0, Fraction(self.b))

    @cached_property
    def increments(self) -> int:
        """N: acknowledgements of interval n1 until the window is b; 0 if it begins there."""
        return self.b - self.window_before(self.n1) if self.n1 > 0 else 0

    def window_before(self, n: int) -> int:
        return self.w0 << (n - 1)

    @cached_property
    def K(self) -> int:  # noqa: N802
        """(6): acknowledgements more until the source has caught up."""
        c, h = self.c, self.h
        beyond = max(self.b - (self.w0 << self.nu), 0)
        late = _plus(min(self.b, (self.w0 << self.nu)) * self.sigma - h * self.round_trip)
        return max(0, ceil(beyond * (2 * c - h) / (h - c) + c * late / (self.sigma * (h - c))))

    @cached_property
    def t_b(self) -> Fraction:
        """(4)."""
        beyond = max(self.b - (self.w0 << self.nu), 0)
        return (self.nu + 1) * self.round_trip + (beyond + self.K) * self.segment_time

    @cached_property
    def tau_b(self) -> Fraction:
        """(9), and its counterpart for n0 < n1: when the window reaches b."""
        if self.n1 == 0:
            return Fraction(0)
        if self.n1 <= self.n0:
            return self.n1 * self.round_trip + (self.increments - 1) * self.segment_time
        return (self.n0 + 1) * self.round_trip + (self.b - (self.w0 << self.n0) - 1) * self.segment_time

    @cached_property
    def first_increment(self) -> Fraction:
        """When b segments are acknowledged after that, and the window grows to b + 1."""
        if self.n1 == 0:
            return self.round_trip + (self.b - 1) * self.segment_time
        if self.n1 <= self.n0:
            return (self.n1 + 1) * self.round_trip + (2 * self.increments - 1) * self.segment_time
        return self.tau_b + self.b * self.segment_time

    @cached_property
    def k0(self) -> int | None:
        """After (10), with its floor: acknowledgements while the content still climbs."""
        if not self.ramps:
            return None
        return floor(self.increments * (2 * self.c - self.h) / (self.h - self.c) + 1)

    @property
    def ramps(self) -> bool:
        """Whether segments follow each other without a pause in slow start."""
        return self.h < 2 * self.c and 0 < self.n1 <= self.n0

    def peak(self, n: int) -> Fraction:
        """(7), (8): the largest content in interval n of slow start, n up to ν."""
        sigma, c, h = self.sigma, self.c, self.h
        if n == self.n1 and n > 0 and self.n1 <= self.n0:
            return self.last_peak
        if h < 2 * c or n == 0:
            return min((self.w0 << n), self.b) * sigma * (1 - c / h)
        return self.window_before(n) * sigma + sigma * (1 - 2 * c / h)

    @cached_property
    def last_peak(self) -> Fraction:
        """The largest content of interval n1 <= n0, (10)."""
        sigma, c, h, doubled = self.sigma, self.c, self.h, self.increments
        rest = self.window_before(self.n1) - doubled
        # While segments follow each other without a pause; where h >= 2c that is one burst of two.
        more = min(self.k0 or 0, rest)
        climb = (2 * doubled + more) * sigma * (1 - c / h)
        if h >= 2 * c:
            climb = doubled * sigma + sigma * (1 - 2 * c / h)
        # Then (10): one segment per acknowledgement.
        return max(climb, doubled * sigma + self.jump) if rest > more else climb

    @property
    def rate(self) -> Fraction:
        return min(self.c, self.w * self.sigma / self.round_trip)

    @cached_property
    def peaks(self) -> tuple[Fraction, ...]:
        return tuple(self.peak(n) for n in range(self.nu + 1))

    def left_after_growth(self) -> Iterator[int]:
        # Each growth comes one acknowledgement later in an interval that has one more.
        yield self.b - 2 * self.increments if self.n1 > 0 else 0

    def printed(self) -> Printed:
        h, c, sigma, b = self.h, self.c, self.sigma, self.b
        beyond = b - (self.w0 << self.nu)
        late = _plus(Fraction((self.w0 << self.nu) * sigma) / h - self.round_trip)
        bracket = _plus(beyond * (2 * c - h) / (h - c) + 1 + c * h * late / (sigma * (h - c)))
        doubled = Fraction(b) - Fraction((self.w0 << self.n1), 2)
        tau_b = (
            self.n1 * self.round_trip + (doubled - 1) * self.segment_time
            if self.n1 <= self.n0
            else self.tau_b
        )
        t_b = (self.nu + 1) * self.round_trip + (max(beyond, 0) + bracket) * self.segment_time
        end_of_window = tau_b + (b - 1) * self.segment_time
        low_b, high_b = self.level(b)
        low_w, high_w = self.level(self.w)
        return Printed(
            n0=self.n0,
            n1=self.n1,
            m0=ceil(self.c * self.round_trip / sigma) - b,
            V_b_minus=low_b,
            V_b_plus=high_b,
            V_w_minus=low_w,
            V_w_plus=high_w,
            K=bracket,
            t_b=t_b,
            k0=doubled * (2 * c - h) / (h - c) + 1 if h < 2 * c and self.n1 <= self.n0 else None,
            tau_b=tau_b,
            first_increment=end_of_window,
            c1_holds=end_of_window > t_b,
            peaks=tuple(self._printed_peak(n) for n in range(self.nu)),
            levels=tuple(self._printed_level(m) for m in range(max(self.w - b, 0))),
        )

    def _printed_peak(self, n: int) -> Fraction:
        if self.h < 2 * self.c:
            return (self.w0 << n) * self.sigma * (1 - self.c / self.h)
        return Fraction((self.w0 << n), 2) * self.sigma + self.sigma * (1 - 2 * self.c / self.h)

    def _printed_level(self, m: int) -> tuple[Fraction, Fraction]:
        """(14) where the spacer is busy at b already, else the level before (16)."""
        low = (self.b + m) * self.sigma - self.c * self.round_trip
        if self.b * self.sigma < self.c * self.round_trip:
            low = Fraction((self.b + m - 1) * self.sigma) if m >= self.m0 else Fraction(0)
        return low, low + self.jump


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
        late = _plus(sent * self.sigma - h * Fraction(interval.length))
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
        low_b = _plus(self.b * self.sigma - self.c * at_b)
        low_w = _plus(self.w * self.sigma - self.c * at_w)
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


def _doublings(start: int, least: Fraction) -> int:
    """Return min{n >= 0: 2^n start >= least}."""
    n = 0
    while start << n < least:
        n += 1
    return n
