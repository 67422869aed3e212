"""Pictures of one session: schemes, buffers, M and N."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate_papers.api import DOTTED, FILL, LOOKS, MID, bars, panels
from tidegate_papers.tcp_over_abr import beyond, delta, dynamics
from tidegate_papers.tcp_over_abr.cases import BUFFERS, SCHEMES, at, model, psis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture
    from tidegate_papers.api import Estimate, Lab

RATE_OF_CHANGE = "mean time at a rate, round trips (psi)"


def log_axis(one: Axes) -> None:
    """Write figures at a logarithmic axis: 0.2, 0.5, 1, 2, 5, fewer where they would touch."""
    one.set_xscale("log")
    low, high = one.get_xlim()
    steps = (1,) if high > 300 * low else (1, 2, 5)
    ticks = [digit * 10.0**power for power in range(-2, 4) for digit in steps]
    ticks = [tick for tick in ticks if low <= tick <= high]
    one.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    one.minorticks_off()
    one.set_xlim(low, high)


def label_axes(one: Axes, title: str = "", *, top: float = 1.0, bottom: float = 0.3) -> None:
    """Set the axes of efficiency against the rate of change."""
    log_axis(one)
    one.set_xlabel(RATE_OF_CHANGE)
    one.set_ylim(bottom, top)
    if title:
        one.set_title(title)


def legend(one: Axes, where: str = "lower right", **options: Any) -> None:
    """Draw a legend as all of them look."""
    one.legend(**{"frameon": False, "fontsize": 7.5, "loc": where, **options})


def analysis(one: Axes, lab: Lab, scheme: str, buffer: int, among: Sequence[float], label: str) -> None:
    """Draw the renewal model's bounds as a band; it needs psi above 1."""
    import numpy as np

    last = max(among)
    if last <= 1.2:
        return
    x = np.geomspace(max(1.15, min(among)), last, 8 if lab.quick else 20)
    low, high = zip(*(model(float(psi), buffer, scheme) for psi in x), strict=True)
    one.fill_between(x, low, high, color=FILL, alpha=0.9, lw=0, zorder=0, label=label)
    for edge in (low, high):
        one.plot(x, edge, color=MID, lw=0.6, zorder=0.5)


def sampled(
    one: Axes, lab: Lab, scheme: str, look: int, label: str, among: Sequence[float], buffer: int = 10,
    tcp: str = "model",
) -> None:  # fmt: skip
    """Draw simulated efficiencies with their intervals."""
    bars(one, among, [at(lab, scheme, psi, buffer, tcp) for psi in among], look, label)


def _against_analysis(lab: Lab, scheme: str) -> Picture:
    picture, axes = panels(8.4, 3.2, 1, 2, sharey=True)
    for one, buffer in zip(axes[0], (10, 12), strict=True):
        analysis(one, lab, scheme, buffer, psis(lab), "analysis, conservative to optimistic")
        sampled(one, lab, scheme, 0, "simulation", psis(lab), buffer)
        label_axes(one, f"{scheme}, {buffer} packets", bottom=0.0)
    axes[0][0].set_ylabel("efficiency")
    # Below everything that is drawn.
    legend(axes[0][0], "lower right")
    return picture


def draw_8(lab: Lab) -> Picture:
    """Draw INSTCAP by analysis and simulation."""
    return _against_analysis(lab, "INSTCAP")


def draw_9(lab: Lab) -> Picture:
    """Draw TCP alone by analysis and simulation."""
    return _against_analysis(lab, "TCP alone")


def _two_feedbacks(lab: Lab, among: list[float], bottom: float) -> Picture:
    picture, axes = panels(8.4, 3.0, 1, 2, sharey=True)
    for one, scheme in zip(axes[0], ("INSTCAP", "EFFCAP"), strict=True):
        for n, buffer in enumerate(BUFFERS):
            sampled(one, lab, scheme, n, f"{buffer} packets", among, buffer)
        label_axes(one, scheme, bottom=bottom)
    axes[0][0].set_ylabel("efficiency")
    legend(axes[0][1], "lower right" if min(among) > 1 else "upper right")
    return picture


def _large(lab: Lab) -> list[float]:
    return [psi for psi in psis(lab) if psi >= 5]


def _small(lab: Lab) -> list[float]:
    return [psi for psi in psis(lab) if psi <= 5]


def draw_10(lab: Lab) -> Picture:
    """Draw both kinds of feedback for slow changes."""
    return _two_feedbacks(lab, _large(lab), 0.45)


def draw_11(lab: Lab) -> Picture:
    """Draw both kinds of feedback for fast changes."""
    return _two_feedbacks(lab, _small(lab), 0.4)


def _three_schemes(lab: Lab, among: list[float], bottom: float) -> Picture:
    picture, axes = panels(6.6, 3.3, 1, 1)
    (one,) = axes[0]
    analysis(one, lab, "INSTCAP", 10, among, "analysis, INSTCAP")
    for n, scheme in enumerate(SCHEMES):
        sampled(one, lab, scheme, n, scheme, among)
    label_axes(one, bottom=bottom)
    one.set_ylabel("efficiency")
    legend(one, "lower right" if min(among) > 1 else "upper right")
    return picture


