"""Results of runs, kept by what was run: an interrupted study finds what it has done.

One SQLite file. Every result is a transaction of its own in a write-ahead log: a process
killed at any moment loses what it had not yet put, and nothing else. Keys name all that a
result depends on, so nothing is ever out of date; what is not used any more just lies there.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._base.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

_FILE = "runs.sqlite"
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
    """Results by key. Several processes may use one at a time; the threads of one take turns."""

    def __init__(self, folder: Path, *, must_exist: bool = False) -> None:
        self.path = folder / _FILE
        if must_exist and not self.path.is_file():
            raise StoreError(f"{self.path}: there is no file of results")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(
                self.path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
            )
            # The log survives the process that is killed; a loss of power may take its tail.
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = NORMAL")
            self._base.execute("CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, result BLOB NOT NULL)")
        except OSError as error:
            raise StoreError(f"{folder}: cannot keep results here ({error.strerror})") from None
        except sqlite3.Error as error:
            raise self._broken(error) from None

    def _broken(self, error: Exception) -> StoreError:
        return StoreError(
            f"{self.path}: results cannot be kept in this file ({error}); delete it, or name "
            "another folder with --store (store=)"
        )

    def find(self, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return the results that are there, by key.

        Raises:
            StoreError: the file is damaged or cannot be read.
        """
        found: dict[str, dict[str, Any]] = {}
        for begin in range(0, len(keys), _ASKED_AT_ONCE):
            part = keys[begin : begin + _ASKED_AT_ONCE]
            marks = ",".join("?" * len(part))
            try:
                rows = self._base.execute(f"SELECT key, result FROM runs WHERE key IN ({marks})", part)
                found.update((key, json.loads(zlib.decompress(packed))) for key, packed in rows)
            except (sqlite3.Error, zlib.error, ValueError) as error:
                raise self._broken(error) from None
        return found

    def put(self, key: str, result: dict[str, Any]) -> None:
        """Keep a result; when this returns, a killed process does not lose it.

        Raises:
            StoreError: the file cannot be written.
        """
        packed = zlib.compress(json.dumps(result, ensure_ascii=False, allow_nan=False).encode(), 1)
        try:
            self._base.execute("INSERT OR REPLACE INTO runs VALUES (?, ?)", (key, packed))
        except sqlite3.Error as error:
            raise self._broken(error) from None

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
