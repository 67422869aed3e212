"""The claims of the DTM paper, and some beyond it, each with the rule that judges it.

Numbers are means over 16 replications with shifted starts and 95% intervals; differences are
taken run by run. Reno over a queue of ten packets is chaotic: a start moved by less than a
packet's time decides whether it times out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._estimate import Estimate, estimate, paired
from tidegate._paper import Claim, Finding
from tidegate._verdict import above, below, count, graded, together, within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._paper import Lab
    from tidegate._run import Run
    from tidegate._study_value import Study

TITLE = "TCP over High Speed Variable Capacity Links: A Simulation Study for Bandwidth Allocation"
SOURCE = (
    "H. Abrahamsson, O. Hagsand and I. Marsh. Slots of a DTM channel follow the measured rate of the TCP "
    "flows in it; simulated with ns-2."
)

MBPS = 1e6
#: Payload that 5 Mbit/s carry: 1000 of 1040 bytes.
BOTTLENECK_MBPS = 5 * 1000 / 1040
DTM = "gate.channel.rate.dtm"
CC = "flow.bulk.tcp.cc"
QUEUE = "gate.channel.queue"
RATE = "gate.channel.rate"
SHIFT_DEC = f"{DTM}.shift_dec"
ON_LOSS = f"{DTM}.on_loss"

#: A "considerable" saving is at least this share of the static channel.
CONSIDERABLE = 0.1
#: "As good as a static channel": at least this share of its goodput.
AS_GOOD = 0.95


#: What --quick leaves out; it stands in every note of such a run.
QUICK = "Quick: two flows run for 40 s and not for 100 s, with fewer round trips, queues and shifts"


def times(lab: Lab) -> dict[str, str]:
    """Return how long runs of two flows are: as in the paper's figures, or shorter."""
    return {"duration": "40 s"} if lab.quick else {}


def ratio(these: Sequence[float | None], those: Sequence[float | None]) -> Estimate:
    """Return the mean of this / that, run by run."""
    return estimate(
        None if this is None or not that else this / that for this, that in zip(these, those, strict=False)
    )


def scaled(found: Estimate, by: float) -> Estimate:
    """Return an estimate in another unit."""

    def part(value: float | None) -> float | None:
        return None if value is None else value / by

    return Estimate(part(found.mean), part(found.half_width), part(found.sd), found.n)


def shown(found: Estimate, unit: str = "") -> str:
    """Return an estimate in words."""
    from tidegate._study_text import plus_minus

    return f"{plus_minus(found)} {unit}".rstrip()


# --- one flow ---------------------------------------------------------------------------------


def first_change(run: Run) -> dict[str, float | None]:
    """Return when the channel's slots were changed for the first time, s."""
    slots = run.gates["channel"].series("slots")
    changed = slots.filter(slots["slots"] != slots["slots"][0])
    return {"first_change_s": changed["time_s"][0] if len(changed) else None}


