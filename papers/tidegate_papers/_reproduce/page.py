"""The folder of a reproduced paper: one page with everything, its figures and scenarios."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate import _core
from tidegate._page.render import rendered
from tidegate._run.folder import MANIFEST, write_json

from tidegate_papers._reproduce.value import counts, full_text, number_text, paper_text, quick_text, tcp_text

if TYPE_CHECKING:
    from tidegate_papers._reproduce.lab import Lab
    from tidegate_papers._reproduce.value import Reproduction

REPORT = "report.html"


def fill(result: Reproduction, work: Path, lab: Lab) -> None:
    """Write the report, the figures and the scenarios into an existing, empty folder."""
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
    seeds = {path.name: lab.seed(path.stem) for path in paper.scenarios()}
    tcps = {path.name: lab.tcp(path.stem) for path in paper.scenarios()}
    manifest = {
        "kind": "reproduction",
        "layout": 1,
        "title": paper.title,
        "tcp": result.tcp,
        "paper": paper.name,
        "engine": paper.engine,
        "quick": result.quick,
        "seeds": seeds,
        "versions": _core.build_info(),
    }
    write_json(work / MANIFEST, manifest)
    (work / "claims.json").write_text(result.to_json() + "\n", encoding="utf-8")
    (work / REPORT).write_text(page(result, seeds, tcps), encoding="utf-8")


def page(result: Reproduction, seeds: dict[str, int | None], tcps: dict[str, str]) -> str:
    """Return the report: one HTML page with everything in it."""
    drawn = {entry.figure.id for entry in result.figures}
    loose = [entry for entry in result.claims if not drawn & {*entry.claim.figures}]
    return rendered(
        "report.html.j2",
        folder=Path(__file__).parent,
        filters={"number": number_text, "paper_text": paper_text, "full_text": full_text},
        paper=result.paper,
        tcp=tcp_text(result),
        quick=quick_text(result) if result.quick else "",
        claims=result.claims,
        figures=result.figures,
        loose=loose,
        counts=counts(result),
        seeds=seeds,
        tcps=tcps,
        version=_core.build_info()["tidegate"],
    )
