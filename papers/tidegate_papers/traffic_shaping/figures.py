"""Figs. 3 to 6 of the traffic shaping paper, who gets what, and the choices it leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import DOTTED, FILL, INK, LOOKS, MID, Figure, bars, panels
from tidegate_papers.traffic_shaping import cases, rules, twenty
from tidegate_papers.traffic_shaping.cases import PAYLOAD, SHAPINGS, point

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from tidegate_papers.api import Lab

NAMES = {"none": "no shaping", "35": "35 Mbit/s", "20": "20 Mbit/s"}


def over_load(lab: Lab, buffer: int, metric: str) -> Picture:
    """Draw a metric against the background load for each shaping."""
    picture, axes = panels(6.4, 3.3, 1, 1)
    (one,) = axes[0]
    loads = lab.points(cases.LOADS)
    for n, shaping in enumerate(SHAPINGS):
        found = [point(lab, shaping, load, buffer).estimate(metric) for load in loads]
        bars(one, loads, found, n, NAMES[shaping])
    one.set_xlabel("background, Mbit/s")
    one.set_ylim(bottom=0)
    if metric == "goodput":
        one.set_ylabel("payload per connection, Mbit/s")
        other = one.secondary_yaxis("right", functions=(lambda y: y / PAYLOAD, lambda y: y * PAYLOAD))
        other.set_ylabel("the same in 53-byte cells")
        one.set_ylim(0, 36)
        one.legend(frameon=False, fontsize=7.8, loc="lower left")
    else:
        one.set_ylabel("efficiency")
        low = min(point(lab, s, load, buffer).estimate(metric).low or 0 for s in SHAPINGS for load in loads)
        one.set_ylim(min(0.8, low - 0.02), 1.01)
        one.legend(frameon=False, fontsize=7.8, loc="lower left")
    return picture


def draw_3(lab: Lab) -> Picture:
    """Draw goodput with 1000 cells."""
    return over_load(lab, 1000, "goodput")


def draw_4(lab: Lab) -> Picture:
    """Draw efficiency with 1000 cells."""
    return over_load(lab, 1000, "efficiency")


def draw_5(lab: Lab) -> Picture:
    """Draw goodput with 5000 cells."""
    return over_load(lab, 5000, "goodput")


def draw_6(lab: Lab) -> Picture:
    """Draw efficiency with 5000 cells."""
    return over_load(lab, 5000, "efficiency")


def draw_shares(lab: Lab) -> Picture:
    """Draw the least, the mean and the largest goodput of a connection."""
    picture, axes = panels(8.2, 2.9, 1, 3, sharey=True)
    loads = lab.points(cases.LOADS)
    for one, shaping in zip(axes[0], SHAPINGS, strict=True):
        for n, (metric, label) in enumerate((("goodput", "mean"), ("least", "least"), ("most", "most"))):
            bars(one, loads, [point(lab, shaping, load).estimate(metric) for load in loads], n, label)
        one.set_title(NAMES[shaping], fontsize=8.5)
        one.set_xlabel("background, Mbit/s")
        one.set_ylim(bottom=0)
    axes[0][0].set_ylabel("payload of a connection, Mbit/s")
    axes[0][0].legend(frameon=False, fontsize=7.8)
    return picture


def draw_knee(lab: Lab) -> Picture:
    """Draw how much of the goodput with 20 Mbit/s is left at each load."""
    picture, axes = panels(8.2, 3.0, 1, 2, sharey=True)
    loads = lab.points(cases.KNEE_LOADS)
    for one, buffer in zip(axes[0], cases.BUFFERS, strict=True):
        for n, (words, changes) in enumerate(rules.READINGS):
            bars(one, loads, [twenty.left(lab, load, buffer, changes) for load in loads], n, words)
        one.axhline(1 - rules.FLAT, color=MID, lw=0.8, ls=DOTTED)
        one.set_title(f"{buffer} cells")
        one.set_xlabel("background, Mbit/s")
        one.set_ylim(0, 1.08)
    axes[0][0].set_ylabel("goodput over that without background")
    axes[0][0].legend(frameon=False, fontsize=7.8, loc="lower left")
    return picture


def draw_choices(lab: Lab) -> Picture:
    """Draw goodput of each shaping under every choice that the paper leaves open."""
    chosen = lab.points(cases.TRIED)
    loads = lab.points(cases.SENSITIVE_LOADS)
    picture, axes = panels(8.6, 0.9 + 0.33 * len(chosen), 1, len(loads), sharey=True)
    for one, load in zip(axes[0], loads, strict=True):
        for row, (_, changes, sources, beta) in enumerate(chosen):
            if row % 2 == 0:
                one.axhspan(row - 0.5, row + 0.5, color=FILL, alpha=0.5, lw=0, zorder=0)
            for n, shaping in enumerate(SHAPINGS):
                found = point(lab, shaping, load, 1000, changes, sources, beta).estimate("goodput")
                colour, _, marker = LOOKS[n]
                one.errorbar(
                    [found.mean or 0], [row + 0.22 * (n - 1)], xerr=[[arm] for arm in found.arms],
                    color=colour, ls="", marker=marker, ms=4, capsize=2, elinewidth=0.9,
                    mfc=colour if n % 2 == 0 else "white", label=NAMES[shaping] if row == 0 else None,
                )  # fmt: skip
        one.set_xlim(left=0)
        one.set_xlabel("payload per connection, Mbit/s")
        one.set_title(f"{load:g} Mbit/s of background", fontsize=8.5)
        one.grid(visible=False, axis="y")
    axes[0][0].set_yticks(range(len(chosen)), [words for words, *_ in chosen], fontsize=8, color=INK)
    axes[0][0].set_ylim(len(chosen) - 0.5, -0.5)
    picture.legend(
        *axes[0][0].get_legend_handles_labels(), frameon=False, fontsize=7.8, loc="outside upper right",
        ncols=3, labelcolor=MID,
    )  # fmt: skip
    return picture


FIGURES = [
    Figure("fig-3", "Fig. 3", "Goodput, 1000 cells", "Mean of four connections.", draw_3),
    Figure(
        "fig-4", "Fig. 4", "Efficiency, 1000 cells",
        "Segments delivered for the first time over segments that entered the network.", draw_4,
    ),
    Figure("fig-5", "Fig. 5", "Goodput, 5000 cells", "Mean of four connections.", draw_5),
    Figure(
        "knee", "Figs. 3, 5", "Where the goodput with 20 Mbit/s begins to fall",
        "Dotted: the bound below which it has fallen. 4 · 20 Mbit/s and the background fit into the link up "
        "to 70 Mbit/s with T as it is, up to 75 with T in whole slots.", draw_knee,
    ),
    Figure("fig-6", "Fig. 6", "Efficiency, 5000 cells", "As Fig. 4 with the larger buffer.", draw_6),
    Figure(
        "shares", "Beyond the paper", "Who gets what, 1000 cells",
        "The mean of four connections hides that they do not share alike: in each run the least and "
        "the most.",
        draw_shares,
    ),
    Figure(
        "choices", "Beyond the paper", "The choices that the paper leaves open",
        "Goodput with 1000 cells, one choice changed at a time.", draw_choices,
    ),
]  # fmt: skip
