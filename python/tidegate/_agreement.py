"""What several engines say of one scenario, and whether they agree."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate import _core, _text
from tidegate._estimate import CONFIDENCE, Estimate, estimate
from tidegate._numbers import gate_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._run_value import Run


#: Engines in the order in which they are shown.
ORDER = ("theory", "sim", "live")
#: Replications of an engine that has any, unless told otherwise.
RUNS = 3
#: Relative difference below which two engines agree, unless told otherwise.
TOLERANCE = 0.05
#: Flows that have rows of their own.
_SINGLE = 3

AGREE, DIFFER, OPEN = "agree", "differ", "open"


@dataclass(frozen=True)
class EngineRuns:
    """One engine's runs of a scenario; a theory has one."""

    engine: str
    runs: list[Run]

    @property
    def label(self) -> str:
        """The engine, and how many runs it made if it can make several."""
        return self.engine if self.engine == "theory" else f"{self.engine} ×{len(self.runs)}"


@dataclass(frozen=True)
class Quantity:
    """A number that engines are compared by.

    ``place`` says where it stands in a summary: ``flow NAME``, ``gate NAME`` or ``all``. ``scale``
    divides it for people, ``floor`` is a difference (not divided) too small to speak of.
    """

    name: str
    place: str
    column: str
    unit: str
    scale: float = 1.0
    floor: float = 0.0

    def of(self, summary: dict[str, Any]) -> float | None:
        """Return the number; None where an engine does not give it."""
        kind, _, name = self.place.partition(" ")
        if kind == "all":
            return _total(summary, self.column)
        rows: list[dict[str, Any]] = [row for row in summary[f"{kind}s"] if row["name"] == name]
        row = rows[0] if rows else {}
        if self.column == "resent":
            return _share(row.get("segments_retransmitted"), row.get("segments_sent"))
        value = row.get(self.column)
        return None if value is None else float(value)


@dataclass(frozen=True)
class Difference:
    """What one engine says less what the reference says, and the judgement.

    ``verdict`` is ``agree`` (the whole 95% interval is within the tolerance), ``differ`` (all of
    it is outside) or ``open``; ``half_width`` is None where an engine made one run only, and
    then the difference alone is judged.
    """

    engine: str
    difference: float
    half_width: float | None
    relative: float | None
    verdict: str


@dataclass(frozen=True)
class Row:
    """A quantity, what every engine says of it, and the differences from the reference."""

    quantity: Quantity
    values: dict[str, Estimate]
    differences: dict[str, Difference]


