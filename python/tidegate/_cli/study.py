"""``tidegate study``: every combination of some axes, many times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidegate._cli.options import (
    ENGINE,
    FILE,
    FORCE,
    JSON,
    SEED,
    SET,
    STORE,
    WORKERS,
    check_picture,
    command_line,
    count,
    epilog,
    folder_for,
    note,
    parse_vary,
    say,
    tell,
    warn,
)
from tidegate._cli.picture import PICTURE_OPTIONS, picture_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate._study.picture import Picture


@click.command(
    epilog=epilog(
        "study scenario.toml --vary flow.bulk.tcp.cc=reno,cubic --runs 10",
        'study scenario.toml --vary gate.link.queue="10 packets,50 packets" --runs 10 --plot study.png',
        "study scenario.toml --until goodput_bps:±2%",
    )
)
@FILE
@click.option(
    "vary",
    "--vary",
    multiple=True,
    metavar="KEY=A,B,C",
    help="A key and its values, in addition to the file's [[sweep]]; several --vary give every combination.",
)
@click.option(
    "--runs", type=click.IntRange(1), help="Number of replications of each point; default: the file's runs."
)
@click.option(
    "--until",
    metavar="METRIC:±X%",
    help="Repeat each point until the interval of this number is that narrow, such as goodput_bps:±2%.",
)
@click.option(
    "--max-runs",
    type=click.IntRange(2),
    help="With --until: largest number of replications of a point; default: 256.",
)
@SEED
@SET
@WORKERS
@click.option("--out", metavar="DIR", help="Write a folder: manifest, study.json, Parquet tables.")
@FORCE
@click.option(
    "picture", "--plot", metavar="FILE", help="Draw the study; the name ends in .png, .svg or .pdf."
)
@picture_options
@click.option("--columns", metavar="A,B,C", help="The columns of the table; default: the usual ones.")
@click.option(
    "--gate", metavar="NAME", help="The gate to report; default: the gate that limits the flows most."
)
@STORE
@click.option("--resume", is_flag=True, help="With --engine live: reuse runs that were measured before.")
@ENGINE
@JSON
def study(
    file: str,
    vary: tuple[str, ...],
    runs: int | None,
    until: str | None,
    max_runs: int | None,
    seed: int | None,
    sets: tuple[str, ...],
    workers: int | None,
    out: str | None,
    force: bool,
    picture: str | None,
    shows: Callable[[], Picture],
    columns: str | None,
    gate: str | None,
    store: str | bool,
    resume: bool,
    engine: str,
    as_json: bool,
) -> None:
    """Run every combination of the axes many times.

    The table has means with 95% confidence intervals. The axes are the file's [[sweep]] tables and
    the keys given by --vary. Replication i has the same random numbers at every point. Results of
    earlier runs are taken from the store. After Ctrl-C the same command continues where it
    stopped. With --engine live every run is measured anew, one after the other, unless --resume
    reuses the runs that this machine measured before.
    """
    from tidegate._ask.source import check_engine
    from tidegate._base.progress import Progress
    from tidegate._draw.style import write
    from tidegate._study.picture import Picture
    from tidegate._study.point import Point
    from tidegate._study.prepare import prepare
    from tidegate._study.start import execute_study, workers_for
    from tidegate._study.store import opened
    from tidegate._study.until import Until

    check_engine(engine, ("sim", "live"))
    if resume and (engine != "live" or store is False):
        raise click.UsageError("--resume needs --engine live, and cannot be used with --no-store")
    if max_runs is not None and until is None:
        raise click.UsageError("--max-runs needs --until METRIC:±X%")
    least = None if runs is None else max(runs, 2)
    stop = None if until is None else Until.parse(until, at_least=least, at_most=max_runs)
    prepared = prepare(file, parse_vary(vary), sets, runs=runs, seed=seed, until=stop, engine=engine)
    chosen = shows()
    shown = None if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
    if picture is not None:
        check_picture(picture)
        if not prepared.axes:
            raise click.UsageError("--plot: no key is varied, so the picture has no axis")
        places = [Point(n, dict(values), "") for n, (values, _) in enumerate(prepared.points)]
        chosen.check(prepared.axes, places)
    elif chosen != Picture():
        raise click.UsageError(f"{PICTURE_OPTIONS} need --plot FILE")
    with folder_for(out, force=force) as fill, opened(store) as kept:
        counts: list[int] = []
        with Progress(f"running {count(len(prepared.points), 'point')}") as progress:
            result = execute_study(
                prepared,
                workers=workers_for(engine, workers),
                store=kept,
                gate=gate,
                resume=resume,
                progress=progress,
                told=lambda *numbers: counts.extend(numbers),
                command=command_line(),
            )
        fill(result)
        if picture is not None:
            write(chosen.figure(result), Path(picture))
    if counts and counts[0] < counts[1]:
        note(f"{counts[1] - counts[0]} of {counts[1]} runs were taken from the store")
    if as_json:
        say(result.to_json(shown))
        warn(result.warnings)
    else:
        tell(result, as_json=False, folder=out, picture=picture, report=result.report(shown))
