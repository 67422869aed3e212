"""GCRA by itself: exact vectors, properties, wrong arguments."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tidegate as tg

if TYPE_CHECKING:
    from collections.abc import Callable

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "gcra.json").read_text(encoding="utf-8"))
CODES = {"discard": 0, "pass": 1, "tag": 2}


@pytest.mark.parametrize("case", VECTORS["vectors"], ids=lambda case: case["name"])
def test_vectors(case: dict[str, Any]) -> None:
    arrivals, increment, tau = case["arrivals"], case["T"], case["tau"]
    for algorithm in ("virtual scheduling", "leaky bucket"):
        told = tg.gcra.police(arrivals, increment, tau, algorithm=algorithm)
        assert told.dtype == np.int64
        assert told.tolist() == case["verdicts"]
    for release, expected in (("tat", "shaped_paper"), ("earliest", "shaped_earliest")):
        left = tg.gcra.shape(arrivals, increment, tau, spacing=case["delta"], release=release)
        assert left.dtype == np.int64
        assert left.tolist() == case[expected]
    # Another origin, before and after zero, and an array instead of a list.
    for origin in (-1_000, 2**62):
        moved = np.array(arrivals) + origin
        assert tg.gcra.police(moved, increment, tau).tolist() == case["verdicts"]
        left = tg.gcra.shape(moved, increment, tau, case["delta"])
        assert (left - origin).tolist() == case["shaped_paper"]


@pytest.mark.parametrize("case", VECTORS["dual_vectors"], ids=lambda case: case["name"])
def test_dual_vectors(case: dict[str, Any]) -> None:
    told = tg.gcra.dual(
        [at for at, _ in case["cells"]],
        [clp for _, clp in case["cells"]],
        T_pcr=case["T_pcr"],
        tau_pcr=case["tau_pcr"],
        T_scr=case["T_scr"],
        tau_scr=case["tau_scr"],
        conformance=case["mode"].replace("VBR", "VBR."),
    )
    assert told.tolist() == [CODES[verdict] for verdict in case["verdicts"]]


def _arrivals(draw: random.Random) -> list[int]:
    at, times = 0, []
    for _ in range(draw.randrange(1, 200)):
        at += draw.choice([0, 0, 1, 3, draw.randrange(60)])
        times.append(at)
    return times


@pytest.mark.parametrize("release", ["tat", "earliest"])
def test_what_is_shaped_conforms(release: str) -> None:
    draw = random.Random(5)
    for _ in range(200):
        arrivals = _arrivals(draw)
        increment = Fraction(draw.randrange(1, 200), draw.randrange(1, 12))
        tau, spacing = draw.randrange(40), Fraction(draw.randrange(30), 7)
        left = tg.gcra.shape(arrivals, increment, tau, spacing, release)
        assert tg.gcra.police(left, increment, tau).all()
        assert (left >= arrivals).all()
        sizes = [draw.randrange(1, 60) for _ in arrivals]
        left = tg.gcra.shape_bytes(arrivals, sizes, per_byte=increment, burst=60, release=release)
        assert tg.gcra.police_bytes(left, sizes, per_byte=increment, burst=60).all()


def test_a_token_bucket_as_usually_counted() -> None:
    """1 Mbit/s, 3000 bytes, microseconds: tokens are counted here."""
    draw = random.Random(6)
    at, arrivals, sizes, expected = 0, [], [], []
    tokens, last = Fraction(3000), 0
    for _ in range(500):
        at += draw.randrange(20_000)
        size = draw.choice([40, 576, 1500, 3000, 3001])
        tokens, last = min(Fraction(3000), tokens + Fraction(at - last, 8)), at
        conforms = size <= tokens
        tokens -= size * conforms
        arrivals.append(at)
        sizes.append(size)
        expected.append(int(conforms))
    assert 0 < sum(expected) < len(expected)
    assert tg.gcra.police_bytes(arrivals, sizes, per_byte=8, burst=3000).tolist() == expected


def test_burst_tolerance() -> None:
    """A burst of MBS cells at the peak rate conforms, one more does not."""
    for mbs in range(1, 20):
        tau = tg.gcra.burst_tolerance(mbs, T_scr=10, T_pcr=3)
        assert tau == (mbs - 1) * 7
        assert tg.gcra.max_burst_size(tau, T_scr=10, T_pcr=3) == mbs
        burst = tg.gcra.police(np.arange(mbs + 1) * 3, 10, tau)
        assert burst.tolist() == [1] * mbs + [0]
    assert tg.gcra.burst_tolerance(8, T_scr=Fraction(30, 7), T_pcr="2.5") == 13  # 12.5


def test_a_burst_may_come_as_early_as_the_peak_rate_allows() -> None:
    """The sustained rate's tolerance is BT + CDVT (ATM Forum TM 4.0): 16 + 1."""
    cells: dict[str, Any] = {"arrivals": [1, 2, 4, 6, 8], "clp": [0] * 5}
    rates: dict[str, Any] = {"T_pcr": 2, "tau_pcr": 1, "T_scr": 6, "conformance": "VBR.1"}
    for tolerance, last in ({"tau_scr": 16}, 0), ({"tau_scr": 17}, 1), ({"mbs": 5}, 1):
        assert tg.gcra.dual(**cells, **rates, **tolerance).tolist() == [1, 1, 1, 1, last]
    for cdvt, last in (0, 0), (1, 1):
        assert tg.gcra.dual(**cells, **rates, mbs=5, cdvt_scr=cdvt)[-1] == last


