"""Recorded tables as arrays: what pictures and pages read, without a query engine."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tidegate._run.columns import CODES, NAMES, NONE, NUMPY_TYPES

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from tidegate._run.columns import RawTable

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]


class Arrays:
    """The columns of a table, or of some of its rows. A number that is not there is NaN."""

    def __init__(
        self,
        numbers: Mapping[str, Floats],
        words: Mapping[str, tuple[Codes, Sequence[str]]],
        rows: Codes | None = None,
    ) -> None:
        self._numbers = numbers
        self._words = words
        self._rows = rows

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [*self._numbers, *self._words]

    def __getitem__(self, column: str) -> Floats:
        """Return a column of numbers."""
        found = self._numbers[column]
        return found if self._rows is None else found[self._rows]

    def codes(self, column: str, words: Sequence[str]) -> Floats:
        """Return the place of each word of a column in a list of words; NaN where there is none."""
        codes, own = self._words[column]
        places = np.array([*(words.index(word) if word in words else np.nan for word in own), np.nan])
        found: Floats = places[codes if self._rows is None else codes[self._rows]]
        return found

    def where(self, column: str, word: str) -> Arrays:
        """Return the rows in which a column has this word."""
        return self.parts(column).get(word) or Arrays(self._numbers, self._words, np.zeros(0, np.int64))

    def parts(self, column: str) -> dict[str, Arrays]:
        """Return the rows of each word that a column has, in the order of the first rows."""
        every, own = self._words[column]
        codes = every if self._rows is None else every[self._rows]
        order = np.argsort(codes, kind="stable")
        known, begin = np.unique(codes[order], return_index=True)
        pieces = dict(zip(known.tolist(), np.split(order, begin[1:]), strict=True)) if len(known) else {}
        return {
            own[code]: Arrays(self._numbers, self._words, rows if self._rows is None else self._rows[rows])
            for code, rows in sorted(pieces.items(), key=lambda piece: int(piece[1][0]))
            if code >= 0
        }


def of_raw(raw: RawTable, names: Mapping[str, Sequence[str]]) -> Arrays:
    """Return what the compiled part gave; ``names``: of flows, gates and others, in their order."""
    numbers: dict[str, Floats] = {}
    words: dict[str, tuple[Codes, Sequence[str]]] = {}
    for column, (kind, data) in raw.items():
        values = np.frombuffer(data, dtype=NUMPY_TYPES[kind])
        if sys.byteorder != "little":
            values = values.astype(values.dtype.newbyteorder("="))
        spelled = CODES.get(column) or (names[NAMES[column]] if column in NAMES else None)
        if spelled is not None and kind in ("u8", "u32"):
            codes = values.astype(np.int64)
            words[column] = np.where(codes < len(spelled), codes, -1), list(spelled)
        else:
            floats = values.astype(np.float64)
            numbers[column] = np.where(values == NONE, np.nan, floats) if kind == "maybe_u64" else floats
    return Arrays(numbers, words)


def of_frame(table: pl.DataFrame) -> Arrays:
    """Return the columns of a table that was read from a folder."""
    import polars as pl

    numbers: dict[str, Floats] = {}
    words: dict[str, tuple[Codes, Sequence[str]]] = {}
    for column in table.columns:
        series = table[column]
        if series.dtype in (pl.String, pl.Categorical) or series.dtype == pl.Enum:
            own = [str(word) for word in series.cast(pl.String).unique(maintain_order=True).drop_nulls()]
            codes = series.cast(pl.Enum(own)).to_physical() if own else pl.Series([-1] * len(series))
            words[column] = codes.cast(pl.Int64).fill_null(-1).to_numpy(), own
        else:
            numbers[column] = series.cast(pl.Float64).to_numpy()
    return Arrays(numbers, words)
