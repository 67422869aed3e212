"""Which points of a study a picture shows, and where: along the bottom, as lines, as panels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate._base.nearest import nearest
from tidegate._base.quantity import quantities
from tidegate._run.summary import short_keys
from tidegate.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate._study.points import Point

#: More curves in a panel cannot be told apart.
CURVES = 8
#: More panels cannot be read.
PANELS = 12

#: Keys that move together; one step of them has a value of each.
Keys = tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """Where the points of a study lie in a picture.

    ``along``: the keys along the bottom (none where every point is a curve of its own); ``lines``
    and ``panels``: the keys whose values make curves and panels. ``points``: those that are shown.
    """

    along: Keys
    lines: Keys
    panels: Keys
    points: tuple[Point, ...]
    #: Keys with one value in all points that are shown, and that value.
    fixed: dict[str, str]

    def values(self, key: str) -> list[str]:
        """Return the values of a key that are shown, in their order."""
        return list(dict.fromkeys(point.values[key] for point in self.points))

    def grouped(self) -> dict[tuple[str, ...], dict[tuple[str, ...], list[Point]]]:
        """Return the points by panel, then by curve."""
        found: dict[tuple[str, ...], dict[tuple[str, ...], list[Point]]] = {}
        for point in self.points:
            panel = tuple(point.values[key] for key in self.panels)
            line = tuple(point.values[key] for key in self.lines)
            found.setdefault(panel, {}).setdefault(line, []).append(point)
        return found


def key_values(keys: Keys, values: Sequence[str]) -> str:
    """Return "cc=cubic, queue=20 packets"."""
    return ", ".join(f"{key}={value}" for key, value in zip(short_keys(keys), values, strict=True))


def layout(
    axes: Sequence[str],
    points: Sequence[Point],
    *,
    axis: str | None = None,
    facet: str | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
    along: bool = True,
    curves: int | None = CURVES,
) -> Layout:
    """Choose what lies along the bottom, what makes curves, and what makes panels.

    ``only``: values by key; other points are left out. ``along``: whether anything lies along the
    bottom; for distributions every point is a curve. ``curves``: how many a panel may have; None: any.

    Raises:
        ArgumentError: nothing is varied, or there are more curves or panels than can be read; the
            message says what to choose.
        UnknownNameError: there is no such key or value.
    """
    if not axes and not along:
        # One curve, of all runs.
        return Layout((), (), (), tuple(points), {})
    if not axes:
        raise ArgumentError("nothing is varied in this study: there is no axis to draw along")
    kept = _kept(axes, points, only or {})
    distinct = {key: list(dict.fromkeys(point.values[key] for point in kept)) for key in axes}
    groups = _together([key for key in axes if len(distinct[key]) > 1], kept) or [(axes[0],)]
    bottom = _group(groups, distinct, axes, axis, "--axis")
    panel = _group(groups, distinct, axes, facet, "--facet")
    if bottom is None and along:
        bottom = max(
            (group for group in groups if group != panel),
            key=lambda group: (quantities(distinct[group[0]]) is not None, len(distinct[group[0]])),
            default=groups[0],
        )
    if bottom is not None and bottom == panel:
        raise ArgumentError(f"{bottom[0]}: it is along the bottom or makes the panels; do one of the two")
    others = [group for group in groups if group not in (bottom, panel)]
    count = {group: len(distinct[group[0]]) for group in groups}
    if panel is None and len(others) > 1:
        # Words, such as cc, are told apart by lines; numbers, such as delays, by panels.
        panel = max(others, key=lambda group: (quantities(distinct[group[0]]) is not None, count[group]))
        others.remove(panel)
    lines = tuple(key for group in others for key in group)
    if bottom is not None and axis is not None:
        # Of keys that move together the one that was asked for has its values along the bottom.
        bottom = tuple(sorted(bottom, key=lambda key: key != find_key(axes, axis)))
    found = Layout(
        bottom or (),
        lines,
        panel or (),
        tuple(kept),
        {key: distinct[key][0] for key in axes if len(distinct[key]) == 1},
    )
    if curves is not None:
        _check(found, groups, count)
    return found


def groups_of(
    axes: Sequence[str], points: Sequence[Point], only: Mapping[str, Sequence[str]]
) -> dict[Keys, list[str]]:
    """Return the varied keys that have several values, with these; keys that move together are one group."""
    kept = _kept(axes, points, only)
    distinct = {key: list(dict.fromkeys(point.values[key] for point in kept)) for key in axes}
    groups = _together([key for key in axes if len(distinct[key]) > 1], kept)
    return {group: distinct[group[0]] for group in groups}


def find_key(axes: Sequence[str], key: str) -> str:
    """Return the varied key that is called so, whole or by its last parts.

    Raises:
        UnknownNameError: there is none, or several.
    """
    if key in axes:
        return key
    ends = [axis for axis in axes if axis.endswith(f".{key}")]
    if len(ends) == 1:
        return ends[0]
    raise UnknownNameError(nearest("axis", key, axes))


def _kept(axes: Sequence[str], points: Sequence[Point], only: Mapping[str, Sequence[str]]) -> list[Point]:
    kept = list(points)
    for name, values in only.items():
        key = find_key(axes, name)
        known = list(dict.fromkeys(point.values[key] for point in points))
        for value in values:
            if value not in known:
                raise UnknownNameError(nearest(f"value of {key}", value, known))
        kept = [point for point in kept if point.values[key] in values]
    if not kept:
        raise ArgumentError("--only: no point has these values together")
    return kept


def _together(keys: Sequence[str], points: Sequence[Point]) -> list[Keys]:
    """Return the keys in groups of those that move together: each tells the others' values."""
    groups: list[list[str]] = []
    for key in keys:
        for group in groups:
            pairs = {(point.values[group[0]], point.values[key]) for point in points}
            steps = {len({pair[0] for pair in pairs}), len({pair[1] for pair in pairs}), len(pairs)}
            if len(steps) == 1:
                group.append(key)
                break
        else:
            groups.append([key])
    return [tuple(group) for group in groups]


def _group(
    groups: Sequence[Keys],
    distinct: Mapping[str, Sequence[str]],
    axes: Sequence[str],
    asked: str | None,
    option: str,
) -> Keys | None:
    if asked is None:
        return None
    key = find_key(axes, asked)
    if all(key not in group for group in groups):
        raise ArgumentError(
            f"{option} {asked}: only {key}={distinct[key][0]} is shown; it has no other value"
        )
    return next(group for group in groups if key in group)


def _check(found: Layout, groups: Sequence[Keys], count: Mapping[Keys, int]) -> None:
    """Refuse what nobody could read, and say what to choose."""
    panels = found.grouped()
    curves = max(len(lines) for lines in panels.values())
    if curves <= CURVES and len(panels) <= PANELS:
        return
    listed = "; ".join(f"{' with '.join(short_keys(group))} ({count[group]} values)" for group in groups)
    first = next(group for group in groups if {*group} != {*found.along})
    value = found.values(first[0])[0]
    what = f"{curves} curves in a panel" if curves > CURVES else f"{len(panels)} panels"
    most = f"{CURVES} curves" if curves > CURVES else f"{PANELS} panels"
    raise ArgumentError(
        f"the picture would have {what}; {most} are the most that can be told apart. Varied here: {listed}. "
        f"Choose what lies along the bottom with --axis KEY, what makes panels with --facet KEY, and leave "
        f"values out with --only, such as --only {short_keys(first)[0]}={value}"
    )
