"""Pictures of studies: what goes beyond the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from tidegate_papers.api import ACCENT, DOTTED, FILL, INK, MID, SOFT, bars, panels, ratio
from tidegate_papers.dtm import cases

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from tidegate_papers.api import Lab


def draw_margin(lab: Lab) -> Picture:
    """Draw goodput against MARGIN for several CORRIDORs."""
    tried = (0, 0.5, 1) if lab.quick else (0, 0.25, 0.5, 0.75, 1)
    margins = [f"{margin} slots" for margin in tried]
    corridors = ["0 slots", "1 slots", "2 slots"]
    vary = {f"{cases.DTM}.margin": margins, f"{cases.DTM}.corridor": corridors}
    length = {"duration": "30 s"} if lab.quick else {}
    study = lab.study("one-flow", vary=vary, changes=length, gate="channel")
    picture, axes = panels(6.4, 3.2, 1, 1)
    (one,) = axes[0]
    for n, corridor in enumerate(corridors):
        found = [study.estimate("goodput_bps", {"margin": m, "corridor": corridor}) for m in margins]
        bars(
            one, [float(m.split()[0]) for m in margins], found, n, corridor.removesuffix(" slots"), cases.MBPS
        )
    one.axhline(cases.BOTTLENECK_MBPS, color=MID, lw=0.8, ls=DOTTED)
    one.text(0.0, cases.BOTTLENECK_MBPS + 0.07, "what the bottleneck carries", fontsize=7.5, color=MID)
    one.set_xlabel("MARGIN, slots")
    one.set_ylabel("goodput, Mbit/s")
    one.set_ylim(0, 5.4)
    one.legend(title="CORRIDOR, slots", frameon=False, fontsize=7.5, title_fontsize=7.5, loc="lower right")
    return picture


def draw_queue(lab: Lab) -> Picture:
    """Draw goodput of two flows against the channel's queue."""
    queues = cases.channel_queues(lab)
    picture, axes = panels(6.4, 3.2, 1, 1)
    (one,) = axes[0]
    places = [float(q.split()[0]) for q in queues]
    for n, (cc, name) in enumerate((("reno", "Reno"), ("newreno", "NewReno"))):
        chosen: dict[str, Any] = {cases.CC: cc}
        study = cases.dynamic_two(lab, {cases.QUEUE: queues}, **chosen)
        bars(one, places, [study.estimate("goodput_bps", m) for m in range(len(queues))], n, name, cases.MBPS)
    static = cases.static_two(lab).estimate("goodput_bps")
    one.axhline((static.mean or 0) / cases.MBPS, color=MID, lw=0.9, ls=DOTTED)
    one.text(
        100,
        (static.mean or 0) / cases.MBPS + 0.3,
        "static channel, 10 packets",
        fontsize=7.5,
        color=MID,
        ha="right",
    )
    one.set_xlabel("queue at the channel, packets")
    one.set_ylabel("goodput of both flows, Mbit/s")
    one.set_ylim(0, 10.6)
    one.legend(frameon=False, fontsize=8, loc="lower right")
    return picture


def draw_remedies(lab: Lab) -> Picture:
    """Draw both remedies: a slower decrease at several round trips, and the readings of the hold."""
    picture, axes = panels(8.6, 3.3, 1, 2, width_ratios=[3, 2])
    left, right = axes[0]
    shifts = lab.points(cases.SHIFTS)
    for n, trip in enumerate(lab.points(cases.SOME_TRIPS)):
        study, static = cases.slower(lab, trip)
        reference = static.values("goodput_bps")
        found = [ratio(study.values("goodput_bps", m), reference) for m in range(len(shifts))]
        bars(left, [float(s) for s in shifts], found, n, trip[0])
    left.axhline(cases.AS_GOOD, color=MID, lw=0.8, ls=DOTTED)
    left.set_xlabel("shift_dec (shift_inc stays 3)")
    left.set_ylabel("goodput over static")
    left.set_title("a slower decrease")
    left.set_ylim(0, 1.15)
    left.legend(title="round trip", frameon=False, fontsize=7.5, title_fontsize=7.5, loc="lower right")
    readings = ["nothing", "hold tick", "hold second", "hold link"]
    static_goodput = cases.static_two(lab).values("goodput_bps")
    study = cases.dynamic_two(lab, {cases.ON_LOSS: readings})
    for n in range(len(readings)):
        found_one = ratio(study.values("goodput_bps", n), static_goodput)
        right.bar([n], [found_one.mean or 0], width=0.6, color=FILL, edgecolor=INK, lw=0.8)
        right.errorbar(
            [n], [found_one.mean or 0], yerr=[[arm] for arm in found_one.arms], color=INK, capsize=3, lw=1
        )
    right.axhline(cases.AS_GOOD, color=MID, lw=0.8, ls=DOTTED)
    right.set_xticks(range(len(readings)), ["none", "tick", "second", "link"])
    right.set_xlabel("hold while packets are lost, 80 ms")
    right.set_ylim(0, 1.15)
    right.set_title("no decrease during loss")
    right.grid(visible=False, axis="x")
    return picture


