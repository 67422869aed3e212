"""Claims on one flow in a channel: Figs. 2 to 6."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import (
    Estimate,
    Finding,
    above,
    below,
    claim,
    estimate,
    graded,
    paired,
    scaled,
    shown,
    together,
    within,
)
from tidegate_papers.dtm.cases import BOTTLENECK_MBPS, CC, DTM, MBPS

if TYPE_CHECKING:
    from tidegate_papers.api import Lab, Run, Study


def first_change(run: Run) -> dict[str, float | None]:
    """Return when the channel's slots were changed for the first time, s."""
    slots = run.gates["channel"].series("slots")
    changed = slots.filter(slots["slots"] != slots["slots"][0])
    return {"first_change_s": changed["time_s"][0] if len(changed) else None}


@claim(
    "first-change",
    where="§2.1, Fig. 2",
    says="Estimation starts after 100 ms, but the offered bandwidth does not change before the first second.",
    unit="s",
    paper=1.0,
    figures=("fig-2",),
)
def claim_first_change(lab: Lab) -> Finding:
    """Measure when the allocation first differs from the initial one."""
    study = lab.study(
        "one-flow", changes={"duration": "3 s", "warmup": "0 s"}, measure=first_change, record="events"
    )
    found = study.estimate("first_change_s")
    return Finding(
        within(found, 1.0, 1.0),
        "Measured is the first change of the slots in force. That the rate is taken every 100 ms is the "
        "scenario's "
        'own rate.dtm.measure = "100 ms"',
    )


def steadiness(run: Run) -> dict[str, float | None]:
    """Return the least rate of any second past the bottleneck, over its mean; and the window's cuts."""
    begin = run.summary["measured_from_s"]
    rows = run.gates["own"].series("delivered")
    rows = rows.filter(rows["time_s"] >= begin)
    seconds = rows.filter((rows["time_s"] % 1.0) < 1e-6)["bytes"].diff().drop_nulls()
    cwnd = run.flows["bulk"].series("cwnd")
    cwnd = cwnd.filter(cwnd["time_s"] >= begin)["cwnd_segments"]
    cuts = int((cwnd.diff() < -0.3 * cwnd.shift(1)).sum())
    mean = seconds.mean()
    least = seconds.min()
    return {"least_over_mean": float(least) / float(mean) if mean else None, "cuts": float(cuts)}


@claim(
    "halving",
    where="§3, Fig. 4",
    says="With 50 packets of queue, halving the window does not move the rate past the bottleneck.",
    unit="share of the mean rate in the least second",
    paper="not affected",
    figures=("fig-4",),
)
def claim_halving(lab: Lab) -> Finding:
    """Measure whether the rate past the bottleneck moves when the window is halved."""
    study = lab.study("one-flow", gate="channel", measure=steadiness, record="100 ms")
    cuts = study.estimate("cuts")
    changes = study.estimate("gate.channel.allocation_changes")
    return Finding(
        together(
            graded(
                study.estimate("least_over_mean"),
                full=0.99,
                some=0.9,
                of="the least rate of a second past the bottleneck over the mean rate",
            ),
            above(cuts, 0.5, of="the number of times that the window was cut", unit="cuts"),
        ),
        f"The window was cut {shown(cuts)} times in 50 s, the allocation changed {shown(changes)} times",
    )


