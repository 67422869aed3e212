"""The numbers of runs that decide whether a point needs more runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidegate._run.metric import metric_of
from tidegate._run.summary import OF_GATE, figures_of, main_gate
from tidegate._study.names import check_gate, check_names, has_gate
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from tidegate._study.points import Prepared

#: A number of one run: of a gate that is not known yet, those of all gates by name.
Value = float | None | dict[str, float | None]


class Stopping:
    """What was asked for with ``until``, of each run.

    A number that names no gate, such as ``loss``, is of the gate that the study reports: the one that was
    asked for, or the first of the points' main gates that every point has.
    """

    def __init__(self, prepared: Prepared, gate: str | None, *, measured: bool, is_part: bool) -> None:
        """Take what is known before the runs.

        Raises:
            UnknownNameError: no run can have such a number, or a point has no such gate.
            ArgumentError: it is not known of which gate the number is.
        """
        check_gate(prepared, gate)
        self._prepared = prepared
        self._gate = gate
        self._until = prepared.until
        self._mains: dict[int, str | None] = {}
        #: By point and replication.
        self._values: dict[int, dict[int, Value]] = {}
        self._of_gate = False
        if self._until is None:
            return
        metric = self._until.metric
        check_names(prepared, [metric], measured=measured)
        self._of_gate = metric in OF_GATE
        if self._of_gate and is_part:
            raise ArgumentError(
                f"until: {metric} is of the gate that limits the flows most, which a part of a study does "
                f"not know; name the gate, such as gate.NAME.{metric}"
            )
        names = [name for point in prepared.points[:1] for name in point.gate_names]
        if self._of_gate and not any(self._everywhere(name) for name in names):
            raise ArgumentError(f"until: {metric} is of a gate, and the points have no gate in common")

    @property
    def is_open(self) -> bool:
        """Whether it is not known yet which gate a number is of."""
        return self._of_gate and self._gate is None

    def take(self, point: int, replication: int, kept: Mapping[str, Any]) -> None:
        """Take the number of a run; of a first run, what its main gate is."""
        assert self._until is not None
        summary, metric = kept["summary"], self._until.metric
        if not self._of_gate:
            value: Value = metric_of(summary, kept["measured"], metric)
        elif self._gate is not None:
            value = figures_of(summary, self._gate)[metric]
        else:
            value = {row["name"]: figures_of(summary, row["name"])[metric] for row in summary["gates"]}
        self._values.setdefault(point, {})[replication] = value
        if self.is_open and replication == 0:
            self._mains[point] = main_gate(summary)
            self._choose()

    def _choose(self) -> None:
        """Choose the gate as soon as no other can come before it."""
        for point in range(len(self._prepared.points)):
            if point not in self._mains:
                return
            main = self._mains[point]
            if main is not None and self._everywhere(main):
                self._gate = main
                return
        # None of the main gates is everywhere, so the study has no such number.
        self._gate = ""

    def _everywhere(self, gate: str) -> bool:
        return all(has_gate(self._prepared, point, gate) for point in range(len(self._prepared.points)))

    def values(self, point: int, runs: int) -> list[float | None]:
        """Return the numbers of a point's first runs, in order."""
        found = [self._values[point][number] for number in range(runs)]
        return [value.get(self._gate or "") if isinstance(value, dict) else value for value in found]

    def forget(self, point: int) -> None:
        """Drop the numbers of a point that has enough runs."""
        self._values.pop(point, None)
