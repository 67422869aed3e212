"""Columns of a study's tables: rows that become chunks, in memory or in files.

A table lies in chunks. Chunk i of every table has the same runs, and runs are in order of their place, so
nothing that looks at one column, or at one chunk, needs the memory of a whole table.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._base.lazy import Lazy
from tidegate._run.table import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    Chunk = dict[str, pl.LazyFrame]
    Rows = Sequence[dict[str, Any]]
    Shapes = list[tuple[str, ...]]
else:
    pl = Lazy("polars")

#: The column that says of which run a row is: the point in the upper 32 bits, the replication in the lower.
PLACE = "place"
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
        self._whole: dict[str, pl.LazyFrame] = {}

    @staticmethod
    def of(tables: Mapping[str, pl.LazyFrame]) -> Columns:
        """Return tables that lie somewhere already."""
        found = Columns()
        found._chunks.append(dict(tables))
        return found

    def add(self, tables: Mapping[str, pl.DataFrame]) -> None:
        """Append a chunk, whose runs come after those that are there."""
        number = len(self._chunks)
        there = {name: frame for name, frame in tables.items() if frame.height}
        if not there:
            return
        self._chunks.append({name: frame.lazy() for name, frame in there.items()})
        self._held += [(number, name, frame) for name, frame in there.items()]
        self._bytes += sum(int(frame.estimated_size()) for frame in there.values())
        self._whole.clear()
        if self._bytes > IN_MEMORY:
            self._to_files()

    def replace(self, name: str, make: Callable[[Chunk], pl.DataFrame]) -> None:
        """Replace a table, chunk by chunk, by what is made of the chunk's tables."""
        self._held = [each for each in self._held if each[1] != name]
        for number, chunk in enumerate(self._chunks):
            frame = make(chunk)
            if self._folder is None:
                chunk[name] = frame.lazy()
                self._held.append((number, name, frame))
            else:
                self._to_file(number, name, frame)
        self._whole.clear()

    def _to_files(self) -> None:
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
        self._chunks[number][name] = pl.scan_parquet(file)

    @property
    def names(self) -> list[str]:
        """The tables that have rows."""
        return list(dict.fromkeys(name for chunk in self._chunks for name in chunk))

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks in order."""
        yield from self._chunks

    def table(self, name: str) -> pl.LazyFrame | None:
        """Return a table; None where it has no rows."""
        if name not in self._whole:
            found = [chunk[name] for chunk in self._chunks if name in chunk]
            if not found:
                return None
            # A column has numbers in one chunk and nothing in another, or whole numbers and others.
            whole = found[0] if len(found) == 1 else pl.concat(found, how="diagonal_relaxed")
            self._whole[name] = whole
        return self._whole[name]

    def columns(self, name: str) -> list[str]:
        """Return the columns of a table, without its place."""
        table = self.table(name)
        return [] if table is None else [each for each in table.collect_schema().names() if each != PLACE]

    def height(self, name: str) -> int:
        """Return how many rows a table has."""
        table = self.table(name)
        return 0 if table is None else int(table.select(pl.len()).collect().item())

    def write(self, name: str, file: Path, rows: int = GROUP_ROWS) -> None:
        """Write a table to a Parquet file, with so many rows in a group of it."""
        table = self.table(name)
        if table is not None:
            write(table, file, rows)


def write(table: pl.LazyFrame, file: Path, rows: int = GROUP_ROWS) -> None:
    """Write a table to a Parquet file group by group, never all of it in memory."""
    table.sink_parquet(file, row_group_size=rows, maintain_order=True)


def _remove(folder: Path, process: int) -> None:
    # A process that was forked off has the same object, but the files are not its own.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def frame_of(places: Sequence[int], rows: Rows) -> pl.DataFrame:
    """Return rows as columns, named as :func:`~tidegate._run.table.flat` names them, behind their places.

    Columns stand in the order in which rows have them first. Where a row lacks one, there is nothing.
    """
    shapes = list(map(tuple, rows))
    values = _values(rows, shapes)
    types = {name: {*map(type, column)} for name, column in values.items()}
    place = pl.Series(PLACE, places, dtype=pl.UInt64)
    nested = [name for name in values if dict in types[name]]
    if any(types[name] != {dict} for name in nested):
        # A dict in some rows and something else, or nothing, in others.
        flats = pl.DataFrame([flat(row) for row in rows], infer_schema_length=None)
        return pl.DataFrame([place, *flats.get_columns()])
    inner_shapes = {name: list(map(tuple, values[name])) for name in nested}
    columns = {name: values[name] for name in values if name not in nested}
    for name in nested:
        inner = _values(values[name], inner_shapes[name])
        columns |= {f"{name}.{key}": column for key, column in inner.items()}
    names = dict.fromkeys(_names(shapes, inner_shapes))
    return pl.DataFrame([place, *[_series(name, columns[name]) for name in names]])


def _names(shapes: Shapes, nested: dict[str, Shapes]) -> Iterator[str]:
    """Yield names of columns in the order in which rows have them, some several times.

    Rows that are alike have the same columns, so one row of each shape tells.
    """
    every = {"": shapes, **nested}
    varied = {key: each for key, each in every.items() if not _are_alike(each)}
    firsts = {key: each[0] for key, each in every.items()}
    for found in dict.fromkeys(zip(*varied.values(), strict=True)) if varied else ((),):
        shape = firsts | dict(zip(varied, found, strict=True))
        for key in shape[""]:
            if key in nested:
                yield from (f"{key}.{inner}" for inner in shape[key])
            else:
                yield key


def _values(rows: Rows, shapes: Shapes) -> dict[str, list[Any]]:
    """Return the values of rows by key; None where a row has no such key."""
    if _are_alike(shapes):
        return {key: list(map(itemgetter(key), rows)) for key in shapes[0]}
    keys = dict.fromkeys(chain.from_iterable(dict.fromkeys(shapes)))
    return {key: [row.get(key) for row in rows] for key in keys}


def _are_alike(shapes: Shapes) -> bool:
    return shapes.count(shapes[0]) == len(shapes)


def _series(name: str, values: Sequence[Any]) -> pl.Series:
    if {list, dict}.isdisjoint(map(type, values)):
        return pl.Series(name, values, strict=False)
    # What lists and dicts are made of, all of them tell.
    return pl.DataFrame([{name: value} for value in values], infer_schema_length=None)[name]