@claim(
    "margin",
    where="§2.1, Fig. 2",
    says="Allocating just the estimate gives TCP too little; MARGIN prevents that.",
    unit="share of what the bottleneck carries",
    paper="under-allocates",
    figures=("fig-2", "margin"),
)
def claim_margin(lab: Lab) -> Finding:
    """Measure goodput with the bare estimate as allocation, and with the paper's margin and corridor."""
    study = _allocated(lab)

    def share(margin: str, corridor: str) -> Estimate:
        where = {"margin": f"{margin} slots", "corridor": f"{corridor} slots"}
        return scaled(study.estimate("goodput_bps", where), BOTTLENECK_MBPS * MBPS)

    bare, corridor = share("0", "0"), share("0", "2")
    margin, both = share("0.75", "0"), share("0.75", "2")
    return Finding(
        together(
            below(bare, 0.9, "the bare estimate", of="the goodput with just the estimate allocated"),
            above(both, 0.99, "as printed", of="that with MARGIN and CORRIDOR as printed"),
            rule="of what the bottleneck carries, goodput has less than 0.9 with just the estimate "
            "allocated, "
            "and more than 0.99 with MARGIN and CORRIDOR as printed, each with its whole 95% interval",
        ),
        f"Share of what the bottleneck carries: allocating the bare estimate {shown(bare)}, as printed "
        f"{shown(both)}. It takes both constants: half the corridor is added to the allocation too; with "
        f"the corridor alone {shown(corridor)}, with the margin alone {shown(margin)}. MARGIN is 0.75 of "
        "a slot "
        "of 512 kbit/s, which is 384 kbit/s; the paper prints 394",
    )


@claim(
    "over-allocation",
    where="§3, Fig. 4",
    says="The channel gets about one Mbit/s more than the flow uses, because MARGIN is added.",
    unit="Mbit/s",
    paper=1.0,
    figures=("fig-4",),
)
def claim_over_allocation(lab: Lab) -> Finding:
    """Measure how much more is allocated than used."""
    metric = "gate.channel.overallocation_bps_mean"
    study = lab.study("one-flow", vary={f"{DTM}.rounding": ["exact", "up"]}, gate="channel")
    over = [scaled(study.estimate(metric, {"rounding": reading}), MBPS) for reading in ("exact", "up")]
    alone = scaled(_allocated(lab).estimate(metric, {"margin": "0.75 slots", "corridor": "0 slots"}), MBPS)
    return Finding(
        together(
            within(over[0], 0.5, 1.5, "as printed"),
            within(alone, 0.5, 1.5, "with MARGIN alone"),
            rule="what is allocated above what the flow uses lies with its whole 95% interval within 0.5 to "
            "1.5 Mbit/s, as printed and also with MARGIN alone (CORRIDOR 0), which the paper names as the "
            "cause",
        ),
        "About one is taken as 0.5 to 1.5. The amount is as the paper says: as printed "
        f"{shown(over[0], 'Mbit/s')}, with whole slots {shown(over[1], 'Mbit/s')}. But MARGIN, 0.384 Mbit/s, "
        "is less than half of it: half of CORRIDOR, a slot of 0.512 Mbit/s, is added to each allocation too. "
        "Both are 0.90 Mbit/s, less what the estimate still rises after the last change. The bottleneck "
        "stays "
        "at 5 Mbit/s: TCP does not get more, the channel has more",
    )


def _allocated(lab: Lab) -> Study:
    """Return one flow with and without MARGIN, with and without CORRIDOR."""
    vary = {f"{DTM}.margin": ["0 slots", "0.75 slots"], f"{DTM}.corridor": ["0 slots", "2 slots"]}
    return lab.study("one-flow", vary=vary, gate="channel")


@claim(
    "corridor",
    where="§3, Fig. 5",
    says="With 10 packets of queue the rate follows the window, but the corridor keeps the allocation still.",
    unit="share of phases",
    paper="no changes",
    figures=("fig-5",),
)
def claim_corridor(lab: Lab) -> Finding:
    """Measure in how many phases the allocation stands still over the sawtooth."""
    vary = {CC: ["reno", "newreno"], f"{DTM}.corridor": ["0 slots", "2 slots"]}
    study = lab.study("small-queue", vary=vary, gate="channel")

    def still(cc: str, corridor: str) -> Estimate:
        changes = study.values("gate.channel.allocation_changes", {"cc": cc, "corridor": f"{corridor} slots"})
        return estimate(float(value is not None and value <= 1) for value in changes)

    reno, newreno = still("reno", "2"), still("newreno", "2")
    without = study.estimate("gate.channel.allocation_changes", {"cc": "newreno", "corridor": "0 slots"})
    outs = study.estimate("timeouts", {"cc": "reno", "corridor": "2 slots"})
    return Finding(
        graded(reno, full=0.95, some=0.01),
        "Share of phases with one change or none in 50 s. Reno loses one packet or two per cycle, which "
        f"the phase decides; with two it halves its window twice or times out ({shown(outs)} times in the "
        f"mean) and the allocation follows. NewReno never does: {shown(newreno)} of its phases stand still. "
        f"The corridor is what hides the sawtooth: without it NewReno's allocation changes {shown(without)} "
        "times",
    )


