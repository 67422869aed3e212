"""Claims on two flows in one channel, Figs. 8 and 9, and on the paper's conclusions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.papers.api import Finding, above, below, count, graded, ratio, scaled, shown, together, within
from tidegate.papers.dtm.cases import (
    AS_GOOD,
    CC,
    MBPS,
    ON_LOSS,
    QUEUE,
    RATE,
    TRIPS,
    as_good,
    channel_queues,
    dynamic_two,
    gap_closed,
    shifts,
    slower,
    static_two,
    times,
    trips,
)

if TYPE_CHECKING:
    from tidegate.papers.api import Estimate, Lab, Study


def claim_static(lab: Lab) -> Finding:
    """Measure two flows over a static channel."""
    study = static_two(lab)
    first, second = (scaled(study.estimate(f"flow.bulk.{n}.throughput_bps"), MBPS) for n in (1, 2))
    drops = study.estimate("gate.channel.dropped_packets")
    window = study.estimate("flow.bulk.1.cwnd_max_segments")
    return Finding(
        together(within(first, 4.9, 5.05), within(second, 4.9, 5.05), within(drops, 0, 0)),
        f"Throughput of flow 1 with headers; flow 2 {shown(second)}. The window reaches {shown(window)} "
        "segments, in the paper about 100",
    )


def claim_dynamic(lab: Lab) -> Finding:
    """Measure the same flows over the dynamic channel."""
    study, static = dynamic_two(lab), static_two(lab)
    flows = [scaled(study.estimate(f"flow.bulk.{n}.throughput_bps"), MBPS) for n in (1, 2)]
    drops = study.estimate("gate.channel.dropped_packets")
    lead = ratio(study.values("goodput_bps"), static.values("goodput_bps"))
    outs = study.estimate("timeouts")
    return Finding(
        together(below(flows[0], 4.9), below(flows[1], 4.9), above(drops, 0)),
        f"Throughput of flow 1; flow 2 {shown(flows[1])}. {shown(drops)} packets are lost at node 3, "
        f"time-outs {shown(outs)}; goodput is {shown(lead)} of the static channel's",
    )


def claim_windows(lab: Lab) -> Finding:
    """Measure mean windows on the dynamic channel over those on the static one."""
    study, static = dynamic_two(lab), static_two(lab)
    name = "flow.bulk.1.cwnd_mean_segments"
    return Finding(
        below(ratio(study.values(name), static.values(name)), 0.8),
        f"Mean window of flow 1 over its mean on the static channel: {shown(study.estimate(name))} segments "
        f"against {shown(static.estimate(name))}",
    )


def claim_allocates_observed(lab: Lab) -> Finding:
    """Measure the allocation over the observed throughput, in slots."""
    over = scaled(dynamic_two(lab).estimate("gate.channel.overallocation_bps_mean"), 512_000)
    return Finding(
        within(over, 0, 2.75),
        "Allocated above what passed. MARGIN and half of CORRIDOR are 1.75 slots, the corridor lets it be "
        "one more or less",
    )


def claim_longer_queue(lab: Lab) -> Finding:
    """Measure what a longer queue at the channel gains."""
    queues = channel_queues(lab)
    study = dynamic_two(lab, {QUEUE: queues})
    gain = scaled(study.difference("goodput_bps", {"queue": "50 packets"}, {"queue": "10 packets"}), MBPS)
    closed = gap_closed(study, queues.index("50 packets"), lab)
    newreno = dynamic_two(lab, {QUEUE: queues}, **{CC: "newreno"})
    static = static_two(lab, **{CC: "newreno"}).values("goodput_bps")
    enough = [q for n, q in enumerate(queues) if as_good(ratio(newreno.values("goodput_bps", n), static))]
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


def claim_hold_tick(lab: Lab) -> Finding:
    """Measure the first remedy, read as: a tick with a loss lowers nothing."""
    return _hold_finding(
        lab,
        "hold tick",
        "Losses come in one tick of ten; the nine after it, in which the halved windows are measured, "
        "lower the estimate as before.",
    )


def claim_hold_second(lab: Lab) -> Finding:
    """Measure the first remedy, read as: nor do the later ticks of that second."""
    return _hold_finding(
        lab,
        "hold second",
        "The estimate is lowered in the next second instead: recovery takes longer than that.",
    )


def claim_hold_link(lab: Lab) -> Finding:
    """Measure the first remedy, read as: the allocation of a second with a loss is not lowered."""
    return _hold_finding(
        lab,
        "hold link",
        "The estimate itself goes down meanwhile, and the next second without a loss follows it.",
    )


def claim_slower(lab: Lab) -> Finding:
    """Measure the second remedy: a slower decrease, from which value on, at which round trip."""
    told, tried = [], shifts(lab)
    for trip in trips(lab):
        study, static = slower(lab, trip)
        reference = static.values("goodput_bps")
        ratios = [ratio(study.values("goodput_bps", n), reference) for n in range(len(tried))]
        good = [shift for shift, found in zip(tried, ratios, strict=True) if as_good(found)]
        best = max(ratios, key=lambda found: found.mean or 0)
        told.append(
            f"{trip[0]}: "
            f"{'from ' + str(good[0]) + ' on' if good else f'from no value (at best {shown(best)})'}"
        )
    study, _ = slower(lab, TRIPS[2])
    closed = [gap_closed(study, n, lab) for n in range(len(tried))]
    most = max(range(len(tried)), key=lambda n: closed[n].mean or 0)
    wide = lab.study("two-flows-static", set={**times(lab), RATE: "12 Mbit/s"}, gate="channel")
    return Finding(
        graded(closed[most], full=0.9, some=0.1),
        f"Share of the static channel's lead made good at 80 ms with shift_dec = {tried[most]}, the best of "
        f"{tried[0]} to {tried[-1]}; shift_inc stays 3. As good as static (95%) by round trip: "
        f"{'; '.join(told)}. What is missing at 80 ms is Reno's: on any static channel above 10 Mbit/s it "
        "loses two packets a cycle and times out "
        f"({shown(scaled(wide.estimate('goodput_bps'), MBPS), 'Mbit/s')} at 12), and the dynamic channel "
        "gives more than 10",
    )


def claim_same_as_static(lab: Lab) -> Finding:
    """Measure how many of the paper's cases are as good on a dynamic channel."""
    cases, outs = [], []
    for name in ("one-flow", "small-queue", "tahoe"):
        static = lab.study(name, set={RATE: "10 Mbit/s"}, gate="channel")
        dynamic = lab.study(name, gate="channel")
        cases.append((name, ratio(dynamic.values("goodput_bps"), static.values("goodput_bps"))))
        outs.append(f"{shown(dynamic.estimate('timeouts'))} and {shown(static.estimate('timeouts'))}")
    two = ratio(dynamic_two(lab).values("goodput_bps"), static_two(lab).values("goodput_bps"))
    cases.append(("two-flows", two))
    told = ", ".join(f"{name} {shown(found)}" for name, found in cases)
    return Finding(
        count(
            [(below if name == "two-flows" else above)(found, AS_GOOD, name) for name, found in cases],
            runs=min(found.n for _, found in cases),
        ),
        f"Goodput on the dynamic channel over that on a static one of 10 Mbit/s: {told}; at least {AS_GOOD} "
        "is taken as the same. Above 1 is not more capacity: Reno's time-outs on the dynamic and on the "
        f"static channel are {outs[0]} for one-flow, {outs[1]} for small-queue, {outs[2]} for tahoe",
    )