def claim_first_change(lab: Lab) -> Finding:
    """Measure when the allocation first differs from the initial one."""
    study = lab.study(
        "one-flow", set={"duration": "3 s", "warmup": "0 s"}, measure=first_change, record="events"
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


def claim_halving(lab: Lab) -> Finding:
    """Measure whether the rate past the bottleneck moves when the window is halved."""
    study = lab.study("one-flow", gate="channel", measure=steadiness, record="100 ms")
    cuts = study.estimate("cuts")
    changes = study.estimate("gate.channel.allocation_changes")
    return Finding(
        together(graded(study.estimate("least_over_mean"), full=0.99, some=0.9), above(cuts, 0.5)),
        f"The window was cut {shown(cuts)} times in 50 s, the allocation changed {shown(changes)} times",
    )


def claim_margin(lab: Lab) -> Finding:
    """Measure goodput with the bare estimate as allocation, and with the paper's margin and corridor."""
    vary = {f"{DTM}.margin": ["0 slots", "0.75 slots"], f"{DTM}.corridor": ["0 slots", "2 slots"]}
    study = lab.study("one-flow", vary=vary, gate="channel")

    def share(margin: str, corridor: str) -> Estimate:
        where = {"margin": f"{margin} slots", "corridor": f"{corridor} slots"}
        return scaled(study.estimate("goodput_bps", where), BOTTLENECK_MBPS * MBPS)

    bare, corridor = share("0", "0"), share("0", "2")
    margin, both = share("0.75", "0"), share("0.75", "2")
    return Finding(
        together(below(bare, 0.9), above(both, 0.99)),
        f"Share of what the bottleneck carries: allocating the bare estimate {shown(bare)}, as printed "
        f"{shown(both)}. It takes both constants: half the corridor is added to the allocation too; with the "
        f"corridor alone {shown(corridor)}, with the margin alone {shown(margin)}",
    )


def claim_over_allocation(lab: Lab) -> Finding:
    """Measure how much more is allocated than used."""
    study = lab.study("one-flow", vary={f"{DTM}.rounding": ["exact", "up"]}, gate="channel")
    over = [
        scaled(study.estimate("gate.channel.overallocation_bps_mean", {"rounding": reading}), MBPS)
        for reading in ("exact", "up")
    ]
    return Finding(
        within(over[0], 0.5, 1.5),
        "About one is taken as 0.5 to 1.5. MARGIN and half of CORRIDOR are 0.90 Mbit/s, less what the "
        "estimate "
        f"still rises after the last change; with whole slots {shown(over[1], 'Mbit/s')}. The bottleneck "
        "stays "
        "at 5 Mbit/s: TCP does not get more, the channel has more",
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
        "Share of phases with one change or none in 50 s. Reno loses one packet or two per cycle, which the "
        "phase "
        f"decides; with two it times out ({shown(outs)} times in the mean) and the allocation follows. "
        "NewReno "
        f"never does: {shown(newreno)} of its phases stand still. The corridor is what hides the sawtooth: "
        "without "
        f"it NewReno's allocation changes {shown(without)} times",
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
        together(graded(fast, full=0.8, some=0.5), graded(slow, full=0.8, some=0.5)),
        f"Correlation of each second's rate with the slots up to 3 s later: {shown(fast)} with ns-2's Tahoe, "
        f"{shown(slow)} without fast retransmit; the slots swing by {shown(swing[0])} and {shown(swing[1])}",
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
        "third "
        "duplicate ACK and then sets the window to one, which the paper describes. Without it "
        f"(dupthresh = never) goodput differs by {shown(scaled(goodput, MBPS), 'Mbit/s')}, and Fig. 6 looks "
        "the same",
    )


# --- two flows --------------------------------------------------------------------------------


def static_two(lab: Lab, **changes: Any) -> Study:
    """Return two flows over the static channel of Fig. 8."""
    return lab.study("two-flows-static", set={**times(lab), **changes}, gate="channel")


def dynamic_two(lab: Lab, vary: dict[str, list[Any]] | None = None, **changes: Any) -> Study:
    """Return two flows over the dynamic channel of Fig. 9."""
    return lab.study("two-flows", vary=vary, set={**times(lab), **changes}, gate="channel")


def gap_closed(study: Study, point: int, lab: Lab) -> Estimate:
    """Return the share of the static channel's lead that a point makes good, run by run."""
    static = static_two(lab).values("goodput_bps")
    plain = dynamic_two(lab).values("goodput_bps")
    here = study.values("goodput_bps", point)
    return estimate(
        (g or 0) / lead - (p or 0) / lead
        for g, p, s in zip(here, plain, static, strict=False)
        for lead in [(s or 0) - (p or 0)]
    )


def claim_static(lab: Lab) -> Finding:
    """Measure two flows over a static channel."""
    study = static_two(lab)
    first, second = (scaled(study.estimate(f"flow.bulk.{n}.throughput_bps"), MBPS) for n in (1, 2))
    drops = study.estimate("gate.channel.dropped_packets")
    window = study.estimate("flow.bulk.1.cwnd_max_segments")
    return Finding(
        together(within(first, 4.9, 5.05), within(second, 4.9, 5.05), within(drops, 0, 0)),
        f"Throughput of flow 1 with headers; flow 2 {shown(second)}. The window reaches {shown(window)} "
        "segments, "
        "in the paper about 100",
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
        "time-outs "
        f"{shown(outs)}; goodput is {shown(lead)} of the static channel's",
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
        "one "
        "more or less",
    )


def channel_queues(lab: Lab) -> list[str]:
    """Return the queues at the channel that are tried."""
    return [f"{packets} packets" for packets in ((10, 20, 50) if lab.quick else (10, 20, 30, 50, 100))]


def claim_longer_queue(lab: Lab) -> Finding:
    """Measure what a longer queue at the channel gains."""
    queues = channel_queues(lab)
    study = dynamic_two(lab, {QUEUE: queues})
    gain = scaled(study.difference("goodput_bps", {"queue": "50 packets"}, {"queue": "10 packets"}), MBPS)
    closed = gap_closed(study, queues.index("50 packets"), lab)
    newreno = dynamic_two(lab, {QUEUE: queues}, **{CC: "newreno"})
    static = static_two(lab, **{CC: "newreno"}).values("goodput_bps")
    enough = [q for n, q in enumerate(queues) if _as_good(ratio(newreno.values("goodput_bps", n), static))]
    return Finding(
        above(gain, 0),
        f"Goodput with 50 packets of queue less that with 10: {shown(closed)} of what a static channel "
        "leads by. "
        f"NewReno is as good as on a static channel from {enough[0] if enough else 'no length tried'} on",
    )


def _as_good(found: Estimate) -> bool:
    return found.low is not None and found.low >= AS_GOOD


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
        "changes "
        f"{shown(changes)} times in the measured time",
    )


