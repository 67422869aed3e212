"""``tidegate study plan`` and ``tidegate study merge``: a study that several machines share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidegate._base.written import check_target
from tidegate._cli.command import Command
from tidegate._cli.names import FOLDERS, OUT_DIR, Name, Whole
from tidegate._cli.options import (
    CSV,
    FILE,
    FORCE,
    JSON,
    PERTURB,
    REPORT,
    SEED,
    SET_ONLY,
    command_line,
    count,
    epilog,
    folder_for,
    note,
    parse_vary,
    say,
    warn,
)
from tidegate._cli.picture import PICTURE_OPTIONS, picture_options
from tidegate._cli.study_options import (
    BASELINE,
    COLUMNS,
    GATE,
    MAX_RUNS,
    OUT,
    PICTURE,
    RUNS,
    UNTIL,
    VARY,
    Shown,
    baseline_of,
    check_study_picture,
    show_study,
    until_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate._study.picture import Picture


@click.command(
    cls=Command,
    name="study plan",
    epilog=epilog(
        "study plan x.toml --shards 64 --runs 1000 --out plan",
        "study plan x.toml --shards 8 --until goodput_bps:±2% --out plan",
        page="studies",
    ),
)
@FILE
@click.option(
    "--shards",
    metavar="N",
    type=Whole("shards"),
    required=True,
    help="Into how many parts to cut the study.",
)
@VARY
@RUNS
@PERTURB
@UNTIL
@MAX_RUNS
@SEED
@SET_ONLY
@click.option(
    "--allow-python",
    is_flag=True,
    help="Let the parts run the Python files that the scenario names (controllers, rules of video).",
)
@click.option(
    "--out", metavar="DIR", type=OUT_DIR, required=True, help="Folder of the plan and of its parts."
)
@FORCE
def plan(
    file: str,
    shards: int,
    vary: tuple[str, ...],
    runs: int | None,
    perturb: int | None,
    until: str | None,
    max_runs: int | None,
    seed: int | None,
    sets: tuple[str, ...],
    allow_python: bool,
    out: str,
    force: bool,
) -> None:
    """Cut a study into parts for several machines.

    DIR gets manifest.json, which lists the points with their keys; parts.txt, a command for each part, for
    GNU parallel or any scheduler; and slurm.sh, a job array for sbatch. Every point is checked. When the
    parts are done, tidegate study merge DIR gives the study.
    """
    from tidegate._run.folder import staged
    from tidegate._study.part import prepare_shared
    from tidegate._study.plan import COMMANDS, SLURM, SLURM_MOST, check_replaceable, too_many, write_plan

    if file == "-":
        raise click.UsageError("FILE: the machines that do the parts need a file; standard input is none")
    prepared = prepare_shared(
        file,
        parse_vary(vary),
        sets,
        runs=runs,
        seed=seed,
        until=until_of(until, runs, max_runs),
        perturb=perturb,
    )
    # Each command begins in this folder, so the study has the name of the file as it is given here.
    words = ["tidegate", "study", str(Path(file).absolute()) if file.startswith("-") else file]
    words += [word for text in vary for word in ("--vary", text)]
    words += [word for text in sets for word in ("--set", text)]
    words += ["--allow-python"] if allow_python else []
    options = {"--runs": runs, "--perturb": perturb, "--until": until, "--max-runs": max_runs}
    options |= {"--seed": prepared.seed}
    words += [word for name, value in options.items() if value is not None for word in (name, str(value))]
    place = Path(out).absolute()
    if force:
        check_replaceable(Path(out))
    with staged(Path(out), force=force) as work:
        write_plan(prepared, shards, work, place=place, words=words)
    say(f"{count(len(prepared.points), 'point')} in {count(shards, 'part')}: {out}")
    say(f"each part:  a line of {Path(out) / COMMANDS}")
    say(f"with Slurm: sbatch {Path(out) / SLURM}")
    say(f"then:       tidegate study merge {out}")
    if shards > SLURM_MOST:
        note(f"note: {too_many(shards)}")
    warn(prepared.warnings)


@click.command(
    cls=Command,
    name="study merge",
    epilog=epilog("study merge plan", "study merge part-1 part-2 --out study --plot x.png", page="studies"),
)
# The merge itself says which part would be replaced.
@click.argument("parts", metavar="PART...", nargs=-1, required=True, type=Name("dir"))
@OUT
@FORCE
@PICTURE
@picture_options
@CSV
@REPORT
@BASELINE
@COLUMNS
@GATE
@click.option(
    "--store",
    metavar="DIR",
    type=FOLDERS,
    help="Keep all results there too, for a study that goes on from them.",
)
@JSON
def merge(
    parts: tuple[str, ...],
    out: str | None,
    force: bool,
    picture: str | None,
    shows: Callable[[], Picture],
    csv: str | None,
    page: str | None,
    bases: tuple[str, ...],
    columns: str | None,
    gate: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Put the parts of a study together.

    PART is the folder of a part, or that of a plan, which has its parts below it.
    The result is that of tidegate study on one machine, to the byte. Parts that are missing are named; a
    part that is there twice counts once.
    """
    from tidegate._jobs.store import opened
    from tidegate._study.merge import check_apart, check_kept, keep, merged
    from tidegate._study.picture import Picture

    chosen = shows()
    check_target(page, "report")
    check_target(csv)
    with folder_for(out, force=force) as fill:
        result, given, notes = merged(parts, gate=gate, command=command_line())
        if out is not None:
            check_kept(Path(out), [*map(Path, parts), *given])
        if store is not None:
            check_apart(Path(store), given)
        values = [point.values for point in result.points]
        shown = Shown(
            picture=picture,
            chosen=chosen,
            csv=csv,
            page=page,
            columns=columns,
            baseline=baseline_of(bases, result.axes, values),
            folder=out,
            as_json=as_json,
        )
        if picture is not None:
            check_study_picture(picture, chosen, result.axes, values)
        elif chosen != Picture() and page is None:
            raise click.UsageError(f"{PICTURE_OPTIONS} need --plot FILE or --report FILE.html")
        shown.check(result)
        with opened(store or False) as kept:
            keep(given, kept)
        fill(result)
        shown.write(result)
    for text in notes:
        note(text)
    show_study(result, shown)