class Agreement:
    """What is compared, and what follows of it: rows, judgements, sentences."""

    def __init__(
        self,
        title: str,
        engines: Sequence[EngineRuns],
        missing: dict[str, str],
        gate: str | None,
        tolerance: float = TOLERANCE,
    ) -> None:
        self.title = title
        self.engines = list(engines)
        self.missing = missing
        self.gate = gate
        self.tolerance = tolerance
        names = [each.engine for each in engines]
        #: The engine that the others are compared with.
        self.reference = "sim" if "sim" in names else names[0]
        self.rows = [row for row in map(self._row, self._quantities()) if row.values]

    @property
    def seed(self) -> int | None:
        """The seed of every run; None where nothing was drawn."""
        return next((run.seed for each in self.engines for run in each.runs if run.seed is not None), None)

    @property
    def warnings(self) -> list[str]:
        """Return the runs' warnings, each once, with its engine."""
        told: dict[str, list[str]] = {}
        for each in self.engines:
            for warning in (w for run in each.runs for w in run.warnings):
                engines = told.setdefault(warning, [])
                if each.engine not in engines:
                    engines.append(each.engine)
        return [f"{', '.join(engines)}: {warning}" for warning, engines in told.items()]

    @property
    def sentences(self) -> list[str]:
        """What agrees and what does not, in words; one sentence for each engine and verdict."""
        told = []
        for each in self.engines:
            if each.engine == self.reference:
                continue
            told += self._sentences(each.engine)
        told += [f"{engine} says nothing: {reason}." for engine, reason in self.missing.items()]
        return told

    def _sentences(self, engine: str) -> list[str]:
        found = [(row, row.differences[engine]) for row in self.rows if engine in row.differences]
        pair = f"{engine} and {self.reference}"
        if not found:
            return [f"{pair} have no number in common."]
        same = [row.quantity.name for row, told in found if told.verdict == AGREE]
        apart = [
            f"{row.quantity.name} ({_apart(row, told)})" for row, told in found if told.verdict == DIFFER
        ]
        unknown = [row.quantity.name for row, told in found if told.verdict == OPEN]
        sentences = []
        within = f"within {100 * self.tolerance:g}%"
        if same:
            what = "everything" if len(same) == len(found) else _listed(same)
            sentences.append(f"{pair} agree {within} on {what}.")
        if apart:
            sentences.append(f"{pair} differ in {_listed(apart)}.")
        if unknown:
            sentences.append(
                f"{pair}: so many runs do not decide {_listed(unknown)} (the interval reaches beyond the "
                "tolerance)."
            )
        return sentences

    def _quantities(self) -> list[Quantity]:
        first = next(each for each in self.engines if each.engine == self.reference).runs[0].summary
        flows = [row["name"] for row in first["flows"]]
        several = len(flows) > 1
        found = []
        if len(flows) > _SINGLE:
            found += [
                Quantity("goodput of all", "all", "goodput_bps", "Mbit/s", 1e6),
                Quantity("fairness (Jain)", "all", "fairness", "", 1.0, 0.01),
                Quantity("resent", "all", "resent", "%", 0.01, 0.001),
                Quantity("time-outs", "all", "timeouts", "", 1.0, 0.5),
            ]
        else:
            for name in flows:
                of = f" of {name}" if several else ""
                place = f"flow {name}"
                found += [
                    Quantity(f"goodput{of}", place, "goodput_bps", "Mbit/s", 1e6),
                    Quantity(f"RTT mean{of}", place, "rtt_mean_ms", "ms", 1.0, 0.05),
                    Quantity(f"RTT p99{of}", place, "rtt_p99_ms", "ms", 1.0, 0.05),
                    Quantity(f"window mean{of}", place, "cwnd_mean_segments", "segments", 1.0, 0.5),
                    Quantity(f"resent{of}", place, "resent", "%", 0.01, 0.001),
                    Quantity(f"time-outs{of}", place, "timeouts", "", 1.0, 0.5),
                    Quantity(f"completion{of}", place, "completion_s", "s", 1.0, 0.001),
                ]
        if self.gate is not None:
            row = gate_row(first, self.gate) or {}
            unit = "cells" if _text.counts_cells(row) else "packets"
            place = f"gate {self.gate}"
            found += [
                Quantity("utilisation", place, "utilisation", "%", 0.01, 0.002),
                Quantity("loss", place, "loss", "%", 0.01, 0.001),
                Quantity("queue mean", place, f"queue_mean_{unit}", unit, 1.0, 0.5),
                Quantity("queue max", place, f"queue_max_{unit}", unit, 1.0, 1.5),
                Quantity("wait p50", place, "queue_delay_p50_ms", "ms", 1.0, 0.05),
                Quantity("wait p99", place, "queue_delay_p99_ms", "ms", 1.0, 0.05),
            ]
        return found + _of_calls(first)

    def _row(self, quantity: Quantity) -> Row:
        values: dict[str, Estimate] = {}
        for each in self.engines:
            found = estimate(quantity.of(run.summary) for run in each.runs)
            if found.mean is not None:
                # A theory is not a sample: it has no spread.
                values[each.engine] = Estimate(found.mean, 0.0, 0.0, 1) if each.engine == "theory" else found
        differences = {}
        base = values.get(self.reference)
        if base is not None:
            for engine, found in values.items():
                if engine != self.reference:
                    differences[engine] = self._judge(quantity, engine, found, base)
        return Row(quantity, values, differences)

    def _judge(self, quantity: Quantity, engine: str, this: Estimate, that: Estimate) -> Difference:
        one, other = this.mean or 0.0, that.mean or 0.0
        difference = one - other
        half = welch(this, that)
        allowed = max(self.tolerance * max(abs(one), abs(other)), quantity.floor)
        spread = half or 0.0
        if abs(difference) + spread <= allowed:
            verdict = AGREE
        elif abs(difference) - spread > allowed:
            verdict = DIFFER
        else:
            verdict = OPEN
        relative = difference / other if other else None
        return Difference(engine, difference, half, relative, verdict)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate compare --engines … --json`` prints."""
        first = self.engines[0].runs[0].summary
        return {
            "scenario": first["scenario"],
            "seed": self.seed,
            "duration_s": first["duration_s"],
            "measured_from_s": first["measured_from_s"],
            "gate": self.gate,
            "reference": self.reference,
            "tolerance": self.tolerance,
            "engines": [
                {"engine": each.engine, "summaries": [run.summary for run in each.runs]}
                for each in self.engines
            ],
            "missing": self.missing,
            "quantities": [
                {
                    "quantity": row.quantity.name,
                    "place": row.quantity.place,
                    "column": row.quantity.column,
                    "values": {engine: found.to_dict() for engine, found in row.values.items()},
                    "differences": {
                        engine: {
                            "difference": told.difference,
                            "half_width": told.half_width,
                            "relative": told.relative,
                            "verdict": told.verdict,
                        }
                        for engine, told in row.differences.items()
                    },
                }
                for row in self.rows
            ],
            "sentences": self.sentences,
            "warnings": self.warnings,
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def _of_calls(summary: dict[str, Any]) -> list[Quantity]:
    """Return what engines are compared by where there are calls: pools, and sources if several."""
    pools = [row for row in summary.get("pools", []) if "calls_blocked" in row][:_SINGLE]
    sources = summary.get("calls", [])[:_SINGLE]
    found = []
    for row in pools:
        of, place = f" of {row['name']}", f"pool {row['name']}"
        found += [
            Quantity(f"utilisation{of}", place, "utilisation", "%", 0.01, 0.002),
            *_calls(of, place, row),
        ]
        if row["calls_waited"]:
            found.append(Quantity(f"waiting{of}", place, "waiting_mean_calls", "calls", 1.0, 0.05))
    if len(sources) > 1:
        for row in sources:
            found += _calls(f" of {row['name']}", f"call {row['name']}", row)
    return found


def _calls(of: str, place: str, row: dict[str, Any]) -> list[Quantity]:
    found = [Quantity(f"blocked{of}", place, "calls_blocked", "%", 0.01, 0.001)]
    if row["calls_waited"]:
        found += [
            Quantity(f"call wait mean{of}", place, "call_wait_mean_s", "s", 1.0, 1e-6),
            Quantity(f"call wait p99{of}", place, "call_wait_p99_s", "s", 1.0, 1e-6),
        ]
    if row["calls_abandoned"]:
        found.append(Quantity(f"abandoned{of}", place, "calls_abandoned_share", "%", 0.01, 0.001))
    return found


def welch(this: Estimate, that: Estimate) -> float | None:
    """Return half of the 95% interval of a difference of two means (Welch's t).

    None where one of them has a single run and so no spread.
    """
    if this.half_width is None or that.half_width is None or this.sd is None or that.sd is None:
        return None
    parts = [(each.sd or 0.0) ** 2 / each.n for each in (this, that)]
    error = sum(parts)
    if error == 0:
        return 0.0
    below = sum(part**2 / (each.n - 1) for part, each in zip(parts, (this, that), strict=True) if each.n > 1)
    freedom = max(1, math.floor(error**2 / below)) if below else 1
    quantile = _core.student_t((1 + CONFIDENCE) / 2, freedom)
    return None if quantile is None else quantile * math.sqrt(error)


def _total(summary: dict[str, Any], column: str) -> float | None:
    flows = summary["flows"]
    goodputs = [row.get("goodput_bps") for row in flows]
    if column == "resent":
        sent = [row.get("segments_sent") for row in flows]
        again = [row.get("segments_retransmitted") for row in flows]
        return None if None in sent or None in again else _share(sum(again), sum(sent))
    if column in ("goodput_bps", "fairness"):
        if None in goodputs:
            return None
        total, squares = sum(goodputs), sum(each * each for each in goodputs)
        if column == "goodput_bps":
            return float(total)
        return total**2 / (len(flows) * squares) if squares else None
    values = [row.get(column) for row in flows]
    return None if None in values else float(sum(values))


def _share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _apart(row: Row, told: Difference) -> str:
    more = "more" if told.difference > 0 else "less"
    if told.relative is not None and abs(told.relative) < 10:
        return f"{_text.percent(abs(told.relative), 2)}% {more}"
    unit = f" {row.quantity.unit}" if row.quantity.unit else ""
    return f"{_text.number(abs(told.difference) / row.quantity.scale)}{unit} {more}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
