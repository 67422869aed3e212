"""The value that a study is: told, drawn, kept, and its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._base.calls import checked_methods
from tidegate._base.lazy import Lazy
from tidegate._base.text import counted
from tidegate._base.versions import made_with
from tidegate._run.folder import MANIFEST, write_json
from tidegate._run.kept import Kept, Paged
from tidegate._run.metric import TABLES
from tidegate._study.numbers import StudyNumbers
from tidegate._study.picture import Picture

if TYPE_CHECKING:
    from matplotlib import figure as mpl
else:
    mpl = Lazy("matplotlib.figure")


def fill_study(study: StudyNumbers, work: Path) -> None:
    """Write a study's files into an existing, empty folder."""
    manifest = {
        **study.manifest,
        "points": [
            {"set": point.values, "scenario": point.scenario, "varies": point.varies}
            for point in study.points
        ],
        "tables": [name for name in TABLES if study.has(name)],
        **made_with(),
    }
    write_json(work / MANIFEST, manifest)
    (work / "study.json").write_text(study.to_json() + "\n", encoding="utf-8")
    for name in manifest["tables"]:
        study.write(name, work / f"{name}.parquet")
    study.table.write_parquet(work / "table.parquet")


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
        kind: str | None = None,
    ) -> mpl.Figure:
        """Draw the means of a number, with intervals, against an axis; write PNG, SVG or PDF by the suffix.

        Args:
            path: where to write; left out, the figure is only returned.
            metric: a name as in :meth:`estimate`; left out, ``goodput_bps``.
            axis: the varied key along the bottom; left out, the one with most values.
            facet: the varied key whose values make panels; left out, none or, with three keys,
                the one that has numbers for values.
            only: values by varied key; other points are left out.
            kind: ``"lines"``, or ``"map"`` (a heat map: a cell for each pair of values of two keys with
                numbers); left out, a map where two keys have five numbers or more each.

        Raises:
            UnknownNameError: there is no such number, key or value.
            ArgumentError: nothing is varied, there is more to draw than can be read (the message says
                what to choose), or the suffix is none of .png, .svg, .pdf.
        """
        return self._draw(path, Picture(metric, axis, facet, _texts(only), kind=kind))

    def plot_against(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        x: str,
        y: str = "goodput_bps",
        axis: str | None = None,
        facet: str | None = None,
        only: Mapping[str, Sequence[Any]] | None = None,
    ) -> mpl.Figure:
        """Draw the means of ``y`` against those of ``x``, each with its interval.

        Args:
            path: as in :meth:`plot`.
            x: the number along the bottom, such as ``"queue_delay_p99_ms"``.
            y: the number upwards.
            axis: the varied key whose points a line joins; left out, the one with most values.
            facet, only: as in :meth:`plot`.

        Raises:
            UnknownNameError, ArgumentError: as :meth:`plot`.
        """
        return self._draw(path, Picture(None, axis, facet, _texts(only), x=x, y=y))

    def plot_cdf(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        metric: str = "goodput_bps",
        facet: str | None = None,
        only: Mapping[str, Sequence[Any]] | None = None,
    ) -> mpl.Figure:
        """Draw the share of runs in which a number is at most so much, as steps.

        Args:
            path, metric, facet, only: as in :meth:`plot`.

        Raises:
            UnknownNameError, ArgumentError: as :meth:`plot`.
        """
        return self._draw(path, Picture(None, None, facet, _texts(only), cdf=metric))

    def plot_box(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        metric: str = "goodput_bps",
        axis: str | None = None,
        facet: str | None = None,
        only: Mapping[str, Sequence[Any]] | None = None,
    ) -> mpl.Figure:
        """Draw a box of a number over the runs of each point.

        Args:
            path, metric, axis, facet, only: as in :meth:`plot`.

        Raises:
            UnknownNameError, ArgumentError: as :meth:`plot`.
        """
        return self._draw(path, Picture(None, axis, facet, _texts(only), box=metric))

    def _draw(self, path: str | os.PathLike[str] | None, picture: Picture) -> mpl.Figure:
        from tidegate._draw.write import written

        return written(picture.drawn(self), path)

    def fill(self, work: Path) -> None:
        """Write the files of its folder into an existing, empty one."""
        fill_study(self, work)

    def __repr__(self) -> str:
        counts = {*self.counts()}
        runs = "–".join(str(count) for count in sorted({min(counts), max(counts)}))
        return (
            f"<tidegate.Study {self.title!r}, seed {self.seed}: {counted(len(self.points), 'point')}, "
            f"{runs} {'run' if runs == '1' else 'runs'} each>"
        )


def _texts(only: Mapping[str, Sequence[Any]] | None) -> dict[str, list[str]]:
    """Return the values to keep as a scenario has them."""
    return {key: [str(value) for value in values] for key, values in (only or {}).items()}
