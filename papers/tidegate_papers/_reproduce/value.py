"""What came of reproducing a paper: claims with their verdicts, figures, and their table."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidegate._base.answer import Answer
from tidegate._base.text import plain, width, wrapped

from tidegate_papers._reproduce.claim import Claim, Figure
from tidegate_papers._reproduce.paper import Paper


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
    #: What "reproduced" asks for, with its bounds, in words.
    rule: str = ""
    #: Of a claim of many cases: "3 of 4".
    cases: str = ""
    #: Of a claim of several parts: which of them was measured to be this.
    part: str = ""
    #: Of the number, where it is not the claim's.
    unit: str = ""
    #: The verdicts that are left, from the best to the worst: more than one of an undecided claim.
    possible: tuple[str, ...] = ()
    #: Of a quick run: what the full run was when it was last recorded; see ``_full_runs``.
    full: dict[str, str] | None = None
    #: The TCPs that ran, as manifests name them; "" where nothing ran.
    tcp: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate reproduce --json`` prints of it."""
        return {
            "id": self.claim.id,
            "where": self.claim.where,
            "claim": self.claim.says,
            "verdict": self.verdict,
            "possible": list(self.possible),
            "measured": self.measured,
            "interval": None if self.interval is None else list(self.interval),
            "unit": self.unit or self.claim.unit,
            "paper_value": self.claim.paper,
            "note": self.note if self.error is None else f"not measured: {self.error}",
            "shown": None if self.measured is None else number_text(self),
            "part": self.part,
            "rule": self.rule,
            "full_run": self.full,
            "runs": self.runs,
            "tcp": self.tcp,
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
class Reproduction(Answer):
    """One paper's claims with their verdicts, and its figures."""

    paper: Paper
    quick: bool
    claims: list[Measured] = field(default_factory=list)
    figures: list[Drawn] = field(default_factory=list)
    folder: Path | None = None
    #: The TCP of the paper's scenarios, as manifests name it.
    tcp: str = ""

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
            "tcp": self.tcp,
            "quick": self.quick,
            "left_out": self.paper.quick if self.quick else None,
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
    """Return the measured number with its interval and unit, as people say it.

    The unit says which: "share of cases" is counted ("3 of 4 cases"), "share of capacity" is in percent,
    "A / B" is so many times.
    """
    if entry.measured is None:
        return "–"
    return _number(entry) + (f" ({entry.part})" if entry.part else "")


def _number(entry: Measured) -> str:
    from tidegate._base.estimate import Estimate
    from tidegate._study.text import plus_minus

    unit = entry.unit or entry.claim.unit
    measured = 0.0 if entry.measured is None else entry.measured
    half = None if entry.interval is None else (entry.interval[1] - entry.interval[0]) / 2
    found = Estimate(measured, half, None, entry.runs)
    if entry.cases:
        surely, comma, rest = entry.cases.partition(", ")
        noun = unit.removeprefix(SHARE) if unit.startswith(SHARE) else "cases"
        return f"{surely} {noun}{comma}{rest}"
    if half is None and measured == int(measured) and not unit.startswith(SHARE) and " / " not in unit:
        return f"{measured:.0f} {unit}".rstrip()
    if unit.startswith(SHARE):
        return f"{plus_minus(found, 0.01)}% of {unit.removeprefix(SHARE)}"
    if " / " in unit:
        return f"{unit}: {plus_minus(found)}×"
    return f"{plus_minus(found)} {unit}".rstrip()


def paper_text(claim: Claim) -> str | None:
    """Return the paper's own number as people say it; None: it has none."""
    value, unit = claim.paper, claim.unit
    if not isinstance(value, (int, float)):
        return value
    if unit.startswith(SHARE):
        return f"{'all' if value == 1 else f'{100 * value:.4g}% of'} {unit.removeprefix(SHARE)}"
    return f"{value:.4g}×" if " / " in unit else f"{value:g} {unit}".rstrip()


#: A unit that begins so is a share of something: in percent, or so many of so many.
SHARE = "share of "


def table(result: Reproduction) -> str:
    """Return the table for people."""
    paper = result.paper
    lines = [f"{paper.name}: {paper.title}", wrapped(paper.source), wrapped(tcp_text(result))]
    if result.quick:
        lines.append(wrapped(quick_text(result)))
    lines.append("")
    longest = max((len(entry.claim.id) for entry in result.claims), default=0)
    for entry in result.claims:
        verdict = entry.verdict or "NOT MEASURED"
        lines.append(f"{entry.claim.id.ljust(longest)}  {verdict.ljust(14)}  {number_text(entry)}".rstrip())
        lines += _about(entry, result.tcp)
    failed = [f"{drawn.figure.id}: {drawn.error}" for drawn in result.figures if drawn.error]
    if failed:
        lines += ["", "Not drawn:", *failed]
    number = len(result.claims)
    verdicts = ", ".join(f"{many} {name}" for name, many in sorted(counts(result).items()))
    lines += ["", f"{number} {'claim' if number == 1 else 'claims'}: {verdicts}" if number else "no claims"]
    return plain("\n".join(lines))


def quick_text(result: Reproduction) -> str:
    """Return what a quick run leaves out and what follows from it; said once for each report."""
    text = (
        f"{result.paper.quick}. Intervals are wider than in the full run, and what was not tried may hold or "
        "not, so more verdicts are undecided"
    )
    if any(entry.full for entry in result.claims):
        text += "; the result of the full run is given with each claim"
    return f"{text}. For the full run leave out --quick."


def tcp_text(result: Reproduction) -> str:
    """Return which TCP the paper's scenarios have; said once for each report."""
    return f"TCP of its scenarios: {result.tcp}"


def _about(entry: Measured, default: str) -> list[str]:
    """Return the indented lines about a claim; its TCP where it is not the usual one."""
    import textwrap

    texts = [f"{entry.claim.where}: {entry.claim.says}"]
    if entry.error is not None:
        texts.append(entry.error)
    else:
        texts += [entry.note, f"Reproduced if: {entry.rule}." if entry.rule else "", full_text(entry)]
        texts += [f"TCP: {entry.tcp}."] if entry.tcp not in ("", default) else []
    indent = " " * 4
    lines: list[str] = []
    for text in filter(None, texts):
        lines += textwrap.wrap(text, width(), initial_indent=indent, subsequent_indent=indent)
    return lines


def full_text(entry: Measured) -> str:
    """Return what the full run says of a claim that was measured quickly."""
    if entry.full is None:
        return ""
    return f"Full run: {entry.full['verdict']}, {entry.full['shown']}."
