"""The claims of the cell spacing paper, the rules that judge them, and what they rest on."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from tidegate._paper import Claim, Finding
from tidegate._verdict import below, count, together, within
from tidegate.papers.cell_spacing import cases
from tidegate.papers.cell_spacing.cases import ALONE, EXACT, RTT, SPACER, one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._paper import Lab
    from tidegate._run_value import Run

TITLE = "Analysis of Cell Spacing on a TCP Flow Mapped onto an ATM Connection"
SOURCE = (
    "F. Guillemin, J. Boyer, O. Dugeon and C. Mangin. Theorems on the content of a cell spacer "
    "under one TCP connection, and an experiment."
)
QUICK = "Quick: 120 parameter sets and not 600, fewer simulated ones, fewer rates and round trips"


def printed_holds(lab: Lab, names: Sequence[str], per_ack: int | None = None) -> tuple[list[bool], str]:
    """Return where printed formulas hold, and how the corrected ones do, in words."""
    sets = [each for each in cases.checked(lab) if per_ack in (None, each.per_ack)]
    said = [
        all(each.printed[name] for name in names if name in each.printed)
        for each in sets
        if any(name in each.printed for name in names)
    ]
    right = [
        all(each.corrected[name] for name in names if name in each.corrected)
        for each in sets
        if any(name in each.corrected for name in names)
    ]
    told = f"The corrected form holds in {sum(right)} of {len(right)}" if right else ""
    return said, told


def theorem(lab: Lab, names: Sequence[str], per_ack: int | None, note: str = "") -> Finding:
    """Judge printed formulas by the share of the parameter sets in which they are right."""
    said, told = printed_holds(lab, names, per_ack)
    return Finding(count(said, runs=len(said)), ". ".join(part for part in (told, note) if part))


def claim_theorem_1(lab: Lab) -> Finding:
    """Compare (3) with exact simulations."""
    return theorem(lab, ["V_b"], 1)


def claim_t_b(lab: Lab) -> Finding:
    """Compare (4) to (6) with exact simulations."""
    return theorem(
        lab, ["t_b"], 1,
        'K in (6) has a "+1" too many, no integer bracket, no positive part of b - 2^ν w0, and w0 2^ν '
        "where the window of b ends the burst before",
    )  # fmt: skip


def claim_peaks(lab: Lab) -> Finding:
    """Compare (7) and (8) with exact simulations."""
    return theorem(lab, ["(7)", "(8)"], 1, "(8) is right; (7) is not for the first interval, n = 0")


def claim_c1(lab: Lab) -> Finding:
    """Compare condition (C1) with whether the window grows after the oscillation has begun."""
    return theorem(
        lab, ["C1"], 1,
        "The first growth comes not a window minus one after τ_b, but when the window at τ_b has been "
        "acknowledged",
    )  # fmt: skip


def claim_levels(lab: Lab) -> Finding:
    """Compare (14) and the levels before (16) with exact simulations."""
    return theorem(
        lab, ["(14)", "(16)"], 1,
        "(14), where the spacer is busy at b already, is right; before (16) the level is (b+m)σ - cΔ, and "
        "not (b+m-1)σ",
    )  # fmt: skip


def claim_thresholds(lab: Lab) -> Finding:
    """Compare (1) and (2) with the intervals in which the window reaches b and the spacer stays busy."""
    return theorem(
        lab, ["(1)", "(2)"], 1,
        "Where the spacer stays busy before the threshold (n0 < n1), intervals take longer than Δ, and b is "
        "reached after (n1+1)Δ: then (1) counts doublings only. Where n0 = n1 the window may stop at b "
        "before "
        "it fills the pipe, and the spacer empties in n0 as well",
    )  # fmt: skip


def claim_end_of_slow_start(lab: Lab) -> Finding:
    """Compare the content at (n1+1)Δ with the limits of Theorem 1."""
    return theorem(
        lab, ["(n1+1)Δ"], 1,
        "Judged is whether the content is within (3)'s limits at that time. It is not where slow start "
        "takes longer (n0 < n1) or the source is still behind: what is right is the later of (n1+1)Δ and t_b",
    )  # fmt: skip


def claim_at_threshold(lab: Lab) -> Finding:
    """Compare (10) with exact simulations."""
    return theorem(
        lab, ["(10)"], 1,
        "Judged from the end of the ramp to the last acknowledgement of interval n1, where n1 is not after "
        "n0",
    )  # fmt: skip


def claim_ramp(lab: Lab) -> Finding:
    """Compare the ramp before (10), where h < 2c, with exact simulations."""
    return theorem(
        lab, ["ramp"], 1,
        "Print lets the content climb for k0 acknowledgements more, rounded up, even where fewer come before "
        "the window is whole; right is k0 rounded down, and at most bσ(1 - c/h)",
    )  # fmt: skip


def claim_growth_fast(lab: Lab) -> Finding:
    """Compare the transition after a growth of the window, where h < 2c, with exact simulations."""
    return theorem(
        lab, ["h < 2c"], 1,
        "The level after k = ⌊c/(h-c)⌋ acknowledgements is right. The condition printed above it, "
        "(1+k)σ/c ≤ (2+k-1)σ/h, never holds, as c < h: it is kσ/c ≤ (k+1)σ/h that gives this k",
    )  # fmt: skip


def claim_recursion(lab: Lab) -> Finding:
    """Compare (17) with the segments sent in each interval."""
    return theorem(lab, ["(17)"], 2)


def claim_first_busy(lab: Lab) -> Finding:
    """Compare (20) with the first interval in which the spacer does not empty."""
    return theorem(
        lab, ["(20)"], 2,
        "Where n0 = n1 the window may stop at b before the interval's segments are sent, and the spacer "
        "empties",
    )  # fmt: skip


def claim_theorem_2(lab: Lab) -> Finding:
    """Compare (13) with exact simulations."""
    return theorem(lab, ["V_w"], 1)


def claim_theorem_3(lab: Lab) -> Finding:
    """Compare (22) and (23) with exact simulations."""
    return theorem(
        lab, ["V_b", "V_w"], 2,
        "Print takes L of one interval, which is Δ where a segment waits for its second; right is Δ' always. "
        "Where c_n = 1 and the spacer stays busy the print is a segment too high",
    )  # fmt: skip


def claim_peaks_delayed(lab: Lab) -> Finding:
    """Compare (18) and (19) with exact simulations."""
    return theorem(lab, ["(18)", "(19)"], 2)


def claim_corrected(lab: Lab) -> Finding:
    """Judge every corrected formula on every set."""
    sets = cases.checked(lab)
    holds = [all(each.corrected.values()) for each in sets]
    formulas = sum(len(each.corrected) for each in sets)
    return Finding(
        count(holds, runs=len(sets)),
        f"{formulas} comparisons in fractions on {len(sets)} sets, h above, at and below 2c, the pipe longer "
        "and shorter than the threshold",
    )


def claim_simulator(lab: Lab) -> Finding:
    """Compare the simulator, cell by cell, with the corrected theory."""
    fluid, cells = [], []
    for changes in cases.scenarios(lab):
        told, got = cases.theory(lab, changes=changes), cases.simulated(lab, changes=changes)
        fluid += [
            abs(got["fluid_min"] - float(told.V_w_minus)),
            abs(got["fluid_max"] - float(told.V_w_plus)),
            abs(got["fluid_ever"] - float(told.buffer)),
        ]
        cells += [
            abs(got["cells_min"] - told.V_w_minus_cells),
            abs(got["cells_max"] - told.V_w_plus_cells),
            abs(got["cells_ever"] - told.buffer_cells),
        ]
    return Finding(
        together(below(one(max(fluid)), 1e-6), below(one(max(cells)), 2.5)),
        f"Largest difference of the fluid content's limits over {len(fluid) // 3} drawn scenarios; whole "
        f"cells are at most {max(cells):.0f} away",
    )


def claim_limits(lab: Lab) -> Finding:
    """Compare (24) with what the simulated spacer holds, for each reading of 3.6 ms."""
    told, lows, highs = [], [], []
    for name, rtt in cases.READINGS:
        got = cases.simulated(lab, changes=cases.steady({RTT: rtt}))
        lows.append(got["fluid_min"])
        highs.append(got["fluid_max"])
        told.append(f"{got['fluid_min']:.1f} and {got['fluid_max']:.1f} if 3.6 ms is {name}")
    return Finding(
        together(within(one(highs[0]), 1216.5, 1218), within(one(lows[0]), 117.5, 119)),
        f"Simulated: {', '.join(told)}. The upper limit is (23)'s with Δ' = 3.6 ms; w - cΔ is then "
        "1182.4, of "
        'which the printed "118" has lost the last digits',
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


def claim_empties(lab: Lab) -> Finding:
    """Find when the spacer is empty for the last time."""
    run = lab.run("fig-3", record="events")
    rows = run.gates["spacer"].series("queue")
    empty = rows.filter(rows["cells"] == 0)["time_s"].max()
    found = cases.theory(lab)
    start = next(float(each.start) for each in found.intervals if each.n == found.n0)
    told = start * cases.CELL_MS / 1000
    last = 0.0 if empty is None else float(empty)
    busy = count([each.n < found.n0 for each in found.intervals if told_empty(each, rows)], runs=1)
    return Finding(
        together(within(one(1000 * (told - last)), -2 * cases.CELL_MS, 1000 * told), busy),
        f"From the last moment with an empty spacer, {1000 * last:.3f} ms, to the beginning of interval "
        f"{found.n0}, {1000 * told:.3f} ms, the first that (20) says does not empty",
    )


def told_empty(interval: object, rows: object) -> bool:
    """Tell whether the spacer is empty at some moment well inside an interval."""
    start = float(interval.start) + 2  # type: ignore[attr-defined]
    end = float(interval.start) + float(interval.length) - 2  # type: ignore[attr-defined]
    time = rows["time_s"] * 1000 / cases.CELL_MS  # type: ignore[index]
    inside = rows.filter((time > start) & (time < end))  # type: ignore[attr-defined]
    return bool((inside["cells"] == 0).any())


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


def claim_one_window(lab: Lab) -> Finding:
    """Judge on every set and every drawn scenario that a window of buffer loses nothing."""
    fluid = [each.most <= each.window_cells for each in cases.checked(lab)]
    runs = [cases.simulated(lab, changes=changes)["dropped"] == 0 for changes in cases.scenarios(lab)]
    tight = min(each.window_cells - each.most for each in cases.checked(lab))
    return Finding(
        count(fluid + runs, runs=len(fluid) + len(runs)),
        f"{len(fluid)} exact simulations and {len(runs)} simulated in cells with a queue of one "
        "window. Of the "
        f"window at least {float(tight):.2f} cells stay free",
    )


def claim_rate(lab: Lab) -> Finding:
    """Measure the application's rate at each spacing rate of Fig. 2."""
    study = lab.study("fig-2", runs=1, gate="spacer", measure=phases, record="100 ms")
    greedy = lab.study(
        "fig-2", set={"flow.x.app": "bulk"}, runs=1, gate="spacer", measure=phases, record="100 ms"
    )
    got = [cases.value_of(study, f"phase_{n}") for n in range(3)]
    free = cases.value_of(greedy, "phase_0")
    return Finding(
        together(
            within(one(got[1]), 0.45, 0.55),
            within(one(got[2]), 0.9, 1.1),
            within(one(got[0]), 1.9, 2.1),
        ),
        f"Payload: {got[0]:.3f} Mbyte/s at 33.92 Mbit/s, {got[1]:.4f} at 5, {got[2]:.4f} at 10, which is "
        f"{got[1] * 1e6 / 1476:.1f} and {got[2] * 1e6 / 1476:.1f} segments a second. At 33.92 Mbit/s the "
        f"application is the limit; a greedy one has {free:.2f} Mbyte/s there, {free * 1516 / 1476:.2f} with "
        "headers. Within 10% is taken as the same",
    )


