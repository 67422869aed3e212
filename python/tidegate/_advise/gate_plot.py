"""The picture of a frontier: goodput, loss and wait against the size at a gate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._advise.tune_result import MET
from tidegate._draw.style import ACCENT, INK, MID, STYLE, write

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from tidegate._advise.gate_trials import Tried


def draw(
    title: str, key: str, unit: str, size: int, frontier: Sequence[Tried], file: str | os.PathLike[str]
) -> Path:
    """Draw it."""
    import matplotlib as mpl

    from tidegate._draw.figure import Figure

    by, shown = (1e3, "kB") if unit == "B" else (1e6, "Mbit/s")
    with mpl.rc_context(STYLE):
        picture = Figure(figsize=(6.4, 5.4), layout="constrained")
        axes = picture.subplots(3, 1, sharex=True)
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
        axes[0].set_title(title)
        axes[-1].set_xscale("log")
        axes[-1].set_xlabel(f"{key}, {shown}")
        return write(picture, Path(file))
