"""What several engines say of one scenario, and whether they agree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._base.calls import checked_methods
from tidegate._base.estimate import CONFIDENCE, Estimate, estimate
from tidegate._base.text import number, percent
from tidegate._compare.quantities import Quantity, quantities_of, within_floor
from tidegate._run.completion import lengths_named
from tidegate._run.words import possible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._run.value import Run


#: Engines in the order in which they are shown.
ORDER = ("theory", "sim", "live")
#: Replications of an engine that has any, unless told otherwise.
RUNS = 3
#: Relative difference below which two engines agree, unless told otherwise.
TOLERANCE = 0.05
#: Degrees of freedom of a variance that is known.
_MANY = 1_000_000
AGREE, DIFFER, OPEN, UNJUDGED = "agree", "differ", "open", "not judged"


@dataclass(frozen=True)
class EngineRuns:
    """One engine's runs of a scenario; a theory has one."""

    engine: str
    runs: list[Run]

    @property
    def label(self) -> str:
        """The engine, and how many runs it made if they can differ."""
        return self.engine if self.is_exact else f"{self.engine} ×{len(self.runs)}"

    @property
    def is_exact(self) -> bool:
        """Whether another run would say the same: a theory, or a simulation without anything random."""
        if self.engine == "theory":
            return True
        return self.engine == "sim" and all(run.manifest.get("draws") == [] for run in self.runs)


@dataclass(frozen=True)
class Difference:
    """What one engine says less what the reference says, and the judgement.

    ``verdict`` is ``agree`` (the whole 95% interval is within ``allowed``), ``differ`` (all of it is
    outside), ``open``, or ``not judged`` where an engine that can differ made one run only: then
    there is no interval, and ``half_width`` is None. ``allowed`` is the tolerance times what the
    reference says, or the quantity's floor where that is more (``by_floor``). What is counted has no
    floor, and its interval is at least that of so many independent events.
    """

    engine: str
    difference: float
    half_width: float | None
    relative: float | None
    verdict: str
    allowed: float = 0.0
    by_floor: bool = False


@dataclass(frozen=True)
class Row:
    """A quantity, what every engine says of it, and the differences from the reference."""

    quantity: Quantity
    values: dict[str, Estimate]
    differences: dict[str, Difference]


