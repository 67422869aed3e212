"""Verdicts: rules on made-up numbers, and the refusal to judge chaos on a few runs."""

from __future__ import annotations

import pytest
import tidegate as tg
from tidegate._base.estimate import estimate
from tidegate_papers._reproduce.parts import count, together, with_untried
from tidegate_papers._reproduce.points import Points
from tidegate_papers._reproduce.verdict import (
    LEAST_RUNS,
    NOT_REPRODUCED,
    PARTLY,
    REPRODUCED,
    UNDECIDED,
    Judgement,
    above,
    below,
    best,
    enough,
    graded,
    within,
    worst,
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
    assert (both.verdict, both.measured, both.runs) == (PARTLY, 1.5, 16)
    named = together(
        above(made(6, 7), 5, "at 10"), above(made(4, 6), 5, "at 20"), above(made(6, 7), 5, "at 30")
    )
    assert named.reason == "Of 3 parts 2 hold, 1 is undecided. Undecided: at 20"
    assert named.rule == "in every part the whole 95% interval lies above 5"


def test_the_number_is_of_the_part_that_explains_the_verdict() -> None:
    good, bad, open_ = (
        above(made(*ends), 5, name)
        for ends, name in (((6, 7), "at 10"), ((1, 2), "at 20"), ((4, 6), "at 30"))
    )
    assert together(good, good).part == "at 10"
    assert (together(good, bad).part, together(good, bad).measured) == ("at 20", 1.5)
    assert together(good, open_).part == "at 30"
    assert together(open_, good, bad).part == "at 20", "one that does not hold before one that is undecided"
    all_, some = count([good, good], runs=16, name="NewReno"), count([good, bad], runs=16, name="Reno")
    shown = together(all_, some)
    assert (shown.verdict, shown.cases, shown.part) == (PARTLY, "1 of 2", "Reno")
    assert "Reno: Of 2 cases 1 holds" in shown.reason
    cells = (
        above(made(6, 7), 5, of="the goodput"),
        above(made(1, 2), 5, of="the lost packets", unit="packets"),
    )
    assert (together(*cells).unit, together(*cells).part) == ("packets", "the lost packets")


def test_rules_that_differ_say_what_each_is_about() -> None:
    with pytest.raises(ValueError, match=r"say what is measured \(of=\)"):
        together(above(made(6, 7), 5), below(made(6, 7), 8))
    with pytest.raises(ValueError, match=r"say what is measured \(of=\)"):
        count([above(made(6, 7), 5), below(made(6, 7), 8, of="the loss")], runs=16)
    with pytest.raises(ValueError, match=r"need a rule \(rule=\)"):
        count([True], runs=16)
    named = together(
        above(made(6, 7), 5, of="the goodput"), below(tg.Estimate(0.0, None, None, 1), 8, of="the loss")
    )
    assert named.rule == "the whole 95% interval of the goodput lies above 5; the loss lies below 8"
    told = together(above(made(6, 7), 5), below(made(6, 7), 8), rule="goodput is above 5 and loss below 8")
    assert told.rule == "goodput is above 5 and loss below 8"


def test_cases_are_counted_as_people_say_it() -> None:
    so = "it is so"
    assert count([True, True], runs=16, rule=so).verdict == REPRODUCED
    assert count([False], runs=16, rule=so).verdict == NOT_REPRODUCED
    some = count([True, False, False, True], runs=16, rule=so)
    assert (some.verdict, some.measured, some.interval) == (PARTLY, 0.5, None)
    assert (some.cases, some.rule) == ("2 of 4", "in every case it is so")
    mixed = count([GOOD, OPEN, GOOD, BAD], runs=16)
    assert (mixed.cases, mixed.measured) == ("2 of 4, 1 undecided", 0.5)


def test_what_was_not_tried_is_not_known() -> None:
    two = with_untried(count([GOOD, GOOD], runs=16), 10)
    assert (two.verdict, two.cases) == (UNDECIDED, "2 of 2, 10 not tried")
    assert two.reason == "Of 2 cases 2 hold. 10 more were not tried"
    assert two.possible == {REPRODUCED, PARTLY}
    assert with_untried(count([GOOD, BAD], runs=16), 10).verdict == PARTLY
    assert with_untried(count([BAD], runs=16), 1).possible == {PARTLY, NOT_REPRODUCED}
    assert with_untried(together(GOOD, OPEN), 1).possible == {REPRODUCED, PARTLY}
    assert with_untried(GOOD, 1).reason == "1 more point was not tried"
    assert with_untried(GOOD, 0) is GOOD


def test_the_best_can_get_better_only_and_the_worst_worse() -> None:
    assert with_untried(best(GOOD), 3).verdict == REPRODUCED
    assert with_untried(best(BAD), 3).possible == {REPRODUCED, NOT_REPRODUCED}
    assert with_untried(worst(GOOD), 3).possible == {REPRODUCED, NOT_REPRODUCED}
    assert with_untried(worst(BAD), 3).verdict == NOT_REPRODUCED
    middle = graded(made(0.2, 0.8), full=0.9, some=0.1)
    assert with_untried(best(middle), 3).possible == {REPRODUCED, PARTLY}
    assert with_untried(worst(middle), 3).possible == {PARTLY, NOT_REPRODUCED}


def test_a_quick_run_tries_some_of_the_points_of_the_full_one() -> None:
    points = Points((1, 2, 3, 4), quick=(1, 3))
    assert points.only(lambda each: each > 1) == Points((2, 3, 4), quick=(3,))
    pairs = points.times(Points("ab", quick="a"))  # type: ignore[arg-type]
    assert (len(pairs.every), pairs.quick) == (8, ((1, "a"), (3, "a")))
    with pytest.raises(ValueError, match="does not have: \\[5\\]"):
        Points((1, 2), quick=(1, 5))


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
    with pytest.raises(tg.errors.TooFewRunsError, match="16 runs or more, not on 15"):
        enough(few, chaotic=True)
    assert enough(few, chaotic=False) is few
    sixteen = Judgement(REPRODUCED, 1.0, (0.9, 1.1), 16)
    assert enough(sixteen, chaotic=True) is sixteen
    assert estimate([1.0] * 15 + [None]).n == 15, "a run without a number does not count"
