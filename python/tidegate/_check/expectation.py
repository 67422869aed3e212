"""One expectation: a number, a comparison and a bound."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate import _core
from tidegate._run.words import is_share, possible
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from tidegate._base.estimate import Estimate

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
#: Some names have spaces: ``gate.link.drops.random loss``.
_FORM = re.compile(r"\s*(\S[^<>]*?)\s*(<=|>=|<|>)\s*([0-9.eE+-]+)\s*(\S.*?)?\s*")
#: Who reads the units of a number, by the end of its name, and what such a number counts in what that gives.
_READ: dict[str, tuple[Callable[[str, str], int], float]] = {
    "_bps": (_core.read_rate, 1.0),
    "_bps_mean": (_core.read_rate, 1.0),
    "_ms": (_core.read_span, 1e9),
    "_s": (_core.read_span, 1e12),
}
#: Units of counts.
_COUNTS = {
    "_packets": {"packets": 1.0, "packet": 1.0},
    "_cells": {"cells": 1.0, "cell": 1.0},
    "_segments": {"segments": 1.0, "segment": 1.0},
    "_bytes": {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
}
#: Numbers that are counted and whose names end in no unit.
_PLAIN = re.compile(
    r"(.*\.)?((segments|packets|calls|media_frames|slots|waiting)_\w+|\w*(timeouts|retransmits|changes|reductions)"
    r"|finished|unfinished|stalls|switches|sources|flows|qoe)|.*\.(back_)?drops\..*"
)


@dataclass(frozen=True)
class Expectation:
    """A number of a run, named as in :meth:`tidegate.Study.values`, and its bound."""

    metric: str
    relation: str
    bound: float
    #: As it was written.
    text: str
    #: File and line that it was read from, such as ``limits.txt:3``.
    place: str = ""

    @staticmethod
    def parse(text: str, place: str = "") -> Expectation:
        """Read ``flow.bulk.goodput_bps > 20e6``; the bound may have a unit: ``> 20 Mbit/s``.

        ``place``: file and line, for messages.

        Raises:
            ArgumentError: it is no comparison, the unit does not fit the number's name, or the number never
                reaches the bound.
        """
        try:
            metric, relation, bound = _read(text)
        except ArgumentError as error:
            raise ArgumentError(f"{place}: {error}" if place else str(error)) from None
        return Expectation(metric, relation, bound, text.strip(), place)

    @property
    def asks_for_none(self) -> bool:
        """Whether it asks that nothing is there: ``timeouts <= 0``."""
        return self.relation == "<=" and self.bound == 0

    def judge(self, measured: Estimate, runs: int, at_least: Estimate | None = None) -> str:
        """Return whether it holds: by the whole 95% interval or, where there is none, by the one value.

        A number that no run has fails. One that some runs lack never holds: it fails where the interval of
        those that have it does, and is else undecided.

        Args:
            measured: the mean over the runs that have the number.
            runs: how many runs there are.
            at_least: of a time until something is done, the mean in which a run that lacks it counts as long
                as it was watched.
        """
        if measured.mean is None:
            return FAILS
        if measured.n == runs:
            return self._verdict(measured)
        if not is_completion(self.metric):
            surely = measured
        elif at_least is not None and self.relation.startswith("<"):
            surely = at_least
        else:
            return UNDECIDED
        return FAILS if surely.half_width is not None and self._verdict(surely) == FAILS else UNDECIDED

    def _verdict(self, measured: Estimate) -> str:
        assert measured.mean is not None
        holds = _COMPARE[self.relation]
        interval = [end for end in (measured.low, measured.high) if end is not None]
        ends = [holds(end, self.bound) for end in interval or [measured.mean]]
        return HOLDS if all(ends) else UNDECIDED if any(ends) else FAILS


def is_completion(metric: str) -> bool:
    """Tell whether a number is the time until something is done, which runs lack that end before."""
    return metric.rpartition(".")[2] == "completion_s"


def verdict_of(verdicts: Iterable[str]) -> str:
    """Return ``fails`` if any expectation fails, else ``undecided`` if any is, else ``holds``."""
    found = {*verdicts}
    return next((verdict for verdict in (FAILS, UNDECIDED) if verdict in found), HOLDS)


def _read(text: str) -> tuple[str, str, float]:
    """Return the number's name, the comparison and the bound.

    Raises:
        ArgumentError: as :meth:`Expectation.parse`.
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
    if found[4] and re.search("[<>]", found[4]):
        raise ArgumentError(f'read "{text}"; these are two comparisons: each is an expectation of its own')
    bound *= _worth(found[1], found[4], text, text[found.start(3) :].strip())
    _check_possible(found[1], bound, text)
    return found[1], found[2], bound


def _worth(metric: str, unit: str | None, text: str, written: str) -> float:
    """Return what a unit is worth in that at the end of a number's name; ``written``: the bound with it."""
    if unit is None:
        return 1.0
    for end, (read, scale) in _READ.items():
        if metric.endswith(end):
            return _read_one(read, unit, text, written) / scale
    units = next((units for end, units in _COUNTS.items() if metric.endswith(end)), {"%": 0.01})
    # Of a name that no run has another message says so.
    if unit == "%" in units and not is_share(metric) and _PLAIN.fullmatch(metric):
        raise ArgumentError(
            f'read "{text}"; "{unit}" is no unit of {metric}, a plain count; units here: none'
        )
    if unit not in units:
        known = ", ".join(each for each in units if f"{each}s" not in units)
        ends = " or ".join(_ends_with(unit))
        others = f"; names of numbers in {unit} end in {ends}" if ends else ""
        raise ArgumentError(
            f'read "{text}"; "{unit}" is no unit of {metric}; units here: {known}, or none{others}'
        )
    return units[unit]


def _ends_with(unit: str) -> list[str]:
    """Return the ends of the names of numbers that are rates or times, as ``unit`` is."""
    ends = []
    for end, (read, _) in _READ.items():
        try:
            read("", f"1 {unit}")
        except ArgumentError:
            continue
        ends.append(end)
    return ends


def _read_one(read: Callable[[str, str], int], unit: str, text: str, written: str) -> int:
    """Return what one of a unit is; what is wrong with it is said of the bound as it was written."""
    try:
        return read(f'read "{text.strip()}"', f"1 {unit}")
    except ArgumentError as error:
        number = written.removesuffix(unit).strip()
        message = str(error).replace(f'"1 {unit}"', f'"{written}"')
        raise ArgumentError(message.replace('write "1 ', f'write "{number} ')) from None


def _check_possible(metric: str, bound: float, text: str) -> None:
    """Refuse a bound that says nothing: the number lies always on one side of it.

    Raises:
        ArgumentError: it does.
    """
    least, greatest = possible(metric) or (-math.inf, math.inf)
    if not math.isfinite(bound):
        raise ArgumentError(f'read "{text}"; the bound is larger than any number of a run')
    if least <= bound <= greatest:
        return
    end = f"above {greatest:g}" if bound > greatest else f"below {least:g}"
    meant = "; write 2% or 0.02 for two per cent" if greatest == 1.0 else ""
    raise ArgumentError(f'read "{text}"; {metric} is never {end}, so this says nothing{meant}')
