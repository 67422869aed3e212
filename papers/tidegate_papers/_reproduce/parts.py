"""Verdicts on claims of several parts or many cases, and on what a quick run leaves out.

Such a claim has the verdict that its undecided parts leave it, whichever way they would fall. It is
``undecided`` where more than one verdict is left. A part that was not tried is undecided, too.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from tidegate_papers._reproduce.verdict import (
    LADDER,
    NOT_REPRODUCED,
    PARTLY,
    REPRODUCED,
    UNDECIDED,
    Judgement,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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


def _only(possible: Iterable[str]) -> str:
    """Return the verdict that is left, or that more than one is."""
    left = [*possible]
    return UNDECIDED if len(left) > 1 else left[0]


def _reason(counted: str, possible: frozenset[str]) -> str:
    """Return how the parts fell, where that is not plain from the verdict."""
    return "" if possible in ({REPRODUCED}, {NOT_REPRODUCED}) else counted


#: What is said of one part and of several.
_OUTCOMES = {
    REPRODUCED: ("holds", "hold"),
    PARTLY: ("holds in part", "hold in part"),
    NOT_REPRODUCED: ("does not hold", "do not hold"),
    UNDECIDED: ("is undecided", "are undecided"),
}


def _counted(parts: Sequence[Judgement], noun: str) -> str:
    """Return how many parts hold, do not hold and are undecided; which, where they have names."""
    by_verdict = {verdict: [part for part in parts if part.verdict == verdict] for verdict in _OUTCOMES}
    outcomes = [
        f"{len(found)} {_OUTCOMES[verdict][len(found) > 1]}" for verdict, found in by_verdict.items() if found
    ]
    sentences = [
        f"Of {len(parts)} {noun if len(parts) > 1 else noun.removesuffix('s')} {', '.join(outcomes)}"
    ]
    for verdict, words in ((NOT_REPRODUCED, "Does not hold"), (UNDECIDED, "Undecided")):
        names = [part.name for part in by_verdict[verdict] if part.name]
        if names and len(names) == len(by_verdict[verdict]) < len(parts):
            sentences.append(f"{words}: {'; '.join(names)}")
    return ". ".join(sentences)


def _rules(parts: Sequence[Judgement], every: str) -> str:
    """Return what is asked of the parts: one rule for ``every`` part, or each with what it is about.

    Raises:
        ValueError: rules differ, and of one is not said what it is about.
    """
    rules = dict.fromkeys(part.rule for part in parts if part.rule)
    if len(rules) > 1:
        bare = [part.rule for part in parts if part.rule and not part.of]
        if bare:
            raise ValueError(f"parts with different rules say what is measured (of=): {bare[0]}")
        return "; ".join(rules)
    return "".join(f"{every}{', ' if rule.startswith('in every') else ' '}{rule}" for rule in rules)


def _telling(parts: Sequence[Judgement], verdict: str) -> Judgement:
    """Return the part whose number explains the verdict: the first that does not hold, or is undecided."""
    if verdict != REPRODUCED:
        for outcome in (NOT_REPRODUCED, PARTLY, UNDECIDED):
            for part in parts:
                if part.verdict == outcome:
                    return part
    return parts[0]


def together(main: Judgement, *others: Judgement, rule: str = "") -> Judgement:
    """Judge a claim of several parts: reproduced if all hold, not if none does, else partly.

    Number and interval are those of the first part if the claim is reproduced, else of the first part that
    does not hold or is undecided; the runs are the fewest of any part. ``rule`` says what is asked of the
    parts where their own rules do not.

    Raises:
        ValueError: the parts' rules differ, and one does not say what it is about.
    """
    parts = (main, *others)
    if not others:
        return main
    possible = _combined(parts)
    verdict = _only(possible)
    inner = [
        f"{part.name[0].upper()}{part.name[1:]}: {part.reason}" if part.name else part.reason
        for part in parts
        if part.cases and part.reason
    ]
    counted = ". ".join([_counted(parts, "parts"), *inner])
    shown = _telling(parts, verdict)
    asked = rule or _rules(parts, "in every part")
    return Judgement(
        verdict,
        shown.measured,
        shown.interval,
        min(part.runs for part in parts),
        _reason(counted, possible),
        asked,
        cases=shown.cases,
        part=shown.part or shown.name or ("" if shown is main else shown.of),
        of=asked if rule or len({part.rule for part in parts}) > 1 else main.of,
        unit=shown.unit,
        grades=LADDER,
        counted=counted,
        left=possible,
    )


def count(
    holds: Sequence[bool | Judgement],
    *,
    runs: int,
    rule: str = "",
    name: str = "",
    unit: str = "",
) -> Judgement:
    """Judge a claim of many cases: reproduced if it holds in all, not if in none, else partly.

    A case is a judgement, which may be undecided, or a bool where the comparison is exact. ``rule``
    says in words what a case needs where it is no judgement.

    Raises:
        ValueError: there is no case, or a case that is no judgement and no rule, or rules that differ and
            do not say what they are about.
    """
    if not holds:
        raise ValueError("nothing was measured")
    cases = [case if isinstance(case, Judgement) else _exact(case, runs) for case in holds]
    asked = f"in every case {rule}" if rule else _rules(cases, "in every case")
    if not asked:
        raise ValueError("cases that are no judgements need a rule (rule=)")
    possible = _combined(cases)
    surely = sum(case.verdict == REPRODUCED for case in cases)
    open_ = sum(case.verdict == UNDECIDED for case in cases)
    counted = _counted(cases, "cases")
    return Judgement(
        _only(possible),
        surely / len(cases),
        None,
        runs,
        _reason(counted, possible),
        asked,
        cases=f"{surely} of {len(cases)}" + (f", {open_} undecided" if open_ else ""),
        name=name,
        of=cases[0].of or rule,
        unit=unit,
        grades=LADDER,
        counted=counted,
        left=possible,
    )


def _exact(holds: bool, runs: int) -> Judgement:
    return Judgement(REPRODUCED if holds else NOT_REPRODUCED, float(holds), None, runs)


_UNTRIED = Judgement(UNDECIDED, None, None, 0, left=frozenset({REPRODUCED, NOT_REPRODUCED}))


def with_untried(judged: Judgement, untried: int) -> Judgement:
    """Judge again, where so many points were left out on which the claim is to be judged as well.

    Each may hold or not: two cases of twelve do not show what holds in all. The best number of some points
    can only get better with more, the worst only worse.
    """
    if not untried:
        return judged
    if judged.searched:
        better = judged.searched == "best"
        ends = [judged.grades.index(verdict) for verdict in judged.possible]
        possible = frozenset(judged.grades[: max(ends) + 1] if better else judged.grades[min(ends) :])
    else:
        possible = _combined([judged, _UNTRIED])
    untried_words = f"{untried} more {'was' if untried == 1 else 'were'} not tried"
    if not judged.counted:
        untried_words = f"{untried} more {'point was' if untried == 1 else 'points were'} not tried"
    reason = _reason(". ".join(filter(None, [judged.counted or judged.reason, untried_words])), possible)
    return replace(
        judged,
        verdict=_only(possible),
        reason=reason,
        cases=f"{judged.cases}, {untried} not tried" if judged.cases else "",
        left=possible,
    )
