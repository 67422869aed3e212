"""The tables of a study: a row for each run, and for each element of each run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._base.calls import checked_methods
from tidegate._base.lazy import Lazy
from tidegate._base.nearest import nearest
from tidegate._run.metric import TABLES
from tidegate._run.varied import with_numbers
from tidegate._study.columns import Columns, point_column, replication_column, write
from tidegate._study.points import Point
from tidegate.errors import UnknownNameError

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Lazy("polars")


@checked_methods
class StudyTables:
    """What a study is, and the tables of its runs."""

    def __init__(self, manifest: dict[str, Any], points: Sequence[Point], columns: Columns) -> None:
        self.manifest = manifest
        self.points = list(points)
        self._columns = columns
        self._axis_values: pl.DataFrame | None = None
        self._metrics = columns.columns("runs")

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

        ``runs``, ``flows``, ``flow_groups``, ``gates``, ``traffic``, ``traffic_groups``, ``requests``,
        ``videos``, ``pools`` or ``calls``.

        Raises:
            UnknownNameError: there is no such table.
        """
        return self.scan(table).collect()

    def scan(self, table: str) -> pl.LazyFrame:
        """Return a table of :meth:`frame` as a query that is not done yet.

        Of a study with very many runs it reads only the columns and rows that are asked for.

        Raises:
            UnknownNameError: there is no such table.
        """
        import polars as pl

        if table not in TABLES:
            raise UnknownNameError(nearest("table", table, TABLES))
        found = self._columns.frame(table)
        if found is None:
            return pl.LazyFrame()
        numbers = found.with_columns(point_column(), replication_column())
        if self.axes:
            numbers = numbers.join(self._axes().lazy(), on="point", how="left", maintain_order="left")
        keys = [name for name in self._axes().columns if name != "point"]
        return numbers.select("point", *keys, "replication", *self._columns.columns(table))

    def _axes(self) -> pl.DataFrame:
        """Return each point's values of the varied keys."""
        if self._axis_values is None:
            rows = [{"point": point.number, **point.values} for point in self.points]
            self._axis_values = with_numbers(pl.DataFrame(rows, infer_schema_length=None), self.axes)
        return self._axis_values

    def has(self, table: str) -> bool:
        """Tell whether a table has rows."""
        return table in self._columns.names

    def write(self, table: str, file: Path) -> None:
        """Write a table to a Parquet file, group by group."""
        write(self.scan(table), file)

    @property
    def runs(self) -> pl.DataFrame:
        """One row per point and replication: all flows together, one gate, what was measured."""
        return self.frame("runs")

    @property
    def flows(self) -> pl.DataFrame:
        """One row per point, replication and flow, as in a run's summary."""
        return self.frame("flows")

    @property
    def flow_groups(self) -> pl.DataFrame:
        """One row per point, replication and flow with copies (``count``), of all its copies together."""
        return self.frame("flow_groups")

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
    def videos(self) -> pl.DataFrame:
        """One row per point, replication and flow with a player of video."""
        return self.frame("videos")

    @property
    def pools(self) -> pl.DataFrame:
        """One row per point, replication and pool."""
        return self.frame("pools")

    @property
    def calls(self) -> pl.DataFrame:
        """One row per point, replication and source of calls."""
        return self.frame("calls")
