"""Figs. 2 and 3 of the cell spacing paper, the table of its formulas, and what stands in the spacer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate_papers.api import ACCENT, DASHED, DOTTED, FILL, INK, MID, SOFT, Figure, panels
from tidegate_papers.cell_spacing import cases

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from tidegate_papers.api import Lab

#: (formula in the table, acknowledgements, keys of the checks, what is right).
FORMULAS: tuple[tuple[str, int, tuple[str, ...], str], ...] = (
    ("(1)  n1", 1, ("(1)",), "where n1 is not after n0"),
    ("(2)  n0", 1, ("(2)",), "where n0 < n1"),
    ("content at (n1+1)Δ", 1, ("(n1+1)Δ",), "at t_b, if that is later"),
    ("(3)  limits at the threshold", 1, ("V_b",), "as printed"),
    ("(4)-(6)  start t_b", 1, ("t_b",), "K: no +1, ceiling, positive part, min"),
    ("(6)  K", 1, ("K",), "enters t_b"),
    ("(7)  peaks, h > 2c", 1, ("(7)",), "only for n > 0"),
    ("(8)  peaks, h < 2c", 1, ("(8)",), "as printed"),
    ("(9)  τ_b", 1, ("tau_b",), "0 where slow start begins at b"),
    ("(10)  limits once at b", 1, ("(10)",), "as printed"),
    ("after (10)  ramp, h < 2c", 1, ("ramp",), "k0 rounded down, at most bσ(1 - c/h)"),
    ("k0  after (10)", 1, ("k0",), "floor, not ceiling"),
    ("(12)  m0", 1, ("m0",), "over m ≥ 0"),
    ("(C1)", 1, ("C1",), "growth once the window at τ_b is acked"),
    ("(14)  levels, bσ > cΔ", 1, ("(14)",), "as printed"),
    ("before (16)  levels, bσ < cΔ", 1, ("(16)",), "(b+m)σ - cΔ"),
    ("after (16)  growth, h < 2c", 1, ("h < 2c",), "as printed"),
    ("(13)  limits at the window", 1, ("V_w",), "as printed"),
    ("(12)  m0", 2, ("m0",), "Δ' for Δ, over m ≥ 0"),
    ("(17)  p, c", 2, ("(17)",), "as printed"),
    ("(20)  n0", 2, ("(20)",), "where n0 < n1"),
    ("(18)  peaks, 3c < 2h", 2, ("(18)",), "as printed"),
    ("(19)  peaks, 3c > 2h", 2, ("(19)",), "as printed"),
    ("(21)  n1", 2, ("(21)",), "the window is p + c"),
    ("(22)  limits at the threshold", 2, ("V_b",), "Δ' for L"),
    ("(23)  limits at the window", 2, ("V_w",), "Δ' for L"),
    ("t_b", 2, ("t_b",), "not in the paper"),
    ("largest content ever", 1, ("buffer",), "not in the paper"),
    ("largest content ever", 2, ("buffer",), "not in the paper"),
)


def draw_2(lab: Lab) -> Picture:
    """Draw the application's rate and the spacing rate over time."""
    import numpy as np

    run = lab.run("fig-2", record="100 ms")
    rows = run.flows["x"].series("delivered")
    time = rows["time_s"].to_numpy()
    rate = np.diff(rows["bytes"].to_numpy().astype(float)) / np.diff(time) / 1e6
    picture, axes = panels(7.2, 3.0, 1, 1)
    (one,) = axes[0]
    one.plot(time[1:], rate, color=ACCENT, lw=1.1, label="payload delivered, each 100 ms")
    steps = run.gates["spacer"].series("rate")
    payload = steps["rate_bps"].to_numpy() * 1476 / (32 * 424) / 1e6
    one.plot(
        steps["time_s"], payload, color=INK, lw=1.0, ls=DASHED, drawstyle="steps-post",
        label="payload that the spacing rate carries",
    )  # fmt: skip
    for at, words in ((3, "33.92 Mbit/s"), (9, "5 Mbit/s"), (15, "10 Mbit/s")):
        one.text(at, 0.06, words, ha="center", fontsize=7.8, color=MID)
    one.set_xlabel("time, s")
    one.set_ylabel("rate, Mbyte/s")
    one.set_xlim(0, 18)
    one.set_ylim(0, 4.2)
    one.legend(frameon=False, fontsize=7.8, loc="upper right")
    return picture


