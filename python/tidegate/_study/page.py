"""A study as an HTML page, and what its interactive part draws."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._base.lazy import Lazy
from tidegate._base.text import wide
from tidegate._page.render import fragment, sheet_page
from tidegate._page.sheet import Grid, Item, Paragraph, Section, Sheet, Stage, items_of
from tidegate._page.view import Cloud, script_json
from tidegate._run.page import SHARES_SHORT, again, image, picture, shares
from tidegate._run.words import MOST_ROWS, metric_label, scale_of
from tidegate._study.picture import Picture
from tidegate._study.text import study_lines
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tidegate._study.numbers import StudyNumbers

    Numbers = tuple[float, float | None, float | None]
else:
    pl = Lazy("polars")


def study_cloud(study: StudyNumbers) -> Cloud | None:
    """Return each point's means with their 95% intervals; None of one point."""
    found = {name: [_numbers(study, name, point.number) for point in study.points] for name in study.metrics}
    names = [name for name, values in found.items() if any(values)]
    if len(study.points) < 2 or len(names) < 2 or "goodput_bps" not in names:
        return None
    delay = next((n for n in ("queue_delay_p99_ms", "completion_s", "loss") if n in names), names[-1])
    points = [
        (point.label() or study.title, [found[name][place] for name in names])
        for place, point in enumerate(study.points)
    ]
    gate = study.manifest["gate"]
    return Cloud([(name, metric_label(name, gate)) for name in names], delay, "goodput_bps", points)


def _numbers(study: StudyNumbers, name: str, point: int) -> Numbers | None:
    """Return mean, low and high end, as people read them."""
    found = study.estimate(name, point)
    if found.mean is None:
        return None
    factor = scale_of(name)[0]
    if found.low is None or found.high is None:
        return found.mean / factor, None, None
    return found.mean / factor, found.low / factor, found.high / factor


def study_page(
    study: StudyNumbers,
    chosen: Picture | None = None,
    columns: Sequence[str] | None = None,
    baseline: Mapping[str, Any] | None = None,
) -> str:
    """Return the report of a study: its tables and pictures, what limited whom, the scenario, the command.

    ``chosen``: what to draw; left out, the mean goodput and, where there is one, the queueing delay.
    ``columns``: numbers of the table; left out, the usual ones. ``baseline``: what differences are from.
    """
    facts, items = _facts_and_items(study, columns, baseline)
    sections = [Section("results", "Results", items)]
    wanted = [chosen] if chosen is not None else [Picture(), Picture(metric="queue_delay_p99_ms")]
    drawn = _pictures(study, wanted, "study")
    if drawn:
        sections.append(
            Section("picture", "Means with their intervals" if chosen is None else "Picture", drawn)
        )
    cloud = study_cloud(study)
    if cloud is not None:
        note = Paragraph("A mark for each point: the means of its runs, with 95% intervals.")
        sections.append(Section("against", "One number against another", [Stage("cloud"), note]))
    limits = _limits(study)
    if limits is not None:
        sections.append(limits)
    varied = [
        f"{key} = {', '.join(dict.fromkeys(point.values[key] for point in study.points))}"
        for key in study.axes
    ]
    sections.append(again(study.manifest, study.points[0].scenario, varied))
    version = _core.build_info()["tidegate"]
    numbers = study.to_json(columns, baseline)
    points = script_json(cloud.to_dict() if cloud is not None else None)
    return sheet_page(
        Sheet(study.title, facts, sections, study.warnings, numbers, points=points, version=version)
    )


def study_fragment(study: StudyNumbers) -> str:
    """Return what a notebook shows of a study: its tables and the picture."""
    facts, items = _facts_and_items(study, None)
    shown = [item for item in items if isinstance(item, Grid)]
    drawn: list[Item] = []
    if study.axes:
        with contextlib.suppress(ArgumentError):
            drawn.append(image(Picture().drawn(study)))
    return fragment(study.title, facts, [*shown, *drawn])


def _facts_and_items(
    study: StudyNumbers, columns: Sequence[str] | None, baseline: Mapping[str, Any] | None = None
) -> tuple[str, list[Item]]:
    with wide():
        lines = study_lines(study, columns, baseline)
    return lines[1], items_of(lines[2:])


def _pictures(study: StudyNumbers, wanted: Sequence[Picture], name: str) -> list[Item]:
    """Draw what can be drawn; a study of one point, or of too much for one picture, has none."""
    drawn: list[Item] = []
    for number, each in enumerate(wanted):
        if (not study.axes and each.cdf is None) or (
            each.metric is not None and not _has(study, each.metric)
        ):
            continue
        try:
            drawn.append(picture(each.drawn(study), f"{name}-{number}"))
        except ArgumentError as reason:
            drawn.append(Paragraph(f"No picture: {reason}"))
            break
    return drawn


def _has(study: StudyNumbers, metric: str) -> bool:
    return metric in study.metrics and any(
        study.estimate(metric, point.number).mean is not None for point in study.points
    )


def _limits(study: StudyNumbers) -> Section | None:
    """Return bars for each point: the mean over its runs, of each flow or, where these are many, of all."""
    if not study.has("flows"):
        return None
    table = study.scan("flows")
    whats = [name for name in table.collect_schema().names() if name.startswith(_LIMITED)]
    flows = list(table.select("name").unique(maintain_order=True).collect()["name"])
    apart = len(flows) * len(study.points) <= 2 * MOST_ROWS
    by = ["point", *(["name"] if apart else [])]
    means = [pl.col(what).sum() / pl.len() for what in whats]
    there = [pl.col(what).is_not_null().any().alias(f"has {what}") for what in whats]
    groups = table.group_by(by, maintain_order=True).agg(*means, *there).collect()
    bars = []
    names = []
    for row in groups.iter_rows(named=True):
        of_group = {what.removeprefix(_LIMITED): row[what] for what in whats if row[f"has {what}"]}
        bars.append({"limited_by": of_group})
        label = study.points[row["point"]].label()
        flow = row["name"] if apart else ""
        names.append(": ".join(filter(None, [label, flow if len(flows) > 1 else ""])) or flow)
    found = shares(bars, names)
    if found is None:
        return None
    return Section("limits", "What limited each flow", [found, Paragraph(SHARES_SHORT)])


_LIMITED = "limited_by."
