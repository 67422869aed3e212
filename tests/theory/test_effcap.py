"""EFFCAP without a scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tidegate as tg

VECTORS = Path(__file__).parents[1] / "vectors" / "effcap_estimator.json"
CASES: list[dict[str, Any]] = json.loads(VECTORS.read_text())["effcap_estimator"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"M={case['M']} N={case['N']}")
def test_the_vectors_exactly(case: dict[str, Any]) -> None:
    told = tg.effcap.estimate(case["capacity"], case["M"], case["N"])
    first = case["first_full_index"]
    # Nine digits after the point are written there.
    assert [round(value, 9) for value in told[first:].tolist()] == case["output"][first:]


def as_written(capacity: np.ndarray, m: int, n: int) -> list[float]:
    """The definition, block by block."""
    told = []
    for k in range(len(capacity)):
        blocks = [capacity[k - j - m + 1 : k - j + 1] for j in range(n) if k - j - m + 1 >= 0]
        told.append(min(block.mean() for block in blocks) if blocks else capacity[: k + 1].mean())
    return told


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 7), (7, 1), (8, 88), (50, 3)])
def test_the_definition(m: int, n: int) -> None:
    capacity = np.random.default_rng(m * 1000 + n).uniform(0, 1e9, 400)
    assert tg.effcap.estimate(capacity, m, n) == pytest.approx(as_written(capacity, m, n), rel=1e-12)


def test_what_has_gone_leaves_nothing_behind() -> None:
    """A sum that subtracts what leaves would keep the rounding errors of large samples."""
    told = tg.effcap.estimate([1e17, 1.0, 1.0, 1.0, 0.1], m=2, n=1)
    assert told[3:].tolist() == [1.0, 0.55]


def test_any_sequence_of_numbers() -> None:
    rows = [3, 1, 2]
    expected = [3.0, 1.0, 1.0]
    for capacity in (rows, tuple(rows), iter(rows), np.array(rows)):
        assert tg.effcap.estimate(capacity, m=1, n=2).tolist() == expected
    assert tg.effcap.estimate([], m=1, n=2).tolist() == []


@pytest.mark.parametrize(
    ("capacity", "m", "n", "told"),
    [
        ([1, float("nan")], 1, 1, "capacity[1]: nan is no capacity"),
        ([-1.0], 1, 1, "capacity[0]: -1.0 is no capacity"),
        ([[1.0]], 1, 1, "one dimension, not 2"),
        ("12", 1, 1, "'12' is text"),
        (["a"], 1, 1, "is not a sequence of numbers"),
        ([1.0], 0, 1, "m: 0 is out of range; from 1 to"),
        ([1.0], 1, 1.5, "n: 1.5 is not a whole number"),
        ([1.0], True, 1, "m: True is not a whole number"),
    ],
)
def test_refused(capacity: Any, m: Any, n: Any, told: str) -> None:
    with pytest.raises(tg.errors.ArgumentError) as caught:
        tg.effcap.estimate(capacity, m, n)
    assert told in str(caught.value)
