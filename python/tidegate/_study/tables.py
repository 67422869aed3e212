"""The tables of a study: a row for each run, and for each element of each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from tidegate._base.errors import UnknownNameError, nearest
from tidegate._base.lazy import Lazy
from tidegate._run.completion import lengths_named
from tidegate._run.manifest import HEADERS_NOTE
from tidegate._run.metric import KINDS, PLACE, TABLES
from tidegate._run.summary import figures_of
from tidegate._run.table import flat
from tidegate._run.varied import with_numbers
from tidegate._study.point import Point

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Lazy("polars")

#: Rows of a table by column.
Rows = list[dict[str, Any]]


class StudyTables:
    """What a study is, and the tables of its runs."""

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
            **lengths_named([summary for _, summary, _ in results]),
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
            for table in [table for tables in KINDS.values() for table in tables]:
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
        """Return a table.

        ``runs``, ``flows``, ``gates``, ``traffic``, ``traffic_groups``, ``requests``, ``pools`` or ``calls``.

        Raises:
            UnknownNameError: there is no such table.
        """
        import polars as pl

        if table not in TABLES:
            raise UnknownNameError(nearest("table", table, TABLES))
        rows = self._rows[table]
        found = pl.DataFrame(rows, infer_schema_length=None) if rows else pl.DataFrame()
        return with_numbers(found, self.axes)

    def rows(self, table: str) -> Rows:
        """Return the rows of a table of :meth:`frame` as they are kept."""
        return self._rows[table]

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
    def traffic_groups(self) -> pl.DataFrame:
        """One row per point, replication and group of background sources, and one of all (``all``)."""
        return self.frame("traffic_groups")

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