def phases(run: Run) -> dict[str, float | None]:
    """Return payload at each spacing rate, Mbyte/s, without its first second and last half."""
    rows = run.flows["x"].series("delivered")
    time, total = rows["time_s"].to_numpy(), rows["bytes"].to_numpy()
    told: dict[str, float | None] = {}
    for n in range(3):
        begin, end = 6 * n + 1.0, 6 * n + 5.5
        at = [float(total[abs(time - when).argmin()]) for when in (begin, end)]
        told[f"phase_{n}"] = (at[1] - at[0]) / (end - begin) / 1e6
    return told


def claim_figure_2_loss(lab: Lab) -> Finding:
    """Count the cells lost while the spacing rate changes."""
    study = lab.study("fig-2", runs=1, gate="spacer", measure=phases, record="100 ms")
    lost = study.values("loss")[0] or 0.0
    again = cases.value_of(study, "segments_retransmitted")
    return Finding(
        together(within(one(lost), 0, 0), within(one(again), 0, 0)),
        f"Share of the cells lost at the spacer; segments sent again: {again:.0f}",
    )


def claim_larger_c(lab: Lab) -> Finding:
    """Compare what waits at rising spacing rates."""
    rates = cases.rates(lab)
    got = [cases.simulated(lab, changes={SPACER: f"{rate} Mbit/s", **cases.LONG}) for rate in rates]
    falls = [
        more["fluid_max"] < less["fluid_max"] and more["fluid_min"] < less["fluid_min"]
        for less, more in itertools.pairwise(got)
    ]
    told = ", ".join(f"{each['fluid_max']:.0f} at {rate}" for rate, each in zip(rates, got, strict=True))
    return Finding(count(falls, runs=len(got)), f"Largest content in the end, cells, by Mbit/s: {told}")


