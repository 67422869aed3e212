"""Files and folders that appear whole or not at all, and what killed processes left of them.

What is written stands beside its final name first, under a hidden one with the mark of the machine, and takes
its place in one step. The process that writes it holds a lock on it, which ends with the process: what nobody
holds was left behind, and is removed by whoever writes the same name next, or by ``tidegate clean``.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import os
import re
import shutil
import stat
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Whether a process on another machine holds a lock cannot be seen from here: each removes only its own.
_MARK = f"tidegate-{zlib.crc32(os.uname().nodename.encode()):08x}"
#: A full or broken disk, a quota, a limit on the size of files.
WRITING = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG)
_HIDDEN = re.compile(rf"\..+\.{_MARK}-[0-9a-f]{{8}}")


@contextlib.contextmanager
def folder_beside(place: Path) -> Iterator[Path]:
    """Give an empty hidden folder beside ``place``; what is there when the block ends is removed.

    Raises:
        OSError: it cannot be made, or cannot be written; the error names ``place``.
    """
    with _naming(place):
        _remove_left(place)
        work, held = _begun(place, folder=True)
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)
            os.close(held)


@contextlib.contextmanager
def file_beside(place: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a hidden name beside ``place``; the file there takes the name ``place`` when the block ends well.

    A pipe or a device is written as it is.

    Raises:
        OSError: it cannot be written; the error names ``place``.
    """
    final = Path(place)
    with _naming(final):
        if final.exists() and not final.is_file():
            yield final
            return
        # A link stays one.
        final = final.resolve()
        _remove_left(final)
        work, held = _begun(final, folder=False)
        try:
            yield work
            work.chmod(stat.S_IMODE(final.stat().st_mode) if final.exists() else 0o666 & ~_mask())
            work.replace(final)
        finally:
            work.unlink(missing_ok=True)
            os.close(held)


def write_text(place: str | os.PathLike[str], pieces: str | Iterable[str]) -> Path:
    r"""Write a text, or its pieces, as UTF-8. What is no text, as in a name of a file, is written ``\udc80``.

    Raises:
        OSError: it cannot be written; the error names the file, and there is none of that name.
    """
    with (
        file_beside(place) as work,
        work.open("w", encoding="utf-8", newline="\n", errors="backslashreplace") as file,
    ):
        file.writelines([pieces] if isinstance(pieces, str) else pieces)
    return Path(place)


def clean(folder: Path) -> list[Path]:
    """Remove from a folder what killed processes left of files and folders; return their names.

    Raises:
        OSError: the folder cannot be read.
    """
    found = sorted(path for path in folder.iterdir() if _HIDDEN.fullmatch(path.name))
    return [path for path in found if _removed(path)]


def _begun(place: Path, *, folder: bool) -> tuple[Path, int]:
    """Make a hidden file or folder beside ``place`` and lock it."""
    while True:
        work = place.with_name(f".{place.name}.{_MARK}-{os.urandom(4).hex()}")
        try:
            if folder:
                work.mkdir()
                held = os.open(work, os.O_RDONLY)
            else:
                held = os.open(work, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            # Some network folders know no locks: then nobody can take one, and nobody removes it.
            with contextlib.suppress(OSError):
                fcntl.flock(held, fcntl.LOCK_EX)
            if work.exists():
                return work, held
        except FileExistsError:
            raise
        except BaseException:
            # A signal that ends the process may come at any instant.
            if folder:
                shutil.rmtree(work, ignore_errors=True)
            else:
                work.unlink(missing_ok=True)
            raise
        # Somebody removed it before it was locked.
        os.close(held)


def _remove_left(place: Path) -> None:
    for path in place.parent.glob(f".{glob.escape(place.name)}.{_MARK}-*"):
        if _HIDDEN.fullmatch(path.name):
            _removed(path)


def _removed(path: Path) -> bool:
    """Remove a hidden file or folder if no process holds it."""
    try:
        held = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        return False
    finally:
        os.close(held)
    return True


@contextlib.contextmanager
def _naming(place: Path) -> Iterator[None]:
    """Let an error of writing name ``place`` where it names nothing, or a hidden file."""
    try:
        yield
    except Exception as error:
        number = _number_of(error)
        names = [getattr(error, name, None) for name in ("filename", "filename2")]
        hidden = any(_MARK in str(name) for name in names if name is not None)
        if number is None or not (hidden or (names == [None, None] and number in WRITING)):
            raise
        raise OSError(number, os.strerror(number), str(place)) from None


def _number_of(error: Exception) -> int | None:
    """Return the system's number of an error; polars writes it into the text of errors of its own."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    found = re.search(r"\(os error (\d+)\)", str(error))
    return int(found[1]) if found else None


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def readable(path: str | os.PathLike[str]) -> None:
    """Raise the builtin ``OSError`` that says why a file cannot be read."""
    kind = stat.S_IFMT(Path(path).stat().st_mode)
    if kind in (stat.S_IFREG, stat.S_IFDIR):
        # To open a pipe or a device may wait for ever; whoever reads refuses them.
        with Path(path).open("rb"):
            pass
