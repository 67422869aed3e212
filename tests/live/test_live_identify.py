"""What `identify` says of captures of the kernel's TCP through our gates, at both ends."""

from __future__ import annotations

import pytest
import tidegate as tg
from support.common import benchmark

links = benchmark("identify")

pytestmark = pytest.mark.live

#: Links of the benchmark whose law and numbers twelve seconds show.
CHOSEN = {"policer": 0, "constant": 1, "none": 8}


@pytest.mark.parametrize(("law", "number"), CHOSEN.items())
def test_the_law_of_a_live_link_is_named_from_both_ends(law: str, number: int) -> None:
    try:
        answers = links.answers(number, "live")
    except tg.errors.EngineError as reason:
        if "namespace" in str(reason):
            pytest.skip(str(reason))
        raise
    for answer in answers:
        assert answer.truth == law
        assert answer.said == law, answer.sentence
        if "do not tell it closer" in answer.sentence:
            # Hosts that wake late may send each window as one burst: drops in a pattern leave the rate open.
            assert answer.rate_held, answer.sentence
        else:
            # The real clock moves packets: a number is near, whether or not its interval holds it.
            assert answer.rate_error is None or abs(answer.rate_error) < 0.03, answer.sentence
