"""Reproducing papers: measure claims, judge them, draw figures, write one report."""

from __future__ import annotations

import io
import json
import os
import shutil
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate import _core, _text
from tidegate._errors import InternalError, RunError, StoreError, UnknownNameError, nearest
from tidegate._paper import Lab, Paper, live_names, names, open_paper
from tidegate._source import check_engine
from tidegate._study import opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from tidegate._paper import Claim, Figure
    from tidegate._store import Store

REPORT = "report.html"


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


def reproduce(
    target: str,
    *,
    quick: bool = False,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    workers: int | None = None,
    store: str | os.PathLike[str] | bool = True,
    engine: str = "sim",
) -> Reproduction:
    """Measure a paper's claims, judge them by rule, and draw its figures.

    Args:
        target: a paper, or ``"PAPER/ITEM"`` with the id of a claim or of a figure (which
            takes its claims along).
        quick: shorter runs and fewer points; claims on chaotic TCP keep their 16 runs.
        out: a folder for the report, the figures and the scenarios; left out, figures are
            not drawn.
        force: replace what an earlier call wrote there.
        workers: threads; left out, one per processor.
        store: as :func:`tidegate.study`.
        engine: ``"sim"``, or ``"live"``: the claims that are measured with the kernel's TCP, in
            papers that have such.

    Raises:
        EngineError: the paper has no part for the engine, or it cannot run here.
        UnknownNameError: there is no such paper, claim or figure.
        RunFolderError: the folder is there already.
        StoreError: the store is damaged or cannot be written.
        KeyboardInterrupt: what was computed is kept.
    """
    check_engine(engine, ("sim", "live"))
    paper, claims, figures = chosen(target, engine)
    with opened(store) as kept:
        return perform(paper, claims, figures, quick=quick, out=out, force=force, workers=workers, store=kept)


def chosen(target: str, engine: str = "sim") -> tuple[Paper, list[Claim], list[Figure]]:
    """Return a paper with the claims and figures that ``PAPER`` or ``PAPER/ITEM`` means.

    Raises:
        UnknownNameError: there is no such paper, claim or figure; the nearest is offered.
    """
    name, slash, item = target.partition("/")
    paper = open_paper(name, engine)
    if not slash:
        return paper, list(paper.claims), list(paper.figures)
    claims = [claim for claim in paper.claims if claim.id == item or item in claim.figures]
    figures = [figure for figure in paper.figures if figure.id == item]
    if not claims and not figures:
        known = [claim.id for claim in paper.claims] + [figure.id for figure in paper.figures]
        raise UnknownNameError(nearest(f"claim or figure of {name}", item, known))
    wanted = {figure for claim in claims if claim.id == item for figure in claim.figures}
    figures += [figure for figure in paper.figures if figure.id in wanted and figure not in figures]
    return paper, claims, figures


def targets(target: str | None, engine: str = "sim") -> list[str]:
    """Return what is to be reproduced: one target, or every paper that the engine measures."""
    if target is not None:
        return [target]
    return live_names() if engine == "live" else names()


def perform(
    paper: Paper,
    claims: list[Claim],
    figures: list[Figure],
    *,
    quick: bool,
    out: str | os.PathLike[str] | None,
    force: bool = False,
    workers: int | None = None,
    store: Store | None = None,
    progress: Callable[[float], None] | None = None,
) -> Reproduction:
    """Measure and draw; see :func:`reproduce`."""
    from tidegate import _folder

    result = Reproduction(paper, quick)
    steps = len(claims) + (len(figures) if out is not None else 0)
    lab = Lab(paper, quick=quick, workers=workers, store=store)

    def tell(share: float) -> None:
        if progress is not None:
            progress((len(result.claims) + len(result.figures) + share) / steps)

    lab.progress = tell
    if out is None:
        result.claims += [_measure(lab, claim) for claim in claims]
        return result
    with _folder.staged(Path(out), force=force) as work, _Drawing(lab, figures) as drawing:
        drawing.begin(claims)
        for number, claim in enumerate(claims, 1):
            result.claims.append(_measure(lab, claim))
            drawing.begin(claims[number:])
            tell(0.0)
        for figure in figures:
            result.figures.append(drawing.drawn(figure))
            tell(0.0)
        _fill(result, work, [lab.seed(path.stem) for path in paper.scenarios()])
    result.folder = Path(out)
    return result


class _Drawing:
    """Draws figures in a thread of their own, while claims wait for runs that need no Python.

    Drawing takes as long as measuring. A figure is begun once its claims are measured, so
    that it finds their studies done.
    """

    def __init__(self, lab: Lab, figures: list[Figure]) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._waiting = list(figures)
        self._drawn: dict[str, Future[Drawn]] = {}
        self._thread = ThreadPoolExecutor(1, "figures")
        self._stopped = threading.Event()
        self._lab = lab.beside(self._look)

    def __enter__(self) -> _Drawing:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.shutdown(cancel_futures=True)

    def begin(self, unmeasured: list[Claim]) -> None:
        """Begin the figures that no unmeasured claim shows."""
        shown = {figure for claim in unmeasured for figure in claim.figures}
        for figure in [figure for figure in self._waiting if figure.id not in shown]:
            self._waiting.remove(figure)
            self._drawn[figure.id] = self._thread.submit(_draw, self._lab, figure)

    def drawn(self, figure: Figure) -> Drawn:
        """Wait for a figure."""
        return self._drawn[figure.id].result()

    def _look(self, _: float) -> None:
        if self._stopped.is_set():
            raise KeyboardInterrupt


