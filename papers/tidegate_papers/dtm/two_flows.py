"""Claims on two flows in one channel, Figs. 8 and 9, and on the paper's conclusions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import (
    Finding,
    above,
    below,
    claim,
    count,
    ratio,
    scaled,
    shown,
    together,
    within,
)
from tidegate_papers.dtm.cases import (
    AS_GOOD,
    CC,
    MBPS,
    RATE,
    dynamic_two,
    static_two,
    times,
)

if TYPE_CHECKING:
    from tidegate_papers.api import Lab


@claim(
    "static",
    where="§3.1, Fig. 8",
    says="Over a static channel of 10 Mbit/s both flows reach their 5 Mbit/s.",
    unit="Mbit/s",
    paper=5.0,
    figures=("fig-8",),
)
def claim_static(lab: Lab) -> Finding:
    """Measure two flows over a static channel."""
    study = static_two(lab)
    first, second = (scaled(study.estimate(f"flow.bulk.{n}.throughput_bps"), MBPS) for n in (1, 2))
    drops = study.estimate("gate.channel.dropped_packets")
    window = study.estimate("flow.bulk.1.cwnd_max_segments")
    return Finding(
        together(
            within(first, 4.9, 5.05, "flow 1", of="the throughput of flow 1 in Mbit/s"),
            within(second, 4.9, 5.05, "flow 2", of="that of flow 2"),
            within(drops, 0, 0, of="the number of packets lost at the channel", unit="packets"),
        ),
        f"Throughput with headers; flow 2 has {shown(second)}. The window reaches {shown(window)} "
        "segments, in the paper about 100",
    )


@claim(
    "dynamic",
    where="§3.1, Fig. 9",
    says="Over a dynamic channel neither flow reaches 5 Mbit/s; packets are lost at node 3.",
    unit="Mbit/s",
    paper="below 5",
    figures=("fig-9",),
)
def claim_dynamic(lab: Lab) -> Finding:
    """Measure the same flows over the dynamic channel."""
    study, static = dynamic_two(lab), static_two(lab)
    flows = [scaled(study.estimate(f"flow.bulk.{n}.throughput_bps"), MBPS) for n in (1, 2)]
    drops = study.estimate("gate.channel.dropped_packets")
    lead = ratio(study.values("goodput_bps"), static.values("goodput_bps"))
    outs = study.estimate("timeouts")
    return Finding(
        together(
            below(flows[0], 4.9, "flow 1", of="the throughput of flow 1 in Mbit/s"),
            below(flows[1], 4.9, "flow 2", of="that of flow 2"),
            above(drops, 0, of="the number of packets lost at node 3", unit="packets"),
        ),
        f"Throughput with headers; flow 2 has {shown(flows[1])}. {shown(drops)} packets are lost at node 3, "
        f"time-outs {shown(outs)}; goodput is {shown(lead)} of the static channel's",
    )


@claim(
    "windows",
    where="§3.1, Fig. 9",
    says="The windows never keep the size that they have on the static channel.",
    unit="dynamic / static channel, mean window",
    paper="below 1",
    figures=("fig-9",),
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


@claim(
    "allocates-observed",
    where="§3.1, Fig. 9",
    says="The algorithm allocates correctly for the throughput that it observes.",
    unit="slots above",
    paper="0.75 to 1.75",
    figures=("fig-9",),
)
def claim_allocates_observed(lab: Lab) -> Finding:
    """Measure the allocation over the observed throughput, in slots."""
    over = scaled(dynamic_two(lab).estimate("gate.channel.overallocation_bps_mean"), 512_000)
    return Finding(
        within(over, 0, 2.75),
        "Allocated above what passed. MARGIN and half of CORRIDOR are 1.75 slots, the corridor lets it be "
        "one more or less",
    )


@claim(
    "same-as-static",
    where="§5",
    says=(
        "TCP gets the share that it would have on a fixed network in all cases but one: two flows in one "
        "channel."
    ),
    unit="share of cases",
    paper=1.0,
)
def claim_same_as_static(lab: Lab) -> Finding:
    """Measure how many of the paper's cases are as good on a dynamic channel."""
    cases, outs = [], []
    for name in ("one-flow", "small-queue", "tahoe"):
        static = lab.study(name, changes={RATE: "10 Mbit/s"}, gate="channel")
        dynamic = lab.study(name, gate="channel")
        cases.append((name, ratio(dynamic.values("goodput_bps"), static.values("goodput_bps"))))
        outs.append(f"{shown(dynamic.estimate('timeouts'))} and {shown(static.estimate('timeouts'))}")
    two = ratio(dynamic_two(lab).values("goodput_bps"), static_two(lab).values("goodput_bps"))
    cases.append(("two-flows", two))
    numbers = ", ".join(f"{name} {shown(found)}" for name, found in cases)
    return Finding(
        count(
            [(below if name == "two-flows" else above)(found, AS_GOOD, name) for name, found in cases],
            runs=min(found.n for _, found in cases),
            rule="the whole 95% interval of the goodput over that on the static channel lies above "
            f"{AS_GOOD}, for two flows in one channel below it",
        ),
        f"Goodput on the dynamic channel over that on a static one of 10 Mbit/s: {numbers}; at least "
        f"{AS_GOOD} "
        "is taken as the same. Above 1 is not more capacity: Reno's time-outs on the dynamic and on the "
        f"static channel are {outs[0]} for one-flow, {outs[1]} for small-queue, {outs[2]} for tahoe",
    )


@claim(
    "return-channel",
    where="§5",
    says="A return channel of 512 kbit/s is more than adequate, up to forward rates of 100 Mbit/s.",
    unit="goodput with 512 kbit/s / 100 Mbit/s",
    paper=1.0,
)
def claim_return(lab: Lab) -> Finding:
    """Measure whether 512 kbit/s carry the ACKs, also of 100 Mbit/s."""
    vary = {"gate.return.rate": ["512 kbit/s", "100 Mbit/s"]}
    paper = lab.study("two-flows-static", vary=vary, changes=times(lab), gate="return")
    fast = lab.study(
        "one-flow",
        vary=vary,
        changes={
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
        together(above(here, 0.99, "forward 10 Mbit/s"), above(there, 0.99, "forward 100 Mbit/s")),
        "Goodput with 512 kbit/s for ACKs over that with 100 Mbit/s, at the 10 Mbit/s of the figures, "
        f"where {shown(used, '%')} of it is used; with links of 100 Mbit/s {shown(there)}. Where it is "
        f"above 1 the slow way back spaces the ACKs; Reno has {outs[0]} time-outs, not {outs[1]}. 512 kbit/s "
        "carry 1600 ACKs of 40 bytes a second, which is 13.3 Mbit/s of data with an ACK per segment",
    )
