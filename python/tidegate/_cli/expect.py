"""``tidegate check-run``: thresholds for continuous integration."""

from __future__ import annotations

from codecs import BOM_UTF8
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidegate._cli.begin import SCENARIO
from tidegate._cli.command import Command
from tidegate._cli.names import Whole
from tidegate._cli.options import ENGINE, JSON, SEED, SET, STORE, WORKERS, epilog, tell

if TYPE_CHECKING:
    from tidegate._check.expectation import Expectation

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
        result = judged(file, _read(expect), runs, seed, sets, engine, workers, store, progress)
    tell(result, as_json=as_json, folder=None, picture=None)
    return {FAILS: 1, UNDECIDED: UNDECIDED_STATUS}.get(result.verdict, 0)


def _read(texts: tuple[str, ...]) -> list[Expectation]:
    """Return the expectations with those in files; comments begin with #.

    Raises:
        ArgumentError: one cannot be read, or a file has none or is not UTF-8.
        OSError: a file cannot be read.
    """
    from tidegate._check.expectation import Expectation
    from tidegate.errors import ArgumentError

    found = []
    for text in texts:
        if not text.startswith("@"):
            found.append(Expectation.parse(text))
            continue
        file = text[1:]
        # Some editors put a mark in front of UTF-8.
        content = Path(file).read_bytes().removeprefix(BOM_UTF8)
        here = []
        for number, line in enumerate(content.splitlines(), 1):
            place = f"{file}:{number}"
            try:
                expected = line.decode().strip()
            except UnicodeDecodeError:
                raise ArgumentError(f"{place}: this line is not UTF-8; save the file as UTF-8") from None
            if expected and not expected.startswith("#"):
                here.append(Expectation.parse(expected, place))
        if not here:
            raise ArgumentError(f"{file}: there is no expectation in it; write one on each line")
        found += here
    return found