def claim_return(lab: Lab) -> Finding:
    """Measure whether 512 kbit/s carry the ACKs, also of 100 Mbit/s."""
    vary = {"gate.return.rate": ["512 kbit/s", "100 Mbit/s"]}
    paper = lab.study("two-flows-static", vary=vary, set=times(lab), gate="return")
    fast = lab.study(
        "one-flow",
        vary=vary,
        set={
            **{f"gate.{gate}.rate": "100 Mbit/s" for gate in ("access", "own", "channel", "sink")},
            "gate.own.queue": "1000 packets",
            CC: "newreno",
            "duration": "13 s" if lab.quick else "30 s",
        },
        gate="return",
    )
    here = ratio(paper.values("goodput_bps", 0), paper.values("goodput_bps", 1))
    there = ratio(fast.values("goodput_bps", 0), fast.values("goodput_bps", 1))
    outs = [shown(paper.estimate("timeouts", n)) for n in (0, 1)]
    used = scaled(paper.estimate("gate.return.utilisation", 0), 0.01)
    return Finding(
        together(above(here, 0.99), above(there, 0.99)),
        "Goodput with 512 kbit/s for ACKs over that with 100 Mbit/s, at the 10 Mbit/s of the figures, "
        f"where {shown(used, '%')} of it is used (above 1: it spaces the ACKs, and Reno has {outs[0]} "
        f"time-outs instead of {outs[1]}); with links of 100 Mbit/s {shown(there)}. 512 kbit/s carry 1600 "
        "ACKs of 40 bytes a second, which is 13.3 Mbit/s of data with an ACK per segment",
    )
