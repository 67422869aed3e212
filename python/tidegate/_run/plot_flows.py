"""How flows compare: bars of goodput and of completion times, with fairness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.text import rate_scale
from tidegate._draw.letters import width
from tidegate._draw.parts import Words
from tidegate._draw.tokens import ACCENT, MID, fit
from tidegate._run.completion import done_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._draw.drawing import Panel

#: Flows whose bars have names.
_NAMED = 12
#: From so many on they are one outline: many bars beside each other have edges.
_OUTLINE = 500


def bars_panel(panel: Panel, flows: Sequence[dict[str, Any]], column: str, title: str, unit: str) -> None:
    """Draw one bar per flow, the largest first where they are too many for names."""
    factor = rate_scale(max(row[column] or 0.0 for row in flows))[0] if column.endswith("_bps") else 1.0
    rows = [(str(row["name"]), (row[column] or 0.0) / factor) for row in flows]
    many = len(rows) > _NAMED
    if many:
        rows.sort(key=lambda row: -row[1])
    values = [value for _, value in rows]
    if len(rows) > _OUTLINE:
        edges = [place - 0.5 for place in range(len(rows) + 1)]
        panel.filled_bins(np.array(edges), np.array(values), MID)
    else:
        panel.bars(range(len(rows)), values, 1.0 if many else 0.62, MID if many else ACCENT)
    for place, row in enumerate(() if many else flows):
        if row[column] is None:
            words = "not measured" if column.endswith("_bps") else f"not finished {done_cell(row)}"
            panel.write(Words(place, 0, words, 7, MID, up="center", turned=True, at_values=True))
    panel.x.span(-0.6, len(rows) - 0.4)
    panel.x.grid = False
    panel.title = title
    panel.y_label = unit
    panel.y.most = 4
    panel.y.span(0, 1.1 * max([value for _, value in rows]))
    if many:
        panel.x.named = []
        panel.x_label = f"the {len(rows)} flows, the largest first"
    else:
        panel.x.named = [(place, fit(name, 16)) for place, (name, _) in enumerate(rows)]
        panel.x.size = 7.5
        # A name has the room of its bar; half a flow stands at each end.
        room = 72 * panel.width / (len(rows) + 0.2)
        panel.x.slanted = any(width(name, 7.5) + 4 > room for _, name in panel.x.named)
