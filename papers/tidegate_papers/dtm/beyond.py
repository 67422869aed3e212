"""Claims beyond the DTM paper: newer TCPs, the capacity saved, the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import (
    REPRODUCED,
    Estimate,
    Finding,
    above,
    claim,
    count,
    estimate,
    graded,
    less_than_one,
    ratio,
    scaled,
    shown,
    together,
)
from tidegate_papers.dtm.cases import (
    AS_GOOD,
    CONSIDERABLE,
    MAP_CCS,
    MAP_CELLS,
    MBPS,
    REMEDIES,
    VARIANTS,
    as_good,
    dynamic_two,
    map_of,
    static_curve,
    static_rates,
    static_two,
    times,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate_papers.api import Lab


@claim(
    "newer-tcp",
    where="beyond the paper",
    says="NewReno, SACK and CUBIC do as well in Fig. 9's dynamic channel as in a static one.",
    unit="share of TCPs",
    figures=("variants",),
)
def claim_variants(lab: Lab) -> Finding:
    """Measure whether newer TCP needs no remedy."""
    found = []
    for name, changes in VARIANTS[2:]:
        dynamic = dynamic_two(lab, None, **changes).values("goodput_bps")
        found.append((name, ratio(dynamic, static_two(lab, **changes).values("goodput_bps"))))
    reno = ratio(dynamic_two(lab).values("goodput_bps"), static_two(lab).values("goodput_bps"))
    numbers = ", ".join(f"{name} {shown(value)}" for name, value in found)
    return Finding(
        count(
            [above(value, AS_GOOD, name) for name, value in found], runs=min(value.n for _, value in found)
        ),
        f"Goodput on the dynamic channel of Fig. 9 over that on the static one: Reno {shown(reno)}, "
        f"{numbers}",
    )


def reaching(rates: Sequence[float], values: Sequence[float], target: float) -> float | None:
    """Return the least rate at which a curve through these values reaches the target."""
    for n, value in enumerate(values):
        if value >= target:
            if n == 0:
                return rates[0]
            share = (target - values[n - 1]) / (value - values[n - 1])
            return rates[n - 1] + share * (rates[n] - rates[n - 1])
    return None


def saving(lab: Lab, name: str, metric: str, changes: dict[str, str], *, inverse: bool = False) -> Estimate:
    """Return the capacity saved against the least static channel that does as well, run by run.

    As well: the metric within half a per cent. ``inverse``: small is good.
    """
    static = static_curve(lab, name, changes)
    dynamic = lab.study(name, changes=changes, gate="channel")
    allocated = dynamic.values("gate.channel.allocated_bps_mean")
    curves = [static.values(metric, n) for n in range(len(static.points))]
    saved = []
    for run, (got, mean) in enumerate(zip(dynamic.values(metric), allocated, strict=True)):
        column = [curve[run] for curve in curves]
        if got is None or mean is None:
            continue
        values = [0.0 if value is None else 1 / value if inverse else value for value in column]
        needed = reaching(static_rates(lab, name), values, 0.995 * (1 / got if inverse else got))
        saved.append(None if needed is None else 1 - mean / MBPS / needed)
    return estimate(saved)


@claim(
    "saving-steady",
    where="beyond the paper, Fig. 4",
    says="For one steady flow a dynamic channel takes less capacity than a static one of the same goodput.",
    unit="share of the static capacity saved",
    paper="considerable",
    figures=("saving",),
)
def claim_saving_steady(lab: Lab) -> Finding:
    """Measure the capacity saved for one steady flow."""
    saved = saving(lab, "one-flow", "goodput_bps", {})
    over = lab.study("one-flow", gate="channel").estimate("gate.channel.allocated_bps_mean")
    return Finding(
        graded(saved, full=CONSIDERABLE, some=0.0),
        "Share of the least static channel that carries the same goodput. A steady flow needs no more than "
        "its rate; the dynamic channel adds MARGIN and half of CORRIDOR and takes "
        f"{shown(scaled(over, MBPS), 'Mbit/s')}. Against the 10 Mbit/s that stood before it saves "
        f"{shown(less_than_one(scaled(over, 10 * MBPS)))}",
    )


@claim(
    "saving-two-flows",
    where="beyond the paper, Fig. 9",
    says="For two flows in one channel it takes less than a static one of the same goodput.",
    unit="share of the static capacity saved",
    paper="considerable",
    figures=("saving",),
)
def claim_saving_two(lab: Lab) -> Finding:
    """Measure the capacity saved for two flows in one channel."""
    saved = saving(lab, "two-flows", "goodput_bps", times(lab))
    return Finding(
        graded(saved, full=CONSIDERABLE, some=0.0),
        "Share of the least static channel that carries the same goodput: the small goodput of Fig. 9 is "
        "to be had with a static channel of about what the dynamic one takes",
    )


@claim(
    "saving-backup",
    where="beyond the paper",
    says="For a transfer that ends it takes less than a static one that is as fast.",
    unit="share of the static capacity saved",
    paper="considerable",
    figures=("saving",),
)
def claim_saving_backup(lab: Lab) -> Finding:
    """Measure the capacity saved for a transfer that ends."""
    saved = saving(lab, "backup", "completion_s", {}, inverse=True)
    done = lab.study("backup", gate="channel").estimate("completion_s")
    return Finding(
        graded(saved, full=CONSIDERABLE, some=0.0),
        "Share of the least static channel that has 10 MB across as soon and then stands for the rest of "
        f"the minute; both take {shown(done, 's')}. This is where the saving is: in the silence, not in the "
        "flow",
    )


@claim(
    "map",
    where="beyond the paper",
    says=(
        "One remedy makes a dynamic channel as good as a static one at every round trip and queue of the map."
    ),
    unit="share of cells",
    figures=("map",),
)
def claim_map(lab: Lab) -> Finding:
    """Measure whether one remedy makes the dynamic channel as good as the static one all over the map."""
    numbers, best = [], []
    lab.judged(MAP_CELLS)
    for cc, name in MAP_CCS:
        cells = map_of(lab, cc)
        holds = {
            remedy: [
                above(found, AS_GOOD, f"{trip} with {queue} packets")
                for (tried, trip, queue), found in cells.items()
                if tried == remedy
            ]
            for remedy, _ in REMEDIES
        }
        runs = min(found.n for found in cells.values())
        sure = {remedy: sum(one.verdict == REPRODUCED for one in each) for remedy, each in holds.items()}
        best.append(count(holds[max(sure, key=lambda remedy: sure[remedy])], runs=runs, name=name))
        each = ", ".join(f"{remedy} {number}" for remedy, number in sure.items())
        numbers.append(f"{name}: {each} of {len(holds['none'])}")
    last = REMEDIES[-1][0]
    wide = [found for (name, _, _), found in map_of(lab, "reno", "12 Mbit/s").items() if name == last]
    return Finding(
        together(
            *best,
            rule="with NewReno and with Reno, in every cell of the map, the whole 95% interval of the "
            "goodput "
            f"over that on the static channel lies above {AS_GOOD}",
        ),
        f"Cells with at least {AS_GOOD} of the static channel's goodput, under the remedy that is best for "
        f"the TCP. By remedy: {'; '.join(numbers)}. A static channel of exactly 10 Mbit/s spares Reno "
        f"time-outs that one of 12 does not: against that one, {last} holds in {sum(map(as_good, wide))} of "
        f"{len(wide)}",
    )
