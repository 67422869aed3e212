"""The value that a comparison of variants is: told, drawn and kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._base.lazy import Lazy
from tidegate._compare.variants import Variants
from tidegate._run.kept import Kept, written

if TYPE_CHECKING:
    from matplotlib import figure as mpl
else:
    mpl = Lazy("matplotlib.figure")


class Comparison(Variants, Kept):
    """Variants of one scenario, run over the same network.

    ``table`` is one row per variant; ``variants`` holds the runs themselves.
    """

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        gate: str | None = None,
        show: Sequence[str] | None = None,
    ) -> mpl.Figure:
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

        shown = self
        if gate is not None:
            for variant in self.variants:
                variant.run.gates.row(gate)
            shown = Comparison(self.title, self.axes, self.variants, gate, self.columns)
        figure = comparison_figure(shown, show)
        return written(figure, path)

    def fill(self, work: Path) -> None:
        """Write the files of its folder into an existing, empty one."""
        from tidegate._compare.folder import fill_comparison

        fill_comparison(self, work)

    def report(self) -> str:
        """Return the table for people."""
        from tidegate._compare.text import report

        return report(self)

    def __repr__(self) -> str:
        return (
            f"<tidegate.Comparison {self.title!r}, {len(self.variants)} variants of "
            f"{', '.join(self.axes)}, seed {self.seed}>"
        )
