"""Figures of the policing paper: the laboratory beside its simulation, remedies, video."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tidegate_papers.api import ACCENT, DASHED, FILL, INK, MID, Figure, bars, numbers, panels
from tidegate_papers.policing import cases, remedies
from tidegate_papers.policing.measured import JOIN, LABORATORY, REBUFFERING, REMEDIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture
    from tidegate_papers.api import Lab


def draw_laboratory(lab: Lab) -> Picture:
    """Draw simulated against measured goodput and loss of each setting."""
    picture, axes = panels(7.2, 3.5, 1, 2)
    for axis, metric, unit in zip(axes[0], ("goodput", "lost"), ("Mbit/s", "% lost"), strict=True):
        ends: list[float] = []
        marks: list[tuple[str, float, float]] = []
        for device, look in (("policer", 0), ("shaper", 1)):
            rows = lab.points(cases.ROWS[device])
            real = [row.goodput if metric == "goodput" else row.loss for row in rows]
            found = [cases.point(lab, device, row.rate, row.size).estimate(metric) for row in rows]
            bars(axis, real, found, look, device)
            axis.lines[-1].set_linestyle("none")
            for line in axis.containers[-1].lines[0:1]:
                line.set_linestyle("none")
            ends += [*real, *(each.mean or 0 for each in found)]
            marks += [
                (f"{row.rate:g}, {row.size}", x, y.mean or 0)
                for row, x, y in zip(rows, real, found, strict=True)
            ]
        low, high = 0.7 * min(ends), 1.5 * max(ends)
        axis.plot([low, high], [low, high], color=MID, lw=0.8, ls=DASHED, label="equal")
        axis.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
        axis.set_xlabel(f"measured, {unit}")
        axis.set_ylabel(f"simulated, {unit}")
        _label(picture, axis, marks)
    axes[0][0].legend(frameon=False, fontsize=7.8)
    return picture


def draw_grid(lab: Lab) -> Picture:
    """Draw goodput over rate and loss for both devices on the grid."""
    sizes, rates = lab.points(cases.SIZES), lab.points(cases.RATES)
    picture, axes = panels(7.2, 4.6, 2, len(sizes), sharex=True, sharey="row")
    for column, size in enumerate(sizes):
        for look, device in enumerate(("policer", "shaper")):
            studies = [cases.point(lab, device, rate, size) for rate in rates]
            shares = [study.estimate("goodput") for study in studies]
            places = list(range(len(rates)))
            top, bottom = axes[0][column], axes[1][column]
            for place, rate, share in zip(places, rates, shares, strict=True):
                bars(top, [place], [share], look, device if place == 0 else "", by=rate)
            bars(bottom, places, [study.estimate("lost") for study in studies], look, device)
        axes[0][column].set_title(size, fontsize=8.5)
        axes[0][column].axhline(1, color=MID, lw=0.7)
        axes[1][column].set_xticks(places, [f"{rate:g}" for rate in rates])
        axes[1][column].set_xlabel("Mbit/s")
    axes[0][0].set_ylabel("goodput / rate")
    axes[1][0].set_ylabel("lost, %")
    axes[0][0].set_ylim(bottom=0)
    axes[1][0].set_ylim(bottom=0)
    axes[1][-1].legend(frameon=False, fontsize=7.8)
    return picture


def draw_chunks(lab: Lab) -> Picture:
    """Draw rate and bucket over time behind 1.5 Mbit/s and 1 MB."""
    settings = {"gate.device.police.burst": "1 MB", "duration": "66 s"}
    run = lab.run("policer", changes=settings, record="500 ms")
    picture, axes = panels(7.2, 4.0, 2, 1, sharex=True)
    top, bottom = axes[0][0], axes[1][0]
    came = run.flows["client"].series("delivered")
    time, megabits = numbers(came["time_s"]), 8e-6 * numbers(came["bytes"])
    top.step(time[1:], (megabits[1:] - megabits[:-1]) / (time[1:] - time[:-1]), color=ACCENT, lw=1)
    top.axhline(1.5, color=MID, lw=0.8, ls=DASHED)
    top.set_ylabel("goodput, Mbit/s")
    top.set_ylim(bottom=0)
    tokens = run.gates["device"].series("tokens")
    bottom.fill_between(numbers(tokens["time_s"]), numbers(tokens["tokens"]) / 1e3, color=FILL)
    bottom.plot(numbers(tokens["time_s"]), numbers(tokens["tokens"]) / 1e3, color=INK, lw=0.9)
    bottom.set_ylabel("bucket, kB")
    bottom.set_xlabel("time, s")
    return picture


def draw_remedies(lab: Lab) -> Picture:
    """Draw goodput and loss of a plain, a paced and a limited sender, simulated and printed."""
    picture, axes = panels(6.4, 2.9, 1, 2)
    for column, (metric, unit) in enumerate((("goodput", "Mbit/s"), ("lost", "lost, %"))):
        axis = axes[0][column]
        found = [remedies.tamed(lab, name).estimate(metric) for name in REMEDIES]
        bars(axis, range(len(found)), found, 0, "simulated")
        printed = [row[column] for row in REMEDIES.values()]
        kept = [(place, value) for place, value in enumerate(printed) if value is not None]
        axis.plot(*zip(*kept, strict=True), color=INK, ls="none", marker="x", ms=6, label="printed")
        _named(axis, list(REMEDIES))
        axis.set_ylabel(unit)
        axis.set_ylim(bottom=0)
    axes[0][0].legend(frameon=False, fontsize=7.8, loc="lower right")
    return picture


def draw_tcps(lab: Lab) -> Picture:
    """Draw goodput and loss of TCPs behind 1.5 Mbit/s, by bucket."""
    sizes = lab.points(cases.SIZES)
    picture, axes = panels(6.8, 3.2, 1, 2)
    for look, (words, changes) in enumerate(lab.points(cases.TCPS)):
        studies = [cases.point(lab, "policer", 1.5, size, changes) for size in sizes]
        for axis, metric in zip(axes[0], ("goodput", "lost"), strict=True):
            bars(axis, range(len(sizes)), [study.estimate(metric) for study in studies], look, words)
    for axis, words in zip(axes[0], ("goodput, Mbit/s", "lost, %"), strict=True):
        _named(axis, list(sizes))
        axis.set_ylabel(words)
        axis.set_xlabel("bucket")
        axis.set_ylim(bottom=0)
    axes[0][0].legend(frameon=False, fontsize=7.2, loc="lower right")
    return picture


def draw_video(lab: Lab) -> Picture:
    """Draw Tables 5 and 6: seconds of waiting and until the start."""
    picture, axes = panels(7.0, 3.1, 1, 2)
    left, right = axes[0]
    buckets = lab.points(cases.BUCKETS)
    bars(left, buckets, [cases.player(lab, size).estimate("waited") for size in buckets], 0, "one quality")
    left.plot(
        list(REBUFFERING), list(REBUFFERING.values()), color=INK, ls="none", marker="x", ms=5, label="printed"
    )
    adapting = (cases.WITHOUT, *cases.BURSTS)
    waits = [cases.player(lab, size, "throughput").estimate("waited").mean for size in adapting]
    left.plot(adapting, waits, color=INK, ls="none", marker="o", mfc="none", ms=5, label="by throughput")
    left.set_xscale("log", base=2)
    left.set_xticks(buckets, [str(size) for size in buckets], fontsize=7)
    left.minorticks_off()
    left.set(xlabel="bucket, kB", ylabel="rebuffering, s")
    left.legend(frameon=False, fontsize=7.8)
    sizes = cases.JOINS
    for look, device in enumerate(("policer", "shaper")):
        found = [cases.joining(lab, device, size).estimate("join") for size in sizes]
        bars(right, range(len(sizes)), found, look, device)
        printed = [JOIN[size][look] for size in sizes]
        right.plot(
            range(len(sizes)),
            printed,
            color=INK,
            ls="none",
            marker="x+"[look],
            ms=6,
            label=f"{device}, printed",
        )
    _named(right, [f"{size} kB" for size in sizes])
    right.set_ylabel("until the start, s")
    right.set_ylim(bottom=0)
    right.legend(frameon=False, fontsize=7.2, loc="lower left")
    return picture


def draw_random(lab: Lab) -> Picture:
    """Draw goodput against loss: policers of the laboratory, and random loss."""
    picture, axes = panels(5.2, 3.3, 1, 1)
    axis = axes[0][0]
    losses = (1, 2, 5, 12.3) if not lab.quick else (2, 12.3)
    bars(
        axis,
        losses,
        [cases.lossy(lab, loss).estimate("goodput") for loss in losses],
        0,
        "random loss, simulated",
    )
    policers = [row for row in LABORATORY if row.device == "policer"]
    for row in policers:
        axis.plot(row.loss, row.goodput, color=INK, ls="none", marker="x", ms=5)
    axis.plot([], [], color=INK, ls="none", marker="x", label="policer, measured (Mbit/s, bucket)")
    axis.set(xscale="log", yscale="log", xlabel="lost, %", ylabel="goodput, Mbit/s")
    _label(picture, axis, [(f"{row.rate:g}, {row.size}", row.loss, row.goodput) for row in policers])
    axis.legend(frameon=False, fontsize=7.2, loc="lower left")
    return picture


#: Where words may stand beside their point: points to the right and up, and which end of the words is there.
_PLACES: tuple[tuple[int, int, Literal["left", "right"]], ...] = (
    (4, -7, "left"),
    (4, 3, "left"),
    (-4, 3, "right"),
    (-4, -7, "right"),
    (4, -14, "left"),
    (-4, -14, "right"),
    (4, 10, "left"),
    (-4, 10, "right"),
)


def _label(picture: Picture, axis: Axes, marks: list[tuple[str, float, float]]) -> None:
    """Write words beside points (x and y in data units), off all points and other words if there is room."""
    from matplotlib.transforms import Bbox

    picture.draw_without_rendering()  # Places are known once the picture is laid out.
    points = [axis.transData.transform((x, y)) for _, x, y in marks]
    taken = [Bbox.from_bounds(x - 3, y - 3, 6, 6) for x, y in points]
    for words, x, y in marks:
        note = axis.annotate(words, (x, y), xytext=(0, 0), textcoords="offset points", fontsize=5.8)
        for across, up, end in _PLACES:
            note.set_position((across, up))
            note.set_horizontalalignment(end)
            box = note.get_window_extent()
            if not any(box.overlaps(other) for other in taken):
                break
        taken.append(box)


def _named(axis: Axes, words: list[str]) -> None:
    axis.set_xticks(range(len(words)), words)
    axis.set_xlim(-0.4, len(words) - 0.6)


FIGURES = [
    Figure(
        "laboratory",
        "validation set",
        "The device and its simulation",
        "Each point is a setting of rate (Mbit/s) and bucket or queue; on the dashed line both are equal.",
        draw_laboratory,
    ),
    Figure(
        "grid",
        "validation set",
        "Policer and shaper at the settings of the laboratory",
        "Above goodput over the rate, below the share of packets lost, for each size of bucket or queue.",
        draw_grid,
    ),
    Figure(
        "chunks",
        "§2",
        "Five chunks behind 1.5 Mbit/s with 1 MB",
        "The first chunk is faster than the rate (dashed) while the bucket lasts; gaps fill it a little.",
        draw_chunks,
    ),
    Figure(
        "remedies",
        "§5.2",
        "A plain, a paced and a limited sender behind 1.5 Mbit/s with 8 kB",
        "Crosses are the paper's numbers; it gives no loss for the limited sender.",
        draw_remedies,
    ),
    Figure(
        "video",
        "§5.1, Tables 5 and 6",
        "A video behind 0.5 Mbit/s",
        "Left: how long a player waits in a video of 30 s. Right: how long until it starts.",
        draw_video,
    ),
    Figure(
        "tcps",
        "beyond the paper",
        "TCPs of 2015 and of today behind 1.5 Mbit/s",
        "With 8 kB BBR alone comes near the rate; with larger buckets all have it, and more at first.",
        draw_tcps,
    ),
    Figure(
        "random-loss",
        "beyond the paper",
        "As many losses, policed and random",
        "Behind a policer goodput does not follow from the loss rate; with random loss it does.",
        draw_random,
    ),
]