def draw_3(lab: Lab) -> Picture:
    """Draw the spacer's content over time, with the theory's times and limits."""
    run = lab.run("fig-3", record="events")
    found = cases.theory(lab)
    rows = run.gates["spacer"].series("queue")
    unit = cases.CELL_MS / 1000
    time = rows["time_s"].to_numpy() / unit
    picture, axes = panels(8.6, 3.2, 1, 2, width_ratios=[3, 2])
    left, right = axes[0]
    for each in found.intervals:
        if each.n % 2 and each.n <= found.n0:
            left.axvspan(
                float(each.start), float(each.start) + float(each.length), color=FILL, lw=0, zorder=0
            )
        if each.n <= found.n0:
            middle = float(each.start) + float(each.length) / 2
            left.text(middle, 1255, str(each.n), ha="center", fontsize=7.5, color=MID)
    left.plot(time, rows["fluid"], color=ACCENT, lw=0.7)
    start = next(float(each.start) for each in found.intervals if each.n == found.n0)
    low = float(rows.filter((rows["time_s"] / unit) >= start)["fluid"][0])
    c = float(found.c)
    end = start + (float(found.V_w_minus) - low) / (c / 2)
    left.plot(
        [start, end], [low, low + c / 2 * (end - start)], color=INK, lw=1.0, ls=DOTTED, label="slope c/2"
    )
    left.set_xlim(0, 1.7 * float(found.t_b))
    left.set_ylim(0, 1340)
    left.set_xlabel("time, cell times of 12.5 us")
    left.set_ylabel("content, cells")
    left.set_title("intervals in which the spacer empties, and the first in which it does not", fontsize=8)
    left.legend(frameon=False, fontsize=7.5, loc="lower right")
    late = rows.filter((rows["time_s"] / unit > 20000) & (rows["time_s"] / unit < 20500))
    right.plot(late["time_s"] / unit, late["fluid"], color=ACCENT, lw=1.1)
    for value in (found.V_w_minus, found.V_w_plus):
        right.axhline(float(value), color=INK, lw=0.9, ls=DASHED)
        right.text(20505, float(value), f"{float(value):.1f}", fontsize=7.5, va="center")
    right.set_xlabel("time, cell times")
    right.set_title("the end: limits of (23)", fontsize=8)
    right.set_xlim(20000, 20500)
    right.set_xticks([20000, 20250, 20500])
    return picture


def rows_of(lab: Lab) -> list[tuple[str, str, str, str]]:
    """Return formula, share right as printed and as corrected, and what is right."""
    sets = cases.checked(lab)
    rows = []
    for name, per_ack, keys, right in FORMULAS:
        mine = [each for each in sets if each.per_ack == per_ack]
        shares = []
        for which in ("printed", "corrected"):
            held = [
                all(getattr(each, which)[k] for k in keys)
                for each in mine
                if set(keys) <= getattr(each, which).keys()
            ]
            shares.append(f"{sum(held)} of {len(held)}" if held else "–")
        rows.append((f"{name}{', delayed ACKs' if per_ack == 2 else ''}", shares[0], shares[1], right))
    return rows


