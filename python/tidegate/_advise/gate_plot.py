"""The picture of a frontier: goodput, loss and wait against the size at a gate."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._advise.tune_result import MET
from tidegate._draw.style import STYLE, write
from tidegate._draw.tokens import ACCENT, INK, MID

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from tidegate._advise.gate_trials import Tried


def draw(
    title: str, key: str, unit: str, size: int, frontier: Sequence[Tried], file: str | os.PathLike[str]
) -> Path:
    """Draw it."""
    import matplotlib as mpl
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    from tidegate._draw.figure import Figure

    by, shown = (1e3, "kB") if unit == "B" else (1e6, "Mbit/s")
    with mpl.rc_context(STYLE):
        picture = Figure(figsize=(6.4, 5.4), dpi=100)
        axes = picture.subplots(
            3, 1, sharex=True,
            gridspec_kw={"left": 0.12, "right": 0.98, "top": 0.93, "bottom": 0.1, "hspace": 0.14},
        )  # fmt: skip
        columns = (
            ("goodput, Mbit/s", [row.goodput_bps for row in frontier], 1e6),
            ("loss, %", [row.loss for row in frontier], 1e-2),
            ("wait p99, ms", [row.delay_ms for row in frontier], 1.0),
        )
        sizes = [row.size / by for row in frontier]
        for axis, (words, numbers, scale) in zip(axes, columns, strict=True):
            values = [(each.mean or 0.0) / scale for each in numbers]
            halves = [(each.half_width or 0.0) / scale for each in numbers]
            axis.errorbar(sizes, values, yerr=halves, color=MID, lw=1, capsize=2.5, zorder=1)
            for x, y, row in zip(sizes, values, frontier, strict=True):
                met = row.verdict == MET
                axis.plot(x, y, marker="o", ms=5, color=ACCENT, mfc=ACCENT if met else "white", ls="none")
            axis.axvline(size / by, color=INK, lw=0.8, ls=(0, (4, 2)))
            axis.set_ylabel(words)
            axis.set_ylim(bottom=0)
        axes[0].set_title("\n".join(textwrap.wrap(title, 72)))
        axes[-1].set_xscale("log")
        # 10, 100, 1000 as they are written elsewhere, and 2 and 5 of them where there is room.
        narrow = max(sizes) < 30 * min(sizes)
        axes[-1].xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,)))
        axes[-1].xaxis.set_major_formatter(FuncFormatter(lambda place, _: f"{place:g}"))
        axes[-1].xaxis.set_minor_formatter(NullFormatter())
        picture.align_ylabels()
        axes[-1].set_xlabel(f"{key}, {shown}")
        return write(picture, Path(file))
