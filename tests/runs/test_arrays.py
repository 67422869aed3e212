"""Tables as arrays are the data frames that users get, read without a query engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
import tidegate as tg
from support.common import EXAMPLES
from tidegate._run.columns import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate._run.arrays import Arrays


def assert_equal(found: Arrays, table: pl.DataFrame) -> None:
    assert {*found.columns} == {*table.columns}
    for column in table.columns:
        series = table[column]
        if series.dtype in (pl.String, pl.Enum, pl.Categorical):
            words = [*dict.fromkeys(series.cast(pl.String).drop_nulls())]
            told = [None if np.isnan(code) else words[int(code)] for code in found.codes(column, words)]
            assert told == series.cast(pl.String).to_list(), column
        else:
            assert np.array_equal(found[column], series.cast(pl.Float64).to_numpy(), equal_nan=True), column


@pytest.mark.parametrize("name", ["lte", "web", "policer", "household", "many", "crossing-traffic"])
def test_arrays_are_the_tables(name: str, tmp_path: Path) -> None:
    templates = EXAMPLES.parent / "python" / "tidegate" / "_ask" / "templates"
    path = next(each / f"{name}.toml" for each in (EXAMPLES, templates) if (each / f"{name}.toml").is_file())
    run = tg.run(path, seed=1, record="100 ms")
    run.save(tmp_path / "run")
    kept = tg.open(tmp_path / "run")
    compared = 0
    for table in TABLES:
        assert run.has(table) == kept.has(table)
        if not run.has(table):
            continue
        frame = run.table(table)
        for each in (run, kept):
            found = each.arrays(table)
            assert_equal(found, frame)
            for column in ("flow", "gate", "kind"):
                if column not in frame.columns or not frame.height:
                    continue
                parts = found.parts(column)
                words = frame[column].cast(pl.String)
                assert [*parts] == [*dict.fromkeys(words.drop_nulls())]
                for word, part in parts.items():
                    assert_equal(part, frame.filter(words == word))
                assert not len(found.where(column, "no such word")["time_s"])
            compared += 1
    assert compared >= 6


def test_a_summary_alone_has_no_arrays() -> None:
    run = tg.run(EXAMPLES / "lte.toml", seed=1, record="summary")
    assert not run.has("flows")
    with pytest.raises(tg.errors.NotRecordedError, match="the run recorded no flows"):
        run.arrays("flows")
