"""Claims on the paper's remedies for two flows in one channel: a longer queue, holding, a slower decrease."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate_papers.api import (
    Finding,
    above,
    best,
    claim,
    graded,
    ratio,
    scaled,
    shown,
)
from tidegate_papers.dtm.cases import (
    CC,
    MBPS,
    ON_LOSS,
    QUEUE,
    RATE,
    SHIFTS,
    SOME_TRIPS,
    TRIPS,
    as_good,
    channel_queues,
    dynamic_two,
    gap_closed,
    slower,
    static_two,
)

if TYPE_CHECKING:
    from tidegate_papers.api import Estimate, Lab, Study


@claim(
    "longer-queue",
    where="§3.1",
    says="A longer queue at the channel helps: more packets press for a higher rate.",
    unit="Mbit/s",
    paper="helps",
    figures=("queue",),
)
def claim_longer_queue(lab: Lab) -> Finding:
    """Measure what a longer queue at the channel gains."""
    queues = channel_queues(lab)
    study = dynamic_two(lab, {QUEUE: queues})
    gain = scaled(study.difference("goodput_bps", {"queue": "50 packets"}, {"queue": "10 packets"}), MBPS)
    closed = gap_closed(study, queues.index("50 packets"), lab)
    newreno: dict[str, Any] = {CC: "newreno"}
    longer = dynamic_two(lab, {QUEUE: queues}, **newreno)
    static = static_two(lab, **newreno).values("goodput_bps")
    enough = [q for n, q in enumerate(queues) if as_good(ratio(longer.values("goodput_bps", n), static))]
    return Finding(
        above(gain, 0),
        f"Goodput with 50 packets of queue less that with 10: {shown(closed)} of what a static channel "
        "leads by. NewReno is as good as on a static channel from "
        f"{enough[0] if enough else 'no length tried'} on",
    )


def _hold(lab: Lab, reading: str) -> tuple[Estimate, Study, int]:
    readings = ["hold tick", "hold second", "hold link"]
    study = dynamic_two(lab, {ON_LOSS: readings})
    point = readings.index(reading)
    return gap_closed(study, point, lab), study, point


def _hold_finding(lab: Lab, reading: str, why: str) -> Finding:
    closed, study, point = _hold(lab, reading)
    changes = study.estimate("gate.channel.allocation_changes", point)
    return Finding(
        graded(closed, full=0.9, some=0.1),
        f"Share of the static channel's lead that this makes good: 1 would be all. {why} The allocation "
        f"changes {shown(changes)} times in the measured time",
    )


@claim(
    "hold-tick",
    where="§3.1, §5",
    says=(
        "Not lowering the estimate while packets are lost lets TCP recover (a tick with a loss lowers "
        "nothing)."
    ),
    unit="share of the gap",
    paper="recovers",
    figures=("remedies",),
)
def claim_hold_tick(lab: Lab) -> Finding:
    """Measure the first remedy, read as: a tick with a loss lowers nothing."""
    return _hold_finding(
        lab,
        "hold tick",
        "Losses come in one tick of ten; the nine after it, in which the halved windows are measured, "
        "lower the estimate as before.",
    )


@claim(
    "hold-second",
    where="§3.1, §5",
    says="The same, for the whole second in which a packet is lost.",
    unit="share of the gap",
    paper="recovers",
    figures=("remedies",),
)
def claim_hold_second(lab: Lab) -> Finding:
    """Measure the first remedy, read as: nor do the later ticks of that second."""
    return _hold_finding(
        lab,
        "hold second",
        "The estimate is lowered in the next second instead: recovery takes longer than that.",
    )


@claim(
    "hold-link",
    where="§3.1, §5",
    says="The same, read as: the link is not lowered at the end of a second with a loss.",
    unit="share of the gap",
    paper="recovers",
    figures=("remedies",),
)
def claim_hold_link(lab: Lab) -> Finding:
    """Measure the first remedy, read as: the allocation of a second with a loss is not lowered."""
    return _hold_finding(
        lab,
        "hold link",
        "The estimate itself goes down meanwhile, and the next second without a loss follows it.",
    )


@claim(
    "slower-decrease",
    where="§3.1",
    says="Lowering more slowly than raising (SHIFT_DEC > SHIFT_INC) solves the problem.",
    unit="share of the gap",
    paper="might",
    figures=("remedies",),
)
def claim_slower(lab: Lab) -> Finding:
    """Measure the second remedy: a slower decrease, from which value on, at which round trip."""
    numbers, tried = [], lab.judged(SHIFTS)
    for trip in lab.points(SOME_TRIPS):
        study, static = slower(lab, trip)
        reference = static.values("goodput_bps")
        ratios = [ratio(study.values("goodput_bps", n), reference) for n in range(len(tried))]
        good = [shift for shift, found in zip(tried, ratios, strict=True) if as_good(found)]
        top = max(ratios, key=lambda found: found.mean or 0)
        numbers.append(
            f"{trip[0]}: "
            f"{'from ' + str(good[0]) + ' on' if good else f'from no value (at best {shown(top)})'}"
        )
    study, _ = slower(lab, TRIPS[2])
    closed = [gap_closed(study, n, lab, whole=True) for n in range(len(tried))]
    most = max(range(len(tried)), key=lambda n: closed[n].mean or 0)
    rate: dict[str, Any] = {RATE: "12 Mbit/s"}
    wide = static_two(lab, whole=True, **rate)
    return Finding(
        best(graded(closed[most], full=0.9, some=0.1)),
        f"Share of the static channel's lead made good at 80 ms with shift_dec = {tried[most]}, the best "
        f"of those tried ({', '.join(map(str, tried))}); shift_inc stays 3. As good as static (95%) by "
        "round trip: "
        f"{'; '.join(numbers)}. What is missing at 80 ms is Reno's: on any static channel above 10 Mbit/s it "
        "loses two packets a cycle and times out "
        f"({shown(scaled(wide.estimate('goodput_bps'), MBPS), 'Mbit/s')} at 12), and the dynamic channel "
        "gives more than 10",
    )
