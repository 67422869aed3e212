"""The simulator beside numbers that others published; the sources are in ``published_numbers``."""

from __future__ import annotations

import pytest
from published_numbers import LOSSES, TABLES, Number, full_formula, ns3_first_maximum, rfc9438, square_root


def holds(number: Number) -> None:
    """Fail with the number if it is outside its band."""
    assert number.meets, f"{number}: {number.ratio:.3f}"


@pytest.mark.parametrize("index", range(len(TABLES)))
def test_windows_of_rfc_9438(index: int) -> None:
    """Tables 1 to 3, regular losses."""
    holds(rfc9438(index))


@pytest.mark.parametrize(("p", "every"), [case for case in LOSSES if case[0] <= 1e-3])
def test_the_square_root_law_with_sack(p: float, every: int) -> None:
    """Mathis et al. 1997, where time-outs are rare."""
    holds(square_root(p, every))


@pytest.mark.parametrize(("p", "every"), LOSSES)
def test_the_full_formula(p: float, every: int) -> None:
    """Padhye et al. 1998, time-outs included."""
    holds(full_formula(p, every))


def test_first_maximum_of_ns3() -> None:
    """CUBIC over 50 Mbit/s and 50 ms."""
    holds(ns3_first_maximum())
