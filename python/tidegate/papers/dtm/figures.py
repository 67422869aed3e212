"""Figs. 2 to 9 of the DTM paper, and pictures of what goes beyond it."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure as Picture
from tidegate._paper import Figure
from tidegate._plot import ACCENT, FILL, INK, MID, SOFT
from tidegate.papers.dtm import claims

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from tidegate._estimate import Estimate
    from tidegate._paper import Lab
    from tidegate._run import Run
    from tidegate._study_value import Study

MBPS = 1e6
SLOT_MBPS = 0.512
DASHED: Any = (0, (5, 1.6))
DOTTED: Any = (0, (1, 1.2))
#: (colour, line, marker): told apart without colour, too.
LOOKS: tuple[tuple[str, Any, str], ...] = (
    (ACCENT, "-", "o"),
    (INK, DASHED, "s"),
    (MID, "-", "^"),
    (INK, DOTTED, "D"),
    (SOFT, "-", "v"),
)


def panels(width: float, height: float, rows: int, columns: int, **options: Any) -> tuple[Picture, Any]:
    """Return an empty picture with so many panels."""
    picture = Picture(figsize=(width, height), layout="constrained")
    return picture, picture.subplots(rows, columns, squeeze=False, **options)


# --- panels over time -------------------------------------------------------------------------


def window(axes: Axes, run: Run, flow: str = "bulk") -> None:
    """Draw a congestion window."""
    rows = run.flows[flow].series("cwnd")
    axes.plot(rows["time_s"], rows["cwnd_segments"], color=ACCENT, lw=0.9)
    axes.set_ylabel("window, segments")
    axes.set_ylim(bottom=0)


def per_interval(run: Run, gate: str, every_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals, s, and the rate that left a gate in each, Mbit/s."""
    rows = run.gates[gate].series("delivered")
    time = rows["time_s"].to_numpy()
    keep = np.isclose(time / every_s, np.round(time / every_s), atol=1e-6)
    time, total = time[keep], rows["bytes"].to_numpy()[keep].astype(float)
    return time[1:], np.diff(total) * 8 / every_s / MBPS


def rate(axes: Axes, run: Run, gate: str = "own") -> None:
    """Draw the rate past a gate in intervals of 100 ms and of 1 s."""
    time, fine = per_interval(run, gate, 0.1)
    axes.plot(time, fine, color=SOFT, lw=0.6, label="100 ms")
    time, coarse = per_interval(run, gate, 1.0)
    axes.plot(time, coarse, color=INK, lw=1.1, label="1 s")
    axes.set_ylabel("rate, Mbit/s")
    axes.set_ylim(bottom=0)


def allocation(axes: Axes, run: Run, *, measured: str | None = "channel") -> None:
    """Draw the channel's capacity, and what passed through it."""
    rows = run.gates["channel"].series("rate")
    if measured is not None:
        time, coarse = per_interval(run, measured, 1.0)
        axes.plot(time, coarse, color=MID, lw=0.9, ls=DASHED, label="used, 1 s")
    axes.plot(
        rows["time_s"],
        rows["rate_bps"] / MBPS,
        color=ACCENT,
        lw=1.3,
        drawstyle="steps-post",
        label="allocated",
    )
    axes.set_ylabel("channel, Mbit/s")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=7.5, loc="upper right", ncols=2)


def three(lab: Lab, name: str, changes: dict[str, Any] | None = None, replication: int = 0) -> Picture:
    """Draw window, rate and allocation of one flow, as Figs. 4 to 6 do."""
    run = lab.run(name, set=changes, record="100 ms", replication=replication)
    picture, axes = panels(8.6, 2.7, 1, 3)
    (first, second, third) = axes[0]
    window(first, run)
    first.set_title("(a) congestion window")
    rate(second, run)
    second.set_title("(b) rate past the bottleneck")
    second.legend(frameon=False, fontsize=7.5, loc="upper right", ncols=2)
    allocation(third, run)
    third.set_title("(c) DTM allocation")
    for one in axes[0]:
        one.set_xlabel("time, s")
        one.set_xlim(0, run.summary["duration_s"])
    top = max(second.get_ylim()[1], third.get_ylim()[1])
    second.set_ylim(0, top)
    third.set_ylim(0, top)
    return picture


