"""The value that a study is: tables of its runs, means with intervals, differences."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._errors import ArgumentError, RunFolderError, UnknownNameError, nearest
from tidegate._estimate import Estimate, estimate, paired
from tidegate._numbers import REQUESTS, figures_of
from tidegate._run import HEADERS_NOTE
from tidegate._table import flat

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl
    from matplotlib.figure import Figure

    Where = Mapping[str, Any] | int | None
    Rows = list[dict[str, Any]]

#: The tables of a study, and the Parquet files of its folder.
TABLES = ("runs", "flows", "gates", "traffic", "requests", "pools", "calls")
#: What a metric's first word means: the table that its element is in.
_KINDS = {
    "flow": "flows",
    "gate": "gates",
    "traffic": "traffic",
    "request": "requests",
    "pool": "pools",
    "calls": "calls",
}
#: Columns that say which run a row is of; the varied keys stand between them.
_PLACE = ("point", "replication")
#: What a gate's or flow's table has beside numbers.
_WORDS = ("name", "cc")


@dataclass(frozen=True)
class Point:
    """One combination of the axes: its number, its values, and the scenario as run."""

    number: int
    values: dict[str, str]
    scenario: str

    def label(self) -> str:
        """Return the values in the order of the axes."""
        return " · ".join(self.values.values()) or "as written"


def metric_of(summary: dict[str, Any], measured: Mapping[str, float | None], metric: str) -> float | None:
    """Return one number of one run.

    ``flow.NAME.COLUMN``, ``gate.NAME.COLUMN``, ``traffic.NAME.COLUMN``, ``request.NAME.COLUMN``,
    ``pool.NAME.COLUMN``, ``calls.NAME.COLUMN``; otherwise a number of all flows together, or one
    that was measured.

    Raises:
        UnknownNameError: the run has no such number; the message offers the nearest.
    """
    kind, _, rest = metric.partition(".")
    if rest and kind in _KINDS:
        names = {row["name"]: row for row in summary.get(_KINDS[kind], [])}
        name, column = _split(kind, rest, names)
        row = flat(names[name])
        if column in row and column not in _WORDS:
            return _number(row[column])
        if column.startswith("limited_by.gate."):
            return 0.0
        raise UnknownNameError(nearest(f"number of {kind}.{name}", column, row))
    if metric in measured:
        return measured[metric]
    of_flows = ["goodput_bps", "fairness", "segments_retransmitted", "timeouts", "completion_s"]
    of_flows += REQUESTS if summary.get("requests") else []
    if metric not in of_flows:
        known = [*measured, *of_flows]
        known += [f"{kind}.{row['name']}" for kind in _KINDS for row in summary.get(_KINDS[kind], [])]
        raise UnknownNameError(nearest("metric", metric, known))
    return _number(figures_of(summary, None)[metric])


def _split(kind: str, rest: str, names: Iterable[str]) -> tuple[str, str]:
    """Part NAME.COLUMN; names have dots (bulk.1), and so have shares (limited_by.gate.link)."""
    for name in sorted(names, key=len, reverse=True):
        if rest.startswith(f"{name}."):
            return name, rest[len(name) + 1 :]
    raise UnknownNameError(nearest(kind, rest.rpartition(".")[0] or rest, names))


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


class Study:
    """Every run of a study, and what follows from them.

    ``runs`` has a row per point and replication; ``flows``, ``gates``, ``traffic``, ``requests``,
    ``pools`` and ``calls`` a row per point, replication and element; ``table`` a row per point and
    metric with mean and interval. All are data frames with the varied keys as columns.
    """

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
        skipped = {*_PLACE, *self.axes}
        self._metrics = [name for name in self._rows["runs"][0] if name not in skipped]
        self._elements: dict[tuple[str, str], dict[tuple[int, int], dict[str, Any]]] = {}

    @staticmethod
    def of(
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
    ) -> Study:
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
            for table in _KINDS.values():
                rows[table] += [{**place, **flat(row)} for row in summary.get(table, [])]
        return Study(manifest, points, rows)

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
        if key in self.axes:
            return key
        ends = [axis for axis in self.axes if axis.endswith(f".{key}")]
        if len(ends) == 1:
            return ends[0]
        raise UnknownNameError(nearest("axis", key, self.axes))

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
            return [_number(row.get(metric)) for row in rows]
        kind, _, rest = metric.partition(".")
        if not rest or kind not in _KINDS:
            raise UnknownNameError(nearest("metric", metric, self.metrics))
        table = _KINDS[kind]
        names = dict.fromkeys(row["name"] for row in self._rows[table])
        name, column = _split(kind, rest, names)
        return self._column(table, name, column, point.number)

    def _column(self, table: str, name: str, column: str, point: int) -> list[float | None]:
        if (table, name) not in self._elements:
            self._elements[table, name] = {
                (row["point"], row["replication"]): row for row in self._rows[table] if row["name"] == name
            }
        rows = self._elements[table, name]
        known = {key: None for row in rows.values() for key in row}
        if column in (*_PLACE, *_WORDS, *self.axes) or (
            column not in known and not column.startswith("limited_by.gate.")
        ):
            raise UnknownNameError(nearest(f"number of {table} {name}", column, known))
        # A share that is not there is a gate that never limited the flow.
        absent = 0.0 if column.startswith("limited_by.") else None
        places = [(point, row["replication"]) for row in self._by_point[point]]
        return [None if place not in rows else _number(rows[place].get(column, absent)) for place in places]

    def estimate(self, metric: str, where: Where = None) -> Estimate:
        """Return the mean of a metric at a point, with its 95% interval.

        Raises:
            UnknownNameError: there is no such metric or point.
        """
        return estimate(self.values(metric, where))

    def difference(self, metric: str, where: Where, against: Where) -> Estimate:
        """Return the mean of (``where`` − ``against``) with its 95% interval, pair by pair.

        Replication i of both saw the same network, so what is common to them cancels.

        Raises:
            UnknownNameError: there is no such metric or point.
        """
        return paired(self.values(metric, where), self.values(metric, against))

    # --- for people and programs --------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate study --json`` prints."""
        manifest = self.manifest
        head = ("engine", "seed", "duration_s", "measured_from_s", "gate", "axes")
        return {
            "scenario": self.title,
            **{key: manifest[key] for key in head},
            "points": [
                {
                    "set": point.values,
                    "runs": len(self._by_point[point.number]),
                    "metrics": {
                        metric: self.estimate(metric, point.number).to_dict() for metric in self._metrics
                    },
                    "difference_from_first": None
                    if point.number == 0
                    else {
                        metric: self.difference(metric, point.number, 0).to_dict() for metric in self._metrics
                    },
                }
                for point in self.points
            ],
            "warnings": self.warnings,
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def report(self) -> str:
        """Return the table for people."""
        from tidegate._study_text import report

        return report(self)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        metric: str = "goodput_bps",
        axis: str | None = None,
    ) -> Figure:
        """Draw a metric against an axis with its intervals; write PNG, SVG or PDF by the suffix.

        ``axis`` is the key along the bottom; left out, the one with most values. The other
        keys make the lines.

        Raises:
            UnknownNameError: there is no such metric or axis.
            ArgumentError: nothing is varied, or the suffix is none of .png, .svg, .pdf.
        """
        from tidegate import _plot_study, _plot_style

        figure = _plot_study.study_figure(self, metric, None if axis is None else self._axis(axis))
        if path is not None:
            _plot_style.write(figure, Path(path))
        return figure

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a folder: manifest, study.json, and a Parquet file per table.

        Raises:
            RunFolderError: the folder is there already.
            OSError: it cannot be written.
        """
        from tidegate import _folder

        place = Path(folder)
        with _folder.staged(place, force=force) as work:
            fill_study(self, work)
        return place

    def __repr__(self) -> str:
        counts = {len(rows) for rows in self._by_point.values()}
        told = "–".join(str(count) for count in sorted({min(counts), max(counts)}))
        return (
            f"<tidegate.Study {self.title!r}, seed {self.seed}: {len(self.points)} points, {told} runs each>"
        )


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


def fill_study(study: Study, work: Path) -> None:
    """Write a study's files into an existing, empty folder."""
    import platform

    from tidegate import _core, _folder

    manifest = {
        **study.manifest,
        "points": [{"set": point.values, "scenario": point.scenario} for point in study.points],
        "tables": [name for name in TABLES if study._rows[name]],
        "versions": {"python": platform.python_version(), **_core.build_info()},
        "machine": {"system": platform.platform(), "architecture": platform.machine()},
    }
    _folder.write_json(work / _folder.MANIFEST, manifest)
    (work / "study.json").write_text(study.to_json() + "\n", encoding="utf-8")
    for name in manifest["tables"]:
        study.frame(name).write_parquet(work / f"{name}.parquet")
    study.table.write_parquet(work / "table.parquet")


def open_study(folder: str | os.PathLike[str]) -> Study:
    """Open the study that a folder holds.

    Raises:
        FileNotFoundError: there is no such folder.
        RunFolderError: it holds no study, or is damaged.
    """
    import polars as pl

    from tidegate import _folder

    path = Path(folder)
    manifest = _folder.read_manifest(path, "study")
    try:
        points = [
            Point(number, dict(entry["set"]), str(entry["scenario"]))
            for number, entry in enumerate(manifest["points"])
        ]
        axes = list(manifest["axes"])
        rows = {}
        for name in manifest["tables"]:
            frame = pl.read_parquet(path / f"{name}.parquet")
            rows[name] = [
                {**row, **{key: points[row["point"]].values[key] for key in axes}}
                for row in frame.iter_rows(named=True)
            ]
        return Study(manifest, points, rows)
    except (KeyError, TypeError, IndexError) as error:
        raise RunFolderError(
            f"{path / _folder.MANIFEST}: {error!r} is missing; the file is damaged"
        ) from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RunFolderError(f"{path}: a table of the study cannot be read ({error})") from None
