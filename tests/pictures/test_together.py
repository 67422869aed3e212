"""Curves that run together say how many they are, where neither bars nor axes are in the way."""

from __future__ import annotations

import numpy as np
import pytest
from tidegate._draw.drawing import Drawing, Panel
from tidegate._draw.frame import all_words
from tidegate._draw.together import mark_together

X = np.array([1.0, 2.0, 3.0])


def panel_of(drawing: Drawing) -> Panel:
    panel = drawing.panel(0.5, 0.5, 4, 3)
    panel.x.span(0.9, 3.1)
    panel.y.span(0, 10)
    return panel


@pytest.mark.parametrize("y", [1.0, 3.0, 5.0, 7.0, 9.5])
@pytest.mark.parametrize("half", [0.1, 1.0, 2.5])
@pytest.mark.parametrize("third", [2.0, 8.0])
def test_the_words_lie_on_no_bar_and_no_axis(y: float, half: float, third: float) -> None:
    drawing = Drawing(5, 4, "Together")
    panel = panel_of(drawing)
    pair = [np.full(3, y), np.full(3, y - half), np.full(3, y + half)]
    other = [np.full(3, third), np.full(3, third - 0.5), np.full(3, third + 0.5)]
    mark_together(panel, [(X, *pair), (X, *pair), (X, *other)])
    words = [each for each in all_words(drawing) if each.words.text.endswith(" curves")]
    assert len(words) == 1
    (left, right), (bottom, top) = panel.places([0.9, 3.1], [0.0, 10.0])
    (word,) = words
    assert left < word.left < word.right < right
    low, high = (float(panel.places(1.0, end)[1]) for end in (y - half, y + half))
    assert word.bottom >= high or word.top <= low
    ends = [float(panel.places(1.0, third + side)[1]) for side in (-0.5, 0.5)]
    # Else there is no room.
    if abs(y - third) > half + 2:
        assert word.bottom >= ends[1] or word.top <= ends[0]
        if low - bottom > 12 or top - high > 12:
            assert bottom <= word.bottom < word.top <= top


def test_curves_that_stay_together_say_so_once() -> None:
    drawing = Drawing(5, 4, "Together")
    panel = panel_of(drawing)
    one = [np.array([2.0, 5.0, 5.0])] * 3
    mark_together(panel, [(X, *one), (X, *([np.array([8.0, 5.0, 5.0])] * 3))])
    assert [each.text for each in panel.words] == ["2 curves"]
    assert panel.words[0].x == 2.0