def draw_2(lab: Lab) -> Picture:
    """Draw the measured rate with its estimate, and the slots."""
    from tidegate import dtm

    run = lab.run("one-flow", set={"duration": "20 s", "warmup": "0 s"}, record="100 ms")
    time, measured = per_interval(run, "own", 0.1)
    estimate = dtm.allocate(np.rint(measured * MBPS).astype(np.int64).tolist())["current"] / MBPS
    picture, axes = panels(8.6, 2.7, 1, 2)
    left, right = axes[0]
    left.plot(time, measured, color=SOFT, lw=0.8, label="measured every 100 ms")
    left.plot(time, estimate, color=ACCENT, lw=1.4, label="estimate (current)")
    left.set_title("(a) estimating the TCP rate")
    left.set_ylabel("rate, Mbit/s")
    left.set_ylim(bottom=0)
    left.legend(frameon=False, fontsize=7.5, loc="lower right")
    slots = run.gates["channel"].series("slots")
    right.plot(time, estimate / SLOT_MBPS, color=SOFT, lw=1.0, label="estimate")
    right.plot(
        slots["time_s"], slots["slots"], color=ACCENT, lw=1.4, drawstyle="steps-post", label="allocated slots"
    )
    right.set_title("(b) DTM slot allocation")
    right.set_ylabel("slots of 512 kbit/s")
    right.set_ylim(bottom=0)
    right.legend(frameon=False, fontsize=7.5, loc="lower right")
    for one in axes[0]:
        one.set_xlabel("time, s")
        one.set_xlim(0, 20)
    return picture


def draw_4(lab: Lab) -> Picture:
    """Draw one flow with 50 packets of queue."""
    return three(lab, "one-flow")


def calm(study: Study) -> int:
    """Return the first replication with the fewest changes of the allocation."""
    changes = study.values("gate.channel.allocation_changes")
    return min(range(len(changes)), key=lambda n: (changes[n] or 0.0, n))


def draw_5(lab: Lab) -> Picture:
    """Draw one flow with 10 packets of queue, in the calmest of the 16 phases and in the first."""
    study = lab.study("small-queue", gate="channel")
    quiet = calm(study)
    changes = [value or 0.0 for value in study.values("gate.channel.allocation_changes")]
    restless = max(range(len(changes)), key=lambda n: (changes[n], -n))
    picture, axes = panels(8.6, 4.9, 2, 3)
    for row, replication, word in ((axes[0], quiet, "calmest"), (axes[1], restless, "most restless")):
        run = lab.run("small-queue", record="100 ms", replication=replication)
        window(row[0], run)
        rate(row[1], run)
        allocation(row[2], run)
        row[0].set_title(f"(a) window, {word} phase")
        row[1].set_title("(b) rate past the bottleneck")
        row[2].set_title("(c) DTM allocation")
        for one in row[1:]:
            one.set_ylim(0, 8)
        for one in row:
            one.set_xlim(0, 60)
    axes[0][1].legend(frameon=False, fontsize=7.5, loc="upper right", ncols=2)
    for one in axes[1]:
        one.set_xlabel("time, s")
    return picture


def draw_6(lab: Lab) -> Picture:
    """Draw a Tahoe flow over a link of 50 ms."""
    return three(lab, "tahoe")


def draw_8(lab: Lab) -> Picture:
    """Draw two flows over a static channel."""
    run = lab.run("two-flows-static", record="100 ms")
    picture, axes = panels(8.6, 4.4, 2, 2, sharex=True)
    for row, flow in zip(axes, ("bulk.1", "bulk.2"), strict=True):
        window(row[0], run, flow)
        rate(row[1], run, f"sink/{flow}")
        row[0].set_title(f"window, flow {flow[-1]}")
        row[1].set_title(f"rate, flow {flow[-1]}")
        row[1].set_ylim(0, 6)
    axes[0][1].legend(frameon=False, fontsize=7.5, loc="lower right", ncols=2)
    for one in axes[1]:
        one.set_xlabel("time, s")
        one.set_xlim(0, 100)
    return picture


