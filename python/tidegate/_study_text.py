"""A study as a table for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tidegate import _text
from tidegate._numbers import short_keys
from tidegate._study_live import CHANCE

if TYPE_CHECKING:
    from tidegate._estimate import Estimate
    from tidegate._study_numbers import StudyNumbers

#: Rows of the table of differences.
_PAIRS = 24


def plus_minus(found: Estimate, factor: float = 1.0) -> str:
    """Return "mean ±half width": two digits of the half width, the mean to the same place."""
    if found.mean is None:
        return "–"
    mean = found.mean / factor
    if found.half_width is None:
        return _text.number(mean, 4)
    half = found.half_width / factor
    top = max(abs(mean), half)
    if half == 0:
        return f"{_text.number(mean, 4)} ±0"
    if top >= 1e7 or top < 1e-4:
        return f"{mean:.3g} ±{half:.2g}"
    # Two digits of the half width, but not more than five of the mean.
    places = 4 - math.floor(math.log10(top))
    if half > 0:
        places = min(places, 1 - math.floor(math.log10(half)))
    return f"{mean:.{max(0, places)}f} ±{half:.{max(0, places)}f}"


def report(study: StudyNumbers) -> str:
    """Return the means of the main metrics, and differences from the first point."""
    manifest = study.manifest
    short = short_keys(study.axes)
    counts = [len(study.values("goodput_bps", point.number)) for point in study.points]
    at = f"gate {study.gate}" if study.gate else "no gate in common"
    lines = [
        study.title,
        _text.wrapped(
            f"engine {manifest['engine']} · seed {study.seed} · {at} · counted from "
            f"{manifest['measured_from_s']:g} to {_text.seconds(manifest['duration_s'])} · "
            + (f"{counts[0]} runs each" if len({*counts}) == 1 else "runs as shown")
        ),
        "",
        _means(study, short, counts),
    ]
    if 1 < len(study.points) <= _PAIRS and min(counts) > 1:
        lines += ["", "Difference from the first line, run by run", _differences(study, short)]
    lines += [
        "",
        _text.wrapped(
            "±: half of the 95% interval of the mean (Student t). wait: queueing delay. Goodput is of "
            "all flows, payload only; loss and queues are of whole packets at the gate."
        ),
    ]
    if manifest["engine"] == "live":
        lines.append(_text.wrapped(CHANCE))
    return _text.plain("\n".join(lines))


def _columns(study: StudyNumbers) -> list[tuple[str, str, str, float]]:
    """Return (metric, head, unit, divisor) of what is worth a column."""
    top = max((study.estimate("goodput_bps", p.number).mean or 0.0 for p in study.points), default=0.0)
    factor, unit = _text.rate_scale(top)
    known = [
        ("goodput_bps", "goodput", unit, factor),
        ("queue_delay_p50_ms", "wait p50", "ms", 1.0),
        ("loss", "loss", "%", 0.01),
        ("timeouts", "timeouts", "", 1.0),
        ("fairness", "fairness", "Jain", 1.0),
        ("completion_s", "done", "s", 1.0),
    ]
    if "response_mean_s" in study.metrics:
        known[1:] = [
            ("response_mean_s", "response", "s", 1.0),
            ("response_p95_s", "p95", "s", 1.0),
            ("unfinished", "unfinished", "requests", 1.0),
            *known[1:4],
        ]
    measured = [(name, name, "", 1.0) for name in study.manifest["measures"]]
    if measured:
        known = known[:1]

    def told(metric: str) -> bool:
        values = [value for point in study.points for value in study.values(metric, point.number)]
        if metric == "fairness":
            return any(value is not None and value < 0.9995 for value in values)
        return any(value is not None for value in values)

    return [column for column in [*known, *measured] if told(column[0])]


def _means(study: StudyNumbers, short: list[str], counts: list[int]) -> str:
    columns = _columns(study)
    several = len({*counts}) > 1
    head = [
        [*short, *(["runs"] if several else []), *(name for _, name, _, _ in columns)],
        [""] * (len(short) + several) + [unit for _, _, unit, _ in columns],
    ]
    body = [
        [
            *(point.values[key] for key in study.axes),
            *([str(count)] if several else []),
            *(plus_minus(study.estimate(metric, point.number), by) for metric, _, _, by in columns),
        ]
        for point, count in zip(study.points, counts, strict=True)
    ]
    return _text.table(head, body, left=len(short))


def _differences(study: StudyNumbers, short: list[str]) -> str:
    columns = _columns(study)
    head = [
        [*short, *(name for _, name, _, _ in columns)],
        [""] * len(short) + [unit for _, _, unit, _ in columns],
    ]
    body = [
        [
            *(point.values[key] for key in study.axes),
            *(plus_minus(study.difference(metric, point.number, 0), by) for metric, _, _, by in columns),
        ]
        for point in study.points[1:]
    ]
    return _text.table(head, body, left=len(short))
