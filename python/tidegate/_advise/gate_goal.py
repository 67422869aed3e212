"""What a size at a gate is judged by: goodput, loss, delay."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from tidegate import _core
from tidegate._advise.joined import bounds_of, check_single
from tidegate._advise.tune_result import MET, MISSED, UNDECIDED
from tidegate._base.estimate import Estimate
from tidegate.errors import ArgumentError

_FORM = re.compile(
    r"(?:(?P<statistic>mean|p50|p99) )?(?P<what>goodput|loss|delay|rtt) ?"
    r"(?P<sign><=|>=|<|>|≤|≥) ?(?P<bound>.+)"
)
_HELP = (
    'write "goodput > 95%" (of the user data that its rate carries), "goodput > 5 Mbit/s", "loss < 1%", '
    '"p99 delay < 100 ms" (mean, p50 or p99 of delay, the wait at the gate, or of rtt), '
    'or several joined by "and"'
)


@dataclass(frozen=True)
class Bound:
    """One bound: on goodput (bit/s, or a share of what the rate carries), loss (a share), delay, rtt (ms)."""

    text: str
    what: str
    statistic: str
    bound: float
    #: Of goodput: the bound is a share.
    share: bool = False

    @property
    def least(self) -> bool:
        """Whether more is better."""
        return self.what == "goodput"

    def verdict(self, found: Estimate) -> str:
        """Tell whether the 95% interval keeps to the bound, misses it, or holds it; or there is no number."""
        if found.mean is None:
            return UNDECIDED
        low, high = found.mean - found.arms[0], found.mean + found.arms[1]
        if self.least:
            return MET if low >= self.bound else MISSED if high < self.bound else UNDECIDED
        return MET if high <= self.bound else MISSED if low > self.bound else UNDECIDED

    def beyond(self, found: Estimate) -> tuple[float, float]:
        """Return how far the mean and the worse end of its interval are beyond the bound, as shares of it."""
        if found.mean is None:
            return math.inf, math.inf
        sign = -1 if self.least else 1
        ends = found.mean, found.mean + sign * found.arms[0 if self.least else 1]
        mean, worse = (max(0.0, sign * (end / self.bound - 1)) for end in ends)
        return mean, worse


def parse(text: str) -> tuple[Bound, ...]:
    """Read a goal.

    Raises:
        ArgumentError: it is none; the message says how one is written.
    """
    words = " ".join(text.split())
    return tuple(_bound(part, words) for part in bounds_of(words, _HELP))


def _bound(part: str, whole: str) -> Bound:
    found = _FORM.fullmatch(part)
    if found is None:
        raise ArgumentError(f'goal: read "{whole}"; {_HELP}')
    what, statistic, given = found["what"], found["statistic"] or "", found["bound"]
    check_single(given, whole, _HELP)
    if (found["sign"] in (">", ">=", "≥")) != (what == "goodput"):
        raise ArgumentError(f'goal: read "{part}"; goodput is to be above a bound, and {what} below; {_HELP}')
    if (what in ("delay", "rtt")) != bool(statistic):
        raise ArgumentError(f'goal: read "{part}"; mean, p50 or p99 belongs to a delay or rtt; {_HELP}')
    if what in ("delay", "rtt"):
        bound = _core.read_span("goal", given) / 10**9
    elif given.endswith("%") or what == "loss":
        bound = _percent(given, part)
    else:
        bound = float(_core.read_rate("goal", given))
    if not bound > 0:
        raise ArgumentError(f'goal: read "{part}"; a bound is above 0')
    return Bound(part, what, statistic, bound, share=what == "goodput" and given.endswith("%"))


def _percent(given: str, part: str) -> float:
    try:
        share = float(given.removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not given.endswith("%") or not 0 < share < 1:
        raise ArgumentError(f'goal: read "{part}"; a share is above 0% and below 100%')
    return share
