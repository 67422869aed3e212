"""The value that a comparison of engines is: told, drawn and kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._base.calls import checked_methods
from tidegate._base.lazy import Lazy
from tidegate._compare.agreement import Agreement
from tidegate._run.kept import Kept

if TYPE_CHECKING:
    from matplotlib import figure as mpl
else:
    mpl = Lazy("matplotlib.figure")


@checked_methods
class EngineComparison(Agreement, Kept):
    """One scenario as several engines see it.

    ``rows`` holds what is compared; ``missing`` says for each engine that was asked and does not
    apply why not; ``sentences`` says in words what agrees and what does not.
    """

    def report(self) -> str:
        """Return the tables and the sentences for people."""
        from tidegate._compare.engines_text import report

        return report(self)

    def plot(self, path: str | os.PathLike[str] | None = None) -> mpl.Figure:
        """Draw what every engine says, each quantity on a scale of its own, over histories.

        Raises:
            ArgumentError: the suffix is none of .png, .svg, .pdf.
            OSError: the file cannot be written.
        """
        from tidegate._compare.engines_plot import engines_figure
        from tidegate._draw.write import written

        figure = engines_figure(self)
        return written(figure, path)

    def fill(self, work: Path) -> None:
        """Write the files of its folder into an existing, empty one."""
        from tidegate._compare.engines_folder import fill_engines

        fill_engines(self, work)

    def __repr__(self) -> str:
        engines = ", ".join(each.label for each in self.engines)
        return f"<tidegate.EngineComparison {self.title!r}: {engines}>"
