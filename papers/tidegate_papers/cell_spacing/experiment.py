"""Claims on the paper's experiment, Figs. 2 and 3, and on what stands in the spacer."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from tidegate_papers.api import Finding, claim, count, together, within
from tidegate_papers.cell_spacing import cases
from tidegate_papers.cell_spacing.cases import ALONE, EXACT, RTT, SPACER, one

if TYPE_CHECKING:
    from tidegate_papers.api import Lab, Run

#: Bytes of a segment's user data, and of its IP packet, which the paper gives as the segment's size.
USER_B, PACKET_B = 1476, 1516


@claim(
    "fig-3-limits",
    where="§6, (24), Fig. 3",
    says="At 15.264 Mbit/s the content oscillates between 118 and 1217 cells.",
    unit="cells",
    paper="118 and 1217",
    figures=("fig-3",),
    exact=ALONE,
)
def claim_limits(lab: Lab) -> Finding:
    """Compare (24) with what the simulated spacer holds, for each reading of 3.6 ms."""
    numbers, lows, highs = [], [], []
    for name, rtt in cases.READINGS:
        got = cases.simulated(lab, changes=cases.steady({RTT: rtt}))
        lows.append(got["fluid_min"])
        highs.append(got["fluid_max"])
        numbers.append(f"{got['fluid_min']:.1f} and {got['fluid_max']:.1f} if 3.6 ms is {name}")
    return Finding(
        together(
            within(one(highs[0]), 1216.5, 1218, of="the upper limit of the content"),
            within(one(lows[0]), 117.5, 119, of="the lower limit of the content"),
        ),
        f"Judged is the reading in which 3.6 ms is Δ'. Simulated: {', '.join(numbers)}. The upper limit is "
        "(23)'s with Δ' = 3.6 ms; w - cΔ is then 1182.4, of which the printed \"118\" has lost digits",
    )


@claim(
    "fig-3-growth",
    where="§6, Fig. 3",
    says="Once the spacer no longer empties, its content grows at about c/2.",
    unit="times c",
    paper=0.5,
    figures=("fig-3",),
    exact=ALONE,
)
def claim_growth(lab: Lab) -> Finding:
    """Fit a line to the content while it climbs."""
    import numpy as np

    run = lab.run("fig-3", record="events")
    found = cases.theory(lab)
    rows = run.gates["spacer"].series("queue")
    time = rows["time_s"].to_numpy() * 1000 / cases.CELL_MS
    begin = next(float(each.start) for each in found.intervals if each.n == found.n0)
    climbing = (time >= begin) & (time <= float(found.tau_b))
    slope = np.polyfit(time[climbing], rows["fluid"].to_numpy()[climbing], 1)[0] / float(found.c)
    return Finding(
        within(one(slope), 0.475, 0.525),
        "Slope of a line fitted from the first interval in which the spacer does not empty to the threshold; "
        "3σ come for each 2σ served",
    )


@claim(
    "fig-3-empties",
    where="§6, (20), Fig. 3",
    says="First come intervals in which the spacer empties, then it does no more.",
    unit="ms",
    paper="above 0",
    figures=("fig-3",),
    exact=ALONE,
)
def claim_empties(lab: Lab) -> Finding:
    """Find when the spacer is empty for the last time."""
    run = lab.run("fig-3", record="events")
    rows = run.gates["spacer"].series("queue")
    empty = rows.filter(rows["cells"] == 0)["time_s"].max()
    found = cases.theory(lab)
    start = next(float(each.start) for each in found.intervals if each.n == found.n0)
    from_theory = start * cases.CELL_MS / 1000
    last = 0.0 if empty is None else float(empty)
    before = count(
        [each.n < found.n0 for each in found.intervals if was_empty(each, rows)],
        runs=1,
        rule="an interval in which the spacer is empty comes before that one",
    )
    since = within(
        one(1000 * (from_theory - last)),
        -2 * cases.CELL_MS,
        1000 * from_theory,
        of="the time from the last moment with an empty spacer to the first interval that by (20) does not "
        "empty it, ms,",
    )
    return Finding(
        together(since, before),
        f"From the last moment with an empty spacer, {1000 * last:.3f} ms, to the beginning of interval "
        f"{found.n0}, {1000 * from_theory:.3f} ms, the first that (20) says does not empty",
    )


def was_empty(interval: object, rows: object) -> bool:
    """Tell whether the spacer is empty at some moment well inside an interval."""
    start = float(interval.start) + 2  # type: ignore[attr-defined]
    end = float(interval.start) + float(interval.length) - 2  # type: ignore[attr-defined]
    time = rows["time_s"] * 1000 / cases.CELL_MS  # type: ignore[index]
    inside = rows.filter((time > start) & (time < end))  # type: ignore[attr-defined]
    return bool((inside["cells"] == 0).any())


@claim(
    "fig-3-no-loss",
    where="§6",
    says="With a buffer of 1300 cells nothing is lost.",
    unit="cells lost",
    paper=0.0,
    figures=("fig-3",),
    exact=ALONE,
)
def claim_no_loss(lab: Lab) -> Finding:
    """Count the cells lost with a buffer of 1300 cells."""
    lost, needed = [], []
    for name, rtt in cases.READINGS:
        changes = cases.steady({RTT: rtt})
        lost.append(cases.simulated(lab, changes=changes)["dropped"])
        needed.append(f"{cases.theory(lab, changes=changes).buffer_cells} if 3.6 ms is {name}")
    return Finding(
        within(one(max(lost)), 0, 0),
        f"Cells that the spacer holds at most, by the theory: {', '.join(needed)}. 1300 are less than a "
        "window, 1312: it is enough because the rest is on its way",
    )


@claim(
    "one-window",
    where="§7",
    says="A buffer of one window per connection loses nothing.",
    unit="share of cases",
    paper=1.0,
    exact=EXACT,
)
def claim_one_window(lab: Lab) -> Finding:
    """Judge on every set and every drawn scenario that a window of buffer loses nothing."""
    sets = cases.judged_sets(lab)
    fluid = [each.most <= each.window_cells for each in sets]
    runs = [cases.simulated(lab, changes=changes)["dropped"] == 0 for changes in cases.judged_scenarios(lab)]
    tight = min(each.window_cells - each.most for each in sets)
    return Finding(
        count(
            fluid + runs,
            runs=len(fluid) + len(runs),
            rule="the spacer holds one window at most, and loses nothing with room for one",
        ),
        f"{len(fluid)} exact simulations and {len(runs)} simulated in cells with a queue of one "
        "window. Of the "
        f"window at least {float(tight):.2f} cells stay free",
    )


@claim(
    "fig-2-rate",
    where="§6, Fig. 2",
    says="TCP follows the spacing rate: 2 Mbyte/s unconstrained, 0.5 at 5 Mbit/s, 1 at 10 Mbit/s.",
    unit="Mbyte/s",
    paper="0.5 at 5 Mbit/s",
    figures=("fig-2",),
    exact=ALONE,
)
def claim_rate(lab: Lab) -> Finding:
    """Measure the application's rate at each spacing rate of Fig. 2."""
    study = lab.study("fig-2", runs=1, gate="spacer", measure=phases, record="100 ms")
    greedy = lab.study(
        "fig-2", changes={"flow.x.app": "bulk"}, runs=1, gate="spacer", measure=phases, record="100 ms"
    )
    got = [cases.value_of(study, f"phase_{n}") for n in range(3)]
    free = cases.value_of(greedy, "phase_0")
    parts = []
    for counted, size in (
        (f"user data, {USER_B} bytes a segment", USER_B),
        (f"{PACKET_B} bytes a segment", PACKET_B),
    ):
        for n, printed, where in ((1, 0.5, "5"), (2, 1.0, "10"), (0, 2.0, "33.92")):
            rate = one(got[n] * size / USER_B)
            named = f"at {where} Mbit/s, counted in {counted}"
            parts.append(within(rate, 0.9 * printed, 1.1 * printed, named))
    return Finding(
        together(
            *parts,
            rule="the rate is within 10% of 0.5, 1 and 2 Mbyte/s at 5, 10 and 33.92 Mbit/s, counted in "
            f"user data ({USER_B} bytes a segment) as well as in the paper's {PACKET_B} bytes a segment",
        ),
        f"User data: {got[0]:.3f} Mbyte/s at 33.92 Mbit/s, {got[1]:.4f} at 5, {got[2]:.4f} at 10, which is "
        f"{got[1] * 1e6 / USER_B:.1f} and {got[2] * 1e6 / USER_B:.1f} segments a second. A segment of "
        f"{PACKET_B} bytes in 32 cells is an IP packet, so {USER_B} bytes of it are user data; the "
        f"paper does not say which of them its rates count. At 33.92 Mbit/s the application is the limit; "
        "a greedy one "
        f"has {free:.2f} Mbyte/s there, {free * PACKET_B / USER_B:.2f} with headers",
    )


