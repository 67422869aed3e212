"""Random simulated links of every law: a small part of `benches/identify.py`, the same links each time."""

from __future__ import annotations

import pytest
from support.common import benchmark

links = benchmark("identify")

#: One link of each law, without traffic that the capture does not show.
CHOSEN = {
    "policer": 54,
    "constant": 28,
    "token bucket": 38,
    "two rates": 48,
    "steps": 4,
    "varying": 5,
    "none": 8,
}


#: Links whose law only a few packets show, or that other traffic or pauses hide.
HARD = {
    "two rates beside hidden traffic": 3000,
    "a peak that few packets meet": 3072,
    "a small burst beside hidden traffic": 3017,
    "a step between answers": 3037,
    "a step up under a long queue": 3073,
    "a step down under a queue that is never empty": 3109,
    "a queue of seven packets beside hidden traffic": 3043,
    "RED, which looks at an average": 4047,
    "answers to a client whose window holds the sender": 5042,
}


@pytest.mark.parametrize("number", HARD.values(), ids=HARD.keys())
def test_a_law_that_is_hard_to_see(number: int) -> None:
    for answer in links.answers(number):
        assert answer.said == answer.truth, answer.sentence


@pytest.mark.parametrize(("law", "number"), CHOSEN.items())
def test_a_law_is_named_from_either_end(law: str, number: int) -> None:
    for answer in links.answers(number):
        assert answer.truth == law
        assert answer.said == law, answer.sentence
        assert answer.rate_held is not False, answer.sentence


def test_hidden_traffic_is_said_to_be_possible_and_its_part_is_in_the_interval() -> None:
    for answer in links.answers(10):
        assert answer.background
        assert answer.told_hidden
        assert answer.rate_held


def test_the_interval_of_a_policer_holds_what_hidden_traffic_leaves() -> None:
    for answer in links.answers(279):
        assert answer.background
        assert answer.said == "policer"
        if answer.end != "receiver":
            # Near the receiver coarse times hide how much the rate varies; see docs/design/identify.md.
            assert answer.rate_held, answer.sentence
            assert answer.rate_error is not None
            assert abs(answer.rate_error) < 0.01


def test_delayed_acks_do_not_hide_a_policer_with_a_small_bucket() -> None:
    for answer in links.answers(81):
        assert answer.said == "policer", answer.sentence
        # Near the receiver when a missing packet would have come is not known well enough.
        assert answer.rate_held or answer.end == "receiver", answer.sentence
