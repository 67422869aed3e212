"""Recorded tables as data frames, with the words and meanings that the compiled part gives for columns."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidegate import _core

if TYPE_CHECKING:
    import polars as pl

RawTable = Mapping[str, tuple[str, bytes]]

#: What stands for "none" among counts.
NONE = 2**64 - 1

_DESCRIBED: list[dict[str, Any]] = json.loads(_core.columns())
#: Every recorded table: its columns with what they mean.
TABLES: dict[str, dict[str, str]] = {
    table["name"]: {column["name"]: column["meaning"] for column in table["columns"]} for table in _DESCRIBED
}
#: The words behind the codes of a table's column.
WORDS: dict[str, dict[str, list[str]]] = {
    table["name"]: {column["name"]: column["words"] for column in table["columns"] if column["words"]}
    for table in _DESCRIBED
}
#: Columns of all tables that are numbers of flows, gates or sources: what they count.
NAMES: dict[str, str] = {
    column["name"]: column["names"] for table in _DESCRIBED for column in table["columns"] if column["names"]
}
#: The words behind the codes of a column, of all tables.
CODES: dict[str, list[str]] = {name: words for columns in WORDS.values() for name, words in columns.items()}

#: How the compiled part writes each kind of column.
NUMPY_TYPES = {"f64": "<f8", "u64": "<u8", "maybe_u64": "<u8", "u32": "<u4", "u8": "u1"}


def frame(raw: RawTable, names: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Return a recorded table with its codes spelled out; "not a number" becomes null.

    ``names``: those of flows, gates and others (:data:`NAMES`), in the order of their numbers.
    """
    import numpy as np
    import polars as pl

    spelled = {**CODES, **{column: list(names[of]) for column, of in NAMES.items()}}
    columns: list[pl.Series] = []
    for column, (kind, data) in raw.items():
        values = np.frombuffer(data, dtype=NUMPY_TYPES[kind])
        if sys.byteorder != "little":
            values = values.astype(values.dtype.newbyteorder("="))
        # Not by `fill_nan`: it starts the query engine for each column, which takes longer than the column.
        series = pl.Series(column, values, nan_to_null=kind == "f64")
        if kind == "maybe_u64":
            series = series.set(series == NONE, None)
        if column in spelled and kind in ("u8", "u32"):
            series = _spell(series, spelled[column])
        columns.append(series)
    return pl.DataFrame(columns)


def _spell(codes: pl.Series, words: list[str]) -> pl.Series:
    """Return codes as words; a code without a word (no flow, no source) becomes null."""
    import polars as pl

    if not words:
        return pl.Series(codes.name, [None] * len(codes), dtype=pl.String)
    known = codes.cast(pl.UInt32)
    known = known.set(known >= len(words), None)
    return pl.Series(codes.name, words, dtype=pl.Enum(words)).gather(known)
