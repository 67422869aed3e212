"""What came of reproducing a paper: claims with their verdicts, figures, and their table."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidegate import _text

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate._paper import Claim, Figure, Paper


@dataclass(frozen=True)
class Measured:
    """A claim and what came of it; ``error`` is there where it could not be measured."""

    claim: Claim
    verdict: str | None
    measured: float | None
    interval: tuple[float, float] | None
    runs: int
    note: str
    commands: list[str]
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate reproduce --json`` prints of it."""
        return {
            "id": self.claim.id,
            "where": self.claim.where,
            "claim": self.claim.claim,
            "verdict": self.verdict,
            "measured": self.measured,
            "interval": None if self.interval is None else list(self.interval),
            "unit": self.claim.unit,
            "paper_value": self.claim.paper_value,
            "note": self.note if self.error is None else f"not measured: {self.error}",
            "runs": self.runs,
            "commands": self.commands,
        }


@dataclass(frozen=True)
class Drawn:
    """A figure and its picture as SVG; ``error`` is there where it could not be drawn."""

    figure: Figure
    svg: str | None
    commands: list[str]
    error: str | None = None


@dataclass
class Reproduction:
    """One paper's claims with their verdicts, and its figures."""

    paper: Paper
    quick: bool
    claims: list[Measured] = field(default_factory=list)
    figures: list[Drawn] = field(default_factory=list)
    folder: Path | None = None

    @property
    def complete(self) -> bool:
        """Whether every claim was measured and every figure drawn, whatever the verdicts."""
        errors = [claim.error for claim in self.claims] + [drawn.error for drawn in self.figures]
        return not any(errors)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate reproduce PAPER --json`` prints."""
        return {
            "paper": self.paper.name,
            "engine": self.paper.engine,
            "title": self.paper.title,
            "quick": self.quick,
            "claims": [claim.to_dict() for claim in self.claims],
            "figures": [
                {
                    "id": drawn.figure.id,
                    "where": drawn.figure.where,
                    "title": drawn.figure.title,
                    "file": None if self.folder is None or drawn.svg is None else f"{drawn.figure.id}.svg",
                    "error": drawn.error,
                }
                for drawn in self.figures
            ],
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def report(self) -> str:
        """Return the table for people."""
        return table(self)

    def __repr__(self) -> str:
        return f"<tidegate.Reproduction {self.paper.name!r}: {len(self.claims)} claims>"


def counts(result: Reproduction) -> dict[str, int]:
    """Return how many claims have each verdict."""
    found: dict[str, int] = {}
    for entry in result.claims:
        name = entry.verdict or "not measured"
        found[name] = found.get(name, 0) + 1
    return found


def number_text(entry: Measured) -> str:
    """Return the measured number with its interval."""
    if entry.measured is None:
        return "–"
    from tidegate._estimate import Estimate
    from tidegate._study_text import plus_minus

    half = None if entry.interval is None else (entry.interval[1] - entry.interval[0]) / 2
    return plus_minus(Estimate(entry.measured, half, None, entry.runs))


def table(result: Reproduction) -> str:
    """Return the table for people."""
    import textwrap

    paper = result.paper
    width = _text.width()
    lines = [f"{paper.name}: {paper.title}", _text.wrapped(paper.source), ""]
    longest = max((len(entry.claim.id) for entry in result.claims), default=0)
    for entry in result.claims:
        verdict = entry.verdict or "NOT MEASURED"
        told = f"{number_text(entry)} {entry.claim.unit}"
        lines.append(f"{entry.claim.id.ljust(longest)}  {verdict.ljust(14)}  {told}".rstrip())
        indent = " " * 4
        told = f"{entry.claim.where}: {entry.claim.claim}"
        for text in (told, entry.note if entry.error is None else entry.error):
            if text:
                lines += textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent)
    failed = [f"{drawn.figure.id}: {drawn.error}" for drawn in result.figures if drawn.error]
    if failed:
        lines += ["", "Not drawn:", *failed]
    told = ", ".join(f"{number} {name}" for name, number in sorted(counts(result).items()))
    lines += ["", f"{len(result.claims)} claims: {told}" if result.claims else "no claims"]
    return _text.plain("\n".join(lines))
