"""What a study says: means with intervals, differences, and all of it by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidegate._base.errors import ArgumentError, UnknownNameError, nearest
from tidegate._base.estimate import Estimate, estimate, paired
from tidegate._base.lazy import Lazy
from tidegate._run.metric import KINDS, PLACE, WORDS, is_absent_zero, number, split
from tidegate._run.varied import with_numbers
from tidegate._run.words import possible
from tidegate._study.layout import find_key
from tidegate._study.point import Point
from tidegate._study.tables import StudyTables

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Lazy("polars")

#: Which point of a study: its varied keys with their values, its number, or the only one there is.
Where = Mapping[str, Any] | int | None


class StudyNumbers(StudyTables):
    """The numbers of a study's points: values by run, means with intervals, differences."""

    @property
    def table(self) -> pl.DataFrame:
        """One row per point and metric: mean, half_width, low, high, sd, n."""
        import polars as pl

        rows = [
            {
                "point": point.number,
                **point.values,
                "metric": metric,
                **self.estimate(metric, point.number).to_dict(possible(metric)),
            }
            for point in self.points
            for metric in self._metrics
        ]
        found = pl.DataFrame(rows, infer_schema_length=None)
        return with_numbers(found, self.axes)

    # --- numbers ------------------------------------------------------------------------------

    def point(self, where: Where = None) -> Point:
        """Return the one point where the varied keys have these values.

        ``where`` is a dict of keys (or their last parts) and values, or the point's
        number; left out, the only point there is.

        Raises:
            UnknownNameError: there is none, or no such key.
            ArgumentError: there are several.
        """
        if isinstance(where, int):
            if not 0 <= where < len(self.points):
                raise UnknownNameError(f"there is no point {where}; there are {len(self.points)}, from 0 on")
            return self.points[where]
        wanted = {self._axis(key): str(value) for key, value in (where or {}).items()}
        found = [
            point for point in self.points if all(point.values[key] == value for key, value in wanted.items())
        ]
        if len(found) == 1:
            return found[0]
        if found:
            raise ArgumentError(
                f"{where or 'no values'}: {len(found)} points match; say which of {self.axes}"
            )
        for key, value in wanted.items():
            known = list(dict.fromkeys(point.values[key] for point in self.points))
            if value not in known:
                raise UnknownNameError(nearest(f"value of {key}", value, known))
        raise UnknownNameError(f"no point has {wanted}")

    def _axis(self, key: str) -> str:
        return find_key(self.axes, key)

    def values(self, metric: str, where: Where = None) -> list[float | None]:
        """Return a metric of every replication of one point, in order.

        ``metric`` is a column of ``runs``, or ``flow.NAME.COLUMN``, ``gate.NAME.COLUMN``,
        ``traffic.NAME.COLUMN``, ``request.NAME.COLUMN``, ``pool.NAME.COLUMN``, ``calls.NAME.COLUMN``.

        Raises:
            UnknownNameError: there is no such metric or point.
        """
        point = self.point(where)
        rows = self._by_point[point.number]
        if metric in self._metrics:
            return [number(row.get(metric)) for row in rows]
        kind, _, rest = metric.partition(".")
        if not rest or kind not in KINDS:
            raise UnknownNameError(nearest("metric", metric, self.metrics))
        tables = {row["name"]: table for table in reversed(KINDS[kind]) for row in self._rows[table]}
        name, column = split(kind, rest, tables)
        return self._column(tables[name], name, column, point.number)

    def _column(self, table: str, name: str, column: str, point: int) -> list[float | None]:
        if (table, name) not in self._elements:
            self._elements[table, name] = {
                (row["point"], row["replication"]): row for row in self._rows[table] if row["name"] == name
            }
        rows = self._elements[table, name]
        known = {key: None for row in rows.values() for key in row}
        if column in (*PLACE, *WORDS, *self.axes) or (column not in known and not is_absent_zero(column)):
            raise UnknownNameError(nearest(f"number of {table} {name}", column, known))
        absent = 0.0 if column.startswith("limited_by.") or is_absent_zero(column) else None
        places = [(point, row["replication"]) for row in self._by_point[point]]
        return [None if place not in rows else number(rows[place].get(column, absent)) for place in places]

    def estimate(self, metric: str, where: Where = None) -> Estimate:
        """Return the mean of a metric at a point, with its 95% interval.

        There is no interval where the point's runs cannot differ (:attr:`Point.varies`).

        Raises:
            UnknownNameError: there is no such metric or point.
        """
        found = estimate(self.values(metric, where))
        return found if self.point(where).varies else found.single()

    def difference(self, metric: str, where: Where, against: Where) -> Estimate:
        """Return the mean of (``where`` − ``against``) with its 95% interval, pair by pair.

        Replication i of both saw the same network, so what is common to them cancels. There is no
        interval where the runs of neither point can differ.

        Raises:
            UnknownNameError: there is no such metric or point.
        """
        found = paired(self.values(metric, where), self.values(metric, against))
        vary = self.point(where).varies or self.point(against).varies
        return found if vary else found.single()

    def against(self, baseline: Mapping[str, Any] | None = None) -> list[tuple[Point, Point]]:
        """Return the points to take differences of, each with the one that it is compared with.

        Without ``baseline`` that is the first point. With it, it is the point that differs only in having
        these values: ``{"cc": "reno"}`` compares each other congestion control with Reno, at the same
        values of the other keys.

        Raises:
            UnknownNameError: there is no such key or value, or no such point.
        """
        if baseline is None:
            return [(point, self.points[0]) for point in self.points[1:]]
        wanted = {self._axis(key): str(value) for key, value in baseline.items()}
        pairs = []
        for point in self.points:
            other = self.point({**point.values, **wanted})
            if other is not point:
                pairs.append((point, other))
        return pairs

    # --- for people and programs --------------------------------------------------------------

    def to_dict(
        self, columns: Sequence[str] | None = None, baseline: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return what ``tidegate study --json`` prints.

        ``columns``: these numbers only. ``baseline``: differences as of :meth:`against`.
        """
        manifest = self.manifest
        metrics = self._metrics if columns is None else list(columns)
        head = ("engine", "seed", "duration_s", "measured_from_s", "gate", "axes")
        others = {point.number: other.number for point, other in self.against(baseline)}
        difference = "difference_from_first" if baseline is None else "difference_from_baseline"
        return {
            "scenario": self.title,
            **{key: manifest[key] for key in head},
            **{key: manifest[key] for key in ("shortest_s",) if key in manifest},
            **({} if baseline is None else {"baseline": {k: str(v) for k, v in baseline.items()}}),
            "points": [
                {
                    "set": point.values,
                    "runs": len(self._by_point[point.number]),
                    "varies": point.varies,
                    "metrics": {
                        metric: self.estimate(metric, point.number).to_dict(possible(metric))
                        for metric in metrics
                    },
                    difference: {
                        metric: self.difference(metric, point.number, others[point.number]).to_dict()
                        for metric in metrics
                    }
                    if point.number in others
                    else None,
                }
                for point in self.points
            ],
            "warnings": self.warnings,
        }

    def to_json(self, columns: Sequence[str] | None = None, baseline: Mapping[str, Any] | None = None) -> str:
        """Return :meth:`to_dict` as text."""
        return json.dumps(self.to_dict(columns, baseline), indent=2, ensure_ascii=False, allow_nan=False)
