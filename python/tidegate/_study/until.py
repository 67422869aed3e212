"""When a point of a study has had enough replications."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tidegate._base.calls import checked
from tidegate._base.estimate import estimate
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

    def satisfied(self, values: Sequence[float | None]) -> bool:
        """Tell whether the interval of these values is narrow enough."""
        found = estimate(values)
        if found.mean is None or found.half_width is None:
            return False
        wanted = self.absolute if self.relative is None else self.relative * abs(found.mean)
        return wanted is not None and found.half_width <= wanted

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
