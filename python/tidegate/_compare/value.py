"""The value that a comparison of variants is: told, drawn and kept."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._compare.variants import Variants

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.figure import Figure


class Comparison(Variants):
    """Variants of one scenario, run over the same network.

    ``table`` is one row per variant; ``variants`` holds the runs themselves.
    """

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        gate: str | None = None,
        show: Sequence[str] | None = None,
    ) -> Figure:
        """Draw the variants side by side; write PNG, SVG or PDF by the path's suffix.

        ``gate`` is the one to show; left out, the one that was compared. ``show`` names the panels of a
        row: ``cwnd``, ``goodput``, ``delay``, ``queue``, ``tokens``; left out, goodput, delay and queue,
        and none where there are more than 12 variants.

        Raises:
            UnknownNameError: a variant has no gate of this name, or there is no such panel.
            ArgumentError: the runs have nothing for a panel, or the suffix is none of .png, .svg, .pdf.
            OSError: the file cannot be written.
        """
        from tidegate._compare.plot import comparison_figure
        from tidegate._draw.style import write

        shown = self
        if gate is not None:
            for variant in self.variants:
                variant.run.gates.row(gate)
            shown = Comparison(self.title, self.axes, self.variants, gate)
        figure = comparison_figure(shown, show)
        if path is not None:
            write(figure, Path(path))
        return figure

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a folder with the comparison, its picture, and a run folder per variant.

        Raises:
            RunFolderError: the folder is there already.
            OSError: it cannot be written.
        """
        from tidegate._compare.folder import fill_comparison
        from tidegate._run.several import save

        return save(Path(folder), partial(fill_comparison, self), force=force)

    def report(self) -> str:
        """Return the table for people."""
        from tidegate._compare.text import report

        return report(self)

    def __repr__(self) -> str:
        return (
            f"<tidegate.Comparison {self.title!r}, {len(self.variants)} variants of "
            f"{', '.join(self.axes)}, seed {self.seed}>"
        )
