"""What a picture of a study shows: one number along an axis, two against each other, or a distribution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidegate._draw.cells import check_kind
from tidegate._study.layout import layout
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate._draw.drawing import Drawing
    from tidegate._study.numbers import StudyNumbers
    from tidegate._study.points import Point


@dataclass(frozen=True)
class Picture:
    """The choices of a picture of a study; see :meth:`tidegate.Study.plot`."""

    metric: str | None = None
    axis: str | None = None
    facet: str | None = None
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    x: str | None = None
    y: str | None = None
    cdf: str | None = None
    box: str | None = None
    kind: str | None = None

    def check(self, axes: Sequence[str], points: Sequence[Point]) -> None:
        """Refuse choices that do not go together or make no readable picture, before any run.

        Raises:
            ArgumentError, UnknownNameError: the message says what to choose.
        """
        kinds = {"metric": self.metric, "x": self.x, "cdf": self.cdf, "box": self.box}
        given = [name for name, value in kinds.items() if value is not None]
        if self.y is not None and self.x is None:
            raise ArgumentError("y: it needs x, the number on the x axis (--x METRIC --y METRIC)")
        if len(given) > 1:
            listed = " and ".join(given)
            raise ArgumentError(f"{listed}: a picture shows one of metric, x with y, cdf and box; give one")
        if self.cdf is not None and self.axis is not None:
            raise ArgumentError("axis: the x axis of a cdf has its values; use facet for panels")
        check_kind(self.kind)
        if self.kind is not None and given not in ([], ["metric"]):
            raise ArgumentError(f"kind: it is for a picture of a metric, not for {given[0]}")
        if self._is_map(axes, points):
            from tidegate._study.plot_map import map_layout

            map_layout(axes, points, self.axis, self.facet, self.only)
            return
        layout(axes, points, axis=self.axis, facet=self.facet, only=self.only, along=self.cdf is None)

    def _is_map(self, axes: Sequence[str], points: Sequence[Point]) -> bool:
        """Tell whether means are drawn as a map: as asked, else where two keys have many numbers."""
        if self.kind is not None:
            return self.kind == "map"
        if any(each is not None for each in (self.x, self.cdf, self.box, self.axis)) or not axes:
            return False
        from tidegate._study.plot_map import suits

        return suits(axes, points, self.facet, self.only)

    def drawn(self, study: StudyNumbers) -> Drawing:
        """Draw it."""
        self.check(study.axes, study.points)
        if self.x is not None:
            from tidegate._study.plot_against import against_drawing

            y = self.y or "goodput_bps"
            return against_drawing(study, self.x, y, self.axis, self.facet, self.only)
        if self.cdf is not None:
            from tidegate._study.plot_spread import cdf_drawing

            return cdf_drawing(study, self.cdf, self.facet, self.only)
        if self.box is not None:
            from tidegate._study.plot_spread import box_drawing

            return box_drawing(study, self.box, self.axis, self.facet, self.only)
        if self._is_map(study.axes, study.points):
            from tidegate._study.plot_map import map_drawing

            return map_drawing(study, self.metric or "goodput_bps", self.axis, self.facet, self.only)
        from tidegate._study.plot import study_drawing

        return study_drawing(study, self.metric or "goodput_bps", self.axis, self.facet, self.only)
