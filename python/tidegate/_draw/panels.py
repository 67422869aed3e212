"""What figures of papers share: looks of lines, panels, means with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.estimate import Estimate
from tidegate._draw.tokens import ACCENT, INK, MID, SOFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture


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
        yerr=[[one.arms[end] / by for _, one in kept] for end in (0, 1)],
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
