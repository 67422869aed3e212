"""Verdicts: rules on made-up numbers, and the refusal to judge chaos on a few runs."""

from __future__ import annotations

import pytest
import tidegate as tg
from tidegate._estimate import estimate
from tidegate._verdict import (
    LEAST_RUNS,
    NOT_REPRODUCED,
    PARTLY,
    REPRODUCED,
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
    [(5.1, 6, REPRODUCED), (4, 4.9, NOT_REPRODUCED), (4, 6, PARTLY), (5, 6, PARTLY), (4, 5, PARTLY)],
)
def test_a_bound_is_passed_by_the_whole_interval(low: float, high: float, verdict: str) -> None:
    judged = above(made(low, high), 5)
    assert judged.verdict == verdict
    assert (judged.measured, judged.interval, judged.runs) == ((low + high) / 2, (low, high), 16)
    assert bool(judged.reason) == (verdict == PARTLY), "an undecided verdict says why"
    assert below(made(-high, -low), -5).verdict == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (4, 6, REPRODUCED),
        (4.5, 5, REPRODUCED),
        (3.9, 5, PARTLY),
        (5, 7, PARTLY),
        (3, 7, PARTLY),
        (6.1, 7, NOT_REPRODUCED),
        (1, 3.9, NOT_REPRODUCED),
    ],
)
def test_a_band_holds_the_whole_interval(low: float, high: float, verdict: str) -> None:
    assert within(made(low, high), 4, 6).verdict == verdict


def test_grades() -> None:
    assert graded(made(0.95, 1), full=0.9, some=0.1).verdict == REPRODUCED
    assert graded(made(0.85, 1), full=0.9, some=0.1).verdict == PARTLY
    assert graded(made(-0.1, 0.2), full=0.9, some=0.1).verdict == PARTLY
    assert graded(made(-0.1, 0.05), full=0.9, some=0.1).verdict == NOT_REPRODUCED
    assert graded(made(0.5, 1), full=1, some=6).verdict == REPRODUCED
    assert graded(made(0.5, 2), full=1, some=6).verdict == PARTLY
    assert graded(made(6.5, 9), full=1, some=6).verdict == NOT_REPRODUCED


def test_parts_together() -> None:
    good, bad = above(made(6, 7), 5), above(made(1, 2, runs=20), 5)
    assert together(good, good).verdict == REPRODUCED
    assert together(bad, bad).verdict == NOT_REPRODUCED
    both = together(good, bad)
    assert (both.verdict, both.measured, both.runs) == (PARTLY, 6.5, 16)
    assert count([True, True], runs=16).verdict == REPRODUCED
    assert count([False], runs=16).verdict == NOT_REPRODUCED
    some = count([True, False, False, True], runs=16)
    assert (some.verdict, some.measured, some.interval) == (PARTLY, 0.5, None)


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
