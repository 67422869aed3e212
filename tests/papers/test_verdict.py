"""Verdicts: rules on made-up numbers, and the refusal to judge chaos on a few runs."""

from __future__ import annotations

import pytest
import tidegate as tg
from tidegate._base.estimate import estimate
from tidegate._reproduce.verdict import (
    LEAST_RUNS,
    NOT_REPRODUCED,
    PARTLY,
    REPRODUCED,
    UNDECIDED,
    Judgement,
    above,
    below,
    count,
    enough,
    graded,
    together,
    within,
)


def made(low: float, high: float, runs: int = 16) -> tg.Estimate:
    """An estimate with this interval."""
    return tg.Estimate((low + high) / 2, (high - low) / 2, None, runs)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(5.1, 6, REPRODUCED), (4, 4.9, NOT_REPRODUCED), (4, 6, UNDECIDED), (5, 6, UNDECIDED), (4, 5, UNDECIDED)],
)
def test_a_bound_is_passed_by_the_whole_interval(low: float, high: float, verdict: str) -> None:
    judged = above(made(low, high), 5)
    assert judged.verdict == verdict
    assert (judged.measured, judged.interval, judged.runs) == ((low + high) / 2, (low, high), 16)
    assert bool(judged.reason) == (verdict == UNDECIDED), "an undecided verdict says why"
    assert judged.rule == "the whole 95% interval lies above 5", "the bound is told"
    assert below(made(-high, -low), -5).verdict == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (4, 6, REPRODUCED),
        (4.5, 5, REPRODUCED),
        (3.9, 5, UNDECIDED),
        (5, 7, UNDECIDED),
        (3, 7, UNDECIDED),
        (6.1, 7, NOT_REPRODUCED),
        (1, 3.9, NOT_REPRODUCED),
    ],
)
def test_a_band_holds_the_whole_interval(low: float, high: float, verdict: str) -> None:
    assert within(made(low, high), 4, 6).verdict == verdict


def test_a_single_value_decides_at_the_bound() -> None:
    value = tg.Estimate(5.0, None, None, 1)
    assert above(value, 5).verdict == below(value, 5).verdict == NOT_REPRODUCED
    assert within(value, 5, 6).verdict == within(value, 5, 5).verdict == REPRODUCED
    assert within(value, 5, 5).rule == "the value lies at 5"


def test_grades() -> None:
    assert graded(made(0.95, 1), full=0.9, some=0.1).verdict == REPRODUCED
    assert graded(made(0.2, 0.8), full=0.9, some=0.1).verdict == PARTLY
    assert graded(made(0.85, 1), full=0.9, some=0.1).verdict == UNDECIDED, "reproduced or partly"
    assert graded(made(-0.1, 0.2), full=0.9, some=0.1).verdict == UNDECIDED, "partly or not"
    assert graded(made(-0.1, 0.05), full=0.9, some=0.1).verdict == NOT_REPRODUCED
    assert graded(made(0.5, 1), full=1, some=6).verdict == REPRODUCED
    assert graded(made(2, 5), full=1, some=6).verdict == PARTLY
    assert graded(made(6.5, 9), full=1, some=6).verdict == NOT_REPRODUCED
    both = graded(made(0.2, 0.8), full=0.9, some=0.1).rule
    assert "0.9" in both
    assert "0.1" in both, "every bound is told"


GOOD, BAD, OPEN = above(made(6, 7), 5), above(made(1, 2, runs=20), 5), above(made(4, 6), 5)


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ([GOOD, GOOD], REPRODUCED),
        ([BAD, BAD], NOT_REPRODUCED),
        ([GOOD, BAD], PARTLY),
        # However the open part falls, one holds and one does not.
        ([GOOD, BAD, OPEN], PARTLY),
        # All would hold, or all but one: an undecided part is not a broken one.
        ([GOOD, OPEN], UNDECIDED),
        ([BAD, OPEN], UNDECIDED),
        ([OPEN, OPEN], UNDECIDED),
        ([graded(made(0.2, 0.8), full=0.9, some=0.1)] * 2, PARTLY),
    ],
)
def test_parts_have_the_verdict_that_the_undecided_ones_leave(parts: list[Judgement], verdict: str) -> None:
    assert together(*parts).verdict == verdict
    assert count(parts, runs=16).verdict == verdict
    # A claim of claims is judged alike.
    assert together(together(*parts[:1]), *parts[1:]).verdict == verdict


def test_parts_together() -> None:
    both = together(GOOD, BAD)
    assert (both.verdict, both.measured, both.runs) == (PARTLY, 6.5, 16)
    named = together(
        above(made(6, 7), 5, "at 10"), above(made(4, 6), 5, "at 20"), above(made(6, 7), 5, "at 30")
    )
    assert named.reason == "Of 3 parts 2 hold, 1 is undecided. Undecided: at 20"
    assert named.rule == "in every part the whole 95% interval lies above 5"


def test_cases_are_counted_as_people_say_it() -> None:
    assert count([True, True], runs=16).verdict == REPRODUCED
    assert count([False], runs=16).verdict == NOT_REPRODUCED
    some = count([True, False, False, True], runs=16)
    assert (some.verdict, some.measured, some.interval) == (PARTLY, 0.5, None)
    assert some.cases == "2 of 4"
    mixed = count([GOOD, OPEN, GOOD, BAD], runs=16)
    assert (mixed.cases, mixed.measured) == ("2 of 4, 1 undecided", 0.5)


def test_what_was_not_tried_is_not_known() -> None:
    two = count([GOOD, GOOD], runs=16, untried=10)
    assert (two.verdict, two.cases) == (UNDECIDED, "2 of 2, 10 not tried")
    assert count([GOOD, BAD], runs=16, untried=10).verdict == PARTLY


def test_nothing_measured_is_no_verdict() -> None:
    for rule in (
        lambda: above(estimate([]), 1),
        lambda: within(estimate([None]), 0, 1),
        lambda: count([], runs=16),
    ):
        with pytest.raises(ValueError, match="nothing was measured"):
            rule()


def test_chaos_is_not_judged_on_fewer_than_16_runs() -> None:
    assert LEAST_RUNS == 16
    few = Judgement(REPRODUCED, 1.0, (0.9, 1.1), 15)
    with pytest.raises(tg.TooFewRunsError, match="16 runs or more, not on 15"):
        enough(few, chaotic=True)
    assert enough(few, chaotic=False) is few
    sixteen = Judgement(REPRODUCED, 1.0, (0.9, 1.1), 16)
    assert enough(sixteen, chaotic=True) is sixteen
    assert estimate([1.0] * 15 + [None]).n == 15, "a run without a number does not count"
