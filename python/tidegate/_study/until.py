"""When a point of a study has had enough replications, and the numbers that decide it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tidegate._base.calls import checked
from tidegate._base.estimate import estimate, most_if_none
from tidegate._run.metric import chances, metric_of
from tidegate._run.summary import OF_GATE, figures_of, main_gate
from tidegate.errors import ArgumentError


@dataclass(frozen=True)
class Until:
    """When a point has had enough replications: its interval is narrow.

    ``metric`` is a name as in :meth:`Study.estimate`. Give ``relative`` (half width over
    the mean's size, such as 0.02) or ``absolute`` (half width, in the metric's unit). A
    point has ``at_least`` replications and then ``step`` more at a time up to ``at_most``;
    it is judged after whole steps only, by its own results, so the number of workers
    changes nothing.
    """

    metric: str
    relative: float | None = None
    absolute: float | None = None
    at_least: int = 8
    at_most: int = 256
    step: int = 8

    def __post_init__(self) -> None:
        _check_kinds(self.metric, self.relative, self.absolute, self.at_least, self.at_most, self.step)
        if (self.relative is None) == (self.absolute is None):
            raise ArgumentError("until: give one of relative and absolute")
        width = self.relative if self.relative is not None else self.absolute
        if width is None or not width > 0:
            raise ArgumentError(f"until: read a half width of {width}; write one above 0")
        if not 2 <= self.at_least <= self.at_most or self.step < 1:
            raise ArgumentError(
                f"until: read at_least {self.at_least}, at_most {self.at_most}, step {self.step}; "
                "an interval needs 2 replications, at_most is not below at_least, step is 1 or more"
            )

    def satisfied(self, values: Sequence[float | None], chances: float | None = None) -> bool:
        """Tell whether the interval of these values is narrow enough.

        ``chances``: of events that are counted, in how many chances none or some were seen.
        """
        found = estimate(values)
        if found.mean is None or found.half_width is None:
            return False
        half = found.half_width if found.mean or chances is None else most_if_none(chances)
        wanted = self.absolute if self.relative is None else self.relative * abs(found.mean)
        return wanted is not None and half <= wanted

    @staticmethod
    def parse(text: str, *, at_least: int | None = None, at_most: int | None = None) -> Until:
        """Read ``METRIC:±2%`` or ``METRIC:±0.5``, as on the command line.

        Raises:
            ArgumentError: it is neither.
        """
        found = re.fullmatch(r"(?P<metric>.+):\s*(?:±|\+-)?\s*(?P<size>[0-9.eE+-]+)\s*(?P<percent>%?)", text)
        try:
            size = float(found["size"]) if found else 0.0
        except ValueError:
            found = None
        if found is None:
            raise ArgumentError(
                f'until: read "{text}"; write a metric and a half width, such as goodput_bps:±2% '
                "or gate.link.loss:±0.001"
            )
        relative, absolute = (size / 100, None) if found["percent"] else (None, size)
        least = at_least or min(Until.at_least, at_most or Until.at_least)
        most = at_most or max(Until.at_most, least)
        return Until(found["metric"].strip(), relative, absolute, least, most)


@checked
def _check_kinds(
    metric: str, relative: float | None, absolute: float | None, at_least: int, at_most: int, step: int
) -> None:
    """Refuse fields of other kinds."""


#: A number of one run, and in how many chances what it counts could have happened.
Counted = tuple[float | None, float | None]


class HasGates(Protocol):
    """A point whose gates are known before its runs."""

    @property
    def gate_names(self) -> list[str]:
        """What they are called in the scenario."""

    def has_gate(self, gate: str) -> bool:
        """Tell whether runs will have a gate of this name."""


class Stopping:
    """What was asked for with ``until``, of each run.

    A number that names no gate, such as ``loss``, is of the gate that the study reports: the one that was
    asked for, or the first of the points' main gates that every point has.
    """

    def __init__(
        self, until: Until | None, points: Sequence[HasGates], gate: str | None, *, is_part: bool
    ) -> None:
        """Take what is known before the runs.

        Raises:
            ArgumentError: it is not known of which gate the number is.
        """
        self._points = points
        self._gate = gate
        self._until = until
        self._mains: dict[int, str | None] = {}
        #: By point and replication; of a gate that is not known yet, those of all gates by name.
        self._values: dict[int, dict[int, Counted | dict[str, Counted]]] = {}
        self._of_gate = False
        if self._until is None:
            return
        metric = self._until.metric
        self._of_gate = metric in OF_GATE
        if self._of_gate and is_part:
            raise ArgumentError(
                f"until: {metric} is of the gate that limits the flows most, which a part of a study does "
                f"not know; name the gate, such as gate.NAME.{metric}"
            )
        names = [name for point in points[:1] for name in point.gate_names]
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
        value: Counted | dict[str, Counted]
        if not self._of_gate:
            value = metric_of(summary, kept["measured"], metric), _chances(summary, metric)
        elif self._gate is not None:
            value = self._at(summary, self._gate)
        else:
            value = {row["name"]: self._at(summary, row["name"]) for row in summary["gates"]}
        self._values.setdefault(point, {})[replication] = value
        if self.is_open and replication == 0:
            self._mains[point] = main_gate(summary)
            self._choose()

    def _at(self, summary: dict[str, Any], gate: str) -> Counted:
        assert self._until is not None
        metric = self._until.metric
        return figures_of(summary, gate)[metric], _chances(summary, f"gate.{gate}.{metric}")

    def _choose(self) -> None:
        """Choose the gate as soon as no other can come before it."""
        for point in range(len(self._points)):
            if point not in self._mains:
                return
            main = self._mains[point]
            if main is not None and self._everywhere(main):
                self._gate = main
                return
        # None of the main gates is everywhere, so the study has no such number.
        self._gate = ""

    def _everywhere(self, gate: str) -> bool:
        return all(point.has_gate(gate) for point in self._points)

    def is_satisfied(self, point: int, runs: int) -> bool:
        """Tell whether the interval over a point's first runs is narrow enough."""
        assert self._until is not None
        found = [self._values[point][number] for number in range(runs)]
        gate = self._gate or ""
        each = [value.get(gate, (None, None)) if isinstance(value, dict) else value for value in found]
        counted = [of for _, of in each if of is not None]
        return self._until.satisfied([value for value, _ in each], sum(counted) if counted else None)

    def forget(self, point: int) -> None:
        """Drop the numbers of a point that has enough runs."""
        self._values.pop(point, None)


def _chances(summary: dict[str, Any], metric: str) -> float | None:
    return chances(metric, 1, lambda name: metric_of(summary, {}, name))