def draw_9(lab: Lab) -> Picture:
    """Draw the channel and two flows over it."""
    run = lab.run("two-flows", record="100 ms")
    picture = Picture(figsize=(8.6, 6.2), layout="constrained")
    grid = picture.add_gridspec(3, 2)
    top = picture.add_subplot(grid[0, :])
    allocation(top, run)
    drops = run.gates["channel"].drops()
    low = np.full(len(drops), 0.35)
    top.plot(drops["time_s"], low, ls="", marker="|", ms=5, color=INK, label="losses at node 3")
    top.legend(frameon=False, fontsize=7.5, loc="upper right", ncols=3)
    top.set_title("DTM allocation")
    top.set_xlim(0, 100)
    for row, flow in enumerate(("bulk.1", "bulk.2"), start=1):
        left, right = picture.add_subplot(grid[row, 0]), picture.add_subplot(grid[row, 1])
        window(left, run, flow)
        rate(right, run, f"sink/{flow}")
        left.set_title(f"window, flow {flow[-1]}")
        right.set_title(f"rate, flow {flow[-1]}")
        right.set_ylim(0, 6)
        left.set_ylim(0, 110)
        for one in (left, right):
            one.set_xlim(0, 100)
            if row == 2:
                one.set_xlabel("time, s")
        if row == 1:
            right.legend(frameon=False, fontsize=7.5, loc="upper right", ncols=2)
    return picture


# --- topologies -------------------------------------------------------------------------------


def link_words(gate: dict[str, Any]) -> str:
    """Return a link's rate and delay in two lines."""
    speed = gate.get("rate")
    law = "DTM" if isinstance(speed, dict) else str(speed)
    return f"{law}\n{gate.get('delay', '0 ms')}"


def node(axes: Axes, x: float, y: float, name: str) -> None:
    """Draw a node."""
    axes.plot([x], [y], "o", ms=19, mfc="white", mec=INK, mew=1.1, zorder=3)
    axes.text(x, y, name, ha="center", va="center", fontsize=9, weight="bold", zorder=4)


def link(axes: Axes, here: tuple[float, float], there: tuple[float, float], words: str, **look: Any) -> None:
    """Draw a link with words above it."""
    axes.plot([here[0], there[0]], [here[1], there[1]], zorder=1, **{"color": INK, "lw": 1.1, **look})
    x, y = (here[0] + there[0]) / 2, (here[1] + there[1]) / 2
    axes.text(x, y + 0.12, words, ha="center", va="bottom", fontsize=7.8, linespacing=1.3)


def queue(axes: Axes, x: float, y: float, words: str) -> None:
    """Draw a queue beside a node."""
    for n in range(4):
        axes.add_patch(
            _box(x - 0.26 + 0.13 * n, y - 0.52, 0.12, 0.2, FILL if n else "white"),
        )
    axes.text(x, y - 0.6, words, ha="center", va="top", fontsize=7.8)


def _box(x: float, y: float, width: float, height: float, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, facecolor=colour, edgecolor=INK, lw=0.8)


def empty(width: float, height: float, right: float, bottom: float, top: float) -> tuple[Picture, Axes]:
    """Return a picture without axes."""
    picture = Picture(figsize=(width, height))
    axes = picture.add_axes((0.02, 0.02, 0.96, 0.96))
    axes.set_xlim(-0.5, right)
    axes.set_ylim(bottom, top)
    axes.axis("off")
    return picture, axes


def draw_3(lab: Lab) -> Picture:
    """Draw the topology of one flow."""
    gates = tomllib.loads(lab.file("one-flow").read_text(encoding="utf-8"))["gate"]
    picture, axes = empty(8.0, 1.9, 8.5, -1.15, 0.9)
    places = [(2.0 * n, 0.0) for n in range(5)]
    for here, there, name in zip(places, places[1:], ("access", "own", "channel", "sink"), strict=False):
        thick = {"color": ACCENT, "lw": 3.0} if name == "channel" else {}
        link(axes, here, there, link_words(gates[name]), **thick)
    for n, place in enumerate(places, start=1):
        node(axes, *place, str(n))
    queue(axes, *places[1], gates["own"]["queue"])
    queue(axes, *places[2], gates["channel"]["queue"])
    return picture