def claim_hold_tick(lab: Lab) -> Finding:
    """Measure the first remedy, read as: a tick with a loss lowers nothing."""
    return _hold_finding(
        lab,
        "hold tick",
        "Losses come in one tick of ten; the nine after it, in which the halved windows are measured, lower "
        "the "
        "estimate as before.",
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


#: Round trips of the remedies' figure: (words, delay of each of the four hops, of the way back).
TRIPS = (
    ("20 ms", "2.5 ms", "10 ms"),
    ("40 ms", "5 ms", "20 ms"),
    ("80 ms", "10 ms", "40 ms"),
    ("160 ms", "20 ms", "80 ms"),
)


def shifts(lab: Lab) -> list[int]:
    """Return the values of shift_dec that are tried."""
    return [3, 5, 7, 10] if lab.quick else [3, 4, 5, 6, 7, 8, 10]


def trips(lab: Lab) -> tuple[tuple[str, str, str], ...]:
    """Return the round trips that are tried."""
    return TRIPS[1:3] if lab.quick else TRIPS


def delays(hop: str, back: str) -> dict[str, str]:
    """Return the delays of two flows with another round trip."""
    return {
        **{f"gate.{gate}.delay": hop for gate in ("own", "trunk", "channel", "sink")},
        "gate.return.delay": back,
    }


def slower(lab: Lab, trip: tuple[str, str, str]) -> tuple[Study, Study]:
    """Return the second remedy at one round trip, and the static channel there."""
    changes = delays(trip[1], trip[2])
    return dynamic_two(lab, {SHIFT_DEC: shifts(lab)}, **changes), static_two(lab, **changes)


def claim_slower(lab: Lab) -> Finding:
    """Measure the second remedy: a slower decrease, from which value on, at which round trip."""
    told, tried = [], shifts(lab)
    for trip in trips(lab):
        study, static = slower(lab, trip)
        reference = static.values("goodput_bps")
        ratios = [ratio(study.values("goodput_bps", n), reference) for n in range(len(tried))]
        good = [shift for shift, found in zip(tried, ratios, strict=True) if _as_good(found)]
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
        f"{'; '.join(told)}. "
        "What is missing at 80 ms is Reno's: on any static channel above 10 Mbit/s it loses two packets a "
        "cycle and "
        f"times out ({shown(scaled(wide.estimate('goodput_bps'), MBPS), 'Mbit/s')} at 12), and the dynamic "
        "channel "
        "gives more than 10",
    )


