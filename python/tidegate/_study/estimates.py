"""The numbers of a study's points: values by run, means with intervals, differences."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from tidegate._base.calls import checked_methods
from tidegate._base.estimate import Estimate, estimate, paired
from tidegate._base.lazy import Lazy
from tidegate._base.nearest import nearest
from tidegate._run.metric import KINDS, WORDS, is_absent_zero, no_number, split
from tidegate._run.words import possible
from tidegate._study.columns import PLACE, Columns, point_column
from tidegate._study.layout import find_key
from tidegate._study.points import Point
from tidegate._study.tables import StudyTables
from tidegate.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Lazy("polars")

#: Which point of a study: its varied keys with their values, its number, or the only one there is.
Where = Mapping[str, Any] | int | None


#: Columns of numbers that are kept for the next question: 8 bytes a run each.
_COLUMNS = 16


@checked_methods
class StudyEstimates(StudyTables):
    """The numbers of a study's points: values by run, means with intervals, differences."""

    def __init__(self, manifest: dict[str, Any], points: Sequence[Point], columns: Columns) -> None:
        super().__init__(manifest, points, columns)
        self._numbers: dict[str, pl.Series] = {}
        self._elements: dict[str, list[str]] = {}
        self._estimates: dict[tuple[str, int], Estimate] = {}

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
        if len(wanted) < len(where or {}):
            raise ArgumentError(f"{where}: a varied key is there twice; keep one of the two")
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
        begin, end = self._ends[point.number], self._ends[point.number + 1]
        found: list[float | None] = self._column(metric)[begin:end].to_list()
        return found

    def counts(self) -> list[int]:
        """Return how many runs each point has."""
        return [end - begin for begin, end in pairwise(self._ends)]

    @functools.cached_property
    def _ends(self) -> list[int]:
        """Where the runs of each point begin among all; at last where they end."""
        runs = self._columns.table("runs")
        assert runs is not None
        of_points = runs.group_by(point_column()).len().sort("point").collect()
        found = dict(zip(of_points["point"], of_points["len"], strict=True))
        return [0, *accumulate(found.get(point.number, 0) for point in self.points)]

    def _column(self, metric: str) -> pl.Series:
        """Return a number of every run, in the order of points and replications."""
        kept = self._numbers.get(metric)
        if kept is None:
            kept = self._numbers[metric] = self._read(metric)
            if len(self._numbers) > _COLUMNS:
                del self._numbers[next(iter(self._numbers))]
        return kept

    def _read(self, metric: str) -> pl.Series:
        runs = self._columns.table("runs")
        assert runs is not None
        if metric in self._metrics:
            return _plain(metric, runs.select(metric).collect()[metric])
        kind, _, rest = metric.partition(".")
        if not rest or kind not in KINDS:
            raise UnknownNameError(nearest("metric", metric, self.metrics))
        tables = {name: table for table in reversed(KINDS[kind]) for name in self._names(table)}
        name, column = split(kind, rest, tables)
        table = self._columns.table(tables[name])
        assert table is not None
        known = self._columns.columns(tables[name])
        there = column in known and column not in WORDS
        if not there and not is_absent_zero(column):
            raise no_number(f"{kind}.{name}", column, known)
        absent = pl.lit(0.0) if column.startswith("limited_by.") or is_absent_zero(column) else pl.lit(None)
        value = pl.col(column).fill_null(absent) if there else absent
        of_name = table.filter(pl.col("name") == name).select(PLACE, value.alias(column)).collect()
        places = runs.select(PLACE).collect()
        if not of_name[PLACE].equals(places[PLACE]):
            of_name = places.join(of_name, on=PLACE, how="left", maintain_order="left")
        return _plain(metric, of_name[column])

    def _names(self, table: str) -> list[str]:
        """Return the names of a table's elements, in the order in which they are met."""
        if table not in self._elements:
            found = self._columns.table(table)
            names: list[str] = []
            if found is not None:
                names = found.select("name").unique(maintain_order=True).collect()["name"].to_list()
            self._elements[table] = names
        return self._elements[table]

    def estimate(self, metric: str, where: Where = None) -> Estimate:
        """Return the mean of a metric at a point, with its 95% interval.

        There is no interval where the point's runs cannot differ (:attr:`Point.varies`).

        Raises:
            UnknownNameError: there is no such metric or point.
        """
        point = self.point(where)
        key = (metric, point.number)
        if key not in self._estimates:
            found = estimate(self.values(metric, point.number), possible(metric))
            self._estimates[key] = found if point.varies else found.single()
        return self._estimates[key]

    def difference(self, metric: str, where: Where, against: Where) -> Estimate:
        """Return the mean of (``where`` − ``against``) with its 95% interval, pair by pair.

        Replication i of both saw the same network, so what is common to them cancels. A point that ran
        once, because nothing is random there, stands beside each replication of the other. There is no
        interval where the runs of neither point can differ.

        Raises:
            UnknownNameError: there is no such metric or point.
        """
        one, other = self.point(where), self.point(against)
        these, those = self.values(metric, one.number), self.values(metric, other.number)
        if len(these) == 1 and not one.varies:
            these = these * len(those)
        elif len(those) == 1 and not other.varies:
            those = those * len(these)
        found = paired(these, those, possible(metric))
        return found if one.varies or other.varies else found.single()

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

    def baselines(self) -> list[Mapping[str, Any] | None]:
        """Return what differences are taken from: each axis's first value by itself.

        Points that differ in two axes are not compared: their difference has no cause. None stands for the
        first point, where axes move together.
        """
        first = self.points[0].values
        several = [key for key in self.axes if len({point.values[key] for point in self.points}) > 1]
        each: list[Mapping[str, Any] | None] = [{key: first[key]} for key in several]
        try:
            for baseline in each:
                self.against(baseline)
        except UnknownNameError:
            return [None]
        return each


def _plain(metric: str, column: pl.Series) -> pl.Series:
    """Return a column as numbers.

    Raises:
        UnknownNameError: it has words or lists.
    """
    if not (column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null)):
        raise UnknownNameError(f"{metric} is no number")
    return column.cast(pl.Float64)
