"""Pictures of two sessions: Figs. 19 to 22."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate_papers.api import DOTTED, MID, bars, panels
from tidegate_papers.tcp_over_abr import cases, sessions
from tidegate_papers.tcp_over_abr.draw import label_axes, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture
    from tidegate_papers.api import Lab

RATE_OF_CHANGE = "mean time at a rate over 360 ms (psi)"


def _sessions(one: Axes, lab: Lab, case: str, among: list[float], look: int) -> None:
    study = sessions.pair(lab, case)
    for n, (flow, trip) in enumerate((("near", sessions.NEAR_MS), ("far", sessions.FAR_MS))):
        found = [
            cases.efficiency(study, sessions.pair_psis(lab).index(psi), cases.share(case), flow)
            for psi in among
        ]
        bars(one, among, found, look + n, f"{trip} ms")


def _axes(one: Axes, title: str) -> None:
    label_axes(one, title, top=0.8, bottom=0.0)
    one.axhline(cases.CELLS / 2, color=MID, lw=0.8, ls=DOTTED)
    one.set_xlabel(RATE_OF_CHANGE)


def _fast(lab: Lab, case: str) -> Picture:
    picture, axes = panels(6.0, 3.0, 1, 1)
    (one,) = axes[0]
    _sessions(one, lab, case, [psi for psi in sessions.pair_psis(lab) if psi <= 1], 0)
    _axes(one, f"{case}, EFFCAP")
    one.set_ylabel("efficiency of a session")
    legend(one, "lower left")
    return picture


def _beside(lab: Lab, case: str) -> Picture:
    picture, axes = panels(8.4, 3.0, 1, 2, sharey=True)
    for one, each in zip(axes[0], (case, "TCP alone"), strict=True):
        _sessions(one, lab, each, list(sessions.pair_psis(lab)), 0)
        _axes(one, each if each == "TCP alone" else f"{each}, EFFCAP")
    axes[0][0].set_ylabel("efficiency of a session")
    legend(axes[0][0], "lower right")
    return picture


def draw_19(lab: Lab) -> Picture:
    """Draw Case 1 for fast changes."""
    return _fast(lab, "Case 1")


def draw_20(lab: Lab) -> Picture:
    """Draw Case 1 beside TCP alone."""
    return _beside(lab, "Case 1")


def draw_21(lab: Lab) -> Picture:
    """Draw Case 2 for fast changes."""
    return _fast(lab, "Case 2")


def draw_22(lab: Lab) -> Picture:
    """Draw Case 2 beside TCP alone."""
    return _beside(lab, "Case 2")


def draw_jitter(lab: Lab) -> Picture:
    """Draw the far session's share over the near one's, without jitter and with it."""
    schemes = ("Case 1", "Case 2", "TCP alone")
    picture, axes = panels(8.6, 3.0, 1, len(schemes), sharey=True)
    for one, case in zip(axes[0], schemes, strict=True):
        for n, (jitter, longest) in enumerate(sessions.JITTERS.items()):
            psis = list(sessions.pair_psis(lab))
            found = [sessions.far_over_near(lab, case, psi, jitter=jitter) for psi in psis]
            bars(one, psis, found, n, jitter if longest is None else f"up to {longest} of jitter")
        label_axes(one, case if case == "TCP alone" else f"{case}, EFFCAP", top=1.2, bottom=0.0)
        one.axhline(1, color=MID, lw=0.8, ls=DOTTED)
        one.set_xlabel(RATE_OF_CHANGE)
    axes[0][0].set_ylabel("throughput, far over near")
    legend(axes[0][0], "lower left")
    return picture
