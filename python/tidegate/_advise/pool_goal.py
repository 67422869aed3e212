"""What a pool is sized for: numbers of a run and the bounds that they have to stay below."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._advise.joined import bounds_of, check_single
from tidegate._base.estimate import most_if_none
from tidegate._base.nearest import nearest
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._base.estimate import Estimate

MET, NOT_MET, UNDECIDED = "met", "not met", "undecided"

_PART = re.compile(
    r"(?:(?P<of>mean|p50|p95|p99)\s+)?(?P<what>response|call\s+wait|blocked|abandoned)"
    r"\s*(?P<sign><=|<)\s*(?P<amount>.+?)"
)
_OF_CLASS = re.compile(r"(?:calls\.)?(?P<calls>\S+)\s+(?P<rest>.+)")
_HELP = (
    'write "p95 response < 2 s" (mean, p50, p95, p99), "mean call wait < 100 ms" (mean, p50, p99), '
    '"blocked < 1%" or "abandoned < 1%"; for one source of calls "large blocked < 5%"; join them with "and"'
)
_PICOS = 1e12
#: Of the interval that a verdict looks at; see :func:`wider`.
CONFIDENCE = 0.99
_SHARES = {"blocked": "calls_blocked", "abandoned": "calls_abandoned_share"}


@dataclass(frozen=True)
class Part:
    """A number of a run and the bound that it has to stay below; ``text`` is as written."""

    text: str
    metric: str
    bound: float
    unit: str
    #: At the bound itself it is met as well.
    reached: bool

    def verdict(self, found: Estimate, calls: float | None = None) -> str:
        """Tell whether the 99% interval lies below the bound, above it, or holds it; or there is no number.

        Args:
            found: the mean over the replications; of one replication, its value decides.
            calls: how many calls a share is of: where it is 0, the interval ends at 3/calls.
        """
        if found.mean is None:
            return UNDECIDED
        below, above = wider(found).arms
        low, high = found.mean - below, found.mean + above
        if high == 0.0 and calls is not None:
            high = most_if_none(calls)
        if high < self.bound or (self.reached and high == self.bound):
            return MET
        if low > self.bound or (low == self.bound and not self.reached):
            return NOT_MET
        return UNDECIDED

    def holds(self, value: float) -> bool:
        """Tell whether an exact number keeps to the bound."""
        return value < self.bound or (self.reached and value == self.bound)

    @property
    def is_share(self) -> bool:
        """Whether it is a share of calls."""
        return not self.unit

    @property
    def offered(self) -> str | None:
        """The name of the number of calls that a share is of."""
        return f"{self.metric.rpartition('.')[0]}.calls_offered" if self.is_share else None


@dataclass(frozen=True)
class Goal:
    """Parts that must all be met."""

    text: str
    parts: tuple[Part, ...]

    def holds(self, values: Sequence[float]) -> bool:
        """Tell whether exact numbers, one for each part, keep to all bounds."""
        return all(part.holds(value) for part, value in zip(self.parts, values, strict=True))


def wider(found: Estimate) -> Estimate:
    """Return a mean with its 99% interval; without one of one replication.

    A capacity is looked at up to five times, each time with more replications; five looks at
    intervals of 99% are wrong no more often than one look at an interval of 95% (Bonferroni).
    """
    half = None
    if found.sd is not None and found.n > 1:
        quantile = _core.student_t((1 + CONFIDENCE) / 2, found.n - 1)
        half = None if quantile is None else quantile * found.sd / math.sqrt(found.n)
    return replace(found, half_width=half)


def verdict_of(parts: Sequence[str]) -> str:
    """Return the verdict on a goal from those on its parts."""
    if NOT_MET in parts:
        return NOT_MET
    return UNDECIDED if UNDECIDED in parts else MET


def read_goal(text: str, pool: str, calls: Sequence[str] = ()) -> Goal:
    """Read a goal for a pool.

    Args:
        text: such as ``"blocked < 1%"``.
        pool: name of the pool.
        calls: names of the sources of calls that take from it.

    Raises:
        ArgumentError: it is none; the message says how one is written.
    """
    parts = bounds_of(" ".join(text.split()), _HELP)
    return Goal(text, tuple(_part(part, text, pool, calls) for part in parts))


def _part(part: str, text: str, pool: str, calls: Sequence[str]) -> Part:
    place, found = f"pool.{pool}", _PART.fullmatch(part)
    if found is None and (named := _OF_CLASS.fullmatch(part)) is not None:
        found = _PART.fullmatch(named["rest"])
        if found is not None:
            if named["calls"] not in calls:
                problem = nearest("source of calls", named["calls"], list(calls))
                raise ArgumentError(f'goal: read "{text}"; pool {pool}: {problem}')
            place = f"calls.{named['calls']}"
    if found is None:
        raise ArgumentError(f'goal: read "{text}"; {_HELP}')
    of, what, amount = found["of"], " ".join(found["what"].split()), found["amount"]
    reached = found["sign"] == "<="
    check_single(amount, text, _HELP)
    if what in _SHARES:
        if of:
            raise ArgumentError(f'goal: read "{text}"; a share has no {of}; {_HELP}')
        return Part(part, f"{place}.{_SHARES[what]}", _share(text, amount), "", reached)
    bound = _core.read_span("goal", amount) / _PICOS
    if what == "response":
        if place.startswith("calls."):
            raise ArgumentError(f'goal: read "{text}"; calls without packets have no responses')
        return Part(part, f"request.all.response_{of or 'mean'}_with_unfinished_s", bound, "s", reached)
    if of == "p95":
        raise ArgumentError(f'goal: read "{text}"; of the call wait, only mean, p50 and p99 are known')
    return Part(part, f"{place}.call_wait_{of or 'mean'}_s", bound, "s", reached)


def _share(text: str, amount: str) -> float:
    number = amount.removesuffix("%").strip()
    try:
        value = float(number) / (100 if amount.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1:
        raise ArgumentError(f'goal: read "{text}"; a share is above 0 and at most 1, or "1%"')
    return value


def value_in(rows: dict[str, list[dict[str, Any]]], part: Part) -> float | None:
    """Return what a theory's rows say of a part of a goal; None where they say nothing."""
    kind, name, column = part.metric.split(".", 1)[0], *part.metric.split(".", 1)[1].rsplit(".", 1)
    tables = {"pool": "pools", "calls": "calls"}
    for row in rows.get(tables.get(kind, ""), []):
        if row["name"] == name:
            value = row.get(column)
            return None if value is None else float(value)
    return None
