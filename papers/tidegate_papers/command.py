"""``tidegate reproduce``, which the entry point of this distribution adds to the command line."""

from __future__ import annotations

from pathlib import Path

import click
from tidegate._cli.command import Command
from tidegate._cli.names import OUT_DIR, one_of
from tidegate._cli.options import (
    FORCE,
    JSON,
    STORE,
    WORKERS,
    engine_option,
    epilog,
    say,
    say_json,
    say_report,
)


def _papers() -> list[str]:
    from tidegate_papers._reproduce.start import targets

    return targets(None)


@click.command(
    cls=Command,
    epilog=epilog("reproduce --list", "reproduce dtm --quick", "reproduce dtm/fig-9", page="papers"),
)
@click.argument("target", metavar="[PAPER[/ITEM]]", required=False, shell_complete=one_of(_papers))
@click.option("--quick", is_flag=True, help="Make runs shorter and measure fewer points.")
@click.option(
    "--out",
    metavar="DIR",
    type=OUT_DIR,
    help="Folder of the report; default: reproduced/PAPER in this folder.",
)
@FORCE
@WORKERS
@STORE
@engine_option("sim", "live")
@click.option("as_list", "--list", is_flag=True, help="List papers, claims and figures without measuring.")
@JSON
def reproduce(
    target: str | None,
    quick: bool,
    out: str | None,
    force: bool,
    workers: int | None,
    store: str | bool,
    engine: str,
    as_list: bool,
    as_json: bool,
) -> int:
    """Measure the claims of a paper and draw its figures.

    PAPER is one of the papers that come with Tidegate; the default is all of them. ITEM is the
    name of a claim or figure. Each claim gets a verdict by a fixed rule. DIR gets report.html (one
    page with everything), the figures and the scenarios. With --json, files are written only if
    --out is given. The exit status is 1 if a claim could not be measured or a figure could not be
    drawn; it does not depend on the verdicts.
    """
    from tidegate._ask.source import check_engine
    from tidegate._base.progress import Progress
    from tidegate._jobs.store import opened

    from tidegate_papers._reproduce.page import REPORT
    from tidegate_papers._reproduce.start import chosen, listed, listing, perform, targets

    check_engine(engine, ("sim", "live"))
    if as_list:
        rows = listing(target, engine)
        if as_json:
            say_json({"items": rows})
        else:
            say(listed(rows))
        return 0
    asked = [chosen(name, engine) for name in targets(target, engine)]
    results = []
    with opened(store) as kept:
        for paper, claims, figures in asked:
            place = None
            if out is not None:
                place = Path(out) if target is not None else Path(out) / paper.name
            elif not as_json:
                place = Path("reproduced") / (paper.name if engine == "sim" else f"{paper.name}-{engine}")
            with Progress(f"reproducing {paper.name}") as progress:
                result = perform(
                    paper,
                    claims,
                    figures,
                    quick=quick,
                    out=place,
                    # What is in the default place was made by this command.
                    force=force or out is None,
                    workers=workers,
                    store=kept,
                    progress=progress,
                )
            results.append(result)
            if not as_json:
                say_report(result.report())
                say(f"Report: {place}/{REPORT}")
    if as_json:
        parts = [result.to_dict() for result in results]
        say_json(parts[0] if target is not None else {"papers": parts})
    return 0 if all(result.complete for result in results) else 1
