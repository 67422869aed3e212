"""The spacer's theory against an exact simulation of the paper's source."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
import tidegate as tg
from tidegate_papers.cell_spacing.fluid import Flow, simulate

#: Parameter sets for each kind of acknowledgement.
SETS = 300
F = Fraction


def parameters(draw: random.Random, per_ack: int) -> dict[str, Any]:
    """Draw a set; h is above, at and below 2c, the pipe shorter and longer than b."""
    share = draw.choice([F(draw.randrange(1, 50), 100), F(1, 2), F(draw.randrange(51, 96), 100)])
    h = draw.choice([F(1), F(7, 3)])
    sigma = draw.choice([1, 2, 3, 8, 13, 32])
    w0 = draw.randrange(per_ack, per_ack + 4)
    b = w0 + draw.randrange(0, 36)
    delta = draw.choice([F(1, 10), F(1, 2), F(1), F(2)]) * draw.randrange(1, 30) * sigma / (share * h)
    if draw.random() < 0.3:
        delta += F(draw.randrange(1, 10), 7)
    w = b + draw.choice([0, 1, draw.randrange(0, 12)])
    return {"h": h, "c": share * h, "delta": delta, "sigma": sigma, "b": b, "w": w, "w0": w0}


def theory(p: dict[str, Any], per_ack: int) -> tg.theory.Spacer:
    return tg.theory.spacer(
        h=p["h"],
        c=p["c"],
        delta=p["delta"],
        segment_cells=p["sigma"],
        threshold=p["b"],
        window=p["w"],
        initial_window=p["w0"],
        segments_per_ack=per_ack,
    )


def catching_up(p: dict[str, Any], window: int) -> int:
    """Return acknowledgements after which a source that was behind has caught up for certain."""
    return 50 + 2 * window + int(window / (1 - p["c"] / p["h"]))


def cells_between(flow: Flow, begin: int, end: int) -> tuple[int, int]:
    """Return the least and the largest number of whole cells in the spacer; departures go first."""
    counts = []
    sigma = flow.sigma
    for k, start in enumerate(flow.starts):
        if begin <= start <= end:
            for cell in range(sigma):
                # Cell by cell as it begins to arrive, in a finer scale of time.
                at = F(start) + F(cell * flow.span_h, sigma)
                gone = whole_cells_left(flow, at)
                counts += [k * sigma + cell - gone, k * sigma + cell + 1 - gone]
    return min(counts), max(counts)


def whole_cells_left(flow: Flow, at: Fraction) -> int:
    """Return the cells that have left by ``at``, in the simulation's time but not always whole."""
    low, high = 0, len(flow.ends)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if flow.ends[middle] <= at else (low, middle)
    if low == len(flow.ends):
        return low * flow.sigma
    part = max(at - (flow.ends[low] - flow.span_c), F(0)) * flow.sigma / flow.span_c
    return low * flow.sigma + int(part)


def oscillation_begins(p: dict[str, Any], per_ack: int, found: tg.theory.Spacer) -> Fraction:
    """Return the first acknowledgement from which on the content stays between V_b- and V_b+."""
    limits = (found.V_b_minus, found.V_b_plus)
    q = {**p, "w": p["b"]}
    flow = simulate(**q, per_ack=per_ack, until_acks=3 * p["b"] + catching_up(p, p["b"]))
    round_of_acks = p["b"] // per_ack + 2
    assert flow.extremes(flow.acks[-round_of_acks], flow.acks[-1]) == limits
    first = len(flow.acks) - 1
    for i in range(len(flow.acks) - 2, -1, -1):
        low, high = flow.extremes(flow.acks[i], max(flow.acks[i + 1] - 1, flow.acks[i]))
        if flow.content(flow.acks[i]) != limits[0] or low < limits[0] or high > limits[1]:
            break
        first = i
    return flow.time(flow.acks[first])


def starts_of_intervals(found: tg.theory.Spacer) -> dict[int, Fraction]:
    if found.intervals:
        return {each.n: F(each.start) for each in found.intervals}
    return {n: n * F(found.Delta) for n in range(found.nu + 2)}


