"""The commands that make studies of their own: ``reproduce``, ``size`` and ``tune``."""

from __future__ import annotations

from pathlib import Path

import click

from tidegate._cli_options import FILE, FORCE, JSON, NO_STORE, SEED, SET, STORE, say, say_json


@click.command()
@click.argument("target", metavar="[PAPER[/ITEM]]", required=False)
@click.option("--quick", is_flag=True, help="Shorter runs and fewer points.")
@click.option("--out", metavar="DIR", help="Where the report goes; default: reproduced/PAPER here.")
@FORCE
@click.option("--workers", type=click.IntRange(1), help="Threads; default: one per processor.")
@STORE
@NO_STORE
@click.option(
    "--engine", default="sim", show_default=True, metavar="NAME", help="sim; live: with the kernel's TCP."
)
@click.option("as_list", "--list", is_flag=True, help="List papers, claims and figures; measure nothing.")
@JSON
def reproduce(
    target: str | None,
    quick: bool,
    out: str | None,
    force: bool,
    workers: int | None,
    store: str | None,
    no_store: bool,
    engine: str,
    as_list: bool,
    as_json: bool,
) -> int:
    """Measure a paper's claims, judge them by rule, draw its figures.

    PAPER is one of the papers that come with Tidegate; without it, all of them. ITEM is the
    id of a claim or of a figure. DIR gets report.html, one page with everything in it, the
    figures and the scenarios. With --json nothing is written unless --out asks for it.
    Exit status 1: a claim could not be measured or a figure not drawn; verdicts do not matter.
    """
    from tidegate import _reproduce, _reproduce_page
    from tidegate._progress import Progress
    from tidegate._source import check_engine
    from tidegate._store import opened

    check_engine(engine, ("sim", "live"))
    if as_list:
        rows = _reproduce.listing(target, engine)
        if as_json:
            say_json({"items": rows})
        else:
            say(_reproduce.listed(rows))
        return 0
    asked = [_reproduce.chosen(name, engine) for name in _reproduce.targets(target, engine)]
    results = []
    with opened(False if no_store else store or True) as kept:
        for paper, claims, figures in asked:
            place = None
            if out is not None:
                place = Path(out) if target is not None else Path(out) / paper.name
            elif not as_json:
                place = Path("reproduced") / (paper.name if engine == "sim" else f"{paper.name}-{engine}")
            with Progress(f"reproducing {paper.name}") as progress:
                result = _reproduce.perform(
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
                say(result.report())
                say(f"Report: {place}/{_reproduce_page.REPORT}")
    if as_json:
        parts = [result.to_dict() for result in results]
        say_json(parts[0] if target is not None else {"papers": parts})
    return 0 if all(result.complete for result in results) else 1


@click.command()
@FILE
@click.option("--gate", metavar="NAME", help="The gate whose queue is sized.")
@click.option("--pool", metavar="NAME", help="The pool whose capacity is sized, with --goal.")
@click.option(
    "--goal", metavar="TEXT", help='What the pool is for: "p95 response < 2 s", "large blocked < 1%".'
)
@click.option(
    "--method",
    type=click.Choice(["auto", "theory", "sim"]),
    help="Where the size comes from; default: auto, theory where one applies, with simulations beside it.",
)
@click.option("--runs", type=click.IntRange(1), help="Replications; default: the file's runs.")
@SEED
@SET
@click.option("--workers", type=click.IntRange(1), help="Threads; default: one per processor.")
@STORE
@NO_STORE
@JSON
def size(
    file: str,
    gate: str | None,
    pool: str | None,
    goal: str | None,
    method: str | None,
    runs: int | None,
    seed: int | None,
    sets: tuple[str, ...],
    workers: int | None,
    store: str | None,
    no_store: bool,
    as_json: bool,
) -> None:
    """Find the smallest queue without loss, or the smallest pool that meets a goal.

    --gate: by theory where one applies, else by simulations, with the standing queue and the delay
    that come with it. --pool and --goal: by theory where one applies, beside simulations; where
    they do not decide, the answer says so. What the file gives the gate or the pool does not
    matter. --runs: replications; of a pool at first, 16 times as many where they do not decide.
    """
    from tidegate import _size, _size_pool
    from tidegate._progress import Progress
    from tidegate._source import as_scenario
    from tidegate._store import opened

    if (gate is None) == (pool is None) or (pool is None) != (goal is None):
        raise click.UsageError('give --gate NAME, or --pool NAME with --goal "p95 response < 2 s"')
    scenario = as_scenario(file, sets)
    with opened(False if no_store else store or True) as kept, Progress("sizing") as progress:
        if pool is not None and goal is not None:
            sized = _size_pool.find_pool(
                scenario,
                pool,
                goal,
                method=method or "auto",
                runs=runs,
                seed=seed,
                workers=workers,
                store=kept,
                progress=progress,
            )
            say(sized.to_json() if as_json else sized.report())
            return
        assert gate is not None
        found = _size.find(
            scenario,
            gate,
            method=method or "auto",
            runs=runs,
            seed=seed,
            workers=workers,
            store=kept,
            progress=progress,
        )
    say(found.to_json() if as_json else found.report())


@click.command()
@FILE
@click.option("--gate", metavar="NAME", help="The gate with rate.follow; needed where there are several.")
@click.option(
    "--goal",
    metavar="TEXT",
    default="throughput",
    show_default=True,
    help='"throughput", or "throughput with p99 delay < 200 ms" (mean, p50; rtt, queue delay).',
)
@click.option("--runs", type=click.IntRange(2), help="Replications; default: the file's runs, at least 8.")
@SEED
@SET
@click.option("--workers", type=click.IntRange(1), help="Threads; default: one per processor.")
@STORE
@NO_STORE
@JSON
def tune(
    file: str,
    gate: str | None,
    goal: str,
    runs: int | None,
    seed: int | None,
    sets: tuple[str, ...],
    workers: int | None,
    store: str | None,
    no_store: bool,
    as_json: bool,
) -> int:
    """Find the simplest setting of a following gate that serves its flows best.

    Searched are M and N of EFFCAP, the share, the flows' window, and a constant rate, by simulation on
    the same networks for every setting. Beside the best stand INSTCAP, the file as it is, and the
    rule of thumb, with what each gains over the rule. * marks the simplest setting that is not
    significantly worse than another. Exit status 1: no setting surely meets the goal.
    """
    from tidegate import _tune
    from tidegate._progress import Progress
    from tidegate._source import as_scenario
    from tidegate._store import opened

    scenario = as_scenario(file, sets)
    with opened(False if no_store else store or True) as kept, Progress("tuning") as progress:
        found = _tune.find(
            scenario,
            gate,
            goal=goal,
            runs=runs,
            seed=seed,
            workers=workers,
            store=kept,
            progress=progress,
        )
    say(found.to_json() if as_json else found.report())
    return 0 if found.met else 1
