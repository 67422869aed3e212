"""Figs. 3 to 5 of the image server paper, windows over time, and the choices it leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from tidegate_papers.api import ACCENT, DASHED, DOTTED, FILL, INK, LOOKS, MID, Figure, bars, numbers, panels
from tidegate_papers.image_server import cases
from tidegate_papers.image_server.cases import APART, HOLD, bound_by_circuit, bound_by_processor, point

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture
    from tidegate_papers.api import Estimate, Lab

HOLDS = (("5 s", "held for 5 s"), ("0 s", "released at once"), ("forever", "held for ever"))


def draw_3(lab: Lab) -> Picture:
    """Draw response times against the rate of a circuit: of the finished requests, and of all."""
    picture, axes = panels(8.6, 3.5, 1, 2, sharey=True)
    rates = lab.points(cases.RATES)
    for one, (metric, title) in zip(
        axes[0],
        (("response", "finished requests"), ("with_unfinished", "all, unfinished with their age")),
        strict=True,
    ):
        for n, (hold, label) in enumerate(HOLDS):
            shown = rates if n == 0 or not lab.quick else (20, 80)
            bars(
                one,
                shown,
                [point(lab, rate, changes={HOLD: hold}).estimate(metric) for rate in shown],
                n,
                label,
            )
        fine = np.linspace(rates[0], rates[-1], 200)
        limit = bound_by_processor(64)
        one.plot(
            fine, [max(bound_by_circuit(rate), limit) for rate in fine], color=INK, ls=DOTTED, lw=1.1,
            zorder=1.5, label="one image, alone (theory)",
        )  # fmt: skip
        one.set_title(title, fontsize=8.5)
        one.set_xlabel("rate of a circuit, Mbit/s")
        one.set_yscale("log")
        one.set_yticks([0.5, 1, 2, 5, 10, 20], ["0.5", "1", "2", "5", "10", "20"])
        one.minorticks_off()
    axes[0][0].set_ylim(0.45, 22)
    axes[0][0].set_ylabel("mean response time, s")
    axes[0][0].legend(frameon=False, fontsize=7.6, loc="upper center")
    return picture


def draw_4(lab: Lab) -> Picture:
    """Draw response times against the window, with dips and without."""
    picture, axes = panels(8.2, 3.2, 1, 2, sharey=True)
    for one, (changes, title) in zip(
        axes[0], (({}, "ACKs share the processor"), (APART, "ACKs past the processor")), strict=True
    ):
        windows = (64, 1024) if changes and lab.quick else lab.points(cases.WINDOWS)
        for n, (dips, label) in enumerate(((False, "5000 packets/s"), (True, "dips to 1000 packets/s"))):
            found = [point(lab, window=w, dips=dips, changes=changes).estimate("response") for w in windows]
            bars(one, windows, found, n, label)
        if not changes:
            one.plot(
                windows, [bound_by_processor(w) for w in windows], color=INK, ls=DOTTED, lw=1.1,
                label="one image, alone (theory)",
            )  # fmt: skip
        one.set_xscale("log", base=2)
        one.set_xticks(windows, [str(w) for w in windows])
        one.minorticks_off()
        one.set_title(title, fontsize=8.5)
        one.set_xlabel("window, KiB")
        one.set_ylim(bottom=0)
    axes[0][0].set_ylabel("mean response time, s")
    axes[0][0].legend(frameon=False, fontsize=7.8, loc="lower left")
    return picture


def shade(axes: Axes) -> None:
    """Mark the dips."""
    for begin in (15, 35):
        axes.axvspan(begin, begin + 5, color=FILL, lw=0, zorder=0)


def draw_5(lab: Lab) -> Picture:
    """Draw the wait in the IP queue over time in one run."""
    picture, axes = panels(7.4, 2.6, 1, 1)
    (one,) = axes[0]
    run = lab.run("image-server", changes={cases.WINDOW: "256 KiB", **cases.DIPPED}, record="20 ms")
    series = run.gates["ip"].series("wait")
    one.plot(numbers(series["time_s"]), numbers(series["wait_ms"]) / 1e3, color=ACCENT, lw=0.9)
    shade(one)
    one.set_xlim(0, 50)
    one.set_ylim(bottom=0)
    one.set_xlabel("time, s (shaded: 1000 packets/s)")
    one.set_ylabel("wait in the IP queue, s")
    return picture


def draw_windows(lab: Lab) -> Picture:
    """Draw the windows of the clients over time in one run with dips."""
    picture, axes = panels(7.4, 4.2, 2, 1, sharex=True)
    for one, window in zip([row[0] for row in axes], (256, 1024), strict=True):
        run = lab.run("image-server", changes={cases.WINDOW: f"{window} KiB", **cases.DIPPED}, record="20 ms")
        for n, name in enumerate(run.flows.names):
            series = run.flows[name].series("cwnd")
            colour, line, _ = LOOKS[n % len(LOOKS)]
            kib = numbers(series["cwnd_segments"]) * cases.MSS / cases.KIB
            one.plot(
                numbers(series["time_s"]), np.minimum(kib, window), color=colour, ls=line, lw=1, label=name
            )
        shade(one)
        one.axhline(cases.CLAIMED_BYTES / cases.KIB, color=MID, ls=DASHED, lw=0.8)
        one.set_title(f"window of {window} KiB (dashed: 70 kB)", fontsize=8.5)
        one.set_ylabel("min(cwnd, window), KiB")
        one.set_ylim(bottom=0)
    axes[1][0].set_xlim(0, 50)
    axes[1][0].set_xlabel("time, s (shaded: 1000 packets/s)")
    return picture


def draw_choices(lab: Lab) -> Picture:
    """Draw the three ratios that the claims rest on, for every choice that the paper leaves open."""
    chosen = lab.points(cases.TRIED)
    picture, axes = panels(8.8, 0.9 + 0.3 * len(chosen), 1, 3, sharey=True)
    columns: tuple[tuple[str, Callable[[dict[str, Any]], Estimate]], ...] = (
        (
            "80 over 20 Mbit/s",
            lambda given: cases.over(point(lab, 80, changes=given), point(lab, changes=given)),
        ),
        ("1 MiB over 64 KiB", lambda given: cases.gain_of_window(lab, dips=False, changes=given)),
        ("the same with dips", lambda given: cases.gain_of_window(lab, dips=True, changes=given)),
    )
    for one, (title, found_of) in zip(axes[0], columns, strict=True):
        for row, (_, changes) in enumerate(chosen):
            found = found_of(changes)
            if row % 2 == 0:
                one.axhspan(row - 0.5, row + 0.5, color=FILL, alpha=0.5, lw=0, zorder=0)
            one.errorbar(
                [found.mean or 0], [row], xerr=[[arm] for arm in found.arms], color=ACCENT, ls="", marker="o",
                ms=4, capsize=2, elinewidth=0.9,
            )  # fmt: skip
        one.axvline(1, color=INK, lw=0.8)
        one.set_title(title, fontsize=8.5)
        one.set_xlabel("ratio of response times")
        one.grid(visible=False, axis="y")
    axes[0][0].set_xscale("log", base=2)
    axes[0][0].set_xticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
    axes[0][0].set_yticks(range(len(chosen)), [words for words, _ in chosen], fontsize=8, color=INK)
    axes[0][0].set_ylim(len(chosen) - 0.5, -0.5)
    return picture


FIGURES = [
    Figure(
        "fig-3", "Fig. 3", "Response time against the rate of a circuit",
        "Window 64 KiB. Five circuits fit up to 31.1 Mbit/s, one from 77.8 Mbit/s on. Dotted: one image "
        "alone, with an open window.",
        draw_3,
    ),
    Figure(
        "fig-4", "Fig. 4", "Response time against the window",
        "Circuits of 20 Mbit/s. The dips are from 15 to 20 s and from 35 to 40 s.", draw_4,
    ),
    Figure(
        "fig-5", "Fig. 5", "Wait in the IP queue, 256 KiB",
        "One run: the wait of the packet whose service began last.", draw_5,
    ),
    Figure(
        "windows", "§4", "Windows of the five clients with dips",
        "The same run, and one with 1 MiB: after time-outs that follow each other the window grows by a "
        "segment each round trip.",
        draw_windows,
    ),
    Figure(
        "choices", "Beyond the paper", "The choices that the paper leaves open",
        "Ratios of mean response times, one choice changed at a time.", draw_choices,
    ),
]  # fmt: skip
