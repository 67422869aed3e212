"""Which picture a comparison has: a row per variant, or a heat map over two keys with numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._base.quantity import quantities
from tidegate._compare.plot import comparison_drawing
from tidegate._draw.cells import LEAST, Axis, Panel, ascending, check_kind
from tidegate._draw.heat import heat_drawing
from tidegate._run.words import key_words, metric_label, scale_of
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._compare.variants import Variants
    from tidegate._draw.drawing import Drawing

#: The numbers of a map, those that are there.
_NUMBERS = ("goodput_bps", "queue_delay_p99_ms")


def chosen(
    comparison: Variants, show: Sequence[str] | None, x: str | None, y: str | None, kind: str | None
) -> Drawing:
    """Draw a comparison as it is asked for: one number against another where there is an ``x``.

    Raises:
        ArgumentError: choices that do not go together; what the pictures raise.
    """
    if y is not None and x is None:
        raise ArgumentError("y: it needs x, the number on the x axis (--x NAME --y NAME)")
    if x is None:
        return picture_of(comparison, show, kind)
    from tidegate._compare.plot_against import against_drawing

    if kind is not None:
        raise ArgumentError("kind: it is for lines and maps, and x draws points; give one of the two")
    if show is not None:
        raise ArgumentError("show: it chooses panels over time, and x draws points; give one of the two")
    return against_drawing(comparison, x, y or "goodput_bps")


def picture_of(comparison: Variants, show: Sequence[str] | None = None, kind: str | None = None) -> Drawing:
    """Draw a row per variant (``kind="lines"``) or maps (``"map"``).

    ``kind`` left out: maps where two keys have many numbers and no ``show`` is asked for.

    Raises:
        ArgumentError: there is no such kind, or not two keys with numbers for a map; what
            :func:`comparison_drawing` raises.
    """
    check_kind(kind)
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
    return comparison_drawing(comparison, show)


def _map(comparison: Variants, values: dict[str, list[str]]) -> Drawing:
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
    return heat_drawing(comparison.title, notes, x, y, panels, shared=False)
