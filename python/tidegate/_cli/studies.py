"""The commands that make studies of their own: ``size`` and ``tune``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidegate._base.written import check_target
from tidegate._cli.command import Command
from tidegate._cli.names import OUTPUT, Whole
from tidegate._cli.options import (
    FILE,
    JSON,
    PERTURB,
    REPORT,
    SEED,
    SET,
    STORE,
    WORKERS,
    command_line,
    epilog,
    say,
    say_report,
)

if TYPE_CHECKING:
    from tidegate._base.answer import Answer


@click.command(
    cls=Command,
    epilog=epilog(
        "size scenario.toml --gate link",
        'size scenario.toml --gate isp --goal "goodput > 95%"',
        'size scenario.toml --pool vp --goal "p95 response < 2 s"',
        page="size",
    ),
)
@FILE
@click.option("--gate", metavar="NAME", help="The gate whose queue is sized.")
@click.option("--pool", metavar="NAME", help="The pool whose capacity is sized; needs --goal.")
@click.option(
    "--goal",
    metavar="TEXT",
    help='What the pool must achieve, such as "p95 response < 2 s"; or the gate: "goodput > 95%", '
    '"loss < 1%", "p99 delay < 100 ms".',
)
@click.option(
    "--key",
    metavar="KEY",
    help="With --gate and --goal: what is sized: police.burst, queue, rate.token_bucket.burst, "
    "rate.token_bucket.rate or rate; default: the policer's bucket, else the queue.",
)
@click.option(
    "--plot", metavar="FILE", type=OUTPUT, help="With --gate and --goal: draw the sizes that were tried."
)
@click.option(
    "--method",
    type=click.Choice(["auto", "theory", "sim"]),
    help="Source of the answer; default: auto (a theory if one applies, checked by simulation).",
)
@click.option(
    "--runs",
    type=Whole("runs"),
    metavar="N",
    help="Number of replications; default: the file's runs. For a pool that many at first, and 16 times "
    "as many where they do not decide.",
)
@PERTURB
@SEED
@SET
@WORKERS
@STORE
@REPORT
@JSON
def size(
    file: str,
    gate: str | None,
    pool: str | None,
    goal: str | None,
    key: str | None,
    plot: str | None,
    method: str | None,
    runs: int | None,
    perturb: int | None,
    seed: int | None,
    sets: tuple[str, ...],
    workers: int | None,
    store: str | bool,
    page: str | None,
    as_json: bool,
) -> int:
    """Find the smallest queue without loss, or the smallest pool.

    --gate finds the smallest queue that loses no packet, by a theory if one applies, otherwise by
    simulation. The answer includes the standing queue and the delay. --pool with --goal finds the
    smallest capacity of a pool that meets the goal, by simulation and by a theory if one applies.
    If they do not decide, the answer says so. --gate with --goal finds the smallest bucket of a
    policer, or queue, that meets a goal on goodput or loss; with a bound on a delay, the one with the
    most goodput under it. The size given in FILE is ignored.
    """
    from tidegate._advise.bench import bench_for
    from tidegate._advise.gate_result import GateSizing
    from tidegate._advise.start import find
    from tidegate._base.progress import Progress

    if (key or plot) and (gate is None or goal is None):
        raise click.UsageError("--key and --plot belong to --gate with --goal")
    if goal is not None and gate is not None and method is not None:
        raise click.UsageError("--method does not belong to --gate with --goal, which simulates")
    if (gate is None) == (pool is None) or (pool is not None and goal is None):
        raise click.UsageError('give either --gate NAME, or --pool NAME with --goal "p95 response < 2 s"')
    check_target(plot, "picture")
    check_target(page, "report")
    with (
        Progress("sizing") as progress,
        bench_for(
            file,
            sets,
            runs=runs,
            seed=seed,
            workers=workers,
            store=store,
            progress=progress,
            perturb=perturb,
        ) as bench,
    ):
        found = find(bench, gate, pool, goal, key, method)
    if plot is not None and isinstance(found, GateSizing):
        found.plot(plot)
    if page is not None:
        _write_page(found, page, file)
    (say if as_json else say_report)(found.to_json() if as_json else found.report())
    if plot is not None and not as_json:
        say(f"Picture: {plot}")
    return 1 if isinstance(found, GateSizing) and not (found.met and found.verdict != "missed") else 0


@click.command(
    cls=Command,
    epilog=epilog(
        "tune scenario.toml",
        'tune x.toml --gate ap --goal "throughput with p99 delay < 200 ms"',
        page="tune",
    ),
)
@FILE
@click.option("--gate", metavar="NAME", help="The gate with rate.follow; needed if there are several.")
@click.option(
    "--goal",
    metavar="TEXT",
    default="throughput",
    show_default=True,
    help='"throughput", or "throughput with p99 delay < 200 ms"; also mean or p50, of rtt or queue delay.',
)
@click.option(
    "--runs",
    type=Whole("runs", 2),
    metavar="N",
    help="Number of replications; default: the file's runs, but at least 8.",
)
@PERTURB
@SEED
@SET
@WORKERS
@STORE
@REPORT
@JSON
def tune(
    file: str,
    gate: str | None,
    goal: str,
    runs: int | None,
    perturb: int | None,
    seed: int | None,
    sets: tuple[str, ...],
    workers: int | None,
    store: str | bool,
    page: str | None,
    as_json: bool,
) -> int:
    """Find the best setting of a gate with rate.follow.

    Simulates EFFCAP's M and N, the share, the window of the flows and a constant rate, all with the
    same random networks. The table compares the best settings with INSTCAP, the file's own setting
    and the rule of thumb, and gives the gain of each over the rule of thumb. * marks the simplest
    setting that is not significantly worse than any other. The exit status is 1 if no setting
    certainly meets the goal.
    """
    check_target(page, "report")
    from tidegate._advise.bench import bench_for
    from tidegate._advise.tune import find
    from tidegate._base.progress import Progress

    with (
        Progress("tuning") as progress,
        bench_for(
            file,
            sets,
            runs=runs,
            seed=seed,
            workers=workers,
            store=store,
            progress=progress,
            perturb=perturb,
            asked_by="tune",
        ) as bench,
    ):
        found = find(bench, gate, goal=goal)
    if page is not None:
        _write_page(found, page, file)
    (say if as_json else say_report)(found.to_json() if as_json else found.report())
    return 0 if found.met else 1


def _write_page(found: Answer, page: str, file: str) -> None:
    """Write the report: the answer, what was drawn of it, and the scenario as the file has it."""
    from tempfile import TemporaryDirectory

    from tidegate._advise.gate_result import GateSizing
    from tidegate._base.files import write_text
    from tidegate._draw.inline import inline
    from tidegate._page.answer import answer_page

    svg = None
    if isinstance(found, GateSizing):
        with TemporaryDirectory() as folder:
            drawn = Path(folder) / "picture.svg"
            found.plot(drawn)
            svg = inline(drawn.read_text(encoding="utf-8"), "size")
    source = Path(file)
    scenarios = {f"The scenario, {source.name}": source.read_text("utf-8")} if source.is_file() else {}
    write_text(
        page,
        answer_page(
            source.name, found.report(), found.to_json(), command_line(), svg=svg, scenarios=scenarios
        ),
    )
