"""Rows of summaries as columns, without a flat dict for each row: a run may have very many rows."""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from tidegate._base.lazy import Lazy
from tidegate._run.table import flat
from tidegate._study.columns import PLACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    Rows = Sequence[dict[str, Any]]
    #: The keys that each of some dicts has.
    Shapes = list[tuple[str, ...]]
else:
    pl = Lazy("polars")


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
