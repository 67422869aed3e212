"""Columns as pages hold them: short, and the same numbers again."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from support.packed_columns import unpacked
from tidegate._page.pack import packed

RANDOM = np.random.default_rng(1996)
COLUMNS = {
    "sampled time": np.arange(100_000) * 6e-4,
    "event times": np.cumsum(RANDOM.exponential(6e-4, 100_000)),
    "noise": RANDOM.random(100_000) * 1e7,
    "bytes": np.cumsum(RANDOM.integers(0, 3000, 100_000)).astype(float),
    "window": 10 + np.abs(np.cumsum(RANDOM.normal(size=100_000))),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_comes_back(name: str) -> None:
    digits = 12 if "time" in name else 6
    again = unpacked(packed(COLUMNS[name], digits))
    most = float(np.max(np.abs(COLUMNS[name])))
    assert np.max(np.abs(np.array(again) - COLUMNS[name])) <= 0.51 * most * 10.0 ** (1 - digits)
    if name == "bytes":
        assert again == COLUMNS[name].tolist(), "whole numbers are exact"


@pytest.mark.parametrize("name", COLUMNS)
def test_a_hundred_thousand_points_are_less_than_two_megabytes(name: str) -> None:
    assert len(json.dumps(packed(COLUMNS[name], 12))) < 2_000_000
    assert len(json.dumps(packed(COLUMNS[name]))) < 550_000


@pytest.mark.parametrize(
    "values",
    [
        [],
        [math.nan],
        [math.nan, 5.0, math.nan, math.nan, -3e9, 0.5],
        [1e300, -1e300],
        [1e-12, 0.0],
        [2.0**53],
    ],
)
def test_gaps_and_extremes(values: list[float]) -> None:
    again = unpacked(packed(values))
    most = max((abs(value) for value in values if not math.isnan(value)), default=0.0)
    assert again == pytest.approx(values, abs=most * 1e-5, nan_ok=True)
