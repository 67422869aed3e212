"""The picture of a study: a metric against an axis, with intervals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tidegate._errors import ArgumentError
from tidegate._numbers import short_keys
from tidegate._plot_style import ACCENT, INK, MID, SOFT, STYLE, fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from tidegate._study_numbers import Point, StudyNumbers

#: (colour, line, marker) of the lines: told apart without colour, too.
_LINES: tuple[tuple[str, Any, str], ...] = (
    (ACCENT, "-", "o"),
    (INK, (0, (5, 1.6)), "s"),
    (MID, "-", "^"),
    (INK, (0, (1, 1.2)), "D"),
    (ACCENT, (0, (5, 1.6)), "v"),
    (MID, (0, (1, 1.2)), "x"),
    (SOFT, "-", "P"),
    (SOFT, (0, (5, 1.6)), "*"),
)
_QUANTITY = re.compile(r"([-+]?[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)\s*(.*)")
#: Divisor and unit of a metric by the end of its name.
_UNITS = (("_bps", 1e6, "Mbit/s"), ("_ms", 1.0, "ms"), ("_s", 1.0, "s"), ("_bytes", 1.0, "bytes"))


def scale_of(metric: str) -> tuple[float, str, str]:
    """Return a divisor, a unit and the metric in words."""
    for ending, factor, unit in _UNITS:
        if metric.endswith(ending):
            return factor, unit, metric.removesuffix(ending).replace("_", " ")
    if metric in ("loss", "utilisation") or metric.endswith((".loss", ".utilisation")):
        return 0.01, "%", metric
    for ending in ("_packets", "_segments"):
        if metric.endswith(ending):
            return 1.0, ending[1:], metric.removesuffix(ending).replace("_", " ")
    return 1.0, "", metric.replace("_", " ")


def positions(values: Sequence[str]) -> tuple[list[float], str] | None:
    """Return the values as numbers of one unit; None where they are words."""
    found = [_QUANTITY.fullmatch(value.strip()) for value in values]
    parts = [(float(m[1].replace("_", "")), m[2].strip()) for m in found if m]
    units = {unit for _, unit in parts}
    if len(parts) != len(values) or len(units) != 1:
        return None
    return [number for number, _ in parts], units.pop()


def study_figure(study: StudyNumbers, metric: str, axis: str | None) -> Figure:
    """Draw the means of a metric, with intervals, against one of the axes.

    Raises:
        ArgumentError: nothing is varied.
        UnknownNameError: there is no such metric.
    """
    if not study.axes:
        raise ArgumentError("nothing is varied in this study: there is no axis to draw along")
    distinct = {key: list(dict.fromkeys(point.values[key] for point in study.points)) for key in study.axes}
    along = axis or max(
        study.axes, key=lambda key: (positions(distinct[key]) is not None, len(distinct[key]))
    )
    lines: dict[tuple[str, ...], list[Point]] = {}
    for point in study.points:
        # Keys that move with the axis along the bottom tell no line apart.
        other = tuple(point.values[key] for key in _independent(study, along))
        lines.setdefault(other, []).append(point)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.0), dpi=160)
        axes = figure.add_axes((0.11, 0.15, 0.85, 0.66))
        _draw(axes, study, metric, along, distinct[along], lines)
        _words(figure, study, metric, along, len(lines))
    return figure


def _independent(study: StudyNumbers, along: str) -> list[str]:
    """Return the axes whose values are not told by the value along the bottom."""
    keys = []
    for key in study.axes:
        by_value: dict[str, set[str]] = {}
        for point in study.points:
            by_value.setdefault(point.values[along], set()).add(point.values[key])
        if key != along and any(len(found) > 1 for found in by_value.values()):
            keys.append(key)
    return keys


def _draw(
    axes: Axes,
    study: StudyNumbers,
    metric: str,
    along: str,
    values: list[str],
    lines: dict[tuple[str, ...], list[Point]],
) -> None:
    factor, _, _ = scale_of(metric)
    numbers = positions(values)
    places = dict(zip(values, numbers[0] if numbers else range(len(values)), strict=True))
    spread = 0.012 * (max(places.values()) - min(places.values()) or 1.0)
    for index, (other, points) in enumerate(lines.items()):
        colour, line, marker = _LINES[index % len(_LINES)]
        found = [study.estimate(metric, point.number) for point in points]
        kept = [(p, e) for p, e in zip(points, found, strict=True) if e.mean is not None]
        # Moved a little aside, so that the bars of several lines do not cover each other.
        aside = (index - (len(lines) - 1) / 2) * spread
        x = np.array([places[p.values[along]] + aside for p, _ in kept])
        y = np.array([(e.mean or 0.0) / factor for _, e in kept])
        bars = np.array([(e.half_width or 0.0) / factor for _, e in kept])
        order = np.argsort(x)
        axes.errorbar(
            x[order],
            y[order],
            yerr=bars[order],
            color=colour,
            linestyle=line if numbers or len(lines) > 1 else "none",
            marker=marker,
            markersize=4.2,
            markerfacecolor="white" if index % 2 else colour,
            linewidth=1.2,
            capsize=2.5,
            elinewidth=0.9,
            label=" · ".join(other) or None,
        )
    if numbers and min(numbers[0]) > 0 and max(numbers[0]) / min(numbers[0]) >= 20:
        axes.set_xscale("log")
        axes.set_xticks(sorted(numbers[0]), [f"{n:g}" for n in sorted(numbers[0])])
        axes.minorticks_off()
    elif not numbers:
        axes.set_xticks(range(len(values)), [fit(value, 14) for value in values])
        axes.set_xlim(-0.4, len(values) - 0.6)
    axes.yaxis.set_major_locator(MaxNLocator(6))
    if all((study.estimate(metric, p.number).low or 0.0) >= 0 for p in study.points):
        bottom, top = axes.get_ylim()
        if bottom < 0.35 * top:
            axes.set_ylim(bottom=0)


def _words(figure: Figure, study: StudyNumbers, metric: str, along: str, count: int) -> None:
    axes = figure.axes[0]
    _, unit, words = scale_of(metric)
    values = list(dict.fromkeys(point.values[along] for point in study.points))
    numbers = positions(values)
    bottom_unit = numbers[1] if numbers else ""
    axes.set_xlabel(f"{along}, {bottom_unit}" if bottom_unit else along)
    axes.set_ylabel(f"{words}, {unit}" if unit else words)
    figure.text(0.012, 0.975, fit(study.title, 68), fontsize=11.5, weight="bold", color=INK, va="top")
    runs = sorted({len(study.values(metric, point.number)) for point in study.points})
    told = f"{runs[0]} runs" if len(runs) == 1 else f"{runs[0]} to {runs[-1]} runs"
    figure.text(
        0.012,
        0.905,
        f"mean and 95% interval of {told} per point, seed {study.seed}",
        fontsize=8.2,
        color=MID,
        va="top",
    )
    if count > 1:
        others = ", ".join(short_keys(_independent(study, along)))
        axes.legend(
            title=others,
            frameon=False,
            fontsize=7.8,
            title_fontsize=7.8,
            ncols=min(count, 3),
            loc="best",
            handlelength=3.2,
        )


__all__ = ["positions", "scale_of", "study_figure"]
