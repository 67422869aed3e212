"""The rows of one table of many runs, as lists or as a data frame.

Both forms answer the same questions, so that what a study says is stated once. Few rows stay lists: starting
polars takes longer than all that is asked of them. Very many are frames, which may lie in files.
"""

from __future__ import annotations

import math
from array import array
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

from tidegate._base.lazy import Lazy
from tidegate._run.table import flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    Shapes = list[tuple[str, ...]]
else:
    pl = Lazy("polars")

#: The column that says of which run a row is.
PLACE = "place"
#: What stands for "no number" among numbers; no result is one.
NOTHING = math.nan


class Table(Protocol):
    """Rows in the order of their places; what makes another table leaves this one as it is."""

    def names(self) -> list[str]:
        """Return the names of the columns, the place first."""

    def height(self) -> int:
        """Return how many rows there are."""

    def values(self, column: str) -> list[Any]:
        """Return a column."""

    def numbers(self, column: str) -> array[float] | None:
        """Return a column of numbers, with :data:`NOTHING` where there is none; None: it has no numbers."""

    def distinct(self, column: str) -> list[Any]:
        """Return the values of a column but None, each once, in the order in which they come."""

    def of(self, name: str) -> Table:
        """Return the rows of the element with this name."""

    def filled(self, column: str, value: float) -> Table:
        """Return the rows with a value where a column, which need not be there, has none."""

    def beside(self, other: Table, columns: Sequence[str]) -> Table:
        """Return the rows with these columns of the row of ``other`` that has the same place, if any.

        The other table has at most one row of a place.
        """

    def arranged(self, columns: Sequence[str]) -> Table:
        """Return these columns in this order behind the place; one that is not there has no values."""

    def frame(self) -> pl.LazyFrame:
        """Return the rows as a query."""