def draw_12(lab: Lab) -> Picture:
    """Draw the three schemes for slow changes."""
    return _three_schemes(lab, _large(lab), 0.4)


def draw_13(lab: Lab) -> Picture:
    """Draw the three schemes for fast changes."""
    return _three_schemes(lab, _small(lab), 0.3)


def draw_delta(lab: Lab) -> Picture:
    """Draw efficiency against the constant rate, in deltas, simulated; and what the low rate gives."""
    import math

    shown = delta.psis(lab)[-3:]
    picture, axes = panels(2.9 * len(shown), 2.9, 1, len(shown), sharey=True)
    tried = [each for each in delta.deltas(lab) if math.isfinite(each)]
    for one, psi in zip(axes[0], shown, strict=True):
        found = delta.efficiencies(lab, psi)
        bars(one, tried, found[: len(tried)], 0, "simulation")
        one.axhline(found[-1].mean or 0, color=MID, lw=0.8, ls=DOTTED, label="the low rate")
        one.axvspan(*delta.CLAIMED, color=FILL, lw=0, zorder=0, label="the paper's 60 to 70")
        log_axis(one)
        one.set_title(f"psi {psi:g}")
        one.set_xlabel("delta, per packet")
    axes[0][0].set_ylabel("efficiency")
    legend(axes[0][-1], "lower right")
    return picture


def draw_fed_back(lab: Lab) -> Picture:
    """Draw the rate that is fed back, over the mean capacity."""
    picture, axes = panels(6.6, 3.2, 1, 1)
    (one,) = axes[0]
    for n, scheme in enumerate(("INSTCAP", "EFFCAP")):
        bars(one, psis(lab), [dynamics.fed_back(lab, scheme, psi) for psi in psis(lab)], n, scheme)
    for value, words in ((1, "mean capacity"), (2 / 3, "low rate")):
        one.axhline(value, color=MID, lw=0.8, ls=DOTTED)
        one.text(psis(lab)[0], value + 0.008, words, fontsize=7.5, color=MID)
    label_axes(one, bottom=0.6, top=1.08)
    one.set_ylabel("rate fed back over mean capacity")
    legend(one, "center right")
    return picture


def draw_buffers(lab: Lab) -> Picture:
    """Draw the three schemes for every buffer, without fast retransmit and with it."""
    sizes = (10,) if lab.quick else BUFFERS
    picture, axes = panels(max(5.2, 1.2 + 2.7 * len(sizes)), 5.0, 2, len(sizes), sharex=True, sharey=True)
    for row, tcp, words in zip(axes, ("model", "Reno"), ("no fast retransmit", "Reno"), strict=True):
        for one, buffer in zip(row, sizes, strict=True):
            for n, scheme in enumerate(SCHEMES):
                sampled(one, lab, scheme, n, scheme, psis(lab, tcp), buffer, tcp)
            label_axes(one, f"{words}, {buffer} packets", bottom=0.4)
            one.set_xlabel(RATE_OF_CHANGE if tcp == "Reno" else "")
        row[0].set_ylabel("efficiency")
    legend(axes[0][0], "upper center")
    return picture


def draw_newer(lab: Lab) -> Picture:
    """Draw the three schemes for SACK and CUBIC."""
    picture, axes = panels(8.4, 3.0, 1, 2, sharey=True)
    for one, tcp in zip(axes[0], ("SACK", "CUBIC"), strict=True):
        for n, scheme in enumerate(SCHEMES):
            sampled(one, lab, scheme, n, scheme, psis(lab, tcp), 10, tcp)
        label_axes(one, tcp, bottom=0.4)
    axes[0][0].set_ylabel("efficiency")
    legend(axes[0][0], "upper center")
    return picture


def draw_cellular(lab: Lab) -> Picture:
    """Draw goodput and wait over links of today against the delay of the feedback."""
    found, _ = beyond.links()
    picture, axes = panels(max(5.2, 1.0 + 2.7 * len(found)), 4.8, 2, len(found), sharex=True)
    lags = [float(lag) for lag in beyond.lags(lab)]
    metrics = (
        ("goodput_bps", 1e6, "goodput, Mbit/s"),
        ("gate.link.queue_delay_p99_ms", 1, "p99 of wait, ms"),
    )
    for column, (words, file) in enumerate(found):
        for row, (metric, by, label) in zip(axes, metrics, strict=True):
            one = row[column]
            for n, scheme in enumerate(SCHEMES):
                study = beyond.traced(lab, file, scheme)
                alone = scheme == "TCP alone"
                each: list[Estimate] = [study.estimate(metric, 0 if alone else m) for m in range(len(lags))]
                if alone:
                    colour, line, _ = LOOKS[n]
                    one.axhline((each[0].mean or 0) / by, color=colour, ls=line, lw=1.2, label=scheme)
                else:
                    bars(one, lags, each, n, scheme, by)
            one.set_xscale("log")
            one.set_ylim(0, 1.12 * one.get_ylim()[1])
            if column == 0:
                one.set_ylabel(label)
        axes[0][column].set_title(words, fontsize=8.2)
        axes[1][column].set_xlabel("delay of the feedback, ms")
        axes[1][column].set_xticks(lags, [f"{lag:g}" for lag in lags], minor=False)
        axes[1][column].minorticks_off()
    legend(axes[0][0], "lower left")
    return picture