#: What can keep one claim from being measured; anything else stops everything.
_FAILURES = (ArithmeticError, LookupError, RunError, InternalError, TypeError, ValueError, AttributeError)


def _measure(lab: Lab, claim: Claim) -> Measured:
    try:
        finding = lab.judge(claim)
    except StoreError:
        raise
    except _FAILURES as error:
        if os.environ.get("TIDEGATE_TRACEBACK"):
            raise
        return Measured(
            claim, None, None, None, 0, "", lab.take_commands(), f"{type(error).__name__}: {error}"
        )
    judged = finding.judgement
    quick = lab.paper.quick if lab.quick else ""
    told = [part for part in (finding.note, judged.reason, claim.exact, quick) if part]
    return Measured(
        claim,
        judged.verdict,
        judged.measured,
        judged.interval,
        judged.runs,
        " ".join(_sentence(part) for part in told),
        lab.take_commands(),
    )


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def _draw(lab: Lab, figure: Figure) -> Drawn:
    import matplotlib as mpl

    from tidegate._plot_style import METADATA, STYLE

    try:
        with mpl.rc_context(STYLE):
            picture = figure.draw(lab)
            buffer = io.StringIO()
            picture.savefig(buffer, format="svg", metadata=METADATA["svg"])
    except StoreError:
        raise
    except _FAILURES as error:
        if os.environ.get("TIDEGATE_TRACEBACK"):
            raise
        return Drawn(figure, None, lab.take_commands(), f"{type(error).__name__}: {error}")
    return Drawn(figure, _inline(buffer.getvalue(), figure.id), lab.take_commands())


def _inline(svg: str, name: str) -> str:
    """Return the picture as it stands in a page: without a prolog, its ids its own."""
    import re

    body = svg[svg.index("<svg") :]
    ids = dict.fromkeys(re.findall(r'\bid="([^"]+)"', body))
    for known in sorted(ids, key=len, reverse=True):
        body = body.replace(f'"{known}"', f'"{name}-{known}"').replace(f'"#{known}"', f'"#{name}-{known}"')
        body = body.replace(f"url(#{known})", f"url(#{name}-{known})")
    return body


def _fill(result: Reproduction, work: Path, seeds: list[int | None]) -> None:
    """Write the report, the figures and the scenarios into an existing, empty folder."""
    from tidegate import _folder

    paper = result.paper
    result.folder = work
    for drawn in result.figures:
        if drawn.svg is not None:
            (work / f"{drawn.figure.id}.svg").write_text(
                '<?xml version="1.0" encoding="utf-8"?>\n' + drawn.svg, encoding="utf-8"
            )
    # Their traces, too: the commands of the report run in its folder.
    for path in (*paper.scenarios(), *sorted(paper.folder.glob("*.csv"))):
        shutil.copyfile(path, work / path.name)
    by_file = {path.name: seed for path, seed in zip(paper.scenarios(), seeds, strict=True)}
    manifest = {
        "kind": "reproduction",
        "layout": 1,
        "title": paper.title,
        "paper": paper.name,
        "engine": paper.engine,
        "quick": result.quick,
        "seeds": by_file,
        "versions": _core.build_info(),
    }
    _folder.write_json(work / _folder.MANIFEST, manifest)
    (work / "claims.json").write_text(result.to_json() + "\n", encoding="utf-8")
    (work / REPORT).write_text(page(result, by_file), encoding="utf-8")


def page(result: Reproduction, seeds: dict[str, int | None]) -> str:
    """Return the report: one HTML page with everything in it."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "papers"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number_text
    drawn = {entry.figure.id for entry in result.figures}
    loose = [entry for entry in result.claims if not drawn & {*entry.claim.figures}]
    return environment.get_template("report.html.j2").render(
        paper=result.paper,
        quick=result.quick,
        claims=result.claims,
        figures=result.figures,
        loose=loose,
        counts=_counts(result),
        seeds=seeds,
        version=_core.build_info()["tidegate"],
    )


def _counts(result: Reproduction) -> dict[str, int]:
    counts: dict[str, int] = {}
    for entry in result.claims:
        name = entry.verdict or "not measured"
        counts[name] = counts.get(name, 0) + 1
    return counts


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
    told = ", ".join(f"{number} {name}" for name, number in sorted(_counts(result).items()))
    lines += ["", f"{len(result.claims)} claims: {told}" if result.claims else "no claims"]
    return _text.plain("\n".join(lines))
