"""Results of runs, kept by what was run: an interrupted study finds what it has done.

One SQLite file. Every result is a transaction of its own in a write-ahead log: a process
killed at any moment loses what it had not yet put, and nothing else. Keys name all that a
result depends on, so nothing is ever out of date; what is not used any more just lies there.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._study.packed import unpack
from tidegate.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: The file of results in its folder.
RESULTS = "runs.sqlite"
_ASKED_AT_ONCE = 500
#: Seconds to wait for another process that is writing.
_PATIENCE_S = 30.0


def default_folder() -> Path:
    """Return where results are kept: ``TIDEGATE_STORE``, else the user's cache folder."""
    named = os.environ.get("TIDEGATE_STORE")
    if named:
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tidegate"
    base = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tidegate"


class Store:
    """Results by key. Several processes may use one at a time; the threads of one take turns.

    Without a folder it is a file of this process alone, which SQLite keeps in memory while it is small.
    """

    def __init__(self, folder: Path | None) -> None:
        self.path = None if folder is None else folder / RESULTS
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(
                "" if self.path is None else self.path,
                timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False,
            )  # fmt: skip
            if folder is None:
                # What is undone after Ctrl-C is in memory.
                self._base.execute("PRAGMA journal_mode = MEMORY")
            else:
                # The log survives the process that is killed; a loss of power may take its tail.
                self._base.execute("PRAGMA journal_mode = WAL")
                self._base.execute("PRAGMA synchronous = NORMAL")
            self._base.execute("CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, result BLOB NOT NULL)")
        except OSError as error:
            raise StoreError(f"{folder}: cannot keep results here ({error.strerror})") from None
        except sqlite3.Error as error:
            raise self._broken(error) from None

    def _broken(self, error: Exception | str) -> StoreError:
        if self.path is None:
            return StoreError(
                f"results cannot be kept in a temporary file ({error}); TMPDIR names its folder"
            )
        return StoreError(
            f"{self.path}: results cannot be kept in this file ({error}); delete it, or name "
            "another folder with --store (store=)"
        )

    def find(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the results that are there, by key, as they were packed.

        Raises:
            StoreError: the file is damaged or cannot be read.
        """
        return dict(self._select("key, result", keys))

    def known(self, keys: Sequence[str]) -> set[str]:
        """Return those of the keys whose results are there. Raises as :meth:`find`."""
        return {key for (key,) in self._select("key", keys)}

    def _select(self, what: str, keys: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        for begin in range(0, len(keys), _ASKED_AT_ONCE):
            part = keys[begin : begin + _ASKED_AT_ONCE]
            marks = ",".join("?" * len(part))
            try:
                yield from self._base.execute(f"SELECT {what} FROM runs WHERE key IN ({marks})", part)
            except sqlite3.Error as error:
                raise self._broken(error) from None

    def unpack(self, packed: bytes) -> dict[str, Any]:
        """Return what :func:`~tidegate._study.packed.pack` packed.

        Raises:
            StoreError: it is damaged.
        """
        try:
            return unpack(packed)
        except ValueError as error:
            raise self._broken(error) from None

    def put(self, key: str, packed: bytes) -> None:
        """Keep a result; when this returns, a killed process does not lose it.

        Raises:
            StoreError: the file cannot be written.
        """
        self.put_all([(key, packed)])

    def put_all(self, results: Iterable[tuple[str, bytes]]) -> None:
        """Keep several results at once: all of them or, when the process is killed before this returns, none.

        Raises:
            StoreError: the file cannot be written.
        """
        rows = list(results)
        try:
            if len(rows) == 1:
                self._base.execute("INSERT OR REPLACE INTO runs VALUES (?, ?)", rows[0])
            elif rows:
                self._base.execute("BEGIN IMMEDIATE")
                self._base.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?)", rows)
                self._base.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._broken(error) from None
        finally:
            # Also after Ctrl-C in between.
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file."""
        self._base.close()


class opened:  # noqa: N801
    """The store that was asked for, closed at the end of the block; None where there is none."""

    def __init__(self, store: str | os.PathLike[str] | bool) -> None:
        self._asked = store
        self._store: Store | None = None

    def __enter__(self) -> Store | None:
        if self._asked is False:
            return None
        folder = default_folder() if self._asked is True else Path(self._asked)
        self._store = Store(folder)
        return self._store

    def __exit__(self, *_: object) -> None:
        if self._store is not None:
            self._store.close()
