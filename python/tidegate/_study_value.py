"""The value that a study is: told, drawn and kept."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._study_numbers import StudyNumbers

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure


class Study(StudyNumbers):
    """Every run of a study, and what follows from them.

    ``runs`` has a row per point and replication; ``flows``, ``gates``, ``traffic``, ``requests``,
    ``pools`` and ``calls`` a row per point, replication and element; ``table`` a row per point and
    metric with mean and interval. All are data frames with the varied keys as columns.
    """

    def report(self) -> str:
        """Return the table for people."""
        from tidegate._study_text import report

        return report(self)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        metric: str = "goodput_bps",
        axis: str | None = None,
    ) -> Figure:
        """Draw a metric against an axis with its intervals; write PNG, SVG or PDF by the suffix.

        ``axis`` is the key along the bottom; left out, the one with most values. The other
        keys make the lines.

        Raises:
            UnknownNameError: there is no such metric or axis.
            ArgumentError: nothing is varied, or the suffix is none of .png, .svg, .pdf.
        """
        from tidegate import _plot_study, _plot_style

        figure = _plot_study.study_figure(self, metric, None if axis is None else self._axis(axis))
        if path is not None:
            _plot_style.write(figure, Path(path))
        return figure

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a folder: manifest, study.json, and a Parquet file per table.

        Raises:
            RunFolderError: the folder is there already.
            OSError: it cannot be written.
        """
        from tidegate._folder_fill import fill_study, save

        return save(Path(folder), partial(fill_study, self), force=force)

    def __repr__(self) -> str:
        counts = {len(rows) for rows in self._by_point.values()}
        told = "–".join(str(count) for count in sorted({min(counts), max(counts)}))
        return (
            f"<tidegate.Study {self.title!r}, seed {self.seed}: {len(self.points)} points, {told} runs each>"
        )