def claim_larger_trip(lab: Lab) -> Finding:
    """Compare what waits at rising round trips."""
    trips = cases.trips(lab)
    got = [cases.simulated(lab, changes={RTT: f"{trip} ms", **cases.LONG}) for trip in trips]
    falls = [
        more["fluid_max"] < less["fluid_max"] and more["fluid_min"] < less["fluid_min"]
        for less, more in itertools.pairwise(got)
    ]
    told = ", ".join(f"{each['fluid_max']:.0f} at {trip}" for trip, each in zip(trips, got, strict=True))
    return Finding(
        count(falls, runs=len(got)), f"Largest content in the end, cells, by the round trip in ms: {told}"
    )


CLAIMS = [
    Claim(
        "theorem-1", "§3, (3)",
        "At the end of slow start the content oscillates between (bσ - cΔ)+ and σ(1 - c/h) more.",
        claim_theorem_1, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "oscillation-begins", "§3, (4)-(6)", "That oscillation starts at t_b.",
        claim_t_b, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "thresholds", "§3, (1), (2)",
        "The window reaches b in interval n1, and n0 is the first interval in which the spacer does not "
        "empty.",
        claim_thresholds, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "end-of-slow-start", "§3",
        "Slow start ends at (n1+1)Δ, and the content there is that of the oscillation at b.",
        claim_end_of_slow_start, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "oscillation-at-threshold", "§3, (10)",
        "Once the window is b the content oscillates between (b - 2^(n1-1) w0)σ and σ(1 - c/h) more.",
        claim_at_threshold, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "ramp", "§3, after (10)",
        "Where h < 2c the content first climbs to (2(b - 2^(n1-1) w0) + k0)σ(1 - c/h).",
        claim_ramp, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "peaks", "§3, (7), (8)",
        "The largest content of each interval of slow start in which the spacer empties.",
        claim_peaks, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "condition-c1", "§4, (C1)",
        "Where (C1) holds, the content oscillates before the window grows further.",
        claim_c1, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "levels", "§4, (14), (16)",
        "While the window grows, the content stands at one level for each window.",
        claim_levels, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "growth-fast", "§4, h < 2c",
        "Where h < 2c and the window grows by one, the content climbs by (2+k)σ(1 - c/h) and stays σ higher.",
        claim_growth_fast, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "theorem-2", "§4, (13)",
        "At the end of congestion avoidance it oscillates between (wσ - cΔ)+ and σ(1 - c/h) more.",
        claim_theorem_2, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "recursion", "§5, (17)", "With delayed ACKs p and c of (17) say how many segments an interval has.",
        claim_recursion, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "first-busy", "§5, (20)",
        "With delayed ACKs n0 of (20) is the first interval in which the spacer does not empty.",
        claim_first_busy, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "peaks-delayed", "§5, (18), (19)", "The largest content of each such interval with delayed ACKs.",
        claim_peaks_delayed, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "theorem-3", "§5, (22), (23)", "The same limits with an ACK for every second segment.",
        claim_theorem_3, "share of parameter sets", 1.0, ("formulas",), exact=EXACT,
    ),
    Claim(
        "corrected", "beyond the paper",
        "The corrected formulas are right in every set of parameters.",
        claim_corrected, "share of parameter sets", None, ("formulas",), exact=EXACT,
    ),
    Claim(
        "simulator", "beyond the paper",
        "Cells simulated one by one meet the theory: fluid content to a millionth of a cell, whole "
        "cells within "
        "two.",
        claim_simulator, "cells", None, (), exact=ALONE,
    ),
    Claim(
        "fig-3-limits", "§6, (24), Fig. 3",
        "At 15.264 Mbit/s the content oscillates between 118 and 1217 cells.",
        claim_limits, "cells", "118 and 1217", ("fig-3",), exact=ALONE,
    ),
    Claim(
        "fig-3-growth", "§6, Fig. 3", "Once the spacer no longer empties, its content grows at about c/2.",
        claim_growth, "times c", 0.5, ("fig-3",), exact=ALONE,
    ),
    Claim(
        "fig-3-empties", "§6, (20), Fig. 3",
        "First come intervals in which the spacer empties, then it does no more.",
        claim_empties, "ms", "above 0", ("fig-3",), exact=ALONE,
    ),
    Claim(
        "fig-3-no-loss", "§6", "With a buffer of 1300 cells nothing is lost.",
        claim_no_loss, "cells lost", 0.0, ("fig-3",), exact=ALONE,
    ),
    Claim(
        "fig-2-rate", "§6, Fig. 2",
        "TCP follows the spacing rate: 2 Mbyte/s unconstrained, 0.5 at 5 Mbit/s, 1 at 10 Mbit/s.",
        claim_rate, "Mbyte/s at 5 Mbit/s", 0.5, ("fig-2",), exact=ALONE,
    ),
    Claim(
        "fig-2-no-loss", "§6, Fig. 2", "It adapts without information loss.",
        claim_figure_2_loss, "share of the cells lost", 0.0, ("fig-2",), exact=ALONE,
    ),
    Claim(
        "larger-c", "§4", "The larger the spacing rate, the less waits in the spacer.",
        claim_larger_c, "share of steps", 1.0, ("standing",), exact=ALONE,
    ),
    Claim(
        "larger-round-trip", "§4", "The larger the round trip, the less waits in the spacer.",
        claim_larger_trip, "share of steps", 1.0, ("standing",), exact=ALONE,
    ),
    Claim(
        "one-window", "§7", "A buffer of one window per connection loses nothing.",
        claim_one_window, "share of cases", 1.0, (), exact=EXACT,
    ),
]  # fmt: skip
