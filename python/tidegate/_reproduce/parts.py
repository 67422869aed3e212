"""What papers share: numbers in words, panels, means with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.estimate import Estimate, estimate
from tidegate._draw.style import ACCENT, INK, MID, SOFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

    from tidegate._reproduce.verdict import Judgement

DASHED: Any = (0, (5, 1.6))
DOTTED: Any = (0, (1, 1.2))
#: (colour, line, marker): told apart without colour, too.
LOOKS: tuple[tuple[str, Any, str], ...] = (
    (ACCENT, "-", "o"),
    (INK, DASHED, "s"),
    (MID, "-", "^"),
    (INK, DOTTED, "D"),
    (SOFT, "-", "v"),
)


def ratio(these: Sequence[float | None], those: Sequence[float | None]) -> Estimate:
    """Return the mean of this / that, run by run."""
    return estimate(
        None if this is None or not that else this / that for this, that in zip(these, those, strict=False)
    )


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
    """Return an estimate in another unit."""

    def part(value: float | None) -> float | None:
        return None if value is None else value / by

    return Estimate(part(found.mean), part(found.half_width), part(found.sd), found.n)


def number_of(judged: Judgement) -> Estimate:
    """Return the number that a judgement rests on."""
    half = None if judged.interval is None else (judged.interval[1] - judged.interval[0]) / 2
    return Estimate(judged.measured, half, None, judged.runs)


def shown(found: Estimate, unit: str = "") -> str:
    """Return an estimate in words."""
    from tidegate._study.text import plus_minus

    return f"{plus_minus(found)} {unit}".rstrip()


def panels(width: float, height: float, rows: int, columns: int, **options: Any) -> tuple[Picture, Any]:
    """Return an empty picture with so many panels."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(width, height), layout="constrained")
    return picture, picture.subplots(rows, columns, squeeze=False, **options)


def bars(
    axes: Axes, x: Sequence[float], found: Sequence[Estimate], look: int, label: str, by: float = 1.0
) -> None:
    """Draw means with their intervals."""
    colour, line, marker = LOOKS[look % len(LOOKS)]
    kept = [(place, one) for place, one in zip(x, found, strict=True) if one.mean is not None]
    axes.errorbar(
        [place for place, _ in kept],
        [(one.mean or 0) / by for _, one in kept],
        yerr=[(one.half_width or 0) / by for _, one in kept],
        color=colour,
        ls=line,
        marker=marker,
        ms=4.2,
        lw=1.2,
        capsize=2.5,
        elinewidth=0.9,
        mfc=colour if look % 2 == 0 else "white",
        label=label,
    )
