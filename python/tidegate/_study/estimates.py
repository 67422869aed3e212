"""The numbers of a study's points: values by run, means with intervals, differences."""

from __future__ import annotations

import functools
import math
from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from tidegate._base.calls import checked_methods
from tidegate._base.estimate import Estimate, estimate, paired
from tidegate._base.nearest import nearest
from tidegate._run.metric import KINDS, WORDS, is_absent_zero, no_number, split
from tidegate._run.rows import PLACE
from tidegate._run.words import possible
from tidegate._study.columns import Columns, place_of
from tidegate._study.layout import find_key
from tidegate._study.points import Point
from tidegate._study.tables import StudyTables
from tidegate.errors import ArgumentError, UnknownNameError

#: Which point of a study: its varied keys with their values, its number, or the only one there is.
Where = Mapping[str, Any] | int | None


#: Columns of numbers that are kept for the next question: 8 bytes a run each.
_COLUMNS = 16


@checked_methods
class StudyEstimates(StudyTables):
    """The numbers of a study's points: values by run, means with intervals, differences."""

    def __init__(self, manifest: dict[str, Any], points: Sequence[Point], columns: Columns) -> None:
        super().__init__(manifest, points, columns)
        self._numbers: dict[str, array[float]] = {}
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
        return [None if math.isnan(value) else value for value in self._column(metric)[begin:end]]

    def counts(self) -> list[int]:
        """Return how many runs each point has."""
        return [end - begin for begin, end in pairwise(self._ends)]

    @functools.cached_property
    def _ends(self) -> list[int]:
        """Where the runs of each point begin among all; at last where they end."""
        runs = self._columns.table("runs")
        assert runs is not None
        places = runs.values(PLACE)
        ends = (bisect_left(places, place_of(point.number + 1, 0)) for point in self.points)
        return [0, *ends]

    def _column(self, metric: str) -> array[float]:
        """Return a number of every run, in the order of points and replications; NaN where there is none."""
        kept = self._numbers.get(metric)
        if kept is None:
            kept = self._numbers[metric] = self._read(metric)
            if len(self._numbers) > _COLUMNS:
                del self._numbers[next(iter(self._numbers))]
        return kept

    def _read(self, metric: str) -> array[float]:
        runs = self._columns.table("runs")
        assert runs is not None
        found, column = runs, metric
        if metric not in self._metrics:
            kind, _, rest = metric.partition(".")
            if not rest or kind not in KINDS:
                raise UnknownNameError(nearest("metric", metric, self.metrics))
            tables = {name: table for table in reversed(KINDS[kind]) for name in self._names(table)}
            name, column = split(kind, rest, tables)
            table = self._columns.table(tables[name])
            assert table is not None
            known = self._columns.columns(tables[name])
            absent_zero = is_absent_zero(column)
            if (column not in known or column in WORDS) and not absent_zero:
                raise no_number(f"{kind}.{name}", column, known)
            of_name = table.of(name)
            if absent_zero or column.startswith("limited_by."):
                of_name = of_name.filled(column, 0.0)
            found = runs.arranged([]).beside(of_name, [column])
        numbers = found.numbers(column)
        if numbers is None:
            raise UnknownNameError(f"{metric} is no number")
        return numbers

    def _names(self, table: str) -> list[str]:
        """Return the names of a table's elements, in the order in which they are met."""
        if table not in self._elements:
            found = self._columns.table(table)
            self._elements[table] = [] if found is None else found.distinct("name")
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