class Lists:
    """Rows as lists.

    ``examples``: values that columns have in other rows. One without a value has the type of its example.
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]], examples: Mapping[str, Any]) -> None:
        self._columns = columns
        self._examples = examples

    @staticmethod
    def made_of(places: Sequence[int], rows: Sequence[dict[str, Any]]) -> Lists:
        """Return rows as columns, named as :func:`~tidegate._run.table.flat` names them, behind their places.

        Columns stand in the order in which rows have them first. Where a row lacks one, there is nothing.
        """
        return Lists({PLACE: places, **columns_of(rows)}, {})

    def names(self) -> list[str]:
        return list(self._columns)

    def height(self) -> int:
        return len(self._columns[PLACE])

    def values(self, column: str) -> list[Any]:
        return list(self._columns[column])

    def numbers(self, column: str) -> array[float] | None:
        values = self._columns[column]
        if not {*map(type, values), type(self._examples.get(column))} <= {int, float, bool, type(None)}:
            return None
        return array("d", (NOTHING if value is None else value for value in values))

    def distinct(self, column: str) -> list[Any]:
        return [value for value in dict.fromkeys(self._columns[column]) if value is not None]

    def of(self, name: str) -> Lists:
        rows = [row for row, each in enumerate(self._columns["name"]) if each == name]
        found = {key: [values[row] for row in rows] for key, values in self._columns.items()}
        return Lists(found, {key: self._example(key) for key in self._columns})

    def filled(self, column: str, value: float) -> Lists:
        values = self._columns.get(column, [None] * self.height())
        return Lists(
            {**self._columns, column: [value if each is None else each for each in values]}, self._examples
        )

    def beside(self, other: Table, columns: Sequence[str]) -> Lists:
        assert isinstance(other, Lists)
        row_of = {place: row for row, place in enumerate(other._columns[PLACE])}
        rows = [row_of.get(place) for place in self._columns[PLACE]]
        added = {
            name: [None if row is None else values[row] for row in rows]
            for name, values in ((name, other._columns[name]) for name in columns)
        }
        examples = {name: other._example(name) for name in columns}
        return Lists({**self._columns, **added}, {**self._examples, **examples})

    def arranged(self, columns: Sequence[str]) -> Lists:
        nothing = [None] * self.height()
        found = {name: self._columns.get(name, nothing) for name in (PLACE, *columns)}
        return Lists(found, self._examples)

    def frame(self) -> pl.LazyFrame:
        place, *others = self._columns
        of_place = pl.Series(place, self._columns[place], dtype=pl.UInt64)
        return pl.DataFrame([of_place, *map(self._series, others)]).lazy()

    def _example(self, name: str) -> Any:
        there = (value for value in self._columns[name] if value is not None)
        return next(there, self._examples.get(name))

    def _series(self, name: str) -> pl.Series:
        values = self._columns[name]
        example = self._examples.get(name)
        if example is not None:
            return _series(name, [*values, example])[:-1]
        return _series(name, values)


class Frame:
    """Rows as a query of polars."""

    def __init__(self, rows: pl.LazyFrame) -> None:
        self._rows = rows

    def names(self) -> list[str]:
        return self._rows.collect_schema().names()

    def height(self) -> int:
        return int(self._rows.select(pl.len()).collect().item())

    def values(self, column: str) -> list[Any]:
        return self._column(column).to_list()

    def numbers(self, column: str) -> array[float] | None:
        found = self._column(column)
        if not (found.dtype.is_numeric() or found.dtype in (pl.Boolean, pl.Null)):
            return None
        return array("d", found.cast(pl.Float64).fill_null(NOTHING).to_list())

    def distinct(self, column: str) -> list[Any]:
        found = self._rows.select(column).drop_nulls().unique(maintain_order=True)
        return found.collect()[column].to_list()

    def of(self, name: str) -> Frame:
        return Frame(self._rows.filter(pl.col("name") == name))

    def filled(self, column: str, value: float) -> Frame:
        there = column in self.names()
        made = pl.col(column).fill_null(pl.lit(value)) if there else pl.lit(value).alias(column)
        return Frame(self._rows.with_columns(made))

    def beside(self, other: Table, columns: Sequence[str]) -> Frame:
        theirs = other.frame().select(PLACE, *columns)
        return Frame(self._rows.join(theirs, on=PLACE, how="left", maintain_order="left"))

    def arranged(self, columns: Sequence[str]) -> Frame:
        there = {*self.names()}
        made = [pl.col(name) if name in there else pl.lit(None).alias(name) for name in (PLACE, *columns)]
        return Frame(self._rows.select(made))

    def frame(self) -> pl.LazyFrame:
        return self._rows

    def _column(self, name: str) -> pl.Series:
        return self._rows.select(name).collect()[name]


def columns_of(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns; see :meth:`Lists.made_of`."""
    shapes = list(map(tuple, rows))
    values = _values(rows, shapes)
    types = {name: {*map(type, column)} for name, column in values.items()}
    nested = [name for name in values if dict in types[name]]
    if any(types[name] != {dict} for name in nested):
        # A dict in some rows and something else, or nothing, in others.
        flats = [flat(row) for row in rows]
        return _values(flats, list(map(tuple, flats)))
    inner_shapes = {name: list(map(tuple, values[name])) for name in nested}
    columns = {name: values[name] for name in values if name not in nested}
    for name in nested:
        inner = _values(values[name], inner_shapes[name])
        columns |= {f"{name}.{key}": column for key, column in inner.items()}
    return {name: columns[name] for name in dict.fromkeys(_names(shapes, inner_shapes))}


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


def _values(rows: Sequence[dict[str, Any]], shapes: Shapes) -> dict[str, list[Any]]:
    """Return the values of rows by key; None where a row has no such key."""
    if _are_alike(shapes):
        return {key: list(map(itemgetter(key), rows)) for key in shapes[0]}
    keys: Iterable[str] = dict.fromkeys(chain.from_iterable(dict.fromkeys(shapes)))
    return {key: [row.get(key) for row in rows] for key in keys}


def _are_alike(shapes: Shapes) -> bool:
    return shapes.count(shapes[0]) == len(shapes)


def _series(name: str, values: Sequence[Any]) -> pl.Series:
    if {list, dict}.isdisjoint(map(type, values)):
        return pl.Series(name, values, strict=False)
    # What lists and dicts are made of, all of them tell.
    return pl.DataFrame([{name: value} for value in values], infer_schema_length=None)[name]
