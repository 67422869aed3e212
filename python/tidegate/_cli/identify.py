"""``tidegate identify``: from a capture to the law of the link."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidegate._base.files import write_text
from tidegate._base.limits import MOST_PACKETS
from tidegate._base.written import check_target
from tidegate._cli.command import Command
from tidegate._cli.names import FILES, OUTPUT, Whole
from tidegate._cli.options import JSON, REPORT, command_line, epilog, tell, warn

if TYPE_CHECKING:
    from tidegate._identify.value import Identification


@click.command(
    cls=Command,
    epilog=epilog(
        "identify download.pcap",
        "identify download.pcap -o link.toml --plot link.png",
        "identify a.pcapng b.pcap.xz --json",
        page="my-link",
    ),
)
@click.argument("captures", metavar="CAPTURE...", nargs=-1, required=True, type=FILES)
@JSON
@click.option(
    "--plot",
    "picture",
    metavar="FILE",
    type=OUTPUT,
    help="Draw sequence numbers, losses, tokens and the law.",
)
@click.option(
    "-o",
    "--out",
    "scenario",
    metavar="FILE",
    type=OUTPUT,
    help="Write a scenario with the law, ready to run.",
)
@REPORT
@click.option(
    "--packets",
    type=Whole("most_packets"),
    metavar="N",
    help="Look at the first N packets of TCP. Default: 1,200,000, for which 300 MB of memory are "
    "enough, or 800 MB where a capture has 100,000 connections, the most that are read.",
)
def identify(
    captures: tuple[str, ...],
    as_json: bool,
    picture: str | None,
    scenario: str | None,
    page: str | None,
    packets: int | None,
) -> None:
    """Tell the law of a link from captures.

    A policer with rate and bucket, a link with a queue, a shaper, steps, or random loss, each number with
    its interval, and what limited each connection.

    Captures are pcap or pcapng, plain or packed by gzip, xz or zstd, taken near the sender or the receiver.
    Given both, a connection is told from both together. Exit status: 2 where a file is no capture or holds no
    transfer, with the reason; "cannot tell" with its reason is an answer.
    """
    from tidegate._base.progress import Progress
    from tidegate._identify.start import identify as do
    from tidegate.errors import ArgumentError

    check_target(picture, "picture")
    check_target(page, "report")
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
    if scenario is not None:
        write_text(scenario, found.scenario())
    if page is not None:
        _write_page(found, page, command_line())
    tell(found, as_json=as_json, folder=None, picture=picture, page=page)


def _write_page(found: Identification, page: str, command: list[str]) -> None:
    """Write the report: the answer, its picture, a text for the provider, and the scenario with the law."""
    from tempfile import TemporaryDirectory

    from tidegate._draw.inline import inline
    from tidegate._page.answer import answer_page
    from tidegate.errors import ArgumentError

    with TemporaryDirectory() as folder:
        svg = inline(found.plot(Path(folder) / "picture.svg").read_text(encoding="utf-8"), "identify")
    scenarios = {}
    with contextlib.suppress(ArgumentError):
        scenarios["A scenario with the law"] = found.scenario()
    title = ", ".join(Path(each).name for each in found.files)
    texts = {"What to send to a provider": found.letter()}
    text = answer_page(
        title, found.report(), found.to_json(), command,
        svg=svg, texts=texts, scenarios=scenarios, warnings=found.warnings,
    )  # fmt: skip
    write_text(page, text)
