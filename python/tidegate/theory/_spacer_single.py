"""The cell spacer with an acknowledgement for every segment: sections 3 and 4 of the paper."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING

from tidegate.theory._spacer_model import Model, plus
from tidegate.theory._spacer_results import Printed

if TYPE_CHECKING:
    from collections.abc import Iterator


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
        late = plus(min(self.b, (self.w0 << self.nu)) * self.sigma - h * self.round_trip)
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
        late = plus(Fraction((self.w0 << self.nu) * sigma) / h - self.round_trip)
        bracket = plus(beyond * (2 * c - h) / (h - c) + 1 + c * h * late / (sigma * (h - c)))
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


def _doublings(start: int, least: Fraction) -> int:
    """Return min{n >= 0: 2^n start >= least}."""
    n = 0
    while start << n < least:
        n += 1
    return n
