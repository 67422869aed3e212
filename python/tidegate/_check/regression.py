"""The value that a regression is: rows, judgements, sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate._base.answer import Answer
from tidegate._base.text import of_runs
from tidegate._check.judge import AGREE, DIFFER, UNDECIDED, Row, row_words


@dataclass(frozen=True)
class Regression(Answer):
    """A scenario beside a measurement.

    Attributes:
        title: the scenario's.
        source: the measurement's files.
        seed: of the runs.
        runs: how many were made.
        exact: whether nothing in the scenario is random, so that one run is enough.
        within: the differences that were allowed.
        rows: each number of each transfer, judged.
        notes: what should be known of the measurement.
        warnings: the scenario's.
    """

    title: str
    source: str
    seed: int
    runs: int
    exact: bool
    within: dict[str, str]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether no number differs by more than is allowed; an undecided one does not count."""
        return all(row.verdict != DIFFER for row in self.rows)

    @property
    def undecided(self) -> bool:
        """Whether the runs leave open if some number differs."""
        return any(row.verdict == UNDECIDED for row in self.rows)

    @property
    def sentences(self) -> list[str]:
        """What agrees and what does not, in words."""
        of = {
            verdict: [row for row in self.rows if row.verdict == verdict]
            for verdict in (AGREE, DIFFER, UNDECIDED)
        }
        if len(of[AGREE]) == len(self.rows):
            if len(self.rows) == 1:
                only = f"{self.rows[0].number.name} of {self.rows[0].transfer}"
                return [f"Scenario and measurement agree on {only}; no other number could be compared."]
            return [f"Scenario and measurement agree on all {len(self.rows)} numbers."]
        sentences = []
        if of[DIFFER]:
            sentences.append(f"They differ in {'; '.join(row_words(row) for row in of[DIFFER])}.")
        if of[AGREE]:
            names = ", ".join(f"{row.number.name} of {row.transfer}" for row in of[AGREE])
            sentences.append(f"They agree on {names}.")
        wide = [row for row in of[UNDECIDED] if row.predicted.n == row.runs]
        if wide:
            names = ", ".join(f"{row.number.name} of {row.transfer}" for row in wide)
            sentences.append(
                f"Undecided: {names}; the interval over {self.runs} runs reaches beyond what is allowed."
            )
        some = [row for row in of[UNDECIDED] if row.predicted.n < row.runs]
        if some:
            listed = ", ".join(
                f"{row.number.name} of {row.transfer} ({of_runs(row.predicted.n, row.runs)})" for row in some
            )
            sentences.append(f"Undecided: {listed}; the other runs have no such number.")
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate regress --json`` prints."""
        return {
            "title": self.title,
            "measurement": self.source,
            "seed": self.seed,
            "runs": self.runs,
            "exact": self.exact,
            "within": self.within,
            "agrees": self.agrees,
            "undecided": self.undecided,
            "rows": [
                {
                    "transfer": row.transfer,
                    "number": row.number.field,
                    "measured": row.measured,
                    "predicted": row.predicted.to_dict(),
                    "runs": row.runs,
                    "difference": row.difference,
                    "allowed": row.allowed,
                    "verdict": row.verdict,
                }
                for row in self.rows
            ],
            "sentences": self.sentences,
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def report(self) -> str:
        """Return the table and the sentences for people."""
        from tidegate._check.regression_text import report

        return report(self)
