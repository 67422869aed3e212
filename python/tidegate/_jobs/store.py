"""Results that are kept: packed as bytes, in one file of SQLite; folders of parts are sealed by digests.

One SQLite file. Every result is a transaction of its own in a write-ahead log: a process
killed at any moment loses what it had not yet put, and nothing else. Keys name all that a
result depends on, so nothing is ever out of date; what is not used any more just lies there.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._run.folder import MANIFEST
from tidegate.errors import RunFolderError, StoreError, StoreFullError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def pack(summary: Mapping[str, Any], measured: Mapping[str, float | None], **more: Any) -> bytes:
    """Return a result as it is kept: the summary, what was measured, and what a live run adds."""
    kept = {"summary": summary, "measured": measured, **more}
    return zlib.compress(json.dumps(kept, ensure_ascii=False, allow_nan=False).encode(), 1)


def unpack(packed: bytes) -> dict[str, Any]:
    """Return what :func:`pack` packed.

    Raises:
        ValueError: it is damaged.
    """
    try:
        kept: dict[str, Any] = json.loads(zlib.decompress(packed))
        # How the run was worked through, not what came out.
        kept["summary"].pop("events", None)
    except (zlib.error, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a result is damaged: {error}") from None
    return kept


def for_replication(packed: bytes, replication: int, other: int) -> bytes:
    """Return the result of another replication where nothing is random: they differ in its number alone.

    Raises:
        ValueError: the result does not say its number once.
    """
    own, wanted = (f'"replication":{number},'.encode() for number in (replication, other))
    text = zlib.decompress(packed)
    if text.count(own) != 1:
        raise ValueError(f"the result of replication {replication} does not say so once")
    return zlib.compress(text.replace(own, wanted), 1)


#: What the manifest calls the digests of the other files, and its own.
_FILES, _OWN = "files", "digest"


def sealed(manifest: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the manifest of a part with a digest of each file in its folder, and one of the manifest."""
    files = {file.name: _digest(file) for file in sorted(folder.iterdir())}
    whole = {**manifest, _FILES: files}
    return {**whole, _OWN: _own(whole)}


def check_sealed(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a part whose files are not what was written.

    Raises:
        RunFolderError: a file is damaged or missing; the message names it.
    """
    if _OWN not in manifest:
        raise RunFolderError(
            f"{folder}: an earlier version of tidegate made this part, without digests of its files; "
            f"{again(folder, manifest)}"
        )
    if manifest[_OWN] != _own(manifest):
        raise RunFolderError(
            f"{folder / MANIFEST}: this file is damaged: it is not what was written; "
            f"{again(folder, manifest)}"
        )
    for name, digest in manifest[_FILES].items():
        file = folder / name
        if not file.is_file():
            raise RunFolderError(f"{file}: this file is missing; {again(folder, manifest)}")
        if _digest(file) != digest:
            raise RunFolderError(
                f"{file}: this file is damaged: it is not what part {_number(manifest)} wrote; "
                f"{again(folder, manifest)}"
            )


def again(folder: Path, manifest: Mapping[str, Any]) -> str:
    """Say how a part is mended."""
    return f"delete the folder {folder} and do part {_number(manifest)} again"


def _number(manifest: Mapping[str, Any]) -> str:
    return f"{manifest.get('shard', '?')}/{manifest.get('shards', '?')}"


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _own(manifest: Mapping[str, Any]) -> str:
    """Return a digest of a manifest, without the one that stands in it."""
    rest = {key: value for key, value in manifest.items() if key != _OWN}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


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
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return StoreFullError(
                f"{self.path or 'TMPDIR'}: no room is left for results; make room and give the same command "
                "again: what is kept is not done twice"
            )
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
        """Return what :func:`~tidegate._jobs.store.pack` packed.

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
            StoreFullError: no room is left for it.
        """
        self.put_all([(key, packed)])

    def put_all(self, results: Iterable[tuple[str, bytes]]) -> None:
        """Keep several results at once: all of them or, when the process is killed before this returns, none.

        Raises as :meth:`put`.
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
    """The store that was asked for, closed at the end of the block.

    False: one in memory, which goes with the block. So what a command asks for twice is done once.
    """

    def __init__(self, store: str | os.PathLike[str] | bool) -> None:
        self._asked = store
        self._store: Store | None = None

    def __enter__(self) -> Store:
        if self._asked is False:
            folder = None
        else:
            folder = default_folder() if self._asked is True else Path(self._asked)
        self._store = Store(folder)
        return self._store

    def __exit__(self, *_: object) -> None:
        if self._store is not None:
            self._store.close()