def claim_same_as_static(lab: Lab) -> Finding:
    """Measure how many of the paper's cases are as good on a dynamic channel."""
    cases = []
    for name in ("one-flow", "small-queue", "tahoe"):
        static = lab.study(name, set={RATE: "10 Mbit/s"}, gate="channel").values("goodput_bps")
        dynamic = lab.study(name, gate="channel").values("goodput_bps")
        cases.append((name, ratio(dynamic, static)))
    two = ratio(dynamic_two(lab).values("goodput_bps"), static_two(lab).values("goodput_bps"))
    cases.append(("two-flows", two))
    told = ", ".join(f"{name} {shown(found)}" for name, found in cases)
    return Finding(
        count(
            [_as_good(found) == (name != "two-flows") for name, found in cases],
            runs=min(found.n for _, found in cases),
        ),
        f"Goodput on the dynamic channel over that on a static one of 10 Mbit/s: {told}; at least {AS_GOOD} "
        "is "
        "taken as the same. Above 1 is the phase, not the channel: there Reno times out on the static one",
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
            "duration": "15 s" if lab.quick else "30 s",
        },
        gate="return",
    )
    here = ratio(paper.values("goodput_bps", 0), paper.values("goodput_bps", 1))
    there = ratio(fast.values("goodput_bps", 0), fast.values("goodput_bps", 1))
    used = scaled(paper.estimate("gate.return.utilisation", 0), 0.01)
    return Finding(
        together(above(here, 0.99), above(there, 0.99)),
        "Goodput with 512 kbit/s for ACKs over that with 100 Mbit/s, at the 10 Mbit/s of the figures, where "
        f"{shown(used, '%')} of it is used (above 1: it spaces the ACKs, and Reno then loses one packet per "
        f"cycle and not two); with links of 100 Mbit/s {shown(there)}. 512 kbit/s carry 1600 ACKs of 40 "
        "bytes a "
        "second, which is 13.3 Mbit/s of data with an ACK per segment",
    )


# --- beyond the paper -------------------------------------------------------------------------

#: (words, changes) of the congestion controls.
VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Tahoe", {CC: "tahoe"}),
    ("Reno", {CC: "reno"}),
    ("NewReno", {CC: "newreno"}),
    ("SACK", {CC: "newreno", "flow.bulk.tcp.sack": True}),
    ("CUBIC", {CC: "cubic"}),
    ("CUBIC + SACK", {CC: "cubic", "flow.bulk.tcp.sack": True}),
)


def claim_variants(lab: Lab) -> Finding:
    """Measure whether newer TCP needs no remedy."""
    found = []
    for name, changes in VARIANTS[2:]:
        dynamic = dynamic_two(lab, None, **changes).values("goodput_bps")
        found.append((name, ratio(dynamic, static_two(lab, **changes).values("goodput_bps"))))
    reno = ratio(dynamic_two(lab).values("goodput_bps"), static_two(lab).values("goodput_bps"))
    told = ", ".join(f"{name} {shown(value)}" for name, value in found)
    return Finding(
        count([_as_good(value) for _, value in found], runs=min(value.n for _, value in found)),
        f"Goodput on the dynamic channel of Fig. 9 over that on the static one: Reno {shown(reno)}, {told}",
    )


STATIC_MBPS = {
    "two-flows": (2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 10),
    "one-flow": (3, 4, 4.5, 4.8, 5, 5.2, 5.5, 6),
    "backup": (1, 2, 3, 4, 4.5, 5, 5.5, 6),
}


def static_rates(lab: Lab, name: str) -> tuple[float, ...]:
    """Return the rates of static channels that are tried, Mbit/s."""
    return STATIC_MBPS[name][::2] if lab.quick and name == "two-flows" else STATIC_MBPS[name]


def static_curve(lab: Lab, name: str, changes: dict[str, str]) -> Study:
    """Return a scenario over static channels of several rates."""
    vary = {RATE: [f"{rate} Mbit/s" for rate in static_rates(lab, name)]}
    return lab.study(name, vary=vary, set=changes, gate="channel")


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
    dynamic = lab.study(name, set=changes, gate="channel")
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


def claim_saving_steady(lab: Lab) -> Finding:
    """Measure the capacity saved for one steady flow."""
    saved = saving(lab, "one-flow", "goodput_bps", {})
    over = lab.study("one-flow", gate="channel").estimate("gate.channel.allocated_bps_mean")
    return Finding(
        graded(saved, full=CONSIDERABLE, some=0.0),
        "Share of the least static channel that carries the same goodput. A steady flow needs no more than "
        "its "
        "rate; the dynamic channel adds MARGIN and half of CORRIDOR and takes "
        f"{shown(scaled(over, MBPS), 'Mbit/s')}. "
        "Against the 10 Mbit/s that stood before it saves "
        f"{shown(Estimate(*_one_less(scaled(over, 10 * MBPS))))}",
    )


def _one_less(found: Estimate) -> tuple[float | None, float | None, float | None, int]:
    return (None if found.mean is None else 1 - found.mean, found.half_width, found.sd, found.n)