def draw_7(lab: Lab) -> Picture:
    """Draw the topology of two flows."""
    gates = tomllib.loads(lab.file("two-flows").read_text(encoding="utf-8"))["gate"]
    picture, axes = empty(8.6, 2.9, 10.5, -1.75, 1.6)
    for y in (0.85, -0.85):
        link(axes, (0.0, y), (2.0, y), f"{gates['access']['rate']}")
        link(axes, (2.0, y), (4.0, 0.0), "")
        axes.text(
            2.75, y * 0.98 + 0.12, f"{gates['own']['rate']}, {gates['own']['delay']}", fontsize=7.8, ha="left"
        )
        queue(axes, 2.0, y, gates["own"]["queue"])
        link(axes, (8.0, 0.0), (10.0, y), "")
        words = link_words(gates["sink"]).replace("\n", ", ")
        axes.text(8.75 if y > 0 else 9.45, 0.68 if y > 0 else -0.3, words, fontsize=7.8, ha="center")
    link(axes, (4.0, 0.0), (6.0, 0.0), link_words(gates["trunk"]))
    link(axes, (6.0, 0.0), (8.0, 0.0), link_words(gates["channel"]), color=ACCENT, lw=3.0)
    queue(axes, 6.0, 0.0, gates["channel"]["queue"])
    for n, y in enumerate((0.85, -0.85), start=1):
        node(axes, 0.0, y, f"s{n}")
        axes.plot([2.0], [y], "o", ms=5, color=INK, zorder=3)
        node(axes, 10.0, y, f"d{n}")
    for x, name in ((4.0, "2"), (6.0, "3"), (8.0, "4")):
        node(axes, x, 0.0, name)
    return picture


# --- studies ----------------------------------------------------------------------------------


def bars(
    axes: Axes, x: Sequence[float], found: Sequence[Estimate], look: int, label: str, by: float = 1.0
) -> None:
    """Draw means with their intervals."""
    colour, line, marker = LOOKS[look % len(LOOKS)]
    kept = [(place, one) for place, one in zip(x, found, strict=True) if one.mean is not None]
    axes.errorbar(
        [place for place, _ in kept],
        [(one.mean or 0) / by for _, one in kept],
        yerr=[(one.half_width or 0) / by for _, one in kept],
        color=colour,
        ls=line,
        marker=marker,
        ms=4.2,
        lw=1.2,
        capsize=2.5,
        elinewidth=0.9,
        mfc=colour if look % 2 == 0 else "white",
        label=label,
    )


def draw_margin(lab: Lab) -> Picture:
    """Draw goodput against MARGIN for several CORRIDORs."""
    margins = ["0 slots", "0.25 slots", "0.5 slots", "0.75 slots", "1 slots"]
    corridors = ["0 slots", "1 slots", "2 slots"]
    vary = {f"{claims.DTM}.margin": margins, f"{claims.DTM}.corridor": corridors}
    length = {"duration": "30 s"} if lab.quick else {}
    study = lab.study("one-flow", vary=vary, set=length, gate="channel")
    picture, axes = panels(6.4, 3.2, 1, 1)
    (one,) = axes[0]
    for n, corridor in enumerate(corridors):
        found = [study.estimate("goodput_bps", {"margin": m, "corridor": corridor}) for m in margins]
        bars(one, [float(m.split()[0]) for m in margins], found, n, corridor.removesuffix(" slots"), MBPS)
    one.axhline(claims.BOTTLENECK_MBPS, color=MID, lw=0.8, ls=DOTTED)
    one.text(0.0, claims.BOTTLENECK_MBPS + 0.07, "what the bottleneck carries", fontsize=7.5, color=MID)
    one.set_xlabel("MARGIN, slots")
    one.set_ylabel("goodput, Mbit/s")
    one.set_ylim(0, 5.4)
    one.legend(title="CORRIDOR, slots", frameon=False, fontsize=7.5, title_fontsize=7.5, loc="lower right")
    return picture