def phases(run: Run) -> dict[str, float | None]:
    """Return payload at each spacing rate, Mbyte/s, without its first second and last half."""
    rows = run.flows["x"].series("delivered")
    time, total = rows["time_s"].to_numpy(), rows["bytes"].to_numpy()
    payloads: dict[str, float | None] = {}
    for n in range(3):
        begin, end = 6 * n + 1.0, 6 * n + 5.5
        at = [float(total[abs(time - when).argmin()]) for when in (begin, end)]
        payloads[f"phase_{n}"] = (at[1] - at[0]) / (end - begin) / 1e6
    return payloads


@claim(
    "fig-2-no-loss",
    where="§6, Fig. 2",
    says="It adapts without information loss.",
    unit="share of the cells lost",
    paper=0.0,
    figures=("fig-2",),
    exact=ALONE,
)
def claim_figure_2_loss(lab: Lab) -> Finding:
    """Count the cells lost while the spacing rate changes."""
    study = lab.study("fig-2", runs=1, gate="spacer", measure=phases, record="100 ms")
    lost = study.values("loss")[0] or 0.0
    again = cases.value_of(study, "segments_retransmitted")
    return Finding(
        together(
            within(one(lost), 0, 0, of="the share of the cells lost at the spacer"),
            within(one(again), 0, 0, of="the number of segments sent again", unit="segments"),
        ),
        f"Segments sent again: {again:.0f}",
    )


