"""The numbers of a study: as values, estimates and JSON, and the ranges of small changes."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidegate._base.calls import checked_methods
from tidegate._base.lazy import Lazy
from tidegate._base.text import number, table, wrapped
from tidegate._run.perturbed import is_luck, sentence, spread_of
from tidegate._run.varied import with_numbers
from tidegate._study.estimates import StudyEstimates

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from tidegate._study.points import Point

    Values = Callable[[str, int], list[float | None]]
else:
    pl = Lazy("polars")

#: (metric, head, unit, divisor) of a column.
Column = tuple[str, str, str, float]
#: Columns of the table: the first ones of the means.
_COLUMNS = 5
#: The number by which people compare.
_GOODPUT = "goodput_bps"


def is_perturbed(points: Sequence[Point]) -> bool:
    """Tell whether replication i of each point has small change i, and replication 0 none."""
    return all(tomllib.loads(point.scenario).get("perturb") is True for point in points)


def spreads(points: Sequence[Point], values: Values, metric: str) -> list[dict[str, Any]]:
    """Return a number of each point as written, and least, median and greatest of its runs with changes."""
    found = [values(metric, point.number) for point in points]
    return [spread_of(each[0] if each else None, each[1:]) for each in found]


def range_lines(
    points: Sequence[Point],
    values: Values,
    heads: Sequence[str],
    places: Sequence[Sequence[str]],
    columns: Sequence[Column],
) -> list[str]:
    """Return a table of the ranges of some numbers, and what depends on luck; empty where no run has changes.

    ``heads`` and ``places``: what stands at the left of each line.
    """
    if not is_perturbed(points):
        return []
    shown = columns[:_COLUMNS]
    found = {metric: spreads(points, values, metric) for metric, *_ in shown}
    counts = [len(of["values"]) for of in next(iter(found.values()), [])]
    if not counts or min(counts) < 1:
        return []
    head = [
        [*heads, *(name for _, name, _, _ in shown)],
        [""] * len(heads) + [unit for _, _, unit, _ in shown],
    ]
    body = [
        [*place, *(_range(found[metric][row], by) for metric, _, _, by in shown)]
        for row, place in enumerate(places)
    ]
    runs = f"{counts[0]}" if len({*counts}) == 1 else f"{min(counts)} to {max(counts)}"
    about = (
        f"Least to greatest in {runs} runs of each point with small changes that nobody can know: whether "
        "one setting is better than another is told by the differences, change by change."
    )
    lucky = [
        wrapped(f"{point.label()}: {sentence(_GOODPUT, of, len(of['values']))}.", "  ")
        for point, of in zip(points, found.get(_GOODPUT, []), strict=False)
        if is_luck(_GOODPUT, of)
    ]
    return ["", table(head, body, left=len(heads)), wrapped(about), *lucky]


def _range(spread: dict[str, Any], by: float) -> str:
    if spread["least"] is None:
        return "–"
    low, high = number(spread["least"] / by), number(spread["greatest"] / by)
    return low if low == high else f"{low} to {high}"


@checked_methods
class StudyNumbers(StudyEstimates):
    """The numbers of a study's points as a table and as JSON."""

    @property
    def table(self) -> pl.DataFrame:
        """One row per point and metric: mean, half_width, low, high, sd, n."""
        # One number of all points after the other, so that each column is read once.
        estimates = {
            metric: [self.estimate(metric, point.number).to_dict() for point in self.points]
            for metric in self._metrics
        }
        rows = [
            {"point": point.number, **point.values, "metric": metric, **estimates[metric][point.number]}
            for point in self.points
            for metric in self._metrics
        ]
        found = pl.DataFrame(rows, infer_schema_length=None)
        return with_numbers(found, self.axes)

    def to_dict(
        self, columns: Sequence[str] | None = None, baseline: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return what ``tidegate study --json`` prints.

        ``columns``: these numbers only. ``baseline``: differences as of :meth:`against`; left out, each
        point has those of each axis by itself, from the point that has that axis's value in ``first`` and is
        else alike.
        """
        manifest = self.manifest
        metrics = self._metrics if columns is None else list(columns)
        head = ("engine", "seed", "duration_s", "measured_from_s", "gate", "axes")
        counts = self.counts()
        # One number of all points after the other, so that each column is read once.
        means = {
            metric: [self.estimate(metric, point.number).to_dict() for point in self.points]
            for metric in metrics
        }
        name, apart = self._apart(metrics, baseline)
        perturbed = metrics if is_perturbed(self.points) else []
        ranges = {metric: spreads(self.points, self.values, metric) for metric in perturbed}
        return {
            "scenario": self.title,
            **{key: manifest[key] for key in head},
            **{key: manifest[key] for key in ("shortest_s",) if key in manifest},
            **(
                {"first": dict(self.points[0].values)}
                if baseline is None
                else {"baseline": {k: str(v) for k, v in baseline.items()}}
            ),
            "points": [
                {
                    "set": point.values,
                    "runs": counts[point.number],
                    "varies": point.varies,
                    "metrics": {metric: means[metric][point.number] for metric in metrics},
                    **({"perturbed": {m: ranges[m][point.number] for m in metrics}} if ranges else {}),
                    name: apart.get(point.number),
                }
                for point in self.points
            ],
            "warnings": self.warnings,
        }

    def _apart(
        self, metrics: Sequence[str], baseline: Mapping[str, Any] | None
    ) -> tuple[str, dict[int, dict[str, Any]]]:
        """Return what differences are called, and by point those that it has."""
        found: dict[int, dict[str, Any]] = {}
        for each in self.baselines() if baseline is None else [baseline]:
            others = {point.number: other.number for point, other in self.against(each)}
            # One number of all points after the other, so that each column is read once.
            by_point: dict[int, dict[str, Any]] = {point: {} for point in others}
            for metric in metrics:
                for point, other in others.items():
                    by_point[point][metric] = self.difference(metric, point, other).to_dict()
            key = ", ".join(self.axes if each is None else each)
            for place, differences in by_point.items():
                if baseline is None:
                    found.setdefault(place, {})[key] = differences
                else:
                    found[place] = differences
        return "difference_from_first" if baseline is None else "difference_from_baseline", found

    def to_json(self, columns: Sequence[str] | None = None, baseline: Mapping[str, Any] | None = None) -> str:
        """Return :meth:`to_dict` as text."""
        return json.dumps(self.to_dict(columns, baseline), indent=2, ensure_ascii=False, allow_nan=False)