def draw_queue(lab: Lab) -> Picture:
    """Draw goodput of two flows against the channel's queue."""
    queues = claims.channel_queues(lab)
    picture, axes = panels(6.4, 3.2, 1, 1)
    (one,) = axes[0]
    places = [float(q.split()[0]) for q in queues]
    for n, (cc, name) in enumerate((("reno", "Reno"), ("newreno", "NewReno"))):
        study = claims.dynamic_two(lab, {claims.QUEUE: queues}, **{claims.CC: cc})
        bars(one, places, [study.estimate("goodput_bps", m) for m in range(len(queues))], n, name, MBPS)
    static = claims.static_two(lab).estimate("goodput_bps")
    one.axhline((static.mean or 0) / MBPS, color=MID, lw=0.9, ls=DOTTED)
    one.text(
        100,
        (static.mean or 0) / MBPS + 0.3,
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
    shifts = claims.shifts(lab)
    for n, trip in enumerate(claims.trips(lab)):
        study, static = claims.slower(lab, trip)
        reference = static.values("goodput_bps")
        found = [claims.ratio(study.values("goodput_bps", m), reference) for m in range(len(shifts))]
        bars(left, [float(s) for s in shifts], found, n, trip[0])
    left.axhline(claims.AS_GOOD, color=MID, lw=0.8, ls=DOTTED)
    left.set_xlabel("shift_dec (shift_inc stays 3)")
    left.set_ylabel("goodput over static")
    left.set_title("a slower decrease")
    left.set_ylim(0, 1.15)
    left.legend(title="round trip", frameon=False, fontsize=7.5, title_fontsize=7.5, loc="lower right")
    readings = ["nothing", "hold tick", "hold second", "hold link"]
    static_goodput = claims.static_two(lab).values("goodput_bps")
    study = claims.dynamic_two(lab, {claims.ON_LOSS: readings})
    for n in range(len(readings)):
        found_one = claims.ratio(study.values("goodput_bps", n), static_goodput)
        right.bar([n], [found_one.mean or 0], width=0.6, color=FILL, edgecolor=INK, lw=0.8)
        right.errorbar(
            [n], [found_one.mean or 0], yerr=[found_one.half_width or 0], color=INK, capsize=3, lw=1
        )
    right.axhline(claims.AS_GOOD, color=MID, lw=0.8, ls=DOTTED)
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
    names = [name for name, _ in claims.VARIANTS]
    static = [claims.static_two(lab, **changes).estimate("goodput_bps") for _, changes in claims.VARIANTS]
    dynamic = [claims.dynamic_two(lab, None, **c).estimate("goodput_bps") for _, c in claims.VARIANTS]
    remedy = [
        claims.dynamic_two(lab, None, **c, **{claims.SHIFT_DEC: 7}).estimate("goodput_bps")
        for _, c in claims.VARIANTS
    ]
    for n, (found, label, colour) in enumerate(
        (
            (static, "static, 10 Mbit/s", "white"),
            (dynamic, "dynamic", SOFT),
            (remedy, "dynamic, shift_dec 7", ACCENT),
        )
    ):
        x = np.arange(len(names)) + (n - 1) * 0.26
        y = [(f.mean or 0) / MBPS for f in found]
        one.bar(x, y, width=0.25, color=colour, edgecolor=INK, lw=0.8, label=label)
        one.errorbar(
            x, y, yerr=[(f.half_width or 0) / MBPS for f in found], color=INK, ls="", capsize=2, lw=0.9
        )
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
        ("one-flow", "one steady flow", "goodput_bps", MBPS, {}),
        ("two-flows", "two flows, Fig. 9", "goodput_bps", MBPS, claims.times(lab)),
        ("backup", "10 MB, then silence", "completion_s", 1.0, {}),
    )
    for one, (name, title, metric, by, changes) in zip(axes[0], parts, strict=True):
        static = claims.static_curve(lab, name, changes)
        rates = claims.static_rates(lab, name)
        bars(one, rates, [static.estimate(metric, n) for n in range(len(rates))], 1, "static", by)
        dynamic = lab.study(name, set=changes, gate="channel")
        got = dynamic.estimate(metric)
        spent = dynamic.estimate("gate.channel.allocated_bps_mean")
        one.plot(
            [(spent.mean or 0) / MBPS],
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
    remedies = [name for name, _ in claims.remedies(lab)]
    trips = [words for words, _, _ in claims.trips(lab)]
    queues = sorted({queue for _, _, queue in claims.map_of(lab, "reno")})
    picture, axes = panels(
        1.84 * len(remedies),
        0.9 + 2 * (0.55 + 0.34 * len(queues)),
        2,
        len(remedies),
        sharex=True,
        sharey=True,
    )
    for row, (cc, name) in zip(axes, (("reno", "Reno"), ("newreno", "NewReno")), strict=True):
        cells = claims.map_of(lab, cc)
        for one, remedy in zip(row, remedies, strict=True):
            values = np.array(
                [[cells[remedy, trip, queue].mean or 0 for trip in trips] for queue in queues], dtype=float
            )
            one.imshow(values, cmap="Greys_r", vmin=0.2, vmax=1.15, aspect="auto", origin="lower")
            for i, queue in enumerate(queues):
                for j, trip in enumerate(trips):
                    found = cells[remedy, trip, queue]
                    good = found.low is not None and found.low >= claims.AS_GOOD
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


def _figure(id_: str, where: str, title: str, draw: Callable[[Lab], Picture], caption: str) -> Figure:
    return Figure(id_, where, title, caption, draw)


BEYOND = "Beyond the paper"
FIGURES = [
    _figure(
        "fig-2", "Fig. 2", "Measured throughput and slot allocation", draw_2,
        "One Reno flow. Left: what is measured every 100 ms, and the estimate that moves an eighth of the "
        "way each "
        "time. Right: the slots in force. They change at whole seconds, and only when the estimate has left "
        "its "
        "bounds.",
    ),
    _figure(
        "fig-3", "Fig. 3", "Topology of one flow", draw_3,
        "Rate and delay of each link, and the queues in front of the bottleneck and of the channel. ACKs "
        "return over "
        "512 kbit/s.",
    ),
    _figure(
        "fig-4", "Fig. 4", "Reno, 50 packets at the bottleneck", draw_4,
        "The window's sawtooth leaves the rate past the bottleneck alone, and with it the allocation.",
    ),
    _figure(
        "fig-5", "Fig. 5", "Reno, 10 packets at the bottleneck", draw_5,
        "Above the calmest of 16 start phases: the sawtooth reaches the rate, the corridor hides it. Below "
        "the most "
        "restless: Reno loses two packets per cycle, times out, and the allocation follows.",
    ),
    _figure(
        "fig-6", "Fig. 6", "Tahoe, 10 packets, a link of 50 ms", draw_6,
        "Every loss sends the window to one segment; the allocation follows about two seconds later.",
    ),
    _figure(
        "fig-7", "Fig. 7", "Topology of two flows", draw_7,
        "Each flow has its own buffer before node 2; both share the channel with ten packets of queue. Each "
        "sink link "
        "is a flow's own.",
    ),
    _figure(
        "fig-8", "Fig. 8", "Two Reno flows, static channel", draw_8,
        "Over 10 Mbit/s that stay both flows have their 5 Mbit/s; losses are those of each flow's own "
        "buffer.",
    ),
    _figure(
        "fig-9", "Fig. 9", "Two Reno flows, dynamic channel", draw_9,
        "The same flows over a channel that follows them. Strokes at the bottom: packets lost at node 3. "
        "Each loss "
        "halves a window, the estimate follows, and the channel's next rate is lower.",
    ),
    _figure(
        "margin", BEYOND, "What MARGIN and CORRIDOR do", draw_margin,
        "Goodput of one Reno flow, 16 runs each. Half the corridor is added to every allocation: either "
        "constant "
        "alone is too little.",
    ),
    _figure(
        "queue", BEYOND, "A longer queue at the channel", draw_queue,
        "Goodput of the two flows of Fig. 9 against the channel's queue.",
    ),
    _figure(
        "remedies", BEYOND, "Both remedies that the paper proposes", draw_remedies,
        "Goodput of the two flows of Fig. 9 over that on a static channel of 10 Mbit/s at the same round "
        "trip. "
        "Dotted: 0.95, taken as good as static. Above 1: the static channel of exactly 10 Mbit/s has the "
        "worse "
        "phases there.",
    ),
    _figure(
        "variants", BEYOND, "Other TCPs in Fig. 9's channel", draw_variants,
        "Goodput of two flows of each kind: static channel, dynamic channel, dynamic channel with a slower "
        "decrease.",
    ),
    _figure(
        "saving", BEYOND, "How much capacity is saved", draw_saving,
        "Static channels of several rates, and the dynamic channel at the capacity that it held in the "
        "mean. Left of "
        "the static curve is a saving.",
    ),
    _figure(
        "map", BEYOND, "When a dynamic channel is as good as a static one", draw_map,
        "Goodput over that of a static channel of 10 Mbit/s with the same queue and round trip. Framed: at "
        "least 0.95 "
        "with its whole interval.",
    ),
]  # fmt: skip
