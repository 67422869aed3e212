"""Claims on the laboratory: the device that was measured, beside its simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import Finding, above, claim, count, paired, ratio, scaled, shown, together, within
from tidegate_papers.policing import cases
from tidegate_papers.policing.cases import point
from tidegate_papers.policing.measured import LABORATORY

if TYPE_CHECKING:
    from tidegate_papers.api import Judgement, Lab

#: "The same" goodput is within this factor.
SAME = 1.15
#: "The same" loss is within this factor: what is lost in one burst depends on a kernel's details.
SAME_LOSS = 1.35


def beside(lab: Lab, device: str, metric: str) -> tuple[list[Judgement], str]:
    """Hold the simulation of each measured setting with the measurement."""
    factor = SAME if metric == "goodput" else SAME_LOSS
    cells, numbers = [], []
    for row in lab.judged(cases.ROWS[device]):
        found = point(lab, device, row.rate, row.size).estimate(metric)
        real = row.goodput if metric == "goodput" else row.loss
        cells.append(within(scaled(found, real), 1 / factor, factor, row.name))
        numbers.append(f"{shown(found)} for {real:.3g} at {row.rate:g} Mbit/s, {row.size}")
    return cells, "; ".join(numbers)


@claim(
    "policed-goodput",
    where="validation set",
    says="Behind the policer a transfer has the goodput that the laboratory measured.",
    unit="share of settings",
    paper=1.0,
    figures=("laboratory", "grid"),
)
def claim_goodput(lab: Lab) -> Finding:
    """Compare goodput behind a policer with the captures' own."""
    cells, numbers = beside(lab, "policer", "goodput")
    return Finding(
        count(cells, runs=16),
        f"Simulated over measured goodput; the same is within {SAME:g} times. Mbit/s, simulated for "
        f"measured: "
        f"{numbers}. With 8 kB, five segments, the kernel of 2015 does worse on hardware: whole trains "
        f"of segments "
        "are lost there. An ACK for every eighth segment instead of every second (a receiver whose device "
        "merges segments) takes 1.5 Mbit/s with 8 kB to "
        f"{shown(point(lab, 'policer', 1.5, '8 kB', cases.STRETCHED).estimate('goodput'))}",
    )


@claim(
    "policed-loss",
    where="validation set",
    says="Behind the policer as many packets are lost as the laboratory measured.",
    unit="share of settings",
    paper=1.0,
    figures=("laboratory",),
)
def claim_loss(lab: Lab) -> Finding:
    """Compare losses behind a policer with the validation set's."""
    cells, numbers = beside(lab, "policer", "lost")
    return Finding(
        count(cells, runs=16),
        f"The same is within {SAME_LOSS:g} times. Percent lost, simulated for measured: {numbers}",
    )


@claim(
    "shaped-goodput",
    where="validation set",
    says="Behind the shaper a transfer has the goodput that the laboratory measured.",
    unit="share of settings",
    paper=1.0,
    figures=("laboratory", "grid"),
)
def claim_shaped(lab: Lab) -> Finding:
    """Compare goodput behind a shaper with the captures' own."""
    cells, numbers = beside(lab, "shaper", "goodput")
    return Finding(
        count(cells, runs=16),
        f"Mbit/s, simulated for measured: {numbers}. The device's own queue may hold a packet or two "
        f"more than it is "
        "told: one more packet of 1500 bytes is a fifth of 8 kB",
    )


@claim(
    "shaped-loss",
    where="validation set",
    says="Behind the shaper as many packets are lost as the laboratory measured.",
    unit="share of settings",
    paper=1.0,
    figures=("laboratory",),
)
def claim_shaped_loss(lab: Lab) -> Finding:
    """Compare losses behind a shaper with the validation set's."""
    cells, numbers = beside(lab, "shaper", "lost")
    return Finding(
        count(cells, runs=16),
        f"Percent lost, simulated for measured: {numbers}. With 8 kB about "
        "a third fewer than measured. With 100 kB HyStart ends the simulated slow start before the "
        "queue is full, where the laboratory's lost most of its packets",
    )


@claim(
    "burst-first",
    where="§2",
    says="With a large bucket a transfer begins faster than the rate, and slows down once it is empty.",
    unit="first chunk / later chunks",
    paper=LABORATORY[3].chunks[0] * sum(1 / chunk for chunk in LABORATORY[3].chunks[1:]) / 4,
    figures=("chunks",),
)
def claim_burst(lab: Lab) -> Finding:
    """Compare the first chunk with the later ones behind 1.5 Mbit/s and 1 MB."""
    study = point(lab, "policer", 1.5, "1 MB")
    found = ratio(study.values("first"), study.values("later"))
    return Finding(
        together(
            above(found, 1.2, "goodput", of="the goodput of the first chunk over that of the later ones"),
            above(study.estimate("first"), 1.5, of="the goodput of the first chunk in Mbit/s", unit="Mbit/s"),
        ),
        "1.5 Mbit/s, 1 MB. The paper's number is that of the capture. The first chunk has "
        f"{shown(study.estimate('first'))} Mbit/s, the later ones {shown(study.estimate('later'))}",
    )


@claim(
    "more-loss",
    where="§1, §5.1",
    says="Policing loses more packets than shaping at the same rate and size.",
    unit="share of settings",
    paper=1.0,
    figures=("grid",),
)
def claim_more(lab: Lab) -> Finding:
    """Compare losses of both devices on the grid."""
    cells, numbers = [], []
    for rate, size in lab.judged(cases.RATES.times(cases.SIZES)):
        policed, shaped = (point(lab, device, rate, size) for device in ("policer", "shaper"))
        difference = paired(policed.values("lost"), shaped.values("lost"))
        cells.append(above(difference, 0, f"{rate:g} Mbit/s, {size}"))
        numbers.append(
            f"{shown(policed.estimate('lost'))} and {shown(shaped.estimate('lost'))} at {rate:g} "
            f"Mbit/s, {size}"
        )
    return Finding(
        count(cells, runs=16),
        f"Settings of rate and size at which the policer surely loses more. Percent, policed and "
        f"shaped: {'; '.join(numbers)}",
    )