@pytest.mark.parametrize("per_ack", [1, 2])
def test_every_quantity(per_ack: int) -> None:
    """Theorems 1 to 3 and the formulas on the way, in exact arithmetic."""
    draw = random.Random(20 + per_ack)
    covered: Counter[str] = Counter()
    for _ in range(SETS):
        p = parameters(draw, per_ack)
        found = theory(p, per_ack)
        what = f"{ {k: str(v) for k, v in p.items()} }, {per_ack} per ACK"
        sigma, c, b, w = p["sigma"], p["c"], p["b"], p["w"]
        trip = found.Delta_prime or found.Delta
        covered["h" + "<=>"[(p["h"] > 2 * c) - (p["h"] < 2 * c) + 1] + "2c"] += 1
        covered["n0" + "<=>"[(found.n0 > found.n1) - (found.n0 < found.n1) + 1] + "n1"] += 1
        covered["b" + "<=>"[(b * sigma > c * trip) - (b * sigma < c * trip) + 1] + "pipe"] += 1

        assert found.m0 == next(m for m in itertools.count() if (b + m) * sigma >= c * trip), what
        # The end of slow start. Where the level of (10) is V_b- by chance, it looks like the
        # oscillation at b already, with a pause in between.
        begins = oscillation_begins(p, per_ack, found)
        by_chance = found.n1 <= found.n0 and F(found.V_b_minus) % sigma == 0
        assert begins == found.t_b or (by_chance and begins < found.t_b), what

        flow = simulate(**p, per_ack=per_ack, until_acks=(w - b + 4) * (w + 2) + catching_up(p, w))
        reached = b - p["w0"]
        assert (flow.time(flow.acks[reached - 1]) if reached else 0) == found.tau_b, what
        grows = next((i for i, window in enumerate(flow.windows) if window > b), None)
        if w > b:
            assert grows is not None
            assert flow.time(flow.acks[grows]) == found.first_increment, what
            assert found.c1_holds == (found.t_b < found.first_increment), what

        # Intervals of slow start.
        at = starts_of_intervals(found)
        first = min(at)
        for n in range(first, found.nu):
            top = flow.extremes(int(at[n] * flow.scale), int(at[n + 1] * flow.scale))[1]
            assert top == found.peaks[n - first], (what, n)
        if found.n1 <= found.n0 and b * sigma <= p["h"] * (at[found.nu + 1] - at[found.nu]):
            end = int(at[found.nu + 1] * flow.scale) - 1
            assert flow.extremes(int(at[found.nu] * flow.scale), end)[1] == found.peaks[-1], what

        # Just before each growth the content is at the level of its window, (14).
        for i in range(1, len(flow.windows)):
            window = flow.windows[i - 1]
            busy = found.levels[window - b][0] if b <= window < w else F(0)
            if flow.windows[i] > window >= b and busy > 0 and flow.acks[i] > found.t_b * flow.scale:
                settled = per_ack * (i - (grows or 0)) > 2 * window or window == b
                if settled and found.c1_holds and p["h"] >= 2 * c:
                    assert flow.content(flow.acks[i]) == busy, (what, window)
                    covered["levels"] += 1

        # The end of congestion avoidance, and everything.
        begin, end = flow.acks[-(w // per_ack) - 2], flow.acks[-1]
        assert flow.extremes(begin, end) == (found.V_w_minus, found.V_w_plus), what
        assert flow.extremes(0, end)[1] == found.buffer, what
        rounds = 2 * (w // per_ack)
        sent = flow.sent[-1] - flow.sent[-rounds - 1]
        assert sent * sigma == found.rate * flow.time(flow.acks[-1] - flow.acks[-rounds - 1]), what
    for name in ("h<2c", "h=2c", "h>2c", "n0<n1", "n0=n1", "n0>n1", "b<pipe", "b>pipe", "levels"):
        assert covered[name] >= 15, covered


@pytest.mark.parametrize("per_ack", [1, 2])
def test_whole_cells(per_ack: int) -> None:
    """Cells are counted from the start of their arrival; the largest count is exact."""
    draw = random.Random(40 + per_ack)
    for _ in range(40):
        p = parameters(draw, per_ack)
        p["b"], p["w"] = min(p["b"], 20), min(p["w"], 24)
        p["w"] = max(p["w"], p["b"])
        found = theory(p, per_ack)
        b, w = p["b"], p["w"]
        flow = simulate(**p, per_ack=per_ack, until_acks=(w - b + 4) * (w + 2) + catching_up(p, w))
        low, high = cells_between(flow, flow.acks[-(w // per_ack) - 2], flow.acks[-1])
        assert high == found.V_w_plus_cells
        assert low == found.V_w_minus_cells
        assert cells_between(flow, 0, flow.acks[-1])[1] == found.buffer_cells


def section_6(delta: Fraction) -> tg.theory.Spacer:
    return tg.theory.spacer(
        h=1,
        c=F(45, 100),
        delta=delta,
        segment_cells=32,
        threshold=41,
        window=41,
        initial_window=2,
        segments_per_ack=2,
    )


def test_section_6() -> None:
    """3.6 ms are 288 cell times; the figures depend on which of the three times that is."""
    service = F(32) / F(45, 100)
    limits = {
        "Δ'": (section_6(288 - 2 * service), F("1182.4"), F("1217.6")),
        "Δ": (section_6(288 - service), F("1150.4"), F("1185.6")),
        "δ": (section_6(F(288)), F("1118.4"), F("1153.6")),
    }
    for name, (found, low, high) in limits.items():
        assert (found.V_w_minus, found.V_w_plus) == (low, high), name
        assert found.buffer_cells <= 1300, name
    # The printed 118 is 1182.4 with a digit lost: (24) takes Δ for what (23) calls L.
    assert limits["Δ'"][0].V_w_minus == 41 * 32 - F(45, 100) * 288


@pytest.mark.parametrize(("rate", "segments"), [("5 Mbit/s", 368.5), ("10 Mbit/s", 737.0)])
def test_figure_2(rate: str, segments: float) -> None:
    found = tg.theory.spacer(
        h="33.92 Mbit/s",
        c=rate,
        delta="1.8222 ms",
        segment_cells="32 cells",
        threshold="41 segments",
        window="41 segments",
        initial_window="2 segments",
        segments_per_ack=2,
    )
    assert found.cell_time_s == F(125, 10_000_000)
    assert float(found.rate / found.segment_cells / found.cell_time_s) == pytest.approx(segments, abs=0.05)


def test_what_the_paper_prints() -> None:
    """Where print and right differ, both are there."""
    single = tg.theory.spacer(
        h=1, c=F(3, 5), delta=F(40), segment_cells=8, threshold=21, window=30, initial_window=1
    )
    told = {row["quantity"]: row for row in single.comparison()}
    assert told["n1"] == {"quantity": "n1", "printed": 5, "corrected": 5}
    # K: 2^ν w0 = 4: 17 · 0.2/0.4 = 8.5, and the source is not late. The print adds 1.
    assert (single.n0, single.n1, single.K, single.printed.K) == (2, 5, 9, F("9.5"))
    assert single.t_b == 3 * F(160, 3) + (17 + 9) * F(40, 3)
    assert single.printed.t_b == 3 * F(160, 3) + (17 + F("9.5")) * F(40, 3)
    pairs = section_6(288 - 2 * F(32) / F(45, 100))
    assert pairs.printed.t_b is None
    # (22) takes L_n0, and c_n0 is 1 for some parameters: a segment too much.
    off = [
        tg.theory.spacer(
            h=1,
            c=F(1, 3),
            delta=F(n),
            segment_cells=4,
            threshold=60,
            window=60,
            initial_window=2,
            segments_per_ack=2,
        )
        for n in range(20, 200, 7)
    ]
    differences = {F(each.printed.V_b_minus) - F(each.V_b_minus) for each in off}
    assert differences == {F(0), F(4)}


def test_numbers_in_numbers_out() -> None:
    exact = section_6(F(1458, 10))
    assert isinstance(exact.V_w_minus, Fraction)
    floats = tg.theory.spacer(
        h=1,
        c=0.45,
        delta=145.8,
        segment_cells=32,
        threshold=41,
        window=41,
        initial_window=2,
        segments_per_ack=2,
    )
    assert isinstance(floats.V_w_minus, float)
    assert floats.V_w_minus == float(exact.V_w_minus)
    assert isinstance(floats.printed.V_w_minus, float)
    assert isinstance(floats.intervals[0].start, float)
