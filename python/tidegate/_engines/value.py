"""The value that a comparison of engines is: told, drawn and kept."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._engines.agreement import Agreement

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure


class EngineComparison(Agreement):
    """One scenario as several engines see it.

    ``rows`` holds what is compared; ``missing`` says for each engine that was asked and does not
    apply why not; ``sentences`` says in words what agrees and what does not.
    """

    def report(self) -> str:
        """Return the tables and the sentences for people."""
        from tidegate._engines.text import report

        return report(self)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw what every engine says, each quantity on a scale of its own, over histories.

        Raises:
            ArgumentError: the suffix is none of .png, .svg, .pdf.
            OSError: the file cannot be written.
        """
        from tidegate._draw.style import write
        from tidegate._engines.plot import engines_figure

        figure = engines_figure(self)
        if path is not None:
            write(figure, Path(path))
        return figure

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a folder with the comparison, its picture, and a run folder for every run.

        Raises:
            RunFolderError: the folder is there already.
            OSError: it cannot be written.
        """
        from tidegate._engines.folder import fill_engines
        from tidegate._run.several import save

        return save(Path(folder), partial(fill_engines, self), force=force)

    def __repr__(self) -> str:
        engines = ", ".join(each.label for each in self.engines)
        return f"<tidegate.EngineComparison {self.title!r}: {engines}>"
