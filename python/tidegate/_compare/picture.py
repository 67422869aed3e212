"""Which picture a comparison has: a row per variant, or a heat map over two keys with numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._base.errors import ArgumentError, nearest
from tidegate._base.quantity import quantities
from tidegate._compare.plot import comparison_figure
from tidegate._draw.heat import LEAST, Axis, Panel, ascending, heat_figure
from tidegate._run.words import key_words, metric_label, scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._compare.variants import Variants
    from tidegate._draw.figure import Figure

#: How variants are drawn.
KINDS = ("lines", "map")
#: The numbers of a map, those that are there.
_NUMBERS = ("goodput_bps", "queue_delay_p99_ms")


def figure_of(comparison: Variants, show: Sequence[str] | None = None, kind: str | None = None) -> Figure:
    """Draw a row per variant (``kind="lines"``) or maps (``"map"``).

    ``kind`` left out: maps where two keys have many numbers and no ``show`` is asked for.

    Raises:
        ArgumentError: there is no such kind, or not two keys with numbers for a map; what
            :func:`comparison_figure` raises.
    """
    if kind is not None and kind not in KINDS:
        raise ArgumentError(nearest("kind", kind, KINDS))
    if kind == "map" and show is not None:
        raise ArgumentError(
            "show: it chooses panels over time, and kind map draws cells; give one of the two"
        )
    values = {
        key: list(dict.fromkeys(str(variant.changes[key]) for variant in comparison.variants))
        for key in comparison.axes
    }
    numeric = len(values) == 2 and all(quantities(each) is not None for each in values.values())
    if kind == "map" and not numeric:
        raise ArgumentError("kind: a map has two varied keys with numbers; choose kind lines (--kind lines)")
    many = numeric and all(len(each) >= LEAST for each in values.values())
    if kind == "map" or (kind is None and show is None and many):
        return _map(comparison, values)
    return comparison_figure(comparison, show)


def _map(comparison: Variants, values: dict[str, list[str]]) -> Figure:
    across, up = sorted(values, key=lambda key: -len(values[key]))
    rows = comparison.rows()
    panels = []
    for metric in _NUMBERS:
        factor = scale_of(metric)[0]
        cells = {
            (str(row[across]), str(row[up])): None if row[metric] is None else row[metric] / factor
            for row in rows
        }
        label = metric_label(metric, comparison.gate)
        if any(value is not None for value in cells.values()):
            panels.append(Panel(label, label, cells))
    x, y = (Axis(key_words(key), ascending(values[key])) for key in (across, up))
    notes = [
        *filter(None, [comparison.tcp]),
        comparison.seeds,
        f"engine {comparison.variants[0].run.summary['engine']}",
    ]
    return heat_figure(comparison.title, notes, x, y, panels, shared=False)
