"""Answers that are drawn and kept in folders."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._base.answer import Answer
from tidegate._base.calls import checked_methods
from tidegate._base.files import write_text
from tidegate._base.lazy import Lazy
from tidegate._base.written import check_target

if TYPE_CHECKING:
    from matplotlib import figure as mpl

else:
    mpl = Lazy("matplotlib.figure")


@checked_methods
class Paged(ABC):
    """What has a report as one HTML page, and is shown by a notebook."""

    __slots__ = ()

    @abstractmethod
    def page(self) -> str:
        """Return the report as one self-contained HTML page, with its pictures."""

    @abstractmethod
    def _repr_html_(self) -> str:
        """Return what a notebook shows."""

    def write_report(self, path: str | os.PathLike[str]) -> Path:
        """Write :meth:`page` to a file. The same results give the same bytes.

        Raises:
            ArgumentError: the name does not end in .html, or there is no such folder.
            OSError: the file cannot be written.
        """
        check_target(path, "report")
        return write_text(path, self.page())


@checked_methods
class Kept(Answer):
    """An answer with a picture and a folder of its own."""

    __slots__ = ()

    @abstractmethod
    def fill(self, work: Path) -> None:
        """Write the files of its folder into an existing, empty one."""

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write its folder: manifest, numbers, tables and, where there are any, the folders of its runs.

        The folder appears whole or not at all. ``force`` replaces a folder that holds results;
        nothing else is ever replaced.

        Raises:
            RunFolderError: the folder is there already.
            ArgumentError: the scenario's file, or a trace, is in the folder that would be replaced.
            OSError: it cannot be written.
        """
        from tidegate._run.folder import staged

        path = Path(folder)
        with staged(path, force=force) as work:
            self.fill(work)
        return path
