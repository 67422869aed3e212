"""Words beside the ends of lines, moved apart where they would touch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Label:
    """A word beside the end of a line."""

    y: float
    text: str
    colour: str


def apart(shares: Sequence[float], labels: Sequence[Label], line: float) -> list[float]:
    """Return where labels stand, 0 at the bottom and 1 at the top, as near as can be to their shares.

    ``line``: the height of a line.
    """
    if not labels:
        return []
    lines = [1 + label.text.count("\n") for label in labels]
    order = sorted(range(len(labels)), key=lambda i: shares[i])
    places = [min(max(shares[i], 0.0), 1.0) for i in order]

    def gap(one: int, other: int) -> float:
        return line * (lines[order[one]] + lines[order[other]]) / 2

    for k in range(1, len(order)):
        places[k] = max(places[k], places[k - 1] + gap(k, k - 1))
    over = places[-1] - 1.0
    if over > 0:
        places[-1] -= over
        for k in range(len(order) - 2, -1, -1):
            places[k] = min(places[k], places[k + 1] - gap(k, k + 1))
    found = [0.0] * len(order)
    for place, i in zip(places, order, strict=True):
        found[i] = place
    return found
