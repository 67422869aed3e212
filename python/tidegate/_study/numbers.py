"""What a study knows: tables of its runs, means with intervals, differences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from tidegate._base.errors import ArgumentError, UnknownNameError, nearest
from tidegate._base.estimate import Estimate, estimate, paired
from tidegate._base.lazy import Lazy
from tidegate._run.manifest import HEADERS_NOTE
from tidegate._run.metric import KINDS, PLACE, TABLES, WORDS, is_absent_zero, number, split
from tidegate._run.numbers import figures_of
from tidegate._run.table import flat
from tidegate._study.layout import find_key
from tidegate._study.point import Point

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Lazy("polars")

#: Which point of a study: its varied keys with their values, its number, or the only one there is.
Where = Mapping[str, Any] | int | None
#: Rows of a table by column.
Rows = list[dict[str, Any]]


class StudyNumbers:
    """The tables of a study's runs, and the numbers of its points."""

    def __init__(
        self,
        manifest: dict[str, Any],
        points: Sequence[Point],
        rows: Mapping[str, Rows],
    ) -> None:
        self.manifest = manifest
        self.points = list(points)
        self._rows = {name: list(rows.get(name, [])) for name in TABLES}
        self._by_point: dict[int, Rows] = {point.number: [] for point in self.points}
        for row in self._rows["runs"]:
            self._by_point[row["point"]].append(row)
        skipped = {*PLACE, *self.axes}
        self._metrics = [name for name in self._rows["runs"][0] if name not in skipped]
        self._elements: dict[tuple[str, str], dict[tuple[int, int], dict[str, Any]]] = {}

    @classmethod
    def of(
        cls,
        *,
        title: str,
        file: str,
        seed: int,
        axes: Sequence[str],
        points: Sequence[Point],
        gate: str | None,
        results: Sequence[tuple[tuple[int, int], dict[str, Any], Mapping[str, float | None]]],
        warnings: Sequence[str],
        command: list[str] | None,
    ) -> Self:
        """Make a study of its results, which are in order."""
        first = results[0][1]
        manifest = {
            "kind": "study",
            "layout": 1,
            "engine": first["engine"],
            "title": title,
            "scenario_file": file,
            "seed": seed,
            "axes": list(axes),
            "gate": gate,
            "duration_s": first["duration_s"],
            "measured_from_s": first["measured_from_s"],
            "measures": list(dict.fromkeys(name for _, _, measured in results for name in measured)),
            "headers": HEADERS_NOTE,
            "warnings": list(warnings),
            "command": command,
        }
        rows: dict[str, Rows] = {name: [] for name in TABLES}
        for (point, replication), summary, measured in results:
            place = {"point": point, **points[point].values, "replication": replication}
            rows["runs"].append({**place, **figures_of(summary, gate), **measured})
            for table in KINDS.values():
                rows[table] += [{**place, **flat(row)} for row in summary.get(table, [])]
        return cls(manifest, points, rows)

    # --- what it is ---------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The scenario's title, or its file when it has none."""
        return str(self.manifest["title"])

    @property
    def seed(self) -> int:
        """The seed of every run."""
        return int(self.manifest["seed"])

    @property
    def axes(self) -> list[str]:
        """The keys that are varied."""
        return list(self.manifest["axes"])

    @property
    def gate(self) -> str | None:
        """The gate whose loss, queueing delay and utilisation ``runs`` has."""
        name: str | None = self.manifest["gate"]
        return name

    @property
    def warnings(self) -> list[str]:
        """What to look at before trusting the numbers, each once."""
        return list(self.manifest["warnings"])

    @property
    def metrics(self) -> list[str]:
        """The numbers in ``runs``: of all flows together, of the gate, and the measured ones."""
        return list(self._metrics)

    # --- tables -------------------------------------------------------------------------------

    def frame(self, table: str) -> pl.DataFrame:
        """Return a table: ``runs``, ``flows``, ``gates``, ``traffic``, ``requests``, ``pools`` or ``calls``.

        Raises:
            UnknownNameError: there is no such table.
        """
        import polars as pl

        if table not in TABLES:
            raise UnknownNameError(nearest("table", table, TABLES))
        rows = self._rows[table]
        found = pl.DataFrame(rows, infer_schema_length=None) if rows else pl.DataFrame()
        return found.with_columns(_numeric(found, [key for key in self.axes if key in found.columns]))

    @property
    def runs(self) -> pl.DataFrame:
        """One row per point and replication: all flows together, one gate, what was measured."""
        return self.frame("runs")

    @property
    def flows(self) -> pl.DataFrame:
        """One row per point, replication and flow, as in a run's summary."""
        return self.frame("flows")

    @property
    def gates(self) -> pl.DataFrame:
        """One row per point, replication and gate, as in a run's summary."""
        return self.frame("gates")

    @property
    def traffic(self) -> pl.DataFrame:
        """One row per point, replication and background source."""
        return self.frame("traffic")

    @property
    def requests(self) -> pl.DataFrame:
        """One row per point, replication and flow with requests, and one of all (``all``)."""
        return self.frame("requests")

    @property
    def pools(self) -> pl.DataFrame:
        """One row per point, replication and pool."""
        return self.frame("pools")

    @property
    def calls(self) -> pl.DataFrame:
        """One row per point, replication and source of calls."""
        return self.frame("calls")

    @property
    def table(self) -> pl.DataFrame:
        """One row per point and metric: mean, half_width, low, high, sd, n."""
        import polars as pl

        rows = [
            {
                "point": point.number,
                **point.values,
                "metric": metric,
                **self.estimate(metric, point.number).to_dict(),
            }
            for point in self.points
            for metric in self._metrics
        ]
        found = pl.DataFrame(rows, infer_schema_length=None)
        return found.with_columns(_numeric(found, self.axes))

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
        table = KINDS[kind]
        names = dict.fromkeys(row["name"] for row in self._rows[table])
        name, column = split(kind, rest, names)
        return self._column(table, name, column, point.number)

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

    # --- for people and programs --------------------------------------------------------------

    def to_dict(self, columns: Sequence[str] | None = None) -> dict[str, Any]:
        """Return what ``tidegate study --json`` prints; with ``columns``, these numbers only."""
        manifest = self.manifest
        metrics = self._metrics if columns is None else list(columns)
        head = ("engine", "seed", "duration_s", "measured_from_s", "gate", "axes")
        return {
            "scenario": self.title,
            **{key: manifest[key] for key in head},
            "points": [
                {
                    "set": point.values,
                    "runs": len(self._by_point[point.number]),
                    "varies": point.varies,
                    "metrics": {metric: self.estimate(metric, point.number).to_dict() for metric in metrics},
                    "difference_from_first": None
                    if point.number == 0
                    else {metric: self.difference(metric, point.number, 0).to_dict() for metric in metrics},
                }
                for point in self.points
            ],
            "warnings": self.warnings,
        }

    def to_json(self, columns: Sequence[str] | None = None) -> str:
        """Return :meth:`to_dict` as text."""
        return json.dumps(self.to_dict(columns), indent=2, ensure_ascii=False, allow_nan=False)


def _numeric(frame: pl.DataFrame, keys: Sequence[str]) -> list[pl.Series]:
    """Return the axes whose every value is a bare number, as numbers."""
    import polars as pl

    columns = []
    for key in keys:
        for kind in (pl.Int64, pl.Float64):
            cast = frame[key].cast(kind, strict=False)
            if cast.null_count() == 0:
                columns.append(cast)
                break
    return columns
