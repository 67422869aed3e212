"""The theorems against exact simulations of the paper's source, on drawn parameters.

What is printed and what is corrected are judged one by one; the simulation is
:mod:`tidegate_papers.cell_spacing.fluid`, which shares no code with the theory.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from tidegate.theory import Spacer, spacer
from tidegate_papers.cell_spacing import on_the_way
from tidegate_papers.cell_spacing.fluid import Flow, simulate

if TYPE_CHECKING:
    from collections.abc import Callable

F = Fraction


@dataclass
class Checked:
    """One parameter set: which formulas hold, as printed and as corrected.

    ``printed`` and ``corrected`` have a formula only where it says something that can be told.
    """

    parameters: dict[str, Any]
    per_ack: int
    printed: dict[str, bool] = field(default_factory=dict)
    corrected: dict[str, bool] = field(default_factory=dict)
    #: Largest content there ever was, cells, and a window in cells.
    most: Fraction = field(default_factory=Fraction)

    def judge(self, formula: str, printed: Any, corrected: Any, *, right: Any) -> None:
        """Note whether a formula gives what is right; None: it says nothing."""
        if corrected is not None:
            self.corrected[formula] = corrected == right
            if printed is not None:
                self.printed[formula] = printed == right

    def note(self, formula: str, printed: bool | None, corrected: bool | None) -> None:
        """Note whether a formula holds; None: it says nothing."""
        for kept, held in ((self.printed, printed), (self.corrected, corrected)):
            if held is not None:
                kept[formula] = held

    @property
    def window_cells(self) -> int:
        """A whole window."""
        return int(self.parameters["w"] * self.parameters["sigma"])


def draw_parameters(draw: random.Random, per_ack: int) -> dict[str, Any]:
    """Draw a set: h above, at and below 2c, the pipe longer and shorter than b."""
    share = draw.choice([F(draw.randrange(4, 50), 100), F(1, 2), F(draw.randrange(51, 94), 100)])
    h = draw.choice([F(1), F(7, 3)])
    sigma = draw.choice([1, 2, 3, 8, 13, 32])
    w0 = draw.randrange(per_ack, per_ack + 4)
    b = w0 + draw.randrange(0, 36)
    delta = draw.choice([F(1, 10), F(1, 2), F(1), F(2)]) * draw.randrange(1, 30) * sigma / (share * h)
    if draw.random() < 0.3:
        delta += F(draw.randrange(1, 10), 7)
    w = b + draw.choice([0, 1, draw.randrange(0, 12)])
    return {"h": h, "c": share * h, "delta": delta, "sigma": sigma, "b": b, "w": w, "w0": w0}


def check(p: dict[str, Any], per_ack: int) -> Checked:
    """Judge every formula on one set of parameters."""
    found = spacer(
        h=p["h"], c=p["c"], delta=p["delta"], segment_cells=p["sigma"], threshold=p["b"],
        window=p["w"], initial_window=p["w0"], segments_per_ack=per_ack,
    )  # fmt: skip
    checked = Checked(p, per_ack)
    printed = found.printed
    b, w = p["b"], p["w"]

    def pair(of: Any, name: str) -> tuple[Any, Any]:
        return getattr(of, f"{name}_minus"), getattr(of, f"{name}_plus")

    limits, begins, to_b = _slow_start(p, per_ack)
    checked.judge("V_b", pair(printed, "V_b"), pair(found, "V_b"), right=limits)
    by_chance = found.n1 <= found.n0 and F(found.V_b_minus) % p["sigma"] == 0
    if not (by_chance and begins < F(found.t_b)):
        checked.judge("t_b", printed.t_b, found.t_b, right=begins)

    flow = simulate(**p, per_ack=per_ack, until_acks=(w - b + 4) * (w + 2) + _catching_up(p, w))
    reached = b - p["w0"]
    tau_b = flow.time(flow.acks[reached - 1]) if reached else F(0)
    checked.judge("tau_b", printed.tau_b, found.tau_b, right=tau_b)
    grows = next((i for i, window in enumerate(flow.windows) if window > b), None)
    if grows is not None and w > b:
        first = flow.time(flow.acks[grows])
        checked.judge("increment", printed.first_increment, found.first_increment, right=first)
        if "t_b" in checked.corrected:
            checked.judge("C1", printed.c1_holds, found.c1_holds, right=begins < first)
    for name, corrected, as_printed, right in _peaks(found, flow):
        checked.corrected[name] = checked.corrected.get(name, True) and corrected == right
        if as_printed is not None:
            checked.printed[name] = checked.printed.get(name, True) and as_printed == right
    _levels(checked, found, flow, grows)
    way = on_the_way.single(found, to_b, flow) if per_ack == 1 else on_the_way.pairs(found, to_b)
    for name, as_printed, corrected in way:
        checked.note(name, as_printed, corrected)
    begin, end = flow.acks[-(w // per_ack) - 2], flow.acks[-1]
    checked.judge("V_w", pair(printed, "V_w"), pair(found, "V_w"), right=flow.extremes(begin, end))
    checked.most = flow.extremes(0, end)[1]
    checked.judge("buffer", None, found.buffer, right=checked.most)
    checked.judge("m0", printed.m0, found.m0, right=_m0(p, per_ack))
    # Steps on the way: a simulation shows them only through t_b, the peaks and tau_b, so here the
    # print is set beside the corrected formula.
    if printed.K is not None:
        checked.printed["K"] = printed.K == found.K
    if found.k0 is not None and printed.k0 is not None:
        checked.printed["k0"] = ceil(printed.k0) == found.k0
    if per_ack == 2:
        checked.printed["(21)"] = printed.n1 == found.n1
    return checked


def _catching_up(p: dict[str, Any], window: int) -> int:
    """Return acknowledgements after which a source that was behind has caught up for certain."""
    return 50 + 2 * window + int(window / (1 - p["c"] / p["h"]))


def _slow_start(p: dict[str, Any], per_ack: int) -> tuple[tuple[Fraction, Fraction], Fraction, Flow]:
    """Return the limits of the oscillation at b, the acknowledgement from which it stays there, the flow."""
    flow = simulate(**{**p, "w": p["b"]}, per_ack=per_ack, until_acks=3 * p["b"] + _catching_up(p, p["b"]))
    limits = flow.extremes(flow.acks[-(p["b"] // per_ack + 2)], flow.acks[-1])
    first = len(flow.acks) - 1
    for i in range(len(flow.acks) - 2, -1, -1):
        low, high = flow.extremes(flow.acks[i], max(flow.acks[i + 1] - 1, flow.acks[i]))
        if flow.content(flow.acks[i]) != limits[0] or low < limits[0] or high > limits[1]:
            break
        first = i
    return limits, flow.time(flow.acks[first]), flow


def _peaks(found: Spacer, flow: Flow) -> list[tuple[str, Any, Any, Fraction]]:
    """Return formula, corrected and printed value and the content's peak of intervals of slow start."""
    pairs = bool(found.intervals)
    starts = {each.n: F(each.start) for each in found.intervals}
    if not pairs:
        starts = {n: n * F(found.Delta) for n in range(found.nu + 2)}
    first = min(starts)
    # With delayed acknowledgements the print begins at the second interval.
    as_printed = dict(enumerate(found.printed.peaks, start=first + pairs))
    if pairs:
        name = "(19)" if 3 * F(found.c) > 2 * F(found.h) else "(18)"
    else:
        name = "(8)" if 2 * F(found.c) > F(found.h) else "(7)"
    rows = []
    for n in range(first + pairs, found.nu):
        top = flow.extremes(int(starts[n] * flow.scale), int(starts[n + 1] * flow.scale))[1]
        rows.append((name, found.peaks[n - first], as_printed.get(n), top))
    return rows


