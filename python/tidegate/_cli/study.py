"""``tidegate study``: every combination of some axes, many times."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidegate._base.written import check_target
from tidegate._cli.begin import SCENARIO
from tidegate._cli.command import Command
from tidegate._cli.options import (
    CSV,
    ENGINE,
    FORCE,
    JSON,
    PERTURB,
    REPORT,
    SEED,
    SET,
    STORE,
    WORKERS,
    command_line,
    count,
    epilog,
    folder_for,
    note,
    parse_vary,
    say,
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
    from collections.abc import Callable, Iterator

    from tidegate._jobs.workers import Workers
    from tidegate._study.picture import Picture
    from tidegate._study.points import Prepared


@click.command(
    cls=Command,
    epilog=epilog(
        "study scenario.toml --vary flow.bulk.tcp.cc=reno,cubic --runs 10",
        'study x.toml --vary gate.link.queue="1 BDP,100 ms" --plot x.png',
        "study scenario.toml --until goodput_bps:±2%",
        "study scenario.toml --perturb 16",
        "study x.toml --vary flow.a.tcp.cc=cubic,bbr,reno --baseline cc=reno",
        "study x.toml --runs 1000 --shard 3/64 --out part-3",
        "study x.toml --runs 1000 --on tcp://head:8786",
        page="studies",
    ),
)
@SCENARIO
@VARY
@RUNS
@PERTURB
@UNTIL
@MAX_RUNS
@SEED
@SET
@WORKERS
@OUT
@FORCE
@PICTURE
@picture_options
@CSV
@REPORT
@BASELINE
@COLUMNS
@GATE
@STORE
@click.option("--resume", is_flag=True, help="With --engine live: reuse runs that were measured before.")
@click.option(
    "--shard",
    metavar="K/N",
    help="Do part K of N only and write it to --out; 'tidegate study merge' puts the parts together.",
)
@click.option(
    "--on",
    "address",
    metavar="ADDRESS",
    help="Do the runs on a Dask cluster: the address of its scheduler, such as tcp://head:8786.",
)
@ENGINE
@JSON
def study(
    file: Any,
    vary: tuple[str, ...],
    runs: int | None,
    perturb: int | None,
    until: str | None,
    max_runs: int | None,
    seed: int | None,
    sets: tuple[str, ...],
    workers: int | None,
    out: str | None,
    force: bool,
    picture: str | None,
    shows: Callable[[], Picture],
    csv: str | None,
    page: str | None,
    bases: tuple[str, ...],
    columns: str | None,
    gate: str | None,
    store: str | bool,
    resume: bool,
    shard: str | None,
    address: str | None,
    engine: str,
    as_json: bool,
) -> None:
    """Run every combination of the axes many times.

    The table has means with 95% confidence intervals. The axes are the file's [[sweep]] tables and
    the keys given by --vary. Replication i has the same random numbers at every point. Results of
    earlier runs are taken from the store. After Ctrl-C the same command continues where it
    stopped. With --engine live every run is measured anew, one after the other, unless --resume
    reuses the runs that this machine measured before. For several machines see --on, and
    'tidegate study plan'.
    """
    from tidegate._ask.source import check_engine
    from tidegate._base.progress import Progress
    from tidegate._jobs.store import opened
    from tidegate._study.picture import Picture
    from tidegate._study.points import prepare
    from tidegate._study.start import execute_study

    check_engine(engine, ("sim", "live"))
    _check_address(address, engine, workers)
    if resume and (engine != "live" or store is False):
        raise click.UsageError("--resume needs --engine live, and cannot be used with --no-store")
    stop = until_of(until, runs, max_runs)
    if shard is not None:
        others: dict[str, Any] = {"--plot": picture, "--csv": csv, "--report": page, "--baseline": bases}
        others |= {"--columns": columns, "--gate": gate, "--json": as_json, "--engine live": engine == "live"}
        _only_part([name for name, value in others.items() if value], out)
        _part(file, shard, str(out), vary=vary, sets=sets, runs=runs, seed=seed, until=stop, workers=workers,
              store=store, force=force, address=address, perturb=perturb)  # fmt: skip
        return
    prepared = prepare(file, parse_vary(vary), sets, runs=runs, seed=seed, until=stop, engine=engine,
                       perturb=perturb)  # fmt: skip
    chosen = shows()
    check_target(page, "report")
    check_target(csv)
    values = [point.values for point in prepared.points]
    shown = Shown(
        picture, chosen, csv, page, columns, baseline_of(bases, prepared.axes, values), out, as_json
    )
    shown.check_early(prepared)
    if picture is not None:
        check_study_picture(picture, chosen, prepared.axes, values)
    elif chosen != Picture() and page is None:
        raise click.UsageError(f"{PICTURE_OPTIONS} need --plot FILE or --report FILE.html")
    with folder_for(out, force=force) as fill, opened(store) as kept, _hands(engine, workers, address) as who:
        counts: list[int] = []
        with Progress(f"running {count(len(prepared.points), 'point')}") as progress:
            result = execute_study(
                prepared,
                workers=who,
                store=kept,
                gate=gate,
                resume=resume,
                progress=progress,
                told=lambda *numbers: counts.extend(numbers),
                command=command_line(),
            )
        shown.check(result)
        fill(result)
        shown.write(result)
    if counts and counts[0] < counts[1]:
        note(f"{counts[1] - counts[0]} of {counts[1]} runs were taken from the store")
    show_study(result, shown)


def _check_address(address: str | None, engine: str, workers: int | None) -> None:
    """Refuse what a cluster cannot do.

    Raises:
        click.UsageError: live runs, or threads of this process.
    """
    if address is not None and engine == "live":
        raise click.UsageError("--on: live runs need the kernel of one machine; leave out --engine live")
    if address is not None and workers is not None:
        raise click.UsageError("--on: the cluster has its own workers; leave out --workers")


@contextlib.contextmanager
def _hands(engine: str, workers: int | None, address: str | None) -> Iterator[Workers]:
    """Give those who do the runs: threads of this process, or the workers of a cluster."""
    from tidegate._study.start import workers_for

    if address is None:
        yield workers_for(engine, workers)
        return
    from tidegate._jobs.cluster import connected

    with connected(address) as client:
        yield workers_for(engine, None, client)


def _only_part(others: list[str], out: str | None) -> None:
    """Refuse what a part of a study cannot have.

    Raises:
        click.UsageError: there is something, or no folder.
    """
    if out is None:
        raise click.UsageError("--shard needs --out DIR: the folder of the part")
    if others:
        raise click.UsageError(
            f"--shard: a part of a study has no {', '.join(others)}; 'tidegate study merge' takes it"
            if others != ["--engine live"]
            else "--shard: live runs need the kernel of one machine; leave out --engine live"
        )


def _part(
    file: Any,
    shard: str,
    out: str,
    *,
    vary: tuple[str, ...],
    sets: tuple[str, ...],
    runs: int | None,
    seed: int | None,
    until: Any,
    workers: int | None,
    store: str | bool,
    force: bool,
    address: str | None,
    perturb: int | None,
) -> None:
    """Do one part of a study."""
    from tidegate._base.progress import Progress
    from tidegate._jobs.store import opened
    from tidegate._run.folder import staged
    from tidegate._study.part import is_done, prepare_shared, write_part
    from tidegate._study.plan import Shard
    from tidegate.errors import RunFolderError

    part = Shard.parse(shard)
    prepared: Prepared = prepare_shared(
        file, parse_vary(vary), sets, runs=runs, seed=seed, until=until, perturb=perturb
    )
    place = Path(out)
    if is_done(place, prepared, part, force=force):
        say(f"part {part}: done already in {out}")
        return
    label = f"part {part} of {count(len(prepared.points), 'point')}"
    try:
        with (
            opened(store) as kept,
            staged(place, force=force) as work,
            _hands("sim", workers, address) as who,
            Progress(label) as progress,
        ):
            computed, all_ = write_part(
                prepared, part, work, workers=who, store=kept, command=command_line(), progress=progress
            )
    except RunFolderError:
        # Somebody else did the same part meanwhile.
        if not is_done(place, prepared, part, force=force):
            raise
        say(f"part {part}: done already in {out}")
        return
    if computed < all_:
        note(f"{all_ - computed} of {all_} runs were taken from the store")
    say(f"part {part}: {count(all_, 'run')} in {out}")
