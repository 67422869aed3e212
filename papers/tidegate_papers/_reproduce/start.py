"""Reproducing papers: measure claims, judge them, draw figures, write one report."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tidegate._ask.source import check_engine
from tidegate._base.nearest import nearest
from tidegate._jobs.store import Store, opened
from tidegate.errors import UnknownNameError

from tidegate_papers._reproduce.claim import Claim, Figure
from tidegate_papers._reproduce.lab import Lab
from tidegate_papers._reproduce.paper import Paper, live_names, names, open_paper
from tidegate_papers._reproduce.value import Reproduction


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
        raise UnknownNameError(
            f"{nearest(f'claim or figure of {name}', item, known)} (tidegate reproduce {name} --list "
            "prints all)"
        )
    wanted = {figure for claim in claims if claim.id == item for figure in claim.figures}
    figures += [figure for figure in paper.figures if figure.id in wanted and figure not in figures]
    return paper, claims, figures


def listing(target: str | None, engine: str = "sim") -> list[dict[str, str]]:
    """Return what ``--list`` prints: each paper, claim and figure with what it is about.

    Raises:
        UnknownNameError: there is no such paper, claim or figure.
    """
    rows = []
    for name in targets(target, engine):
        paper, claims, figures = chosen(name, engine)
        if "/" not in name:
            rows.append({"target": paper.name, "kind": "paper", "where": "", "about": paper.title})
        rows += [
            {
                "target": f"{paper.name}/{claim.id}",
                "kind": "claim",
                "where": claim.where,
                "about": claim.says,
            }
            for claim in claims
        ]
        rows += [
            {
                "target": f"{paper.name}/{figure.id}",
                "kind": "figure",
                "where": figure.where,
                "about": figure.title,
            }
            for figure in figures
        ]
    return rows


def listed(rows: list[dict[str, str]]) -> str:
    """Return :func:`listing` for people."""
    from tidegate._base.text import plain, wrapped

    lines: list[str] = []
    for row in rows:
        if row["kind"] == "paper":
            lines += [""] * bool(lines) + [f"{row['target']}: {row['about']}"]
            continue
        words = f"{row['target']}  {row['kind']}, {row['where']}: {row['about']}"
        lines.append(wrapped(words, indent="    "))
    return plain("\n".join(lines))


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
    store: Store,
    progress: Callable[[float], None] | None = None,
) -> Reproduction:
    """Measure and draw; see :func:`reproduce`."""
    from tidegate._run.folder import staged

    from tidegate_papers._reproduce.full_runs import recorded
    from tidegate_papers._reproduce.measure import Drawing, measure
    from tidegate_papers._reproduce.page import fill

    result = Reproduction(paper, quick)
    steps = len(claims) + (len(figures) if out is not None else 0)
    full = recorded(paper) if quick else {}
    lab = Lab(paper.folder, quick=quick, workers=workers, store=store, scenarios_in=paper.scenarios_in)
    result.tcp = lab.tcp(*(path.stem for path in paper.scenarios()))

    def tell(share: float) -> None:
        if progress is not None:
            progress((len(result.claims) + len(result.figures) + share) / steps)

    lab.progress = tell
    if out is None:
        result.claims += [measure(lab, claim, full.get(claim.id)) for claim in claims]
        return result
    with staged(Path(out), force=force) as work, Drawing(lab, figures) as drawing:
        drawing.begin(claims)
        for number, claim in enumerate(claims, 1):
            result.claims.append(measure(lab, claim, full.get(claim.id)))
            drawing.begin(claims[number:])
            tell(0.0)
        for figure in figures:
            result.figures.append(drawing.drawn(figure))
            tell(0.0)
        fill(result, work, lab)
    result.folder = Path(out)
    return result
