"""Folders that killed processes left while they wrote a part: removed when the part is done again."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import shutil
import socket
from pathlib import Path
from typing import TextIO

#: Names the machine that fills a folder; its process holds a lock on it, which ends with the process.
_OWNER = ".owner"


def own(work: Path) -> TextIO:
    """Mark a temporary folder as one that this process fills, and remove those beside it that nobody fills.

    Folders of other machines stay: whether a process runs there cannot be seen from here.
    """
    for other in work.parent.glob(f"{glob.escape(work.name.rpartition('.')[0])}.*"):
        if work.name.startswith(".") and other != work:
            _remove(other)
    held = (work / _OWNER).open("w", encoding="utf-8")
    # Some network folders know no locks: then the mark stays empty, and nobody removes the folder.
    with contextlib.suppress(OSError):
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write(socket.gethostname())
        held.flush()
    return held


def disown(held: TextIO) -> None:
    """Take the mark away again."""
    Path(held.name).unlink()
    held.close()


def _remove(folder: Path) -> None:
    """Remove a folder that a process of this machine began to fill, if the process has ended."""
    with contextlib.suppress(OSError), (folder / _OWNER).open(encoding="utf-8") as held:
        if held.read() == socket.gethostname():
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
