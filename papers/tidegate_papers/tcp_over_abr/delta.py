"""Section IV: the constant rate that serves TCP best, and the delta that belongs to it.

A delta says how much is to be kept back: the effective capacity falls from the mean capacity (delta 0) to
the low rate (delta without bound). Rates are tried at chosen deltas, since they lie close together just
above the low rate: at psi 10 a delta of 0.6 per packet is 50.4 kB/s.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from tidegate.effcap import effective_capacity
from tidegate.theory import abr
from tidegate_papers.api import (
    Finding,
    Judgement,
    Points,
    claim,
    count,
    left_by,
    paired,
    shown,
    with_untried,
    worst,
)
from tidegate_papers.tcp_over_abr import cases

if TYPE_CHECKING:
    from tidegate_papers.api import Estimate, Lab, Study

#: The paper's, without a unit.
CLAIMED = (60, 70)
#: What is tried, per packet; the last is the low rate itself.
DELTAS = Points(
    (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.67, 1, 2, 5, 20, 65, math.inf),
    quick=(0.05, 0.2, 0.5, 1, 5, 65, math.inf),
)
#: The rates of change of the experiment.
PSIS = Points((1, 2, 5, 10, 20, 50), quick=(2, 20))
#: The link, packets in an interval of feedback at either rate.
FAST, SLOW = (rate * cases.EVERY_MS / 1000 / 500 for rate in (100_000, 50_000))


def rate_of(psi: float, delta: float) -> float:
    """Return the effective capacity at a delta per packet, bytes a second."""
    flip = cases.EVERY_MS / (cases.DELTA_MS * psi)
    chain = [[1 - flip, flip], [flip, 1 - flip]]
    packets = SLOW if math.isinf(delta) else effective_capacity((FAST, SLOW), chain, delta)
    return packets * 500 * 1000 / cases.EVERY_MS


@functools.cache
def constant_bounds(psi: float, buffer: int, sent: int) -> tuple[float, float]:
    """Return the model's efficiency with so many packets of the source in a round trip."""
    delta = cases.DELTA_PACKETS
    return abr(psi=psi, delta_packets=delta, buffer=buffer, scheme="constant", rate=sent / delta).bounds


def deltas(lab: Lab) -> tuple[float, ...]:
    """Return the deltas that are tried."""
    return lab.points(DELTAS)


def psis(lab: Lab) -> tuple[float, ...]:
    """Return the rates of change that are tried."""
    return lab.points(PSIS)


def constant(lab: Lab, psi: float) -> Study:
    """Return a source of constant rate, a point for each delta."""
    return lab.study(
        "constant",
        vary={"gate.abr.rate": [f"{8 * rate_of(psi, delta):.0f} bit/s" for delta in deltas(lab)]},
        changes={cases.HOLDING: [f"{cases.DELTA_MS * psi:g} ms"] * 2, **cases.length(lab)},
        runs=cases.runs(lab),
        gate="link",
    )


def efficiencies(lab: Lab, psi: float) -> list[Estimate]:
    """Return efficiency at each delta."""
    study = constant(lab, psi)
    return [cases.efficiency(study, n, cases.CELLS) for n in range(len(deltas(lab)))]


def best(lab: Lab, psi: float) -> tuple[float, list[float]]:
    """Return the delta that serves best, and all that are not surely worse, run by run."""
    study = constant(lab, psi)
    each = [cases.packets(study, n) for n in range(len(deltas(lab)))]
    top = max(range(len(each)), key=lambda n: sum(each[n]))
    level = [n for n in range(len(each)) if n == top or (paired(each[top], each[n]).low or 0) <= 0]
    return deltas(lab)[top], [deltas(lab)[n] for n in level]


def judged(top: float, level: list[float], psi: float, runs: int) -> Judgement:
    """Judge whether the best delta is 60 to 70: not decided by the low rate itself, which has none."""
    least, most = CLAIMED
    inside = [least <= delta <= most for delta in level if not math.isinf(delta)]
    possible = {"reproduced"} if inside and all(inside) else {"reproduced", "not reproduced"}
    if not any(inside) and not math.isinf(top):
        possible = {"not reproduced"}
    return left_by(
        possible, top if math.isfinite(top) else None, runs, f"at psi {psi:g}",
        f"the deltas that serve as well as the best, the low rate aside, all lie within {least} to {most}",
    )  # fmt: skip


@claim(
    "delta",
    where="§IV",
    says=(
        "The delta whose effective capacity is the constant rate that serves TCP best is consistently "
        "large, 60 to 70."
    ),
    unit="share of cases",
    paper="60 to 70",
    figures=("delta",),
)
def claim_delta(lab: Lab) -> Finding:
    """Find the delta of the best constant rate at every rate of change."""
    parts, numbers, common = [], [], set(deltas(lab))
    for psi in lab.judged(PSIS):
        top, level = best(lab, psi)
        part = judged(top, level, psi, cases.runs(lab))
        parts.append(with_untried(worst(part), lab.left_out(DELTAS)))
        common &= set(level)
        each = efficiencies(lab, psi)
        numbers.append(
            f"psi {psi:g}: best {_words(top)}, {rate_of(psi, top) / 1000:.2f} kB/s, efficiency "
            f"{shown(each[deltas(lab).index(top)])} against {shown(each[-1])} at the low rate; as good "
            f"{', '.join(_words(delta) for delta in level)}"
        )
    shared = ", ".join(_words(delta) for delta in sorted(common))
    model = [
        f"{max(range(20, 41), key=lambda n: constant_bounds(psi, 10, n)[1])} at {psi:g}"
        for psi in psis(lab)
        if psi > 1
    ]
    return Finding(
        count(parts, runs=cases.runs(lab)),
        f"Deltas per packet; at the low rate, 50 kB/s, delta has no bound. {'; '.join(numbers)}. One delta "
        "that "
        f"is as good as the best at each psi: {shared or 'none'}. The model counts whole packets a round "
        "trip, "
        f"and 21 of 40 is a delta below most of these; it has the best at {', '.join(model)}. The paper "
        "gives "
        "60 to 70 no unit",
    )


def _words(delta: float) -> str:
    return "the low rate" if math.isinf(delta) else f"{delta:g}"