@claim(
    "larger-c",
    where="§4",
    says="The larger the spacing rate, the less waits in the spacer.",
    unit="share of steps",
    paper=1.0,
    figures=("standing",),
    exact=ALONE,
)
def claim_larger_c(lab: Lab) -> Finding:
    """Compare what waits at rising spacing rates."""
    rates = lab.judged(cases.RATES)
    got = [cases.simulated(lab, changes={SPACER: f"{rate} Mbit/s", **cases.LONG}) for rate in rates]
    falls = [
        more["fluid_max"] < less["fluid_max"] and more["fluid_min"] < less["fluid_min"]
        for less, more in itertools.pairwise(got)
    ]
    numbers = ", ".join(f"{each['fluid_max']:.0f} at {rate}" for rate, each in zip(rates, got, strict=True))
    return Finding(
        count(falls, runs=len(got), rule="both limits of the content are lower at the larger of two rates"),
        f"Largest content in the end, cells, by Mbit/s: {numbers}",
    )


@claim(
    "larger-round-trip",
    where="§4",
    says="The larger the round trip, the less waits in the spacer.",
    unit="share of steps",
    paper=1.0,
    figures=("standing",),
    exact=ALONE,
)
def claim_larger_trip(lab: Lab) -> Finding:
    """Compare what waits at rising round trips."""
    trips = lab.judged(cases.TRIPS)
    got = [cases.simulated(lab, changes={RTT: f"{trip} ms", **cases.LONG}) for trip in trips]
    falls = [
        more["fluid_max"] < less["fluid_max"] and more["fluid_min"] < less["fluid_min"]
        for less, more in itertools.pairwise(got)
    ]
    numbers = ", ".join(f"{each['fluid_max']:.0f} at {trip}" for trip, each in zip(trips, got, strict=True))
    return Finding(
        count(
            falls, runs=len(got), rule="both limits of the content are lower at the longer of two round trips"
        ),
        f"Largest content in the end, cells, by the round trip in ms: {numbers}",
    )
