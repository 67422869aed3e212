"""Verdicts on captures of real TCP through real policers and shapers (Flach et al., SIGCOMM 2016)."""

from __future__ import annotations

import pytest
from support.policed_captures import FOLDER, Verdict, verdicts

pytestmark = [
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no labelled captures in {FOLDER}"),
    pytest.mark.timeout(1800),
]


@pytest.fixture(scope="module")
def said() -> list[Verdict]:
    return verdicts()


def half(said: list[Verdict], which: str) -> list[Verdict]:
    return [each for each in said if which == "all" or each.held_out == (which == "held out")]


@pytest.mark.parametrize("which", ["held out", "all"])
def test_policed_connections_are_found(said: list[Verdict], which: str) -> None:
    policed = [each for each in half(said, which) if each.policer and each.lost]
    wrong = [each for each in policed if not each.said_policed]
    assert len(policed) > 50
    assert len(wrong) <= 0.03 * len(policed), wrong


@pytest.mark.parametrize("which", ["held out", "all"])
def test_shaped_connections_are_not_called_policed(said: list[Verdict], which: str) -> None:
    shaped = [each for each in half(said, which) if not each.policer]
    assert len(shaped) >= 5
    assert [each for each in shaped if each.said_policed] == []


@pytest.mark.parametrize("which", ["held out", "all"])
def test_rates_of_policers_are_right(said: list[Verdict], which: str) -> None:
    found = [each for each in half(said, which) if each.policer and each.said_policed]
    off = [each for each in found if abs((each.said_rate_bps or 0) / each.rate_bps - 1) > 0.02]
    assert len(off) <= 0.05 * len(found), off


@pytest.mark.parametrize("which", ["held out", "all"])
def test_buckets_of_policers_are_right(said: list[Verdict], which: str) -> None:
    found = [each for each in half(said, which) if each.policer and each.said_policed]
    told = [each for each in found if each.said_bucket_bytes is not None]
    right = [each for each in told if abs((each.said_bucket_bytes or 0) / each.bucket_bytes - 1) <= 0.25]
    assert len(right) >= 0.8 * len(found)
    assert len(right) >= 0.95 * len(told)
