"""The tables of a study, in chunks, in memory or in files.

A table lies in chunks. Chunk i of every table has the same runs, and runs are in order of their place, so
nothing that looks at one column, or at one chunk, needs the memory of a whole table.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._base.lazy import Lazy
from tidegate._run.rows import PLACE, Frame, Lists, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    Chunk = dict[str, Table]
else:
    pl = Lazy("polars")

#: A place has the point in the upper 32 bits, and the replication in the lower ones.
_BITS = 32
#: Rows of a chunk; a run that has more stays in one.
CHUNK_ROWS = 8192
#: Bytes of tables that stay in memory.
IN_MEMORY = 64 << 20
#: Rows that lie together in a Parquet file.
GROUP_ROWS = 16384


def place_of(point: int, replication: int) -> int:
    """Return the place of a run in its study."""
    return point << _BITS | replication


def run_at(place: int) -> tuple[int, int]:
    """Return point and replication of a place."""
    return place >> _BITS, place & ((1 << _BITS) - 1)


def point_column() -> pl.Expr:
    """Return the point of each row, from its place."""
    found: pl.Expr = (pl.col(PLACE) // 2**_BITS).cast(pl.Int64).alias("point")
    return found


def replication_column() -> pl.Expr:
    """Return the replication of each row, from its place."""
    found: pl.Expr = (pl.col(PLACE) % 2**_BITS).cast(pl.Int64).alias("replication")
    return found


def run_place() -> pl.Expr:
    """Return the place of each row, from its point and replication."""
    found: pl.Expr = pl.col("point").cast(pl.UInt64) * 2**_BITS + pl.col("replication").cast(pl.UInt64)
    return found.alias(PLACE)


class Columns:
    """Tables by name, in chunks; rows have a place and are in its order."""

    def __init__(self) -> None:
        self._chunks: list[Chunk] = []
        #: What lies in memory: of each chunk the frames that are not in files yet.
        self._held: list[tuple[int, str, pl.DataFrame]] = []
        self._bytes = 0
        self._folder: Path | None = None
        self._files = 0
        self._whole: dict[str, Table] = {}
        self._queries: dict[str, pl.LazyFrame] = {}

    @staticmethod
    def of(tables: Mapping[str, pl.LazyFrame]) -> Columns:
        """Return tables that lie somewhere already."""
        found = Columns()
        found._chunks.append({name: Frame(table) for name, table in tables.items()})
        return found

    def add(self, chunk: Mapping[str, Lists]) -> None:
        """Append a chunk, whose runs come after those that are there."""
        there: Chunk = {name: table for name, table in chunk.items() if table.height()}
        if not there:
            return
        self._chunks.append(there)
        self._forget()
        last = len(self._chunks) - 1
        if last > 0 or max(table.height() for table in there.values()) > CHUNK_ROWS:
            # Of those before it only the first may be lists.
            for number in (0, last):
                self._to_frames(number)
            self._spill()

    def add_frames(self, chunk: Mapping[str, pl.DataFrame]) -> None:
        """Append a chunk of data frames."""
        there = {name: frame for name, frame in chunk.items() if frame.height}
        if there:
            self._chunks.append({})
            self._forget()
            for name, frame in there.items():
                self._hold(len(self._chunks) - 1, name, frame)
            self._spill()

    def replace(self, name: str, make: Callable[[Chunk], Table]) -> None:
        """Replace a table, chunk by chunk, by what is made of the chunk's tables."""
        self._held = [each for each in self._held if each[1] != name]
        for number, chunk in enumerate(self._chunks):
            made = make(chunk)
            if isinstance(made, Lists):
                chunk[name] = made
            elif self._folder is None:
                self._hold(number, name, made.frame().collect())
            else:
                self._to_file(number, name, made.frame().collect())
        self._forget()

    def _forget(self) -> None:
        self._whole.clear()
        self._queries.clear()

    def _to_frames(self, number: int) -> None:
        for name, table in self._chunks[number].items():
            if isinstance(table, Lists):
                self._hold(number, name, table.frame().collect())

    def _hold(self, number: int, name: str, frame: pl.DataFrame) -> None:
        self._chunks[number][name] = Frame(frame.lazy())
        self._held.append((number, name, frame))
        self._bytes += int(frame.estimated_size())

    def _spill(self) -> None:
        """Write what is held to files if that is much."""
        if self._bytes > IN_MEMORY:
            for number, name, frame in self._held:
                self._to_file(number, name, frame)
            self._held.clear()
            self._bytes = 0

    def _to_file(self, number: int, name: str, frame: pl.DataFrame) -> None:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="tidegate-study-"))
            weakref.finalize(self, _remove, self._folder, os.getpid())
        # A table that is replaced is read while it is written.
        self._files += 1
        file = self._folder / f"{self._files}-{name}.parquet"
        frame.write_parquet(file, compression="lz4", row_group_size=GROUP_ROWS)
        self._chunks[number][name] = Frame(pl.scan_parquet(file))

    @property
    def names(self) -> list[str]:
        """The tables that have rows."""
        return list(dict.fromkeys(name for chunk in self._chunks for name in chunk))

    def table(self, name: str) -> Table | None:
        """Return a table; None where it has no rows."""
        if name not in self._whole:
            found = [chunk[name] for chunk in self._chunks if name in chunk]
            if not found:
                return None
            self._whole[name] = found[0] if len(found) == 1 else _one_after_the_other(found)
        return self._whole[name]

    def frame(self, name: str) -> pl.LazyFrame | None:
        """Return a table as a query, which later questions use, too; None where it has no rows."""
        table = self.table(name)
        if table is not None and name not in self._queries:
            self._queries[name] = table.frame()
        return self._queries.get(name)

    def columns(self, name: str) -> list[str]:
        """Return the columns of a table, without its place."""
        table = self.table(name)
        return [] if table is None else [each for each in table.names() if each != PLACE]

    def height(self, name: str) -> int:
        """Return how many rows a table has."""
        table = self.table(name)
        return 0 if table is None else table.height()

    def write(self, name: str, file: Path, rows: int = GROUP_ROWS) -> None:
        """Write a table to a Parquet file, with so many rows in a group of it."""
        table = self.frame(name)
        if table is not None:
            write(table, file, rows)


def _one_after_the_other(tables: Sequence[Table]) -> Frame:
    # A column has numbers in one chunk and nothing in another, or whole numbers and others.
    return Frame(pl.concat([table.frame() for table in tables], how="diagonal_relaxed"))


def write(table: pl.LazyFrame, file: Path, rows: int = GROUP_ROWS) -> None:
    """Write a table to a Parquet file group by group, never all of it in memory."""
    table.sink_parquet(file, row_group_size=rows, maintain_order=True)


def _remove(folder: Path, process: int) -> None:
    # A process that was forked off has the same object, but the files are not its own.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
