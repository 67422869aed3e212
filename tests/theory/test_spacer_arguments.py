"""Arguments of the spacer's theory: the message names the one that is wrong."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg

if TYPE_CHECKING:
    from collections.abc import Callable


def call(**changes: Any) -> Callable[[], tg.theory.Spacer]:
    given: dict[str, Any] = {
        **dict(h=1, c=Fraction(1, 2), delta=100, segment_cells=32, threshold=41, window=41),  # noqa: C408
        **changes,
    }
    return lambda: tg.theory.spacer(**given)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (call(c=1), "c: 1 is not below h, 1"),
        (call(c=0), "c: 0 is out of range; more than 0"),
        (call(h="fast"), "c: Fraction.1, 2. has no unit, but h has one"),
        (call(h="34 Mbit/s", c="5 Mbits", delta="1 ms"), 'c: .*"5 Mbits"'),
        (call(h=True), "h: True is not a number"),
        (call(h=float("nan")), "h: nan is not a number"),
        (call(delta=-1), "delta: -1 is out of range; 0 or more"),
        (call(segment_cells=0), "segment_cells: 0 is out of range; from 1 to"),
        (call(segment_cells="32 bytes"), "segment_cells: '32 bytes' is no number of cells"),
        (call(window=1.5), "window: 1.5 is not a whole number of segments"),
        (call(segments_per_ack=3), "segments_per_ack: 3 is not covered; 1 or 2"),
        (call(segments_per_ack=2), "initial_window: 1 is never acknowledged"),
        (call(segments_per_ack=2, initial_window=2, window=1), "window: 1 is never acknowledged"),
    ],
)
def test_wrong_arguments(wrong: Callable[[], tg.theory.Spacer], message: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=message):
        wrong()
