"""What claims of papers share: ratios with their intervals, and numbers in words."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from tidegate._base.estimate import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate_papers._reproduce.verdict import Judgement


def ratio(these: Sequence[float | None], those: Sequence[float | None]) -> Estimate:
    """Return the mean of this / that, run by run; neither is ever below 0."""
    found = (
        None if this is None or not that else this / that for this, that in zip(these, those, strict=False)
    )
    return estimate(found, (0.0, math.inf))


def ratio_of_means(these: Sequence[float | None], those: Sequence[float | None]) -> Estimate:
    """Return mean(this) / mean(that) with its interval: for values of which some are near 0.

    The interval is that of the linearised ratio (Cochran, Sampling Techniques, 2.11), paired.
    """
    pairs = [(a, b) for a, b in zip(these, those, strict=False) if a is not None and b is not None]
    below = sum(b for _, b in pairs) / len(pairs) if pairs else 0.0
    if not below:
        return estimate([])
    found = sum(a for a, _ in pairs) / len(pairs) / below
    return estimate(found + (a - found * b) / below for a, b in pairs)


def scaled(found: Estimate, by: float) -> Estimate:
    """Return an estimate in another unit, or as a share of something."""

    def part(value: float | None) -> float | None:
        return None if value is None else value / by

    bounds = None if found.possible is None else (found.possible[0] / by, found.possible[1] / by)
    return Estimate(part(found.mean), part(found.half_width), part(found.sd), found.n, bounds)


def less_than_one(found: Estimate) -> Estimate:
    """Return by how much a share is less than 1."""
    bounds = None if found.possible is None else (1 - found.possible[1], 1 - found.possible[0])
    return replace(found, mean=None if found.mean is None else 1 - found.mean, possible=bounds)


def more_than_one(found: Estimate) -> Estimate:
    """Return by how much a share is more than 1."""
    bounds = None if found.possible is None else (found.possible[0] - 1, found.possible[1] - 1)
    return replace(found, mean=None if found.mean is None else found.mean - 1, possible=bounds)


def number_of(judged: Judgement) -> Estimate:
    """Return the number that a judgement rests on."""
    half = None if judged.interval is None else (judged.interval[1] - judged.interval[0]) / 2
    return Estimate(judged.measured, half, None, judged.runs)


def shown(found: Estimate, unit: str = "") -> str:
    """Return an estimate in words."""
    from tidegate._study.text import plus_minus

    return f"{plus_minus(found)} {unit}".rstrip()
