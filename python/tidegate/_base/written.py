"""Files that will be written: what each may be called, and that none of them is one that is read."""

from __future__ import annotations

import errno
import os
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

#: How names of files end, and how that is said.
_ENDS = {
    "picture": ((".png", ".svg", ".pdf"), ".png, .svg or .pdf"),
    "report": ((".html", ".htm"), ".html"),
    "data file of flent": ((".flent.gz", ".flent"), ".flent.gz (or .flent)"),
}

#: The outputs of the command that runs; empty in a program.
TO_WRITE: ContextVar[tuple[str, ...]] = ContextVar("TO_WRITE", default=())

#: What this process has read, or has read the results of: scenario files and their traces.
_INPUTS: set[str] = set()


def note_inputs(names: Iterable[str]) -> None:
    """Remember inputs: they are not to be written over, and the folder may be another one by then."""
    _INPUTS.update(map(os.path.abspath, names))


def check_replaced(folder: Path) -> None:
    """Refuse to replace a folder that has an input in it.

    Raises:
        ArgumentError: it has; the message names both.
    """
    check_outputs((name for name in sorted(_INPUTS) if os.path.lexists(name)), [str(folder)])


def same_file(one: str, other: str) -> bool:
    """Tell whether two names are one file, or would be; devices and pipes are written as often as named."""
    first, second = Path(one), Path(other)
    try:
        if first.exists() and second.exists():
            return (first.is_file() or first.is_dir()) and first.samefile(second)
        return first.resolve() == second.resolve()
    except (OSError, RuntimeError, ValueError):
        # Whoever opens it says what is wrong with the name.
        return False


def holds(folder: str, name: str) -> bool:
    """Tell whether a folder is there and has this file or folder in it, however deep."""
    try:
        return Path(folder).is_dir() and Path(folder).resolve() in Path(name).resolve().parents
    except (OSError, RuntimeError, ValueError):
        return False


def check_outputs(read: Iterable[str], written: Iterable[str]) -> None:
    """Refuse an output that is an input, or a folder of outputs that has one in it.

    Raises:
        ArgumentError: it is; the message names both.
    """
    names = list(written)
    for source in read:
        for name in names:
            if source == "-":
                continue
            if holds(name, source):
                raise ArgumentError(f"{name} holds the input {source}; choose another folder")
            if same_file(source, name):
                other = "" if source == name else f" ({source})"
                raise ArgumentError(f"{name} is the input{other}; choose another name")


def check_target(path: str | os.PathLike[str] | None, kind: str | None = None) -> None:
    """Refuse a file that could not be written, before any work; None: there is to be none.

    Args:
        path: the file.
        kind: "picture", "report", "data file of flent"; None: any name is one.

    Raises:
        ArgumentError: the name does not end as its kind does, or is that of a folder.
        OSError: there is no such folder, or it cannot be written.
    """
    if path is None:
        return
    check_end(path, kind)
    place = Path(path)
    if not os.fspath(path) or place.is_dir():
        raise ArgumentError(f"{os.fspath(path) or place}: this is a folder; give the name of a file")
    if not place.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {place.parent}", os.fspath(path))
    if not os.access(place.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "cannot be written", os.fspath(path))


def check_end(path: str | os.PathLike[str], kind: str | None) -> None:
    """Refuse a name that does not end as a file of this kind does.

    Raises:
        ArgumentError: it does not.
    """
    ends, words = _ENDS.get(kind or "", (("",), ""))
    if not os.fspath(path).lower().endswith(ends) or (kind and Path(path).name.lower() in ends):
        raise ArgumentError(f"{path}: the name of a {kind} ends in {words}")
