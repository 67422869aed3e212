"""The simulator beside numbers that others published; the sources are in ``published.figures``."""

from __future__ import annotations

import pytest
from published.figures import (
    BBR_LINKS,
    LOSSES,
    NS3_MARKED,
    OTHER_SHARES,
    SHARES,
    TABLES,
    Number,
    bbr_alone,
    dctcp_alpha,
    full_formula,
    ns3_first_maximum,
    rfc9438,
    shares,
    square_root,
)


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


@pytest.mark.parametrize("rtt", sorted(NS3_MARKED))
def test_dctcp_is_marked_as_in_ns3(rtt: int) -> None:
    """CoDel with a CE threshold, 50 Mbit/s."""
    holds(dctcp_alpha(rtt))


@pytest.mark.parametrize(("rate", "rtt"), BBR_LINKS)
def test_bbr_alone_takes_the_link(rate: int, rtt: int) -> None:
    """Between its phases of ProbeRTT."""
    holds(bbr_alone(rate, rtt))


@pytest.mark.parametrize("index", [index for index in range(len(SHARES)) if index not in OTHER_SHARES])
def test_shares_of_two_flows(index: int) -> None:
    """CUBIC under a FIFO, FQ-CoDel and DualPI2, measured in 2020."""
    holds(shares(index))
