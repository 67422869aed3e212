"""``tidegate identify``: from a capture to the law of the link."""

from __future__ import annotations

from pathlib import Path

import click

from tidegate._base.files import write_text
from tidegate._base.limits import MOST_PACKETS, most
from tidegate._cli.names import FILES
from tidegate._cli.options import JSON, check_picture, epilog, tell, warn


@click.command(
    epilog=epilog(
        "identify download.pcap",
        "identify download.pcap -o link.toml --plot link.png",
        "identify a.pcapng b.pcap.xz --json",
        page="my-link",
    )
)
@click.argument("captures", metavar="CAPTURE...", nargs=-1, required=True)
@JSON
@click.option(
    "--plot", "picture", metavar="FILE", type=FILES, help="Draw sequence numbers, losses, tokens and the law."
)
@click.option(
    "-o", "--out", "scenario", metavar="FILE", type=FILES, help="Write a scenario with the law, ready to run."
)
@click.option(
    "--packets",
    type=click.IntRange(1, most("most_packets")),
    metavar="N",
    help="Look at the first N packets of TCP. Default: 1,200,000, for which 300 MB of memory are "
    "enough, or 800 MB where a capture has 100,000 connections, the most that are read.",
)
def identify(
    captures: tuple[str, ...],
    as_json: bool,
    picture: str | None,
    scenario: str | None,
    packets: int | None,
) -> None:
    """Tell the law of a link from captures.

    A policer with rate and bucket, a link with a queue, a shaper, steps, or random loss, each number with
    its interval, and what limited each connection.

    Captures are pcap or pcapng, plain or packed by gzip, xz or zstd, taken near the sender or the receiver.
    Given both, a connection is told from both together. Exit status: 2 where a file is no capture or holds no
    transfer, with the reason; "cannot tell" with its reason is an answer.
    """
    from tidegate._base.errors import ArgumentError
    from tidegate._base.progress import Progress
    from tidegate._identify.start import identify as do

    check_picture(picture)
    with Progress("identify") as progress:
        found = do(list(captures), progress, packets or MOST_PACKETS)
    if not found.directions:
        if as_json:
            tell(found, as_json=True, folder=None, picture=None)
        else:
            for note in found.notes[:-1]:
                warn([note])
        # The last note says why there is no answer.
        raise ArgumentError(f"{', '.join(captures)}: {found.notes[-1]}")
    if picture is not None:
        found.plot(picture)
    report = None
    if scenario is not None:
        from tidegate._identify.predicted import beside

        text = found.scenario()
        write_text(scenario, text)
        if not as_json:
            report = found.report() + "\n\n" + beside(found, Path(scenario))
    tell(found, as_json=as_json, folder=None, picture=picture, report=report)