def following(run: Run) -> dict[str, float | None]:
    """Return the correlation of a second's rate with the slots of the next ones, at the best lag."""
    import numpy as np

    begin = run.summary["measured_from_s"]
    rows = run.gates["channel"].columns()
    rows = rows.filter((rows["time_s"] % 1.0) < 1e-6)
    rate = np.diff(rows["delivered_bytes"].to_numpy().astype(float))
    slots = rows["slots"].to_numpy()[1:]
    keep = rows["time_s"].to_numpy()[1:] > begin
    rate, slots = rate[keep], slots[keep]
    best = max(
        float(np.corrcoef(rate[: len(rate) - lag], slots[lag:])[0, 1])
        for lag in range(4)
        if rate[: len(rate) - lag].std() > 0 and slots[lag:].std() > 0
    )
    return {"correlation": best}


@claim(
    "tahoe-follows",
    where="§3, Fig. 6",
    says="The allocation closely follows Tahoe's sharp sawtooth.",
    unit="correlation",
    paper="closely",
    figures=("fig-6",),
)
def claim_tahoe_follows(lab: Lab) -> Finding:
    """Measure how the allocation follows the rate of a Tahoe flow, with and without fast retransmit."""
    study = lab.study(
        "tahoe",
        vary={"flow.bulk.tcp.dupthresh": ["3", '"never"']},
        gate="channel",
        measure=following,
        record="100 ms",
    )
    fast, slow = (study.estimate("correlation", n) for n in (0, 1))
    top, bottom = "gate.channel.slots_max", "gate.channel.slots_min"
    swing = [paired(study.values(top, n), study.values(bottom, n)) for n in (0, 1)]
    return Finding(
        together(
            graded(fast, full=0.8, some=0.5, name="with ns-2's Tahoe"),
            graded(slow, full=0.8, some=0.5, name="without fast retransmit"),
        ),
        f"Correlation of each second's rate with the slots up to 3 s later: {shown(fast)} with ns-2's "
        f"Tahoe, {shown(slow)} without fast retransmit; the slots swing by {shown(swing[0])} and "
        f"{shown(swing[1])}",
    )


@claim(
    "tahoe-timer",
    where="§3",
    says="Tahoe relies on the retransmission timer alone and does not use fast retransmit.",
    unit="share of recoveries",
    paper=1.0,
    figures=("fig-6",),
)
def claim_tahoe_timer(lab: Lab) -> Finding:
    """Measure how many of Tahoe's recoveries are started by the timer."""
    study = lab.study("tahoe", vary={"flow.bulk.tcp.dupthresh": ["3", '"never"']}, gate="channel")
    outs = study.values("timeouts", 0)
    fast = study.values("flow.bulk.fast_retransmits", 0)
    share = estimate((o or 0) / ((o or 0) + (f or 0)) for o, f in zip(outs, fast, strict=True))
    goodput = study.difference("goodput_bps", 1, 0)
    return Finding(
        graded(share, full=0.95, some=0.5),
        "Share of recoveries that the timer starts. Tahoe as published and as in ns-2 retransmits at the "
        "third duplicate ACK and then sets the window to one, which the paper describes. Without it "
        f"(dupthresh = never) goodput differs by {shown(scaled(goodput, MBPS), 'Mbit/s')}, and Fig. 6 looks "
        "the same",
    )
