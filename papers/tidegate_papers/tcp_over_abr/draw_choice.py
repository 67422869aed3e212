"""Pictures of how M and N change efficiency: Figs. 14 to 18, and the same with a later time-out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import DOTTED, MID, bars, panels
from tidegate_papers.tcp_over_abr import cases
from tidegate_papers.tcp_over_abr.cases import CELLS, curve, efficiency, psis
from tidegate_papers.tcp_over_abr.draw import label_axes, legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from tidegate_papers.api import Lab


def draw_14(lab: Lab) -> Picture:
    """Draw EFFCAP with three memories."""
    picture, axes = panels(6.6, 3.2, 1, 1)
    (one,) = axes[0]
    for n, k in enumerate((2, 4, 8)):
        study = curve(lab, "EFFCAP", n_round_trips=k)
        found = [efficiency(study, point, CELLS) for point in range(len(psis(lab)))]
        bars(one, psis(lab), found, n, f"N: {k}Δ = {cases.blocks(cases.DELTA_MS, k)['n']}")
    label_axes(one, bottom=0.45)
    one.set_ylabel("efficiency")
    legend(one, "lower right")
    return picture


def _memories(lab: Lab, holding_ms: float) -> Picture:
    picture, axes = panels(6.6, 3.2, 1, 1)
    (one,) = axes[0]
    found = {trip: cases.by_memory(lab, holding_ms, trip) for trip in lab.points(cases.DELTAS)}
    x = [holding_ms / trip for trip in lab.points(cases.DELTAS)]
    shown = [k for k in lab.points(cases.MEMORIES) if k in (2, 4, 8, 12)]
    for n, k in enumerate(shown):
        place = lab.points(cases.MEMORIES).index(k)
        bars(one, x, [found[trip][place] for trip in lab.points(cases.DELTAS)], n, f"N: {k}Δ")
    one.axhline(CELLS * 2 / 3, color=MID, lw=0.8, ls=DOTTED)
    label_axes(one, bottom=0.2)
    one.set_xlabel(f"{holding_ms:g} ms over the round trip (psi); 500 ms left, 50 ms right")
    one.set_ylabel("efficiency")
    legend(one, "lower right", ncols=2)
    return picture


def draw_15(lab: Lab) -> Picture:
    """Draw memories with 100 ms in a state."""
    return _memories(lab, 100)


def draw_16(lab: Lab) -> Picture:
    """Draw memories with 1 s in a state."""
    return _memories(lab, 1000)


def _blocks(lab: Lab, holding_ms: float) -> Picture:
    picture, axes = panels(8.4, 3.0, 1, 2, sharey=True)
    for one, k in zip(axes[0], (2, 12), strict=True):
        for n, trip in enumerate(lab.points(cases.M_DELTAS)):
            bars(one, lab.points(cases.MEANS), cases.by_mean(lab, holding_ms, trip, k), n, f"Δ {trip} ms")
        one.set_title(f"N: {k}Δ")
        one.set_xlabel("M, intervals of 30 ms")
        one.set_ylim(0.4, 1.0)
    axes[0][0].set_ylabel("efficiency")
    legend(axes[0][1], "upper right")
    return picture


def draw_17(lab: Lab) -> Picture:
    """Draw block lengths with 1 s in a state."""
    return _blocks(lab, 1000)


def draw_18(lab: Lab) -> Picture:
    """Draw block lengths with 100 ms in a state."""
    return _blocks(lab, 100)


def draw_floor(lab: Lab) -> Picture:
    """Draw what a long memory and a long mean gain, by the floor of the time-out."""
    picture, axes = panels(8.4, 3.0, 1, 2)
    floors = cases.floors(lab)
    places = list(range(len(floors)))
    for n, trip in enumerate(lab.points(cases.M_DELTAS)):
        memory = [cases.memory_change(lab, 100, trip, 12, floor_ms=floor) for floor in floors]
        mean = [cases.mean_change(lab, 100, trip, 12, 10, floor) for floor in floors]
        bars(axes[0][0], places, memory, n, f"Δ {trip} ms")
        bars(axes[0][1], places, mean, n, f"Δ {trip} ms")
    for one, words in zip(axes[0], ("N: 12Δ over N: 2Δ", "M = 10 over M = 1, N: 12Δ"), strict=True):
        one.axhline(1, color=MID, lw=0.8, ls=DOTTED)
        one.set_title(words)
        one.set_xlabel("floor of the time-out, ms (2Δ above it)")
        one.set_xticks(places, [f"{floor}" if floor else "none" for floor in floors])
        one.set_xlim(-0.3, len(floors) - 0.7)
    axes[0][0].set_ylabel("efficiency, ratio")
    legend(axes[0][0], "upper left")
    return picture
