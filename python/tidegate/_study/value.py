"""The value that a study is: told, drawn and kept."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._base.calls import checked_methods
from tidegate._base.lazy import Lazy
from tidegate._base.text import counted
from tidegate._run.kept import Kept, Paged
from tidegate._study.numbers import StudyNumbers

if TYPE_CHECKING:
    from matplotlib import figure as mpl
else:
    mpl = Lazy("matplotlib.figure")


@checked_methods
class Study(StudyNumbers, Kept, Paged):
    """Every run of a study, and what follows from them.

    ``runs`` has a row per point and replication; ``flows``, ``gates``, ``traffic``, ``requests``,
    ``pools`` and ``calls`` a row per point, replication and element; ``table`` a row per point and
    metric with mean and interval. All are data frames with the varied keys as columns.
    """

    def report(self, columns: Sequence[str] | None = None, baseline: Mapping[str, Any] | None = None) -> str:
        """Return the table for people.

        ``columns``: numbers to show, named as in :meth:`estimate`; left out, the usual ones. ``baseline``:
        differences as of :meth:`against`; left out, from the first point.

        Raises:
            UnknownNameError: there is no such number.
        """
        from tidegate._study.text import report

        return report(self, columns, baseline)

    def page(self) -> str:
        """Return the report as one self-contained HTML page: tables, pictures, scenario and command."""
        from tidegate._study.page import study_page

        return study_page(self)

    def _repr_html_(self) -> str:
        from tidegate._study.page import study_fragment

        return study_fragment(self)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        metric: str | None = None,
        axis: str | None = None,
        facet: str | None = None,
        only: Mapping[str, Sequence[Any]] | None = None,
        x: str | None = None,
        y: str | None = None,
        cdf: str | None = None,
        box: str | None = None,
        kind: str | None = None,
    ) -> mpl.Figure:
        """Draw the study; write PNG, SVG or PDF by the suffix.

        What is drawn is one of: the means of ``metric`` (left out, ``goodput_bps``) with their intervals
        against an axis; the means of ``y`` against those of ``x``, each with its interval; the share
        of runs in which ``cdf`` is at most so much; a box of ``box`` over the runs of each point.

        Args:
            path: where to write; left out, the figure is only returned.
            metric: a name as in :meth:`estimate`.
            axis: the varied key along the bottom; left out, the one with most values.
            facet: the varied key whose values make panels; left out, none or, with three keys,
                the one that has numbers for values.
            only: values by varied key; other points are left out.
            x: the number along the bottom, such as ``"queue_delay_p99_ms"``.
            y: the number upwards; left out, ``goodput_bps``.
            cdf: the number whose distribution over the runs is drawn as steps.
            box: the number whose distribution over the runs is drawn as boxes.
            kind: how means are drawn: ``"lines"``, or ``"map"`` (a heat map: a cell for each pair of values
                of two keys with numbers); left out, a map where two keys have five numbers or more each.

        Raises:
            UnknownNameError: there is no such number, key or value.
            ArgumentError: nothing is varied, there is more to draw than can be read (the message says
                what to choose), or the suffix is none of .png, .svg, .pdf.
        """
        from tidegate._draw.write import written
        from tidegate._study.picture import Picture

        kept = {key: [str(value) for value in values] for key, values in (only or {}).items()}
        figure = Picture(metric, axis, facet, kept, x, y, cdf, box, kind).drawn(self)
        return written(figure, path)

    def fill(self, work: Path) -> None:
        """Write the files of its folder into an existing, empty one."""
        from tidegate._study.folder import fill_study

        fill_study(self, work)

    def __repr__(self) -> str:
        counts = {*self.counts()}
        told = "–".join(str(count) for count in sorted({min(counts), max(counts)}))
        return (
            f"<tidegate.Study {self.title!r}, seed {self.seed}: {counted(len(self.points), 'point')}, "
            f"{told} {'run' if told == '1' else 'runs'} each>"
        )
