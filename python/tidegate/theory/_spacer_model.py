"""The cell spacer's formulas, in fractions.

Source: F. Guillemin, J. Boyer, O. Dugeon and C. Mangin, "Analysis of Cell Spacing on a TCP Flow
Mapped onto an ATM Connection". Numbers in brackets are its equations, with the errors of the
print corrected; ``printed`` keeps what it says. An exact simulation
(``papers/tidegate_papers/cell_spacing/fluid.py``) agrees on every quantity.

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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.theory._spacer_results import Printed


def plus(value: Fraction) -> Fraction:
    """Return the positive part."""
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
        low = plus(segments * self.sigma - self.c * self.round_trip)
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
    def printed(self) -> Printed:
        """Return what the paper's text says."""

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
