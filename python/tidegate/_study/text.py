"""A study as a table for people."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from tidegate._base import text
from tidegate._base.estimate import Estimate
from tidegate._run.completion import IN_BRACKETS, done_cell, until_words
from tidegate._run.summary import short_keys
from tidegate._study.layout import find_key, key_values
from tidegate._study.live import CHANCE
from tidegate._study.numbers import range_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from tidegate._study.numbers import Column, StudyNumbers
    from tidegate._study.points import Point

#: Rows of the table of differences.
_PAIRS = 24


#: What stands for the half width of an interval where there is none.
NO_INTERVAL = "±–"


#: What "(1 of 8 runs)" means behind a number.
_OF_RUNS = "Of runs in brackets: the others have no such number."


def plus_minus(found: Estimate, factor: float = 1.0) -> str:
    """Return "mean ±half width": two digits of the half width, the mean to the same place.

    "±–" where all values are equal: they say nothing of how far others would lie.
    """
    if found.mean is None:
        return "–"
    mean = found.mean / factor
    if found.half_width is None:
        return text.number(mean, 4)
    half = found.half_width / factor
    top = max(abs(mean), half)
    if half == 0:
        return f"{text.number(mean, 4)} {NO_INTERVAL}"
    if top >= 1e7 or top < 1e-4:
        return f"{mean:.3g} ±{half:.2g}"
    # Two digits of the half width, but not more than five of the mean.
    places = 4 - math.floor(math.log10(top))
    if half > 0:
        places = min(places, 1 - math.floor(math.log10(half)))
    places = max(0, places)
    # An interval that is there is not shown as ±0.
    shown = max(half, 10.0**-places)
    return f"{mean:.{places}f} ±{shown:.{places}f}"


def with_interval(found: Estimate, factor: float = 1.0) -> str:
    """Return :func:`plus_minus`, with "±–" where there is no interval."""
    mean = plus_minus(found, factor)
    return f"{mean} {NO_INTERVAL}" if found.mean is not None and found.half_width is None else mean


def _cell(found: Estimate, by: float, runs: int) -> str:
    """Return a mean with its interval, and how many of the runs it is of where some lack the number."""
    some = text.of_runs(found.n, runs) if found.n else ""
    return f"{with_interval(found, by)} ({some})" if some else with_interval(found, by)


def report(
    study: StudyNumbers, columns: Sequence[str] | None = None, baseline: Mapping[str, Any] | None = None
) -> str:
    """Return the means of the main metrics, and differences, as text.

    Raises:
        UnknownNameError: there is no such metric.
    """
    return text.joined(study_lines(study, columns, baseline))


def study_lines(
    study: StudyNumbers, columns: Sequence[str] | None = None, baseline: Mapping[str, Any] | None = None
) -> list[str]:
    """Return the title, the facts, the means of the main metrics, and differences.

    ``columns``: the metrics to show instead of the main ones. ``baseline``: what the differences are from.

    Raises:
        UnknownNameError: there is no such metric.
    """
    manifest = study.manifest
    short = short_keys(study.axes)
    counts = study.counts()
    at = f"gate {study.gate}" if study.gate else "no gate in common"
    longest = manifest["duration_s"]
    shortest = manifest.get("shortest_s", longest)
    lines = [
        study.title,
        text.facts(
            [
                f"engine {manifest['engine']}",
                manifest.get("tcp"),
                f"seed {study.seed}",
                at,
                f"measured from {manifest['measured_from_s']:g} to {until_words(shortest, longest)}",
                _runs(study, counts),
            ]
        ),
        *_means(study, short, counts, columns),
    ]
    columns_shown = _columns(study) if columns is None else _chosen(study, columns)
    at_left = [[point.values[key] for key in study.axes] for point in study.points]
    lines += range_lines(study.points, study.values, short, at_left, columns_shown)
    if 1 < len(study.points) <= _PAIRS and all(
        count > 1 or not point.varies for count, point in zip(counts, study.points, strict=True)
    ):
        for each in study.baselines() if baseline is None else [baseline]:
            lines += [
                "",
                f"Difference from {_baseline_words(study, each)}, replication by replication",
                *_differences(study, short, columns, each)[1:],
            ]
    elif len(study.points) > _PAIRS:
        lines += [
            "",
            f"(no differences for more than {_PAIRS} points; Study.difference in Python gives them)",
        ]
    whole = "".join(lines)
    blank = NO_INTERVAL in whole
    notes = (
        ""
        if columns is not None
        else (
            "wait: queueing delay; used: share of the capacity of the gate. Goodput is the sum of all flows, "
            "payload only; loss and queues count whole packets at the gate."
        )
    )
    lines += [
        "",
        text.wrapped(
            "±: half of the 95% interval of the mean (Student t)"
            + (
                f"; {NO_INTERVAL}: no interval, because there is only one value or all values are equal"
                if blank
                else ""
            )
            + ". "
            + (f"{_OF_RUNS} " if any(f"of {text.counted(n, 'run')})" in whole for n in counts) else "")
            + (f"{IN_BRACKETS} " if re.search(r" \([\d.]+%\)", whole) else "")
            + notes
        ),
    ]
    if study.manifest["engine"] == "live":
        lines.append(text.wrapped(CHANCE))
    return lines


def _runs(study: StudyNumbers, counts: list[int]) -> str:
    if not any(point.varies for point in study.points) and max(counts) > 1:
        return f"{counts[0]} equal runs each" if len({*counts}) == 1 else "equal runs"
    if len({*counts}) > 1:
        return "numbers of runs as shown"
    return "1 run each" if counts[0] == 1 else f"{counts[0]} runs each"


def _chosen(study: StudyNumbers, names: Sequence[str]) -> list[Column]:
    """Return the columns that were asked for."""
    from tidegate._run.words import scale_of

    chosen = []
    for name in names:
        found = [study.estimate(name, point.number).mean for point in study.points]
        factor, unit = scale_of(name)
        if name.endswith("_bps"):
            factor, unit = text.rate_scale(
                max((abs(mean) for mean in found if mean is not None), default=0.0)
            )
        chosen.append((name, name, unit, factor))
    return chosen


def _columns(study: StudyNumbers) -> list[Column]:
    """Return (metric, head, unit, divisor) of what is worth a column."""
    top = max((study.estimate("goodput_bps", p.number).mean or 0.0 for p in study.points), default=0.0)
    factor, unit = text.rate_scale(top)
    known = [
        ("goodput_bps", "goodput", unit, factor),
        ("queue_delay_p50_ms", "wait p50", "ms", 1.0),
        ("queue_delay_p99_ms", "p99", "ms", 1.0),
        ("loss", "loss", "%", 0.01),
        ("utilisation", "used", "%", 0.01),
        ("timeouts", "timeouts", "", 1.0),
        ("fairness", "fairness", "Jain", 1.0),
        ("completion_s", "done", "s", 1.0),
    ]
    if "progress" in study.metrics:
        known.append(("progress", "arrived", "%", 0.01))
    if "response_mean_s" in study.metrics:
        known[1:] = [
            ("response_mean_s", "response", "s", 1.0),
            ("response_p95_s", "p95", "s", 1.0),
            ("unfinished", "unfinished", "requests", 1.0),
            *known[1:6],
        ]
    measured = [(name, name, "", 1.0) for name in study.manifest["measures"]]
    if measured:
        known = known[:1]

    def shows(metric: str) -> bool:
        values = [value for point in study.points for value in study.values(metric, point.number)]
        if metric == "fairness":
            return any(value is not None and value < 0.9995 for value in values)
        if metric == "progress":
            return any(value is not None and value < 1 for value in values)
        return any(value is not None for value in values)

    return [column for column in [*known, *measured] if shows(column[0])]


def _means(
    study: StudyNumbers, short: list[str], counts: list[int], names: Sequence[str] | None
) -> list[str]:
    several = len({*counts}) > 1
    places = [
        [*(point.values[key] for key in study.axes), *([str(count)] if several else [])]
        for point, count in zip(study.points, counts, strict=True)
    ]

    def cell(metric: str, point: Point, by: float) -> str:
        found = study.estimate(metric, point.number)
        if found.mean is None and metric == "completion_s" and "progress" in study.metrics:
            # How far it came, as in a comparison.
            return done_cell({metric: None, "progress": study.estimate("progress", point.number).mean})
        return _cell(found, by, counts[point.number])

    return _tables(study, [*short, *(["runs"] if several else [])], places, study.points, cell, names)


def _baseline_words(study: StudyNumbers, baseline: Mapping[str, Any] | None) -> str:
    if baseline is None:
        first = study.points[0].values
        return f"the first line ({key_values(tuple(first), tuple(first.values()))})"
    keys = tuple(find_key(study.axes, key) for key in baseline)
    others = len(study.axes) > len(keys)
    return key_values(keys, [str(value) for value in baseline.values()]) + (
        ", other values alike" if others else ""
    )


#: A difference of less than this share of the number, its interval included, is told as 0 ± that share.
_NEGLIGIBLE = 1e-4


def _differences(
    study: StudyNumbers, short: list[str], names: Sequence[str] | None, baseline: Mapping[str, Any] | None
) -> list[str]:
    pairs = study.against(baseline)
    points = [point for point, _ in pairs]
    counts = study.counts()
    others = {point.number: other.number for point, other in pairs}
    places = [[point.values[key] for key in study.axes] for point in points]

    def cell(metric: str, point: Point, by: float) -> str:
        other = study.points[others[point.number]]
        found = study.difference(metric, point.number, other.number)
        level = abs(study.estimate(metric, other.number).mean or 0.0)
        reach = abs(found.mean or 0.0) + (found.half_width or 0.0)
        if found.mean and reach < _NEGLIGIBLE * level:
            found = Estimate(0.0, _NEGLIGIBLE * level, None, found.n)
        # A point that ran once, because nothing is random there, stands beside each run of the other.
        runs = [counts[each.number] for each in (point, other) if each.varies or counts[each.number] > 1]
        return _cell(found, by, min(runs, default=1))

    return _tables(study, short, places, points, cell, names)


def _tables(
    study: StudyNumbers,
    heads: list[str],
    places: list[list[str]],
    points: Sequence[Point],
    cell: Callable[[str, Point, float], str],
    names: Sequence[str] | None,
) -> list[str]:
    """Return a table with a row per point, with a blank line before it."""
    columns = _columns(study) if names is None else _chosen(study, names)
    texts = [[cell(metric, point, by) for point in points] for metric, _, _, by in columns]
    head = [
        [*heads, *(name for _, name, _, _ in columns)],
        [""] * len(heads) + [unit for _, _, unit, _ in columns],
    ]
    head = head if any(head[1]) else head[:1]
    body = [[*place, *(column[row] for column in texts)] for row, place in enumerate(places)]
    return ["", text.table(head, body, left=len(heads))]
