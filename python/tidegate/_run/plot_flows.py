"""How flows compare: bars of goodput and of completion times, with fairness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.ticker import MaxNLocator

from tidegate._base.text import rate_scale
from tidegate._draw.style import ACCENT, MID, fit
from tidegate._run.completion import done_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

#: Flows whose bars have names.
_NAMED = 12
#: From so many on they are one outline: matplotlib would draw each bar by itself.
_OUTLINE = 500


def bars_panel(axes: Axes, flows: Sequence[dict[str, Any]], column: str, title: str, unit: str) -> None:
    """Draw one bar per flow, the largest first where they are too many for names."""
    factor = rate_scale(max(row[column] or 0.0 for row in flows))[0] if column.endswith("_bps") else 1.0
    rows = [(str(row["name"]), (row[column] or 0.0) / factor) for row in flows]
    many = len(rows) > _NAMED
    if many:
        rows.sort(key=lambda row: -row[1])
    values = [value for _, value in rows]
    if len(rows) > _OUTLINE:
        edges = [place - 0.5 for place in range(len(rows) + 1)]
        axes.stairs(values, edges, fill=True, color=MID, lw=0)
    else:
        axes.bar(
            range(len(rows)), values, width=0.62 if not many else 1.0, color=ACCENT if not many else MID, lw=0
        )
    for place, row in enumerate(() if many else flows):
        if row[column] is None:
            words = f"not finished {done_cell(row)}"
            axes.annotate(words, (place, 0), rotation=90, ha="center", va="bottom", fontsize=7, color=MID)
    axes.set_xlim(-0.6, len(rows) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.set_title(title)
    axes.set_ylabel(unit)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.set_ylim(0, 1.1 * max([value for _, value in rows]) or 1.0)
    if many:
        axes.set_xticks([])
        axes.set_xlabel(f"the {len(rows)} flows, the largest first")
    else:
        crowded = sum(len(name) + 2 for name, _ in rows) > 80
        axes.set_xticks(
            range(len(rows)), [fit(name, 16) for name, _ in rows], rotation=30 if crowded else 0,
            ha="right" if crowded else "center", fontsize=7.5,
        )  # fmt: skip
