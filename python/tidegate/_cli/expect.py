"""``tidegate check-run``: thresholds for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tidegate._cli.begin import SCENARIO
from tidegate._cli.command import Command
from tidegate._cli.names import Whole
from tidegate._cli.options import ENGINE, JSON, SEED, SET, STORE, WORKERS, epilog, tell

#: Exit status of an expectation that the runs leave open; 1 is one that fails.
UNDECIDED_STATUS = 3


@click.command(
    "check-run",
    cls=Command,
    epilog=epilog(
        'check-run scenario.toml --expect "flow.bulk.goodput_bps > 20e6"',
        'check-run x.toml --runs 16 --expect "gate.link.loss < 0.01"',
        "check-run scenario.toml --expect @limits.txt",
        page="studies",
    ),
)
@SCENARIO
@click.option(
    "expect",
    "--expect",
    multiple=True,
    required=True,
    metavar="NUMBER<BOUND",
    help='What must hold, such as "loss < 1%"; repeatable. @FILE: one on each line.',
)
@click.option(
    "--runs",
    type=Whole("runs"),
    metavar="N",
    help="Number of replications; default: the file's runs.",
)
@SEED
@SET
@WORKERS
@STORE
@ENGINE
@JSON
def check_run(
    file: Any,
    expect: tuple[str, ...],
    runs: int | None,
    seed: int | None,
    sets: tuple[str, ...],
    workers: int | None,
    store: str | bool,
    engine: str,
    as_json: bool,
) -> int:
    """Run a scenario and check that numbers keep their bounds.

    A line says of each expectation whether it holds. With several runs the whole 95% interval of the mean
    decides; a number that some of the runs lack never holds. The exit status is 0 if all hold, 1 if one
    fails, and 3 if none fails but one is undecided, so that more or longer runs are needed.
    """
    from tidegate._base.progress import Progress
    from tidegate._check.expect import judged
    from tidegate._check.expectation import FAILS, UNDECIDED

    with Progress("running") as progress:
        result = judged(file, _expanded(expect), runs, seed, sets, engine, workers, store, progress)
    tell(result, as_json=as_json, folder=None, picture=None)
    return {FAILS: 1, UNDECIDED: UNDECIDED_STATUS}.get(result.verdict, 0)


def _expanded(texts: tuple[str, ...]) -> list[str]:
    """Return the expectations with those in files; comments begin with #."""
    found = []
    for text in texts:
        if not text.startswith("@"):
            found.append(text)
            continue
        lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
        found += [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
    return found