@checked_methods
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
        first = next(each for each in self.engines if each.engine == self.reference).runs[0].summary
        self.rows = [row for row in map(self._row, quantities_of(first, gate)) if row.values]

    @property
    def seed(self) -> int | None:
        """The seed of every run; None where nothing was drawn."""
        return next((run.seed for each in self.engines for run in each.runs if run.seed is not None), None)

    @property
    def warnings(self) -> list[str]:
        """Return the runs' warnings, each once, with its engine."""
        by_warning: dict[str, list[str]] = {}
        for each in self.engines:
            for warning in (w for run in each.runs for w in run.warnings):
                engines = by_warning.setdefault(warning, [])
                if each.engine not in engines:
                    engines.append(each.engine)
        return [f"{', '.join(engines)}: {warning}" for warning, engines in by_warning.items()]

    @property
    def sentences(self) -> list[str]:
        """What agrees and what does not, in words; one sentence for each engine and verdict."""
        sentences = []
        for each in self.engines:
            if each.engine == self.reference:
                continue
            sentences += self._sentences(each.engine)
        sentences += [f"{engine} gives no result: {reason}." for engine, reason in self.missing.items()]
        return sentences

    def _sentences(self, engine: str) -> list[str]:
        found = [(row, row.differences[engine]) for row in self.rows if engine in row.differences]
        pair = f"{engine} and {self.reference}"
        if not found:
            return [f"{pair} have no number in common."]
        judged = [(row, difference) for row, difference in found if difference.verdict != UNJUDGED]
        if not judged:
            who = " and ".join(each.engine for each in self.engines if self._has_one_run(each, engine))
            return [f"{pair} are not judged: {who} made only one run, which has no interval (use --runs 3)."]
        within = f"within {100 * self.tolerance:g}%"
        same = [
            row.quantity.name
            for row, difference in found
            if difference.verdict == AGREE and not difference.by_floor
        ]
        close = [
            f"{row.quantity.name} ({within_floor(row.quantity)})"
            for row, difference in found
            if difference.verdict == AGREE and difference.by_floor
        ]
        apart = [
            f"{row.quantity.name} ({_apart(row, difference)})"
            for row, difference in found
            if difference.verdict == DIFFER
        ]
        unknown = [row.quantity.name for row, difference in found if difference.verdict == OPEN]
        single = [row.quantity.name for row, difference in found if difference.verdict == UNJUDGED]
        sentences = []
        if len(same) + len(close) == len(found):
            number = "the one number" if len(found) == 1 else f"all {len(found)} numbers"
            given = f" that {self._fewer(engine)} gives" if len(found) < len(self.rows) else ""
            small = f"; of these, the difference is too small to matter in {_listed(close)}" if close else ""
            sentences.append(f"{pair} agree {within} on {number}{given}{small}.")
        else:
            sentences += [f"{pair} agree {within} on {_listed(same)}."] if same else []
            sentences += [f"{pair} differ too little to matter in {_listed(close)}."] if close else []
        if apart:
            sentences.append(f"{pair} differ in {_listed(apart)}.")
        if unknown:
            sentences.append(
                f"{pair}: these runs do not decide {_listed(unknown)}, because the interval extends beyond "
                "the tolerance."
            )
        if single:
            sentences.append(f"{pair}: {_listed(single)} had a value in only one run and cannot be judged.")
        return sentences

    def _fewer(self, engine: str) -> str:
        """Return the one of an engine and the reference that gives fewer numbers."""
        counts = {name: sum(name in row.values for row in self.rows) for name in (engine, self.reference)}
        return min(counts, key=lambda name: counts[name])

    def _has_one_run(self, each: EngineRuns, engine: str) -> bool:
        return each.engine in (engine, self.reference) and len(each.runs) < 2 and not each.is_exact

    def _row(self, quantity: Quantity) -> Row:
        values: dict[str, Estimate] = {}
        for each in self.engines:
            values_of = (quantity.of(run.summary) for run in each.runs)
            found = estimate(values_of, possible(f".{quantity.column}"))
            if found.mean is not None:
                # What is exact is not a sample: it has no spread.
                values[each.engine] = Estimate(found.mean, 0.0, 0.0, 1) if each.is_exact else found
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
        half = welch(this, that, self._chance(quantity, engine), self._chance(quantity, self.reference))
        if quantity.counted and one == other == 0:
            # Nothing happened in any run of either.
            half = half and 0.0
        allowed = self.allowed(quantity, other)
        spread = half or 0.0
        if half is None:
            verdict = UNJUDGED
        elif abs(difference) + spread <= allowed:
            verdict = AGREE
        elif abs(difference) - spread > allowed:
            verdict = DIFFER
        else:
            verdict = OPEN
        relative = difference / other if other else None
        by_floor = bool(quantity.floor) and abs(difference) + spread > self.tolerance * abs(other)
        return Difference(engine, difference, half, relative, verdict, allowed, by_floor)

    def _chance(self, quantity: Quantity, engine: str) -> float:
        runs = next(each for each in self.engines if each.engine == engine)
        return 0.0 if runs.is_exact else quantity.chance([run.summary for run in runs.runs])

    def allowed(self, quantity: Quantity, reference: float) -> float:
        """Return the difference up to which engines agree: relative, or a least one that counts."""
        return max(self.tolerance * abs(reference), quantity.floor)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate compare --engines … --json`` prints."""
        first = self.engines[0].runs[0].summary
        exact = [each.engine for each in self.engines if each.is_exact]
        return {
            "scenario": first["scenario"],
            "seed": self.seed,
            **lengths_named([run.summary for each in self.engines for run in each.runs]),
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
                    "floor": row.quantity.floor,
                    "values": {
                        engine: (found.single() if engine in exact else found).to_dict()
                        for engine, found in row.values.items()
                    },
                    "differences": {
                        engine: {
                            "difference": difference.difference,
                            "half_width": difference.half_width,
                            "relative": difference.relative,
                            "allowed": difference.allowed,
                            "verdict": difference.verdict,
                        }
                        for engine, difference in row.differences.items()
                    },
                }
                for row in self.rows
            ],
            "sentences": self.sentences,
            "warnings": self.warnings,
        }


def welch(this: Estimate, that: Estimate, this_chance: float = 0.0, that_chance: float = 0.0) -> float | None:
    """Return half of the 95% interval of a difference of two means (Welch's t).

    ``this_chance`` and ``that_chance`` are known least variances: they stand for a variance that the runs
    show where that is less, and are not estimated from few runs. None where one of them has a single
    run and so no spread.
    """
    if this.half_width is None or that.half_width is None or this.sd is None or that.sd is None:
        return None
    error, below = 0.0, 0.0
    for each, chance in ((this, this_chance), (that, that_chance)):
        shown = (each.sd or 0.0) ** 2
        error += max(shown, chance) / each.n
        if shown >= chance and each.n > 1:
            below += (shown / each.n) ** 2 / (each.n - 1)
    if error == 0:
        return 0.0
    freedom = min(_MANY, max(1, math.floor(error**2 / below))) if below else _MANY
    quantile = _core.student_t((1 + CONFIDENCE) / 2, freedom)
    return None if quantile is None else quantile * math.sqrt(error)


def _apart(row: Row, difference: Difference) -> str:
    more = "more" if difference.difference > 0 else "less"
    if difference.relative is not None and abs(difference.relative) < 10:
        return f"{percent(abs(difference.relative), 2)}% {more}"
    unit = f" {row.quantity.unit}" if row.quantity.unit else ""
    return f"{number(abs(difference.difference) / row.quantity.scale)}{unit} {more}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
