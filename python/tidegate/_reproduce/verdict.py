"""Verdicts on claims, from measured numbers by rule. Nothing here runs anything.

A rule takes estimates (mean, 95% interval, number of replications) and gives a :class:`Judgement`.
An interval that lies on one side of a bound decides; one that holds the bound does not: the bound
is neither kept nor broken. A claim of several parts has the verdict that all undecided parts leave
it, whichever way they would fall, and is ``undecided`` where more than one verdict is left.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from tidegate._base.errors import TooFewRunsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._base.estimate import Estimate

REPRODUCED = "reproduced"
PARTLY = "partly"
NOT_REPRODUCED = "not reproduced"
#: The intervals leave more than one of the verdicts above: more or longer runs would tell.
UNDECIDED = "undecided"

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


def _judged(found: Estimate, possible: set[str], rule: str, name: str, *bounds: float) -> Judgement:
    low, high = _ends(found)
    single = found.low is None
    inside = " and ".join(f"{bound:.6g}" for bound in bounds if low <= bound <= high)
    undecided = len(possible) > 1
    return Judgement(
        UNDECIDED if undecided else next(iter(possible)),
        found.mean,
        None if single else (low, high),
        found.n,
        f"The interval contains the bound {inside}, so it is undecided" if undecided else "",
        f"the {'value' if single else 'whole 95% interval'} lies {rule}",
        name=name,
        left=frozenset(possible),
    )


def above(found: Estimate, bound: float, name: str = "") -> Judgement:
    """Reproduced where the whole interval lies above the bound, not where it lies below."""
    low, high = _ends(found)
    possible = {REPRODUCED} if low > bound else {NOT_REPRODUCED} if high < bound else _EITHER
    if found.low is None and low == bound:
        possible = {NOT_REPRODUCED}
    return _judged(found, possible, f"above {bound:.6g}", name, bound)


def below(found: Estimate, bound: float, name: str = "") -> Judgement:
    """Reproduced where the whole interval lies below the bound, not where it lies above."""
    low, high = _ends(found)
    possible = {REPRODUCED} if high < bound else {NOT_REPRODUCED} if low > bound else _EITHER
    if found.low is None and low == bound:
        possible = {NOT_REPRODUCED}
    return _judged(found, possible, f"below {bound:.6g}", name, bound)


def within(found: Estimate, low: float, high: float, name: str = "") -> Judgement:
    """Reproduced where the whole interval lies between the bounds, not where it lies outside."""
    least, most = _ends(found)
    inside, outside = low <= least and most <= high, most < low or least > high
    possible = {REPRODUCED} if inside else {NOT_REPRODUCED} if outside else _EITHER
    rule = f"within {low:.6g} to {high:.6g}" if low < high else f"at {low:.6g}"
    if low < high and f"{low:.6g}" == f"{high:.6g}":
        rule = f"within {(high - low) / 2:.1g} of {low:.6g}"
    return _judged(found, possible, rule, name, low, high)


def graded(found: Estimate, *, full: float, some: float, name: str = "") -> Judgement:
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
    ladder = (REPRODUCED, PARTLY, NOT_REPRODUCED)
    return _judged(found, {*ladder[grades[0] : grades[-1] + 1]}, rule, name, full, some)


def left_by(possible: set[str], measured: float | None, runs: int, name: str, rule: str) -> Judgement:
    """Judge by what a search leaves possible, where no one interval decides."""
    verdict = UNDECIDED if len(possible) > 1 else next(iter(possible))
    return Judgement(verdict, measured, None, runs, rule=rule, name=name, left=frozenset(possible))


_EITHER = {REPRODUCED, NOT_REPRODUCED}


def _combined(parts: Sequence[Judgement]) -> frozenset[str]:
    """Return the verdicts that the parts leave: all hold, none holds, or neither."""
    possible = set()
    pure = 0
    for verdict in (REPRODUCED, NOT_REPRODUCED):
        if all(verdict in part.possible for part in parts):
            possible.add(verdict)
            pure += 1
    if prod(len(part.possible) for part in parts) > pure:
        possible.add(PARTLY)
    return frozenset(possible)


#: What is said of one part and of several.
_OUTCOMES = {
    REPRODUCED: ("holds", "hold"),
    PARTLY: ("holds in part", "hold in part"),
    NOT_REPRODUCED: ("does not hold", "do not hold"),
    UNDECIDED: ("is undecided", "are undecided"),
}


def _reason(parts: Sequence[Judgement], noun: str) -> str:
    """Return how many parts hold, do not hold and are undecided; which, where they have names."""
    by_verdict = {verdict: [part for part in parts if part.verdict == verdict] for verdict in _OUTCOMES}
    told = [
        f"{len(found)} {_OUTCOMES[verdict][len(found) > 1]}" for verdict, found in by_verdict.items() if found
    ]
    sentences = [f"Of {len(parts)} {noun} {', '.join(told)}"]
    for verdict, words in ((NOT_REPRODUCED, "Does not hold"), (UNDECIDED, "Undecided")):
        names = [part.name for part in by_verdict[verdict] if part.name]
        if names and len(names) == len(by_verdict[verdict]) < len(parts):
            sentences.append(f"{words}: {'; '.join(names)}")
    return ". ".join(sentences)


def _rules(parts: Sequence[Judgement]) -> str:
    return "; ".join(dict.fromkeys(part.rule for part in parts if part.rule))


def together(main: Judgement, *others: Judgement, rule: str = "") -> Judgement:
    """Judge a claim of several parts: reproduced if all hold, not if none does, else partly.

    Number and interval are the first part's; the runs are the fewest of any part. ``rule`` says what is
    asked of the parts where their own rules do not say which is whose.
    """
    parts = (main, *others)
    if not others:
        return main
    possible = _combined(parts)
    inner = [part.reason for part in parts if part.cases and part.reason]
    settled = possible in ({REPRODUCED}, {NOT_REPRODUCED})
    return Judgement(
        UNDECIDED if len(possible) > 1 else next(iter(possible)),
        main.measured,
        main.interval,
        min(part.runs for part in parts),
        "" if settled else ". ".join([_reason(parts, "parts"), *inner]),
        rule or (f"in every part {main.rule}" if len({part.rule for part in parts}) == 1 else _rules(parts)),
        cases=main.cases,
        part=main.part or main.name,
        left=possible,
    )


def count(holds: Sequence[bool | Judgement], *, runs: int, rule: str = "", untried: int = 0) -> Judgement:
    """Judge a claim of many cases: reproduced if it holds in all, not if in none, else partly.

    A case is a judgement, which may be undecided, or a bool where the comparison is exact. ``rule``
    says in words what a case needs where it is no judgement. ``untried`` cases are undecided: two
    cases of twelve do not show what holds in all.
    """
    if not holds:
        raise ValueError("nothing was measured")
    cases = [case if isinstance(case, Judgement) else _exact(case, runs) for case in holds]
    possible = _combined([*cases, *[_UNTRIED] * untried])
    surely = sum(case.verdict == REPRODUCED for case in cases)
    open_ = sum(case.verdict == UNDECIDED for case in cases)
    words = f"{surely} of {len(cases)}"
    needs = rule or _rules(cases)
    settled = possible in ({REPRODUCED}, {NOT_REPRODUCED})
    return Judgement(
        UNDECIDED if len(possible) > 1 else next(iter(possible)),
        surely / len(cases),
        None,
        runs,
        "" if settled else _reason(cases, "cases") + (f". {untried} more were not tried" if untried else ""),
        f"in every case{', ' if needs.startswith('in every') else ' '}{needs}"
        if needs
        else "it is so in every case",
        cases=", ".join(
            [
                words,
                *([f"{open_} undecided"] if open_ else []),
                *([f"{untried} not tried"] if untried else []),
            ]
        ),
        left=possible,
    )


_UNTRIED = Judgement(UNDECIDED, None, None, 0, left=frozenset(_EITHER))


def _exact(holds: bool, runs: int) -> Judgement:
    return Judgement(REPRODUCED if holds else NOT_REPRODUCED, float(holds), None, runs)


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
