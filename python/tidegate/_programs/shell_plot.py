"""The picture of a shell: throughput and delay of both ways over time, and what was dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import MaxNLocator

from tidegate._base import text
from tidegate._draw.figure import Figure
from tidegate._draw.labels import Label
from tidegate._draw.marks import label_right, steps
from tidegate._draw.style import STYLE
from tidegate._draw.thin import thin
from tidegate._draw.tokens import ACCENT, INK, MID, fit

if TYPE_CHECKING:
    from typing import Any

    import polars as pl
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_WAYS = (("incoming", ACCENT, "-"), ("outgoing", INK, (0, (5, 1.6))))
#: Bins of the throughput over the whole time, at most; and the shortest, seconds.
_BINS, _SHORTEST_S = 150, 0.05


def shell_figure(title: str, summary: dict[str, Any], packets: pl.DataFrame, subtitle: str) -> Figure:
    """Draw the picture of a shell; ``subtitle`` are the lines below its title."""
    time = packets["time_s"].to_numpy()
    end = float(summary["duration_s"])
    step = max(_SHORTEST_S, end / _BINS)
    edges = np.arange(0, end + step, step)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.2, 5.6), dpi=100)
        speed, delay, drops = figure.subplots(
            3, 1, sharex=True,
            gridspec_kw={
                "height_ratios": [1.9, 1.9, 0.55], "left": 0.08, "right": 0.87, "top": 0.785, "bottom": 0.09,
                "hspace": 0.36,
            },
        )  # fmt: skip
        ways = packets["way"].to_numpy()
        size = packets["bytes"].to_numpy().astype(float)
        late = packets["delay_ms"].cast(float).fill_null(np.nan).to_numpy()
        dropped = packets["dropped_by"].is_not_null().to_numpy()
        _speed(speed, edges, {name: _carried(edges, time, size, late, ways == name) for name, *_ in _WAYS})
        _delays(delay, {name: (time[ways == name], late[ways == name]) for name, *_ in _WAYS})
        _drops(drops, {name: time[(ways == name) & dropped] for name, *_ in _WAYS})
        drops.set_xlim(0, end)
        drops.set_xlabel("time, s")
        facts = [f"{text.number(end)} s", f"exit status {summary['status']}", summary["program"]]
        lines = [(0.97, fit(title, 88), 12.5, INK), (0.915, fit("  ·  ".join(facts), 130), 8.5, MID)]
        lines += [(0.885 - 0.03 * n, fit(line, 150), 8.5, INK) for n, line in enumerate(subtitle.split("\n"))]
        for up, line, points, colour in lines:
            figure.text(
                0.08, up, line, fontsize=points, color=colour, va="top",
                weight="bold" if points > 10 else "normal", parse_math=False,
            )  # fmt: skip
    return figure


def _carried(edges: Floats, time: Floats, size: Floats, late: Floats, chosen: NDArray[np.bool_]) -> Floats:
    """Return the bit/s that left the last gate in each bin."""
    left = chosen & ~np.isnan(late)
    bits, _ = np.histogram(time[left] + late[left] / 1e3, edges, weights=8 * size[left])
    return bits / np.diff(edges)


def _speed(axes: Axes, edges: Floats, rates: dict[str, Floats]) -> None:
    top = max(float(rate.max(initial=0)) for rate in rates.values())
    factor, unit = text.rate_scale(top)
    for name, colour, dash in _WAYS:
        steps(axes, edges, rates[name] / factor, color=colour, ls=dash, lw=1.1)
    axes.set_title("Throughput behind the last gate, headers included")
    axes.set_ylabel(unit)
    axes.set_ylim(0, 1.08 * top / factor or 1.0)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    label_right(axes, [Label(float(rates[name][-1]) / factor, name, colour) for name, colour, _ in _WAYS])


def _delays(axes: Axes, delays: dict[str, tuple[Floats, Floats]]) -> None:
    axes.set_title("Delay of each packet, from the first gate to behind the last one")
    axes.set_ylabel("ms")
    labels = []
    for name, colour, _ in _WAYS:
        time, late = delays[name]
        time, late = thin(time[~np.isnan(late)], late[~np.isnan(late)])
        if len(late):
            axes.plot(time, late, ls="", marker=".", ms=2.2, mew=0, color=colour)
            labels.append(Label(float(late[-1]), name, colour))
    top = max((float(late[~np.isnan(late)].max(initial=0)) for _, late in delays.values()), default=0.0)
    axes.set_ylim(0, 1.08 * top or 1.0)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    label_right(axes, labels)


def _drops(axes: Axes, drops: dict[str, Floats]) -> None:
    axes.set_title("Drops by the gates")
    for height, (name, colour, _) in zip((1, 0), _WAYS, strict=True):
        axes.plot(drops[name], np.full(len(drops[name]), height), ls="", marker="|", ms=8, color=colour)
    axes.set_ylim(-0.6, 1.6)
    axes.set_yticks([])
    axes.grid(visible=False)
    label_right(
        axes, [Label(height, f"{name} {len(drops[name])}", colour)
               for height, (name, colour, _) in zip((1, 0), _WAYS, strict=True)],
    )  # fmt: skip