def draw_variants(lab: Lab) -> Picture:
    """Draw goodput of every congestion control on the static and on the dynamic channel."""
    picture, axes = panels(6.8, 3.2, 1, 1)
    (one,) = axes[0]
    names = [name for name, _ in cases.VARIANTS]
    static = [cases.static_two(lab, **changes).estimate("goodput_bps") for _, changes in cases.VARIANTS]
    dynamic = [cases.dynamic_two(lab, None, **c).estimate("goodput_bps") for _, c in cases.VARIANTS]
    shown = [(static, "static, 10 Mbit/s", "white"), (dynamic, "dynamic", SOFT)]
    if not lab.quick:
        slower = [{**changes, cases.SHIFT_DEC: 7} for _, changes in cases.VARIANTS]
        remedy = [cases.dynamic_two(lab, None, **changes).estimate("goodput_bps") for changes in slower]
        shown.append((remedy, "dynamic, shift_dec 7", ACCENT))
    for n, (found, label, colour) in enumerate(shown):
        x = np.arange(len(names)) + (n - 1) * 0.26
        y = [(f.mean or 0) / cases.MBPS for f in found]
        one.bar(x, y, width=0.25, color=colour, edgecolor=INK, lw=0.8, label=label)
        arms = [[f.arms[end] / cases.MBPS for f in found] for end in (0, 1)]
        one.errorbar(x, y, yerr=arms, color=INK, ls="", capsize=2, lw=0.9)
    one.set_xticks(range(len(names)), names)
    one.set_ylabel("goodput of both flows, Mbit/s")
    one.set_ylim(0, 12.2)
    one.grid(visible=False, axis="x")
    one.legend(frameon=False, fontsize=7.8, loc="upper center", ncols=3)
    return picture


def draw_saving(lab: Lab) -> Picture:
    """Draw what static channels give, and what the dynamic one gives for its mean capacity."""
    picture, axes = panels(8.6, 3.1, 1, 3)
    parts: tuple[tuple[str, str, str, float, dict[str, str]], ...] = (
        ("one-flow", "one steady flow", "goodput_bps", cases.MBPS, {}),
        ("two-flows", "two flows, Fig. 9", "goodput_bps", cases.MBPS, cases.times(lab)),
        ("backup", "10 MB, then silence", "completion_s", 1.0, {}),
    )
    for one, (name, title, metric, by, changes) in zip(axes[0], parts, strict=True):
        static = cases.static_curve(lab, name, changes)
        rates = cases.static_rates(lab, name)
        bars(one, rates, [static.estimate(metric, n) for n in range(len(rates))], 1, "static", by)
        dynamic = lab.study(name, changes=changes, gate="channel")
        got = dynamic.estimate(metric)
        spent = dynamic.estimate("gate.channel.allocated_bps_mean")
        one.plot(
            [(spent.mean or 0) / cases.MBPS],
            [(got.mean or 0) / by],
            "o",
            ms=8,
            color=ACCENT,
            zorder=4,
            label="dynamic",
        )
        one.set_title(title)
        one.set_xlabel("capacity, mean, Mbit/s")
        one.set_ylabel("goodput, Mbit/s" if metric == "goodput_bps" else "time for 10 MB, s")
        one.set_ylim(0, 1.1 * one.get_ylim()[1])
        one.set_xlim(0, 1.08 * rates[-1])
        one.legend(
            frameon=False, fontsize=7.8, loc="lower right" if metric == "goodput_bps" else "upper right"
        )
    return picture


def draw_map(lab: Lab) -> Picture:
    """Draw goodput over the static channel's by remedy, round trip and queue."""
    remedies = [name for name, _ in cases.REMEDIES]
    trips = [words for words, _, _ in lab.points(cases.SOME_TRIPS)]
    queues = sorted({queue for _, queue in lab.points(cases.MAP_CELLS)})
    picture, axes = panels(
        1.84 * len(remedies),
        0.9 + 2 * (0.55 + 0.34 * len(queues)),
        2,
        len(remedies),
        sharex=True,
        sharey=True,
    )
    for row, (cc, name) in zip(axes, (("reno", "Reno"), ("newreno", "NewReno")), strict=True):
        cells = cases.map_of(lab, cc)
        for one, remedy in zip(row, remedies, strict=True):
            values = np.array(
                [[cells[remedy, trip, queue].mean or 0 for trip in trips] for queue in queues], dtype=float
            )
            one.imshow(values, cmap="Greys_r", vmin=0.2, vmax=1.15, aspect="auto", origin="lower")
            for i, queue in enumerate(queues):
                for j, trip in enumerate(trips):
                    found = cells[remedy, trip, queue]
                    good = found.low is not None and found.low >= cases.AS_GOOD
                    dark = values[i, j] < 0.62
                    one.text(
                        j, i, f"{values[i, j]:.2f}", ha="center", va="center", fontsize=7.5,
                        color="white" if dark else INK, weight="bold" if good else "normal",
                    )  # fmt: skip
                    if good:
                        one.add_patch(_frame(j, i))
            one.set_title(f"{name}: {remedy}", fontsize=8.2)
            one.set_xticks(range(len(trips)), [trip.removesuffix(" ms") for trip in trips])
            one.set_yticks(range(len(queues)), [str(queue) for queue in queues])
            one.grid(visible=False)
            one.tick_params(length=0)
        row[0].set_ylabel("queue, packets")
    for one in axes[-1]:
        one.set_xlabel("round trip, ms")
    return picture


def _frame(x: int, y: int) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.46, y - 0.44), 0.92, 0.88, fill=False, edgecolor=ACCENT, lw=1.8)