def claim_saving_two(lab: Lab) -> Finding:
    """Measure the capacity saved for two flows in one channel."""
    saved = saving(lab, "two-flows", "goodput_bps", times(lab))
    return Finding(
        graded(saved, full=CONSIDERABLE, some=0.0),
        "Share of the least static channel that carries the same goodput: the small goodput of Fig. 9 is to "
        "be had "
        "with a static channel of about what the dynamic one takes",
    )


def claim_saving_backup(lab: Lab) -> Finding:
    """Measure the capacity saved for a transfer that ends."""
    saved = saving(lab, "backup", "completion_s", {}, inverse=True)
    done = lab.study("backup", gate="channel").estimate("completion_s")
    return Finding(
        graded(saved, full=CONSIDERABLE, some=0.0),
        "Share of the least static channel that has 10 MB across as soon and then stands for the rest of the "
        f"minute; both take {shown(done, 's')}. This is where the saving is: in the silence, not in the flow",
    )


#: The map: remedies by (words, changes), round trips, queues.
REMEDIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("none", {}),
    ("hold second", {ON_LOSS: "hold second"}),
    ("shift_dec 5", {SHIFT_DEC: 5}),
    ("shift_dec 7", {SHIFT_DEC: 7}),
    ("both (7)", {SHIFT_DEC: 7, ON_LOSS: "hold second"}),
)
MAP_QUEUES = (10, 20, 40, 80)
MAP_CCS = ("reno", "newreno")


def remedies(lab: Lab) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return the remedies of the map."""
    return REMEDIES[::3] if lab.quick else REMEDIES


def map_of(lab: Lab, cc: str) -> dict[tuple[str, str, int], Estimate]:
    """Return goodput over the static channel's by (remedy, round trip, queue)."""
    queues = MAP_QUEUES[::2] if lab.quick else MAP_QUEUES
    length = {"duration": "40 s" if lab.quick else "60 s", "warmup": "15 s"}
    vary = {QUEUE: [f"{queue} packets" for queue in queues]}
    found = {}
    for words, hop, back in trips(lab):
        base = {**length, **delays(hop, back), CC: cc}
        static = lab.study("two-flows-static", vary=vary, set=base, gate="channel")
        for remedy, changes in remedies(lab):
            dynamic = lab.study("two-flows", vary=vary, set={**base, **changes}, gate="channel")
            for n, queue in enumerate(queues):
                found[remedy, words, queue] = ratio(
                    dynamic.values("goodput_bps", n), static.values("goodput_bps", n)
                )
    return found


def claim_map(lab: Lab) -> Finding:
    """Measure whether one remedy makes the dynamic channel as good as the static one all over the map."""
    told, best = [], []
    for cc in MAP_CCS:
        cells = map_of(lab, cc)
        holds = {
            remedy: [_as_good(found) for (name, _, _), found in cells.items() if name == remedy]
            for remedy, _ in remedies(lab)
        }
        runs = min(found.n for found in cells.values())
        best.append(count(max(holds.values(), key=sum), runs=runs))
        each = ", ".join(f"{remedy} {sum(good)}" for remedy, good in holds.items())
        told.append(f"{'NewReno' if cc == 'newreno' else 'Reno'}: {each} of {len(holds['none'])}")
    return Finding(
        together(best[1], best[0]),
        f"Share of the cells with at least {AS_GOOD} of the static channel's goodput under the best remedy, "
        "NewReno. "
        f"Cells by remedy: {'; '.join(told)}. Reno's other cells are those where the static channel of "
        "exactly "
        "10 Mbit/s happens to spare it time-outs",
    )


