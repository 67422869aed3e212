"""Verdicts on claims, from measured numbers by rule. Nothing here runs anything.

A rule takes estimates (mean, 95% interval, number of replications) and gives a :class:`Judgement`.
An interval that lies on one side of a bound decides; one that contains the bound does not: the bound
is neither kept nor broken. Claims of several parts are judged in :mod:`tidegate_papers._reproduce.parts`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tidegate.errors import TooFewRunsError

if TYPE_CHECKING:
    from tidegate._base.estimate import Estimate

REPRODUCED = "reproduced"
PARTLY = "partly"
NOT_REPRODUCED = "not reproduced"
#: The intervals leave more than one of the verdicts above: more or longer runs would tell.
UNDECIDED = "undecided"

#: The verdicts from the best to the worst.
LADDER = (REPRODUCED, PARTLY, NOT_REPRODUCED)

#: A claim on chaotic TCP is judged on this many replications or more.
LEAST_RUNS = 16


@dataclass(frozen=True)
class Judgement:
    """A verdict, the number it rests on, its interval, and how many replications there were."""

    verdict: str
    measured: float | None
    interval: tuple[float, float] | None
    runs: int
    #: Why the verdict is not a plain yes or no.
    reason: str = ""
    #: What has to be so for "reproduced", with its bounds, in words.
    rule: str = ""
    #: Of a claim of many cases: "3 of 4", and how many are undecided.
    cases: str = ""
    #: Which part of a claim this is, such as "at psi 5".
    name: str = ""
    #: Of a claim of several parts: which of them the number and the interval are of.
    part: str = ""
    #: What was measured, in words, such as "the goodput of flow 1": parts with rules of their own need it.
    of: str = ""
    #: Of the number, where it is not the claim's.
    unit: str = ""
    #: The number was searched for among the points that were tried: it is the ``"best"`` of them, or the
    #: ``"worst"``.
    searched: str = ""
    #: What its verdict can be, from the best to the worst.
    grades: tuple[str, ...] = (REPRODUCED, NOT_REPRODUCED)
    #: Of a claim of parts or cases: how many hold, and which do not, in words.
    counted: str = ""
    #: The verdicts that the intervals leave; empty: the verdict alone.
    left: frozenset[str] = field(default_factory=frozenset)

    @property
    def possible(self) -> frozenset[str]:
        """The verdicts that the intervals leave."""
        return self.left or frozenset({self.verdict})


def _ends(found: Estimate) -> tuple[float, float]:
    """Return the interval; of a single value, which is exact or refused later, the value itself."""
    if found.mean is None:
        raise ValueError("nothing was measured")
    return (
        found.mean if found.low is None else found.low,
        found.mean if found.high is None else found.high,
    )


def _judged(
    found: Estimate, possible: set[str], rule: str, words: tuple[str, str, str], *bounds: float
) -> Judgement:
    name, of, unit = words
    low, high = _ends(found)
    single = found.low is None
    inside = " and ".join(f"{bound:.6g}" for bound in bounds if low <= bound <= high)
    undecided = len(possible) > 1
    interval = "the whole 95% interval" + (f" of {of}" if of else "")
    return Judgement(
        UNDECIDED if undecided else next(iter(possible)),
        found.mean,
        None if single else (low, high),
        found.n,
        f"The interval contains the bound {inside}, so it is undecided" if undecided else "",
        f"{(of or 'the value') if single else interval} lies {rule}",
        name=name,
        of=of,
        unit=unit,
        left=frozenset(possible),
    )


def above(found: Estimate, bound: float, name: str = "", *, of: str = "", unit: str = "") -> Judgement:
    """Reproduced where the whole interval lies above the bound, not where it lies below.

    Here and in the other rules ``name`` says which part or case this is ("at psi 5"), ``of`` what was
    measured ("the goodput of flow 1"), and ``unit`` the number's unit where it is not the claim's.
    """
    low, high = _ends(found)
    possible = {REPRODUCED} if low > bound else {NOT_REPRODUCED} if high < bound else _EITHER
    if found.low is None and low == bound:
        possible = {NOT_REPRODUCED}
    return _judged(found, possible, f"above {bound:.6g}", (name, of, unit), bound)


def below(found: Estimate, bound: float, name: str = "", *, of: str = "", unit: str = "") -> Judgement:
    """Reproduced where the whole interval lies below the bound, not where it lies above."""
    low, high = _ends(found)
    possible = {REPRODUCED} if high < bound else {NOT_REPRODUCED} if low > bound else _EITHER
    if found.low is None and low == bound:
        possible = {NOT_REPRODUCED}
    return _judged(found, possible, f"below {bound:.6g}", (name, of, unit), bound)


def within(
    found: Estimate, low: float, high: float, name: str = "", *, of: str = "", unit: str = ""
) -> Judgement:
    """Reproduced where the whole interval lies between the bounds, not where it lies outside."""
    least, most = _ends(found)
    inside, outside = low <= least and most <= high, most < low or least > high
    possible = {REPRODUCED} if inside else {NOT_REPRODUCED} if outside else _EITHER
    rule = f"within {low:.6g} to {high:.6g}" if low < high else f"at {low:.6g}"
    if low < high and f"{low:.6g}" == f"{high:.6g}":
        rule = f"within {(high - low) / 2:.1g} of {low:.6g}"
    return _judged(found, possible, rule, (name, of, unit), low, high)


def graded(
    found: Estimate, *, full: float, some: float, name: str = "", of: str = "", unit: str = ""
) -> Judgement:
    """Reproduced from ``full`` on, partly from ``some`` on, not below.

    With ``full`` below ``some`` the same downwards: small is good.
    """
    if full >= some:
        rule = f"from {full:.6g} up (partly: from {some:.6g} up)"
    else:
        rule = f"up to {full:.6g} (partly: up to {some:.6g})"

    def grade(value: float) -> int:
        reached = (value >= full, value >= some) if full >= some else (value <= full, value <= some)
        return 2 - sum(reached)

    grades = sorted(grade(end) for end in _ends(found))
    possible = {*LADDER[grades[0] : grades[-1] + 1]}
    return replace(_judged(found, possible, rule, (name, of, unit), full, some), grades=LADDER)


def left_by(possible: set[str], measured: float | None, runs: int, name: str, rule: str) -> Judgement:
    """Judge by what a search leaves possible, where no one interval decides."""
    verdict = UNDECIDED if len(possible) > 1 else next(iter(possible))
    return Judgement(verdict, measured, None, runs, rule=rule, name=name, left=frozenset(possible))


def best(judged: Judgement) -> Judgement:
    """Say that the number is the best of the points that were tried: others could only do better."""
    return replace(judged, searched="best")


def worst(judged: Judgement) -> Judgement:
    """Say that the number is the worst of the points that were tried: others could only do worse."""
    return replace(judged, searched="worst")


_EITHER = {REPRODUCED, NOT_REPRODUCED}


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
