"""Verdicts on claims, from measured numbers by rule. Nothing here runs anything.

Every rule takes estimates (mean, interval, number of replications) and gives a
:class:`Judgement`. An interval that lies on one side of a bound decides; one that holds
the bound does not, and the verdict is then ``partly``, with that reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate._errors import TooFewRunsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._estimate import Estimate

REPRODUCED = "reproduced"
PARTLY = "partly"
NOT_REPRODUCED = "not reproduced"

#: A claim on chaotic TCP is judged on this many replications or more.
LEAST_RUNS = 16


@dataclass(frozen=True)
class Judgement:
    """A verdict, the number it rests on, its interval, and how many replications there were."""

    verdict: str
    measured: float | None
    interval: tuple[float, float] | None
    runs: int
    reason: str = ""


def _judgement(verdict: str, found: Estimate, reason: str = "") -> Judgement:
    interval = None if found.low is None or found.high is None else (found.low, found.high)
    return Judgement(verdict, found.mean, interval, found.n, reason)


def _ends(found: Estimate) -> tuple[float, float]:
    """Return the interval; of a single value, which is exact or refused later, the value itself."""
    if found.mean is None:
        raise ValueError("nothing was measured")
    return (
        found.mean if found.low is None else found.low,
        found.mean if found.high is None else found.high,
    )


def above(found: Estimate, bound: float) -> Judgement:
    """Reproduced where the whole interval lies above the bound, not where it lies below."""
    low, high = _ends(found)
    if low > bound:
        return _judgement(REPRODUCED, found)
    if high < bound:
        return _judgement(NOT_REPRODUCED, found)
    return _judgement(PARTLY, found, f"the interval holds {bound:g}, which would decide")


def below(found: Estimate, bound: float) -> Judgement:
    """Reproduced where the whole interval lies below the bound, not where it lies above."""
    low, high = _ends(found)
    if high < bound:
        return _judgement(REPRODUCED, found)
    if low > bound:
        return _judgement(NOT_REPRODUCED, found)
    return _judgement(PARTLY, found, f"the interval holds {bound:g}, which would decide")


def within(found: Estimate, low: float, high: float) -> Judgement:
    """Reproduced where the whole interval lies between the bounds, not where it lies outside."""
    least, most = _ends(found)
    if low <= least and most <= high:
        return _judgement(REPRODUCED, found)
    if most < low or least > high:
        return _judgement(NOT_REPRODUCED, found)
    return _judgement(PARTLY, found, f"the interval reaches out of {low:g} to {high:g}")


def graded(found: Estimate, *, full: float, some: float) -> Judgement:
    """Reproduced from ``full`` on, partly from ``some`` on, judged by the interval's near end.

    With ``full`` below ``some`` the same downwards: small is good.
    """
    low, high = _ends(found)
    if full >= some:
        verdict = REPRODUCED if low >= full else PARTLY if high >= some else NOT_REPRODUCED
    else:
        verdict = REPRODUCED if high <= full else PARTLY if low <= some else NOT_REPRODUCED
    return _judgement(verdict, found)


def together(main: Judgement, *others: Judgement) -> Judgement:
    """Judge a claim of several parts: reproduced if all are, not if none is, else partly.

    Number and interval are the first part's; the runs are the fewest of any part.
    """
    parts = (main, *others)
    verdicts = {part.verdict for part in parts}
    verdict = verdicts.pop() if len(verdicts) == 1 else PARTLY
    reasons = [part.reason for part in parts if part.reason]
    return Judgement(
        verdict,
        main.measured,
        main.interval,
        min(part.runs for part in parts),
        "; ".join(dict.fromkeys(reasons)),
    )


def count(holds: Sequence[bool], *, runs: int) -> Judgement:
    """Judge a claim of many cases by the share in which it holds: all, some, none."""
    if not holds:
        raise ValueError("nothing was measured")
    share = sum(holds) / len(holds)
    verdict = REPRODUCED if share == 1 else NOT_REPRODUCED if share == 0 else PARTLY
    return Judgement(verdict, share, None, runs, f"holds in {sum(holds)} of {len(holds)} cases")


def enough(judgement: Judgement, *, chaotic: bool) -> Judgement:
    """Refuse a judgement on chaotic TCP that rests on too few replications.

    Raises:
        TooFewRunsError: there were fewer than 16.
    """
    if chaotic and judgement.runs < LEAST_RUNS:
        raise TooFewRunsError(
            f"a claim on chaotic TCP is judged on {LEAST_RUNS} runs or more, not on {judgement.runs}"
        )
    return judgement
