"""Error bars of papers end where goodputs and their ratios do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tidegate._base.estimate import Estimate, estimate
from tidegate._run.words import possible
from tidegate_papers._reproduce.estimates import ratio
from tidegate_papers.dtm import cases, from_studies
from tidegate_papers.tcp_over_abr import live

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

#: The mean is a quarter, and half of the interval three times as much.
WIDE = [4e6, 0.0, 0.0, 0.0]


class Study:
    """Of every point the same values."""

    def __init__(self, values: Sequence[float]) -> None:
        self._values = values

    def values(self, *_: Any) -> list[float]:
        return [*self._values]

    def estimate(self, *_: Any) -> Estimate:
        return estimate(self._values, possible("goodput_bps"))


def least(picture: Any) -> float:
    """Return where the lowest error bar of a picture ends."""
    bars = [
        held.lines[2][0]
        for axes in picture.axes
        for held in axes.containers
        if type(held).__name__ == "ErrorbarContainer"
    ]
    assert bars
    return min(float(ends[:, 1].min()) for bar in bars for ends in bar.get_segments())


def test_of_the_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    one, wide = Study([4e6] * 4), Study(WIDE)
    monkeypatch.setattr(cases, "static_two", lambda *_, **__: one)
    monkeypatch.setattr(cases, "dynamic_two", lambda *_, **__: wide)
    monkeypatch.setattr(cases, "slower", lambda *_: (wide, one))
    lab: Any = SimpleNamespace(quick=True, points=lambda points: points.quick)
    for draw in (from_studies.draw_remedies, from_studies.draw_variants):
        assert least(draw(lab)) == 0.0


def test_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "both", lambda _: (WIDE, WIDE))
    lab: Any = None
    assert least(live.draw_pairs(lab)) == 0.0


def test_a_ratio_is_not_below_0() -> None:
    assert ratio(WIDE, [4e6] * 4).low == 0.0
