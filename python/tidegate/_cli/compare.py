"""The commands for several runs side by side: ``compare``, and ``plot`` for every folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidegate._base.files import write_text
from tidegate._base.written import check_target
from tidegate._cli.begin import SCENARIOS
from tidegate._cli.command import Command, typed
from tidegate._cli.names import FOLDERS, OUT_DIR, OUTPUT, Whole
from tidegate._cli.options import (
    CSV,
    ENGINE,
    FORCE,
    JSON,
    PERTURB,
    RECORD,
    REPORT,
    SEED,
    SET,
    WORKERS,
    command_line,
    epilog,
    folder_for,
    needs,
    parse_vary,
    say,
    say_json,
    tell,
)
from tidegate._cli.picture import PICTURE_OPTIONS, SHOW, against_options, panels, picture_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate._study.picture import Picture


@click.command(
    cls=Command,
    epilog=epilog(
        "run scenario.toml --out results",
        "plot results -o run.svg",
        "plot study --metric queue_delay_p99_ms",
        page="results",
    ),
)
@click.argument("folder", metavar="FOLDER", type=FOLDERS)
@click.option(
    "target", "-o", "--output", metavar="FILE", type=OUTPUT, help="The picture; default: a PNG in FOLDER."
)
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
    """Draw the picture of a folder of results.

    The folder is what --out of run, compare, study or live shell wrote.
    Without --output it writes FOLDER/run.png, FOLDER/comparison.png and so on. The suffix of the
    output chooses PNG, SVG or PDF.
    """
    from tidegate._compare.value import Comparison, at_gate
    from tidegate._draw.write import write_picture
    from tidegate._open import opened
    from tidegate._run.folder import KINDS, read_manifest
    from tidegate._run.value import Run
    from tidegate._study.picture import Picture
    from tidegate._study.value import Study

    check_target(target, "picture")
    kind = read_manifest(Path(folder))["kind"]
    place = Path(target) if target is not None else Path(folder) / f"{kind}.png"
    chosen = shows()
    of_comparison = Picture(x=chosen.x, y=chosen.y, kind=chosen.kind) if kind == "comparison" else Picture()
    if kind != "study" and chosen != of_comparison:
        raise click.UsageError(
            f"{folder}: {PICTURE_OPTIONS} are for studies, --x, --y and --kind also for comparisons; "
            f"this folder holds a {KINDS[kind]}"
        )
    if kind in ("study", "engines", "shell") and (gate is not None or show is not None):
        raise click.UsageError(
            f"{folder}: --gate and --show are for runs and comparisons; this folder holds a {KINDS[kind]}"
        )
    found = opened(folder)
    if isinstance(found, Study):
        write_picture(chosen.drawn(found), place)
    elif isinstance(found, Comparison):
        from tidegate._compare.picture import chosen as chosen_of

        compared = at_gate(found, gate)
        picture = chosen_of(compared, panels(show), chosen.x, chosen.y, chosen.kind)
        write_picture(picture, place)
    elif isinstance(found, Run):
        from tidegate._run.plot import run_drawing

        write_picture(run_drawing(found, gate=gate, show=panels(show)), place)
    else:
        found.plot(place)
    if as_json:
        say_json({"folder": folder, "picture": str(place)})
    else:
        say(f"Picture: {place}")


@click.command(
    cls=Command,
    epilog=epilog(
        "compare scenario.toml --vary flow.bulk.tcp.cc=reno,cubic",
        'compare x.toml --vary gate.link.queue="1 BDP,100 ms" --plot x.png',
        "compare shaper.toml policer.toml --columns flow.bulk.rtt_p99_ms",
        "compare scenario.toml --engines theory,sim",
        page="compare",
    ),
)
@SCENARIOS
@click.option(
    "vary",
    "--vary",
    multiple=True,
    metavar="KEY=A,B,C",
    help="A key and its values; several --vary give every combination.",
)
@click.option("--engines", metavar="A,B,C", help="Instead of --vary: two or three of theory, sim, live.")
@click.option(
    "--runs",
    type=Whole("runs"),
    metavar="N",
    help="With --engines: number of runs of sim and of live; default: 3.",
)
@click.option(
    "--tolerance",
    metavar="SHARE",
    help='With --engines: relative difference up to which engines count as agreeing; default: "5%".',
)
@SEED
@SET
@click.option("--out", metavar="DIR", type=OUT_DIR, help="Write a folder with the run of every variant.")
@FORCE
@RECORD
@click.option(
    "picture",
    "--plot",
    metavar="FILE",
    type=OUTPUT,
    help="Draw the variants; the name ends in .png, .svg or .pdf.",
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
@CSV
@against_options
@REPORT
@WORKERS
@PERTURB
@ENGINE
@JSON
def compare(
    files: list[Any],
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
    csv: str | None,
    x: str | None,
    y: str | None,
    kind: str | None,
    page: str | None,
    workers: int | None,
    perturb: int | None,
    engine: str,
    as_json: bool,
) -> None:
    """Compare variants of a scenario, scenarios, or engines.

    With --vary it runs every variant once and prints one table; of several files it runs each. All
    have the same seed, so that their random numbers are the same. With --engines it runs one scenario
    with several engines and reports which numbers agree. It draws a picture with --plot.
    """
    from tidegate._ask.source import check_engine
    from tidegate._base.progress import Progress
    from tidegate._cli.engines import compare_engines
    from tidegate._compare.start import execute_all, prepare
    from tidegate._run.perturbed import check_perturb

    if engines is not None:
        given = {"--vary": vary, "--workers": workers, "--show": show, "--perturb": perturb, "--csv": csv}
        given |= {"--columns": columns, "--x": x, "--y": y, "--kind": kind, "--report": page}
        given |= {"--engine": typed("engine")}
        for option, value in given.items():
            if value not in (None, False, ()):
                raise click.UsageError(f"{option} is for variants, and cannot be used with --engines")
        if len(files) > 1:
            raise click.UsageError("--engines runs one scenario; give one FILE")
        compare_engines(
            files[0],
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
    needs(engines, "--engines", {"--runs": runs, "--tolerance": tolerance})
    if not vary and len(files) == 1:
        raise click.UsageError("give --vary KEY=A,B,C, several files, or --engines theory,sim,live")
    check_engine(engine, ("sim", "live"))
    check_perturb(perturb, engine)
    if engine == "live" and workers not in (None, 1):
        raise click.UsageError("--workers: live runs run one after the other")
    prepared = prepare(files, parse_vary(vary), sets, seed)
    shown = panels(show)
    needs(picture, "--plot FILE", {"--x": x, "--y": y, "--kind": kind, "--show": show})
    check_target(picture, "picture")
    check_target(page, "report")
    check_target(csv)
    with folder_for(out, force=force) as fill:
        with Progress(f"running {len(prepared.variants)} variants") as progress:
            result = execute_all(
                prepared,
                seed=seed,
                engine=engine,
                record=record,
                gate=gate,
                columns=[name.strip() for name in columns.split(",")] if columns is not None else [],
                workers=workers,
                perturb=perturb,
                progress=progress,
                command=command_line(),
            )
        fill(result)
        if picture is not None:
            from tidegate._compare.picture import chosen
            from tidegate._draw.write import write_picture

            write_picture(chosen(result, shown, x, y, kind), Path(picture))
        if page is not None:
            result.write_report(page)
        if csv is not None:
            write_text(csv, result.table.write_csv())
    tell(result, as_json=as_json, folder=out, picture=picture, page=page)
    if csv is not None and not as_json:
        say(f"Table: {csv}")
