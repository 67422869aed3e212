"""What came of expectations: told in words, one line each, and as an exit status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate._base.answer import Answer
from tidegate._base.estimate import Estimate
from tidegate._base.text import number, of_runs, plain
from tidegate._check.expectation import Expectation, verdict_of


@dataclass(frozen=True)
class Judged:
    """An expectation at one point, what was measured, and the verdict: holds, fails or undecided.

    ``runs``: how many runs the point has; ``measured.n`` of them have the number.
    """

    expectation: Expectation
    point: str
    measured: Estimate
    runs: int
    verdict: str


@dataclass(frozen=True)
class Checked(Answer):
    """Every expectation with its verdict."""

    title: str
    seed: int
    judged: tuple[Judged, ...]
    warnings: list[str]

    @property
    def verdict(self) -> str:
        """``fails`` if any expectation fails, else ``undecided`` if any is, else ``holds``."""
        return verdict_of(each.verdict for each in self.judged)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate check-run --json`` prints."""
        return {
            "scenario": self.title,
            "seed": self.seed,
            "verdict": self.verdict,
            "expectations": [
                {
                    "expectation": each.expectation.text,
                    "point": each.point,
                    "verdict": each.verdict,
                    "runs": each.runs,
                    "measured": each.measured.to_dict(),
                }
                for each in self.judged
            ],
            "warnings": self.warnings,
        }

    def report(self) -> str:
        """Return one line for each expectation."""
        from tidegate._run.words import scale_of
        from tidegate._study.text import plus_minus

        lines = []
        several = len({each.point for each in self.judged}) > 1
        for each in self.judged:
            factor, unit = scale_of(each.expectation.metric)
            measured = f"{plus_minus(each.measured, factor)} {unit}".strip()
            if each.measured.mean == 0 and each.measured.high:
                measured = f"none seen, at most {number(each.measured.high / factor, 2)} {unit}".strip()
            some = of_runs(each.measured.n, each.runs)
            runs = some or (f"{each.runs} runs" if each.measured.half_width is not None else "")
            measured = "there is no such number" if each.measured.mean is None else measured
            there = f"{measured} ({runs})" if runs else measured
            place = f" at {each.point}" if several else ""
            lines.append(f"{each.verdict.ljust(9)}  {each.expectation.text}{place}: {there}")
        return plain("\n".join(lines))