def test_numbers_of_several_kinds() -> None:
    expected = tg.gcra.police([0, 7, 15, 22], Fraction(15, 2), 0).tolist()
    assert expected == [1, 1, 1, 1]
    for increment in (7.5, "7.5", np.float64(7.5), "15/2"):
        assert tg.gcra.police([0, 7, 15, 22], increment, 0).tolist() == expected
    assert tg.gcra.police([0.0, 7.0], 7, np.int64(0)).tolist() == [1, 1]
    assert tg.gcra.police(iter([0, 7]), 7, 0).tolist() == [1, 1]
    assert tg.gcra.police([], 7, 0).tolist() == []
    assert tg.gcra.shape(np.array([], dtype=int), 7, 0).tolist() == []


WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: tg.gcra.police([0, 5, 3], 10, 3), r"arrivals\[2\]: 3 is before the arrival before it, 5"),
    (lambda: tg.gcra.police([0, 1.5], 10, 3), r"arrivals\[1\]: 1.5 is not a whole number"),
    (lambda: tg.gcra.police([0, 2**63], 10, 3), r"arrivals\[1\]: 9223372036854775808 is out of range"),
    (lambda: tg.gcra.police([-(2**63), 2**62], 10, 3), "is too long; less than"),
    (lambda: tg.gcra.police([[0]], 10, 3), "arrivals: has 2 dimensions; give one"),
    (lambda: tg.gcra.police("12", 10, 3), "arrivals: '12' is text"),
    (lambda: tg.gcra.police(7, 10, 3), "arrivals: not a sequence"),  # type: ignore[arg-type]
    (lambda: tg.gcra.police([0], 0, 3), "T: with no time between units every one conforms; more than 0"),
    (lambda: tg.gcra.police([0], -1, 3), "T: -1 is out of range; from 0"),
    (lambda: tg.gcra.police([0], "ten", 3), "T: 'ten' is not a length of time"),
    (lambda: tg.gcra.police([0], Fraction(1, 2**70), 3), "has too many digits; round it"),
    (lambda: tg.gcra.police([0], 10, -1), "tau: -1 is out of range; from 0 to"),
    (lambda: tg.gcra.police([0], 10, 0.5), "tau: 0.5 is not a whole number"),  # type: ignore[arg-type]
    (lambda: tg.gcra.police([0], 10, 3, algorithm="token"), "algorithm: 'token' is not known; one of"),
    (lambda: tg.gcra.shape([0], 10, 3, release="late"), 'release: "late" is not known; one of "tat"'),
    (lambda: tg.gcra.shape([0] * 9, 2**61, 0), r"arrivals\[4\]: leaves at a time beyond 64 bits"),
    (lambda: tg.gcra.shape([2**63 - 1] * 2, 1, 0), r"arrivals\[1\]: leaves at a time beyond 64 bits"),
    (lambda: tg.gcra.police_bytes([0], [0], per_byte=8, burst=9), r"sizes\[0\]: 0 is out of range; from 1"),
    (lambda: tg.gcra.police_bytes([0], [1, 2], per_byte=8, burst=9), "sizes: 2 values for 1 arrivals"),
    (lambda: tg.gcra.police_bytes([0], [1], per_byte=8, burst=0), "burst: 0 is out of range; from 1"),
    (
        lambda: tg.gcra.shape_bytes([0], [10], per_byte=8, burst=9),
        r"sizes\[0\]: 10 is out of range; from 1 to 9",
    ),
    (
        lambda: tg.gcra.burst_tolerance(3, T_scr=2, T_pcr=2),
        "T_scr: the sustained rate must be below the peak",
    ),
    (lambda: tg.gcra.burst_tolerance(0, T_scr=3, T_pcr=2), "mbs: 0 is out of range; from 1"),
    (
        lambda: tg.gcra.dual([0], [0], T_pcr=2, tau_pcr=0, T_scr=6),
        "tau_scr, mbs: give one of the two",
    ),
    (
        lambda: tg.gcra.dual([0], [0], T_pcr=2, tau_pcr=0, T_scr=6, tau_scr=4, mbs=2),
        "tau_scr, mbs: give one of the two",
    ),
    (
        lambda: tg.gcra.dual([0], [0], T_pcr=2, tau_pcr=0, T_scr=6, tau_scr=4, cdvt_scr=2),
        "cdvt_scr: it is added to the tolerance of mbs, and tau_scr is given",
    ),
    (
        lambda: tg.gcra.dual([0], [0], T_pcr=2, tau_pcr=2**62, T_scr=6, mbs=2),
        "mbs, cdvt_scr: together they let a cell come 4611686018427387908 early",
    ),
    (
        lambda: tg.gcra.dual([0], [2], T_pcr=2, tau_pcr=0, T_scr=6, tau_scr=4),
        r"clp\[0\]: 2 is out of range; from 0 to 1",
    ),
    (
        lambda: tg.gcra.dual([0], [1], T_pcr=2, tau_pcr=0, T_scr=0, tau_scr=4),
        "T_scr, tau_scr: T: with no time",
    ),
    (
        lambda: tg.gcra.dual([0], [1], T_pcr=2, tau_pcr=0, T_scr=6, tau_scr=4, conformance="VBR"),
        'conformance: "VBR" is not known; one of "VBR.1", "VBR.2", "VBR.3"',
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_arguments(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)
