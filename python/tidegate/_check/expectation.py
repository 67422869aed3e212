"""One expectation: a number, a comparison and a bound."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate._run.words import possible
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidegate._base.estimate import Estimate

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_FORM = re.compile(r"\s*(\S+?)\s*(<=|>=|<|>)\s*([0-9.eE+-]+)\s*(\S.*?)?\s*")
#: What a unit is worth, in the unit at the end of a number's name.
_UNITS = {
    "_bps": {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    "_ms": {"us": 1e-3, "ms": 1.0, "s": 1e3},
    "_s": {"us": 1e-6, "ms": 1e-3, "s": 1.0},
    "_packets": {"packets": 1.0},
    "_cells": {"cells": 1.0},
    "_segments": {"segments": 1.0},
    "_bytes": {"B": 1.0, "kB": 1e3, "MB": 1e6},
}


@dataclass(frozen=True)
class Expectation:
    """A number of a run, named as in :meth:`tidegate.Study.values`, and its bound."""

    metric: str
    relation: str
    bound: float
    #: As it was written.
    text: str

    @staticmethod
    def parse(text: str) -> Expectation:
        """Read ``flow.bulk.goodput_bps > 20e6``; the bound may have a unit: ``> 20 Mbit/s``.

        Raises:
            ArgumentError: it is no comparison, or the unit does not fit the number's name.
        """
        found = _FORM.fullmatch(text)
        try:
            bound = float(found[3]) if found else None
        except ValueError:
            bound = None
        if found is None or bound is None:
            raise ArgumentError(
                f'read "{text}"; write a number, a comparison and a bound, such as '
                '"flow.bulk.goodput_bps > 20e6" or "gate.link.queue_delay_p99_ms < 100"'
            )
        return Expectation(found[1], found[2], bound * _worth(found[1], found[4], text), text.strip())

    def judge(self, measured: Estimate) -> str:
        """Return whether it holds: by the whole 95% interval or, where there is none, by the one value.

        A number that no run has fails.
        """
        holds = _COMPARE[self.relation]
        if measured.mean is None:
            return FAILS
        ends = [
            holds(measured.mean if end is None else end, self.bound)
            for end in measured.interval(possible(self.metric))
        ]
        return HOLDS if all(ends) else UNDECIDED if any(ends) else FAILS


def verdict_of(verdicts: Iterable[str]) -> str:
    """Return ``fails`` if any expectation fails, else ``undecided`` if any is, else ``holds``."""
    found = {*verdicts}
    return next((verdict for verdict in (FAILS, UNDECIDED) if verdict in found), HOLDS)


def _worth(metric: str, unit: str | None, text: str) -> float:
    if unit is None:
        return 1.0
    if unit == "%":
        return 0.01
    units: dict[str, Any] = next((units for end, units in _UNITS.items() if metric.endswith(end)), {})
    if unit not in units:
        known = ", ".join([*units, "%"])
        raise ArgumentError(f'read "{text}"; "{unit}" is no unit of {metric}; units here: {known}, or none')
    worth: float = units[unit]
    return worth
