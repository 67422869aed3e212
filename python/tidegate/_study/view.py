"""What an interactive page draws of a study: each point's means as a mark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._page.view import Cloud
from tidegate._run.words import metric_label, scale_of

if TYPE_CHECKING:
    from tidegate._study.numbers import StudyNumbers

    Numbers = tuple[float, float | None, float | None]


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
    told = study.estimate(name, point)
    if told.mean is None:
        return None
    factor = scale_of(name)[0]
    if told.low is None or told.high is None:
        return told.mean / factor, None, None
    return told.mean / factor, told.low / factor, told.high / factor
