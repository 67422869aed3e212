"""What a study says, by name: for programs and pages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidegate._base.calls import checked_methods
from tidegate._base.lazy import Lazy
from tidegate._run.varied import with_numbers
from tidegate._run.words import possible
from tidegate._study.estimates import StudyEstimates
from tidegate._study.ranges import is_perturbed, spreads

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Lazy("polars")


@checked_methods
class StudyNumbers(StudyEstimates):
    """The numbers of a study's points as a table and as JSON."""

    @property
    def table(self) -> pl.DataFrame:
        """One row per point and metric: mean, half_width, low, high, sd, n."""
        # One number of all points after the other, so that each column is read once.
        told = {
            metric: [self.estimate(metric, point.number).to_dict(possible(metric)) for point in self.points]
            for metric in self._metrics
        }
        rows = [
            {"point": point.number, **point.values, "metric": metric, **told[metric][point.number]}
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
            metric: [self.estimate(metric, point.number).to_dict(possible(metric)) for point in self.points]
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
            told: dict[int, dict[str, Any]] = {number: {} for number in others}
            for metric in metrics:
                for number, other in others.items():
                    told[number][metric] = self.difference(metric, number, other).to_dict()
            key = ", ".join(self.axes if each is None else each)
            for number, differences in told.items():
                if baseline is None:
                    found.setdefault(number, {})[key] = differences
                else:
                    found[number] = differences
        return "difference_from_first" if baseline is None else "difference_from_baseline", found

    def to_json(self, columns: Sequence[str] | None = None, baseline: Mapping[str, Any] | None = None) -> str:
        """Return :meth:`to_dict` as text."""
        return json.dumps(self.to_dict(columns, baseline), indent=2, ensure_ascii=False, allow_nan=False)