def _levels(checked: Checked, found: Spacer, flow: Flow, grows: int | None) -> None:
    """Judge the content just before each growth, (14) and the level before (16), where h >= 2c."""
    b, w, per_ack = checked.parameters["b"], checked.parameters["w"], checked.per_ack
    if per_ack == 2 or not found.c1_holds or F(found.h) < 2 * F(found.c):
        return
    name = "(14)" if b * checked.parameters["sigma"] >= F(found.c) * F(found.Delta) else "(16)"
    for i in range(1, len(flow.windows)):
        window = flow.windows[i - 1]
        if not (flow.windows[i] > window and b <= window < w):
            continue
        level = found.levels[window - b]
        settled = (i - (grows or 0)) > 2 * window or window == b
        if F(level[0]) <= 0 or flow.acks[i] <= F(found.t_b) * flow.scale or not settled:
            continue
        right = flow.content(flow.acks[i])
        checked.corrected[name] = checked.corrected.get(name, True) and level[0] == right
        as_printed = found.printed.levels[window - b][0]
        checked.printed[name] = checked.printed.get(name, True) and as_printed == right


def _m0(p: dict[str, Any], per_ack: int) -> int:
    """Return the growths of the window beyond b after which it fills the pipe."""
    trip, m = p["delta"] + per_ack * p["sigma"] / p["c"], 0
    while (p["b"] + m) * p["sigma"] < p["c"] * trip:
        m += 1
    return m


_DONE: dict[int, list[Checked]] = {}


def check_all(sets: int, progress: Callable[[float], None] | None = None) -> list[Checked]:
    """Judge every formula on so many sets, the same each time: half with an ACK per segment, half per two."""
    if sets not in _DONE:
        found = []
        for per_ack in (1, 2):
            draw = random.Random(100 + per_ack)
            for n in range(sets // 2):
                found.append(check(draw_parameters(draw, per_ack), per_ack))
                if progress is not None and n % 20 == 0:
                    progress(len(found) / sets)
        _DONE[sets] = found
    return _DONE[sets]
