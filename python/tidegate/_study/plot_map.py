"""Heat maps of a study: the means of a number over two varied keys whose values are numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._base.quantity import quantities
from tidegate._base.text import number
from tidegate._draw.cells import LEAST, Axis, Panel, ascending
from tidegate._draw.heat import heat_drawing
from tidegate._run.summary import short_keys
from tidegate._run.words import key_words, metric_label, scale_of
from tidegate._study.layout import PANELS, groups_of, key_values, layout
from tidegate._study.plot import fixed_words, interval_words, lacking, whose
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate._draw.drawing import Drawing
    from tidegate._study.layout import Keys, Layout
    from tidegate._study.numbers import StudyNumbers
    from tidegate._study.points import Point

    Only = Mapping[str, Sequence[str]]


def suits(axes: Sequence[str], points: Sequence[Point], facet: str | None, only: Only) -> bool:
    """Tell whether a map is the picture to choose: two keys have numbers, and each has several."""
    groups = groups_of(axes, points, only)
    numeric = [values for keys, values in groups.items() if quantities(values) is not None]
    if len(numeric) != 2 or not (len(groups) == 2 or (len(groups) == 3 and facet is not None)):
        return False
    return all(len(values) >= LEAST for values in numeric)


def map_layout(
    axes: Sequence[str], points: Sequence[Point], axis: str | None, facet: str | None, only: Only
) -> Layout:
    """Return what lies along the bottom, upwards (``lines``), and what makes panels.

    Raises:
        ArgumentError: there are no two keys with numbers, or others are left.
        UnknownNameError: there is no such key or value.
    """
    groups = groups_of(axes, points, only)
    numeric = [keys for keys, values in groups.items() if quantities(values) is not None]
    others = [keys for keys in groups if keys not in numeric]
    if len(numeric) < 2 or len(groups) > 3:
        raise _no_map(groups)
    if facet is None and others:
        facet = others[0][0]
    if facet is None and len(numeric) == 3:
        facet = min(numeric, key=lambda keys: len(groups[keys]))[0]
    found = layout(axes, points, axis=axis, facet=facet, only=only, curves=None)
    if not {found.along, found.lines} <= {*numeric}:
        raise _no_map(groups)
    count = len(found.grouped())
    if count > PANELS:
        raise ArgumentError(f"the picture would have {count} panels; {PANELS} are the most that can be read")
    return found


def _no_map(groups: Mapping[Keys, Sequence[str]]) -> ArgumentError:
    listed = "; ".join(" with ".join(short_keys(keys)) for keys in groups) or "nothing"
    return ArgumentError(
        "kind: a map has two varied keys with numbers, and one more at most for panels; varied here: "
        f"{listed}. Choose kind lines (--kind lines), or leave values out with --only"
    )


def map_drawing(study: StudyNumbers, metric: str, axis: str | None, facet: str | None, only: Only) -> Drawing:
    """Draw the means of a number, a cell for each pair of values.

    Raises as :func:`map_layout`; UnknownNameError: there is no such metric.
    """
    placed = map_layout(study.axes, study.points, axis, facet, only)
    across, up = placed.along[0], placed.lines[0]
    factor = scale_of(metric)[0]
    label = metric_label(metric, study.gate)

    def panel(values: Keys, points: Sequence[Point]) -> Panel:
        found = {
            (point.values[across], point.values[up]): study.estimate(metric, point.number).mean
            for point in points
        }
        cells = {place: None if mean is None else mean / factor for place, mean in found.items()}
        return Panel(key_values(placed.panels, values), label, cells)

    panels = [
        panel(values, [point for points in lines.values() for point in points])
        for values, lines in placed.grouped().items()
    ]
    x, y = (Axis(key_words(key), ascending(placed.values(key))) for key in (across, up))
    notes = [label, _widths(study, metric, placed.points), *lacking(study, [metric], placed.points),
             *whose(study), *fixed_words(placed)]  # fmt: skip
    return heat_drawing(study.title, notes, x, y, panels, shared=True)


def _widths(study: StudyNumbers, metric: str, points: Sequence[Point]) -> str:
    """Say how many runs a cell is the mean of, and how wide the widest interval is."""
    halves = [study.estimate(metric, point.number).half_width for point in points]
    known = [half for half in halves if half]
    words = interval_words(study, metric, points)
    if not known:
        return words
    factor, unit = scale_of(metric)
    widest = f"±{number(max(known) / factor, 2)} {unit}".strip()
    return f"{words.replace('mean and 95% interval', 'mean')}; 95% intervals are {widest} at most"