CLAIMS = [
    Claim(
        "first-change", "§2.1, Fig. 2",
        "Estimation starts after 100 ms, but the offered bandwidth does not change before the first second.",
        claim_first_change, "s", 1.0, ("fig-2",),
    ),
    Claim(
        "margin", "§2.1, Fig. 2",
        "Allocating just the estimate gives TCP too little; MARGIN prevents that.",
        claim_margin, "of the bottleneck", "under-allocates", ("fig-2", "margin"),
    ),
    Claim(
        "halving", "§3, Fig. 4",
        "With 50 packets of queue, halving the window does not move the rate past the bottleneck.",
        claim_halving, "least second over mean", "not affected", ("fig-4",),
    ),
    Claim(
        "over-allocation", "§3, Fig. 4",
        "The channel gets about one Mbit/s more than the flow uses.",
        claim_over_allocation, "Mbit/s", 1.0, ("fig-4",),
    ),
    Claim(
        "corridor", "§3, Fig. 5",
        "With 10 packets of queue the rate follows the window, but the corridor keeps the allocation still.",
        claim_corridor, "of phases", "no changes", ("fig-5",),
    ),
    Claim(
        "tahoe-follows", "§3, Fig. 6",
        "The allocation closely follows Tahoe's sharp sawtooth.",
        claim_tahoe_follows, "correlation", "closely", ("fig-6",),
    ),
    Claim(
        "tahoe-timer", "§3",
        "Tahoe relies on the retransmission timer alone and does not use fast retransmit.",
        claim_tahoe_timer, "of recoveries", 1.0, ("fig-6",),
    ),
    Claim(
        "static", "§3.1, Fig. 8",
        "Over a static channel of 10 Mbit/s both flows reach their 5 Mbit/s.",
        claim_static, "Mbit/s", 5.0, ("fig-8",),
    ),
    Claim(
        "dynamic", "§3.1, Fig. 9",
        "Over a dynamic channel neither flow reaches 5 Mbit/s; packets are lost at node 3.",
        claim_dynamic, "Mbit/s", "below 5", ("fig-9",),
    ),
    Claim(
        "windows", "§3.1, Fig. 9",
        "The windows never keep the size that they have on the static channel.",
        claim_windows, "of the static window", "below 1", ("fig-9",),
    ),
    Claim(
        "allocates-observed", "§3.1, Fig. 9",
        "The algorithm allocates correctly for the throughput that it observes.",
        claim_allocates_observed, "slots above", "0.75 to 1.75", ("fig-9",),
    ),
    Claim(
        "longer-queue", "§3.1",
        "A longer queue at the channel helps: more packets press for a higher rate.",
        claim_longer_queue, "Mbit/s", "helps", ("queue",),
    ),
    Claim(
        "hold-tick", "§3.1, §5",
        "Not lowering the estimate while packets are lost lets TCP recover (a tick with a loss lowers "
        "nothing).",
        claim_hold_tick, "of the gap", "recovers", ("remedies",),
    ),
    Claim(
        "hold-second", "§3.1, §5",
        "The same, for the whole second in which a packet is lost.",
        claim_hold_second, "of the gap", "recovers", ("remedies",),
    ),
    Claim(
        "hold-link", "§3.1, §5",
        "The same, read as: the link is not lowered at the end of a second with a loss.",
        claim_hold_link, "of the gap", "recovers", ("remedies",),
    ),
    Claim(
        "slower-decrease", "§3.1",
        "Lowering more slowly than raising (SHIFT_DEC > SHIFT_INC) solves the problem.",
        claim_slower, "of the gap", "might", ("remedies",),
    ),
    Claim(
        "same-as-static", "§5",
        "TCP gets the share that it would have on a fixed network in all cases but one: two flows in one "
        "channel.",
        claim_same_as_static, "of cases as told", 1.0, (),
    ),
    Claim(
        "return-channel", "§5",
        "A return channel of 512 kbit/s is more than adequate, up to forward rates of 100 Mbit/s.",
        claim_return, "of goodput", 1.0, (),
    ),
    Claim(
        "newer-tcp", "beyond the paper",
        "NewReno, SACK and CUBIC do as well in Fig. 9's dynamic channel as in a static one.",
        claim_variants, "of four", None, ("variants",),
    ),
    Claim(
        "saving-steady", "beyond the paper, Fig. 4",
        "For one steady flow a dynamic channel takes less capacity than a static one of the same goodput.",
        claim_saving_steady, "saved", "considerable", ("saving",),
    ),
    Claim(
        "saving-two-flows", "beyond the paper, Fig. 9",
        "For two flows in one channel it takes less than a static one of the same goodput.",
        claim_saving_two, "saved", "considerable", ("saving",),
    ),
    Claim(
        "saving-backup", "beyond the paper",
        "For a transfer that ends it takes less than a static one that is as fast.",
        claim_saving_backup, "saved", "considerable", ("saving",),
    ),
    Claim(
        "map", "beyond the paper",
        "One remedy makes a dynamic channel as good as a static one at every round trip and queue of the "
        "map.",
        claim_map, "of cells", None, ("map",),
    ),
]  # fmt: skip
