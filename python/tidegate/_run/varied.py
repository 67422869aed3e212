"""Varied keys as columns of data frames: as they were written, and as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._base.lazy import Lazy
from tidegate._base.quantity import quantities

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
else:
    pl = Lazy("polars")


def with_numbers(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return the frame with its varied keys as numbers.

    A key whose every value is a bare number has numbers instead of texts. Behind one whose values have units
    of one kind stands a column ``KEY [unit]``, all in the unit of the smallest.
    """
    for key in (key for key in keys if key in frame.columns):
        texts = [str(value) for value in frame[key]]
        distinct = list(dict.fromkeys(texts))
        numbers = [_bare(frame[key], kind) for kind in (pl.Int64, pl.Float64)]
        bare = next((cast for cast in numbers if cast is not None), None)
        if bare is not None:
            frame = frame.with_columns(bare)
            continue
        found = quantities(distinct)
        if found is None or not found[1]:
            continue
        values = dict(zip(distinct, found[0], strict=True))
        column = pl.Series(f"{key} [{found[1]}]", [values[text] for text in texts], dtype=pl.Float64)
        frame = frame.insert_column(frame.columns.index(key) + 1, column)
    return frame


def is_varied(column: str, keys: Sequence[str]) -> bool:
    """Tell whether a column has the values of a varied key, as written or in :func:`with_numbers`."""
    return column in keys or any(column.startswith(f"{key} [") for key in keys)


def _bare(column: pl.Series, kind: type[pl.Int64] | type[pl.Float64]) -> pl.Series | None:
    cast = column.cast(kind, strict=False)
    return cast if cast.null_count() == 0 else None
