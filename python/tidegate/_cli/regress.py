"""``tidegate regress SCENARIO MEASUREMENT…``."""

from __future__ import annotations

import click

from tidegate._cli.command import Command
from tidegate._cli.errors import NO
from tidegate._cli.expect import UNDECIDED_STATUS
from tidegate._cli.names import Whole
from tidegate._cli.options import FILE, JSON, SEED, SET, epilog, tell


@click.command(
    "regress",
    cls=Command,
    epilog=epilog(
        "regress link.toml download.pcap",
        "regress link.toml download.pcap --within goodput=10%",
        "regress link.toml iperf3.json",
        page="captures",
    ),
)
@FILE
@click.argument("measurement", metavar="MEASUREMENT...", nargs=-1, required=True)
@click.option(
    "--within",
    multiple=True,
    metavar="NUMBER=DIFFERENCE",
    help="Allowed difference of goodput (5%), resent (1 points), rtt (10%) or completion (5%); repeatable.",
)
@click.option(
    "--connection",
    "connections",
    type=Whole("connections", 1),
    metavar="N",
    multiple=True,
    help="Number of a connection of the capture; repeatable. Default: all with at least 10 kB of data.",
)
@click.option(
    "--runs",
    type=Whole("runs"),
    metavar="N",
    default=8,
    show_default=True,
    help="Runs of a scenario in which something is random.",
)
@SEED
@SET
@JSON
def regress(
    file: str,
    measurement: tuple[str, ...],
    within: tuple[str, ...],
    connections: tuple[int, ...],
    runs: int,
    seed: int | None,
    sets: tuple[str, ...],
    as_json: bool,
) -> int:
    """Compare a scenario with a measurement.

    The measurement is a capture, of which the first 1,200,000 packets of TCP are looked at, or a file of
    iperf3 (--json), of flent or of ndt7. The scenario runs with the sizes,
    pauses and starts that were measured. Exit status: 0 all numbers agree, 1 one differs, 2 the input was
    wrong, 3 none differs but the runs leave one undecided.
    """
    from tidegate._base.progress import Progress
    from tidegate._check.regress import regress as compute

    allowed = {}
    for text in within:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f'--within: read "{text}"; write such as goodput=5%')
        allowed[name.strip()] = value
    with Progress("running") as progress:
        found = compute(
            file,
            measurement,
            connections=connections or None,
            within=allowed,
            runs=runs,
            seed=seed,
            changes=list(sets),
            progress=progress,
        )
    tell(found, as_json=as_json, folder=None, picture=None)
    if not found.agrees:
        return NO
    return UNDECIDED_STATUS if found.undecided else 0