def draw_formulas(lab: Lab) -> Picture:
    """Draw the table of the formulas."""
    from matplotlib.figure import Figure as Canvas

    rows = rows_of(lab)
    picture = Canvas(figsize=(8.6, 0.235 * (len(rows) + 2)))
    axes = picture.add_axes((0.01, 0.0, 0.98, 1.0))
    axes.set_xlim(0, 1)
    axes.set_ylim(-len(rows) - 0.6, 1.2)
    axes.axis("off")
    places = (0.0, 0.46, 0.62, 0.68)
    heads = ("formula", "right as printed", "corrected", "what is right")
    for n, (x, head) in enumerate(zip(places, heads, strict=True)):
        axes.text(x, 0.3, head, fontsize=8.2, weight="bold", ha="right" if n in (1, 2) else "left")
    axes.plot([0, 1], [-0.12, -0.12], color=INK, lw=0.8)
    for n, row in enumerate(rows):
        y = -n - 0.75
        wrong = row[1] != "–" and len({*row[1].split(" of ")}) == 2
        for k, (x, text) in enumerate(zip(places, row, strict=True)):
            axes.text(
                x, y, text, fontsize=8, ha="right" if k in (1, 2) else "left",
                color=ACCENT if wrong and k == 1 else INK, weight="bold" if wrong and k == 1 else "normal",
            )  # fmt: skip
        axes.plot([0, 1], [y - 0.3, y - 0.3], color=SOFT, lw=0.3)
    return picture


def draw_standing(lab: Lab) -> Picture:
    """Draw what stands in the spacer against spacing rate and round trip, simulated and by theory."""
    picture, axes = panels(8.2, 3.0, 1, 2, sharey=True)
    parts: Any = (
        (axes[0][0], cases.SPACER, "Mbit/s", lab.points(cases.RATES), "spacing rate, Mbit/s"),
        (axes[0][1], cases.RTT, "ms", lab.points(cases.TRIPS), "round trip without waiting, ms"),
    )
    for one, key, unit, values, words in parts:
        changes = [{key: f"{value} {unit}", **cases.LONG} for value in values]
        theories = [cases.theory(lab, changes=each) for each in changes]
        got = [cases.simulated(lab, changes=each) for each in changes]
        for name, metric, line in (("V_w_plus", "fluid_max", "-"), ("V_w_minus", "fluid_min", DASHED)):
            one.plot(values, [float(getattr(each, name)) for each in theories], color=INK, lw=1.0, ls=line,
                     label="theory, largest" if line == "-" else "theory, least")  # fmt: skip
            one.plot(values, [each[metric] for each in got], "o", color=ACCENT, ms=4.2,
                     mfc=ACCENT if line == "-" else "white", label="simulated")  # fmt: skip
        one.set_xlabel(words)
        one.set_ylim(0, 1400)
    axes[0][0].set_ylabel("content in the end, cells")
    axes[0][0].legend(frameon=False, fontsize=7.8, loc="lower left")
    return picture


FIGURES = [
    Figure(
        "fig-2", "Fig. 2", "TCP follows the spacing rate",
        "An application of 2 Mbyte/s over a spacer of 33.92, 5 and 10 Mbit/s in turn. Where the "
        "spacer is slower "
        "than the application, TCP takes all of it.",
        draw_2,
    ),
    Figure(
        "fig-3", "Fig. 3", "Content of the spacer",
        "Left: numbers above are the intervals of slow start; from the first in which the spacer "
        "does not empty "
        "on, the content climbs at c/2 until the window is whole. Right: then it stays between the limits of "
        "Theorem 3.",
        draw_3,
    ),
    Figure(
        "formulas", "§3 to §5", "The formulas, as printed and as corrected",
        "In how many of the drawn parameter sets in which a formula says something it is exactly "
        "right, judged by "
        "an exact simulation; K, k0 and (21) by the corrected formula, which the simulation confirms through "
        "t_b, peaks and τ_b.",
        draw_formulas,
    ),
    Figure(
        "standing", "§4", "What stands in the spacer",
        "Largest and least content once the window has stopped growing: less with a larger spacing "
        "rate and with a "
        "longer round trip, as more of the window is on its way.",
        draw_standing,
    ),
]  # fmt: skip
