"""The commands for several runs side by side: ``compare``, and ``plot`` for every folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidegate._cli.options import (
    ENGINE,
    FILE,
    FORCE,
    JSON,
    RECORD,
    SEED,
    SET,
    check_picture,
    command_line,
    epilog,
    folder_for,
    parse_vary,
    say,
    say_json,
    tell,
)
from tidegate._cli.picture import PICTURE_OPTIONS, SHOW, panels, picture_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate._study.picture import Picture

#: What a folder holds, in words.
_KINDS = {"run": "run", "comparison": "comparison", "study": "study", "engines": "comparison of engines"}


@click.command(
    epilog=epilog(
        "run scenario.toml --out results",
        "plot results -o run.svg",
        "plot study --metric queue_delay_p99_ms",
    )
)
@click.argument("folder", metavar="FOLDER")
@click.option("target", "-o", "--output", metavar="FILE", help="The picture; default: a PNG in FOLDER.")
@click.option(
    "--gate", metavar="NAME", help="The gate to draw; default: the gate that limits the flows most."
)
@SHOW
@picture_options
@JSON
def plot(
    folder: str,
    target: str | None,
    gate: str | None,
    show: str | None,
    shows: Callable[[], Picture],
    as_json: bool,
) -> None:
    """Draw the picture of a run, comparison or study folder.

    Without --output it writes FOLDER/run.png, FOLDER/comparison.png or FOLDER/study.png. The
    suffix of the output chooses PNG, SVG or PDF.
    """
    from tidegate._draw.style import write
    from tidegate._open import open_comparison, open_engines, open_run, open_study
    from tidegate._run.folder import read_manifest
    from tidegate._study.picture import Picture

    check_picture(target)
    kind = read_manifest(Path(folder))["kind"]
    place = Path(target) if target is not None else Path(folder) / f"{kind}.png"
    chosen = shows()
    if kind != "study" and chosen != Picture():
        raise click.UsageError(
            f"{folder}: {PICTURE_OPTIONS} are for studies; this folder holds a {_KINDS.get(kind, kind)}"
        )
    if kind in ("study", "engines") and (gate is not None or show is not None):
        raise click.UsageError(
            f"{folder}: --gate and --show are for runs and comparisons; this folder holds a {_KINDS[kind]}"
        )
    if kind == "engines":
        open_engines(folder).plot(place)
    elif kind == "study":
        write(chosen.figure(open_study(folder)), place)
    elif kind == "comparison":
        open_comparison(folder).plot(place, gate=gate, show=panels(show))
    else:
        open_run(folder).plot(place, gate=gate, show=panels(show))
    if as_json:
        say_json({"folder": folder, "picture": str(place)})
    else:
        say(f"Picture: {place}")


@click.command(
    epilog=epilog(
        "compare scenario.toml --vary flow.bulk.tcp.cc=reno,cubic",
        'compare scenario.toml --vary gate.link.queue="10 packets,50 packets" --plot queues.png',
        "compare scenario.toml --engines theory,sim",
    )
)
@FILE
@click.option(
    "vary",
    "--vary",
    multiple=True,
    metavar="KEY=A,B,C",
    help="A key and its values; several --vary give every combination.",
)
@click.option("--engines", metavar="A,B,C", help="Instead of --vary: two or three of theory, sim, live.")
@click.option(
    "--runs", type=click.IntRange(1), help="With --engines: number of runs of sim and of live; default: 3."
)
@click.option(
    "--tolerance",
    metavar="SHARE",
    help='With --engines: relative difference up to which engines count as agreeing; default: "5%".',
)
@SEED
@SET
@click.option("--out", metavar="DIR", help="Write a folder with the run of every variant.")
@FORCE
@RECORD
@click.option(
    "picture", "--plot", metavar="FILE", help="The picture; default: NAME-compare.png in this folder."
)
@click.option(
    "--gate", metavar="NAME", help="The gate to compare; default: the gate that limits the flows most."
)
@click.option(
    "--columns",
    metavar="A,B,C",
    help="More numbers to print, such as traffic.calls.delay_p99_ms or flow.bulk.rtt_p99_ms.",
)
@SHOW
@click.option("--jobs", type=click.IntRange(1), help="Number of runs at a time; default: one per processor.")
@ENGINE
@JSON
def compare(
    file: str,
    vary: tuple[str, ...],
    engines: str | None,
    runs: int | None,
    tolerance: str | None,
    seed: int | None,
    sets: tuple[str, ...],
    out: str | None,
    force: bool,
    record: str | None,
    picture: str | None,
    gate: str | None,
    columns: str | None,
    show: str | None,
    jobs: int | None,
    engine: str,
    as_json: bool,
) -> None:
    """Compare variants of a scenario, or engines.

    With --vary it runs every variant once and prints one table and one picture. All variants
    have the same seed, so that their random numbers are the same. With --engines it runs one
    scenario with several engines and reports which numbers agree. With --json it draws a
    picture only if --plot or --out is given.
    """
    from tidegate._ask.source import check_engine
    from tidegate._base.progress import Progress
    from tidegate._cli.engines import compare_engines
    from tidegate._compare.start import execute_all, prepare

    if engines is not None:
        if vary or jobs is not None:
            raise click.UsageError(f"--engines cannot be used with {'--vary' if vary else '--jobs'}")
        if show is not None:
            raise click.UsageError("--show is for variants (--vary), not for --engines")
        if columns is not None:
            raise click.UsageError("--columns is for variants (--vary), not for --engines")
        compare_engines(
            file,
            engines,
            sets,
            runs=runs,
            tolerance=tolerance,
            seed=seed,
            out=out,
            force=force,
            record=record,
            picture=picture,
            gate=gate,
            as_json=as_json,
        )
        return
    for option, value in (("--runs", runs), ("--tolerance", tolerance)):
        if value is not None:
            raise click.UsageError(f"{option} needs --engines")
    if not vary:
        raise click.UsageError("give --vary KEY=A,B,C, or --engines theory,sim,live")
    check_engine(engine, ("sim", "live"))
    if engine == "live" and jobs not in (None, 1):
        raise click.UsageError("--jobs: live runs run one after the other")
    prepared = prepare(file, parse_vary(vary), sets)
    if picture is None and out is None and not as_json:
        picture = f"{prepared.variants[0][1].stem}-compare.png"
    shown = panels(show)
    check_picture(picture)
    with folder_for(out, force=force) as fill:
        with Progress(f"running {len(prepared.variants)} variants") as progress:
            result = execute_all(
                prepared,
                seed=seed,
                engine=engine,
                record=record,
                gate=gate,
                columns=[name.strip() for name in columns.split(",")] if columns is not None else [],
                jobs=jobs,
                progress=progress,
                command=command_line(),
            )
        fill(result)
        if picture is not None:
            result.plot(picture, show=shown)
    tell(result, as_json=as_json, folder=out, picture=picture)
