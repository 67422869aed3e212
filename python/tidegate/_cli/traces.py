"""``tidegate traces …``: describing, converting and making link traces, and finding them in captures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tidegate._base.written import check_target
from tidegate._cli.command import Group
from tidegate._cli.names import FILES, OUTPUT, Whole
from tidegate._cli.options import JSON, epilog, needs, say, say_json


@click.group(cls=Group)
def traces() -> None:
    """Describe, convert, make or find link traces."""


_FORMAT = click.option(
    "format_",
    "--format",
    metavar="NAME",
    help="mahimahi, drp, csv or seconds-mbps; default: recognised from name and content.",
)
_OPPORTUNITY = click.option(
    "--opportunity-bytes",
    type=Whole("opportunity_bytes"),
    metavar="N",
    help="Bytes of one Mahimahi opportunity; default: 1500. Mahimahi's own code counts 1504.",
)


_TABLE = (
    click.option(
        "--time-column", metavar="NAME", help="Of a table: the column with the times; a number counts from 1."
    ),
    click.option("--rate-column", metavar="NAME", help="Of a table: the column with the rates."),
    click.option("--time-unit", metavar="UNIT", help="Of a table: s, ms, us or ns."),
    click.option(
        "--rate-unit",
        metavar="UNIT",
        help="Of a table: such as Mbit/s or kB/s; bytes is an amount since the row before.",
    ),
    click.option(
        "--where",
        metavar="COLUMN=VALUE",
        help="Of a table: keep the rows with this value, one run of several.",
    ),
    click.option(
        "--step", metavar="SPAN", help='How long each rate holds, if the file has no times, such as "1 s".'
    ),
)


def _table(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say what a table does not say itself."""
    for option in reversed(_TABLE):
        command = option(command)
    return command


@traces.command(
    "info", epilog=epilog("traces info link.down", "traces info link.down --plot link.png", page="traces")
)
@click.argument("file", metavar="FILE", type=FILES)
@_FORMAT
@_OPPORTUNITY
@_table
@click.option(
    "picture",
    "--plot",
    metavar="FILE",
    type=OUTPUT,
    help="Draw its rate over time, outages, and how the rates are distributed.",
)
@click.option(
    "--window", metavar="SPAN", help='With --plot: rates are means over this long; default: "100 ms".'
)
@JSON
def traces_info(
    file: str,
    format_: str | None,
    opportunity_bytes: int | None,
    picture: str | None,
    window: str | None,
    as_json: bool,
    **table: str | None,
) -> None:
    """Print the length, rates and outages of a trace."""
    from tidegate.traces import _files as link_traces
    from tidegate.traces._files import drawn, table_of

    check_target(picture, "picture")
    needs(picture, "--plot FILE", {"--window": window})
    info = link_traces.info(file, format=format_, opportunity_bytes=opportunity_bytes, **table)
    if picture is not None:
        from tidegate._draw.write import write_picture

        drawing = drawn(file, format_, opportunity_bytes, window, table_of(**table))
        write_picture(drawing, Path(picture))
    if as_json:
        say_json(info)
    else:
        from tidegate.traces._text import trace_report

        say(trace_report(file, info))
        if picture is not None:
            say(f"Picture: {picture}")


@traces.command(
    "convert", epilog=epilog("traces convert link.down link.csv --window '100 ms'", page="traces")
)
@click.argument("source", metavar="SOURCE", type=FILES)
@click.argument("target", metavar="TARGET", type=OUTPUT)
@click.option("--to", metavar="NAME", help="mahimahi, drp, csv or seconds-mbps; default: by TARGET's suffix.")
@_FORMAT
@_OPPORTUNITY
@_table
@click.option("--window", metavar="SPAN", help='Interval over which rates are averaged, such as "100 ms".')
@JSON
def traces_convert(
    source: str,
    target: str,
    to: str | None,
    format_: str | None,
    opportunity_bytes: int | None,
    window: str | None,
    as_json: bool,
    **table: str | None,
) -> None:
    """Convert a trace to another format, keeping its capacity."""
    from tidegate.traces import _files as link_traces

    replaced = _replaces(target)
    link_traces.convert(
        source,
        target,
        to=to,
        format=format_,
        opportunity_bytes=opportunity_bytes,
        window=window,
        **table,
    )
    if as_json:
        say_json({"source": source, "target": target})
    else:
        say(f"Trace: {target}{replaced}")


@traces.command(
    "synth",
    epilog=epilog("traces synth phone.down --mean '10 Mbit/s' --seed 1", page="traces"),
)
@click.argument("target", metavar="TARGET", type=OUTPUT)
@click.option("--model", default="cellular", show_default=True, help="The stochastic model.")
@click.option(
    "--seed",
    type=Whole("seed"),
    metavar="N",
    help="Seed of the random numbers; default: a random one.",
)
@click.option("--to", metavar="NAME", help="mahimahi, drp, csv or seconds-mbps; default: by TARGET's suffix.")
@click.option(
    "--mean",
    metavar="RATE",
    help='Mean rate; default: "5 Mbit/s". That of a Mahimahi file differs by chance.',
)
@click.option("--duration", metavar="SPAN", help='Length of the trace; default: "120 s".')
@click.option("--step", metavar="SPAN", help='Time during which the rate is constant; default: "1 ms".')
@click.option(
    "--variability",
    metavar="X",
    type=float,
    help="0 means a constant rate between outages, 1 (the default) a moving phone.",
)
@click.option(
    "--outage-share", metavar="X", type=float, help="Share of the time without service; default: 0.05."
)
@click.option(
    "--opportunity-bytes",
    type=Whole("opportunity_bytes"),
    metavar="N",
    help="Bytes of one Mahimahi opportunity; default: 1500.",
)
@click.option("--window", metavar="SPAN", help="Not for mahimahi: interval over which rates are averaged.")
@JSON
def traces_synth(target: str, model: str, seed: int | None, as_json: bool, **parameters: Any) -> None:
    """Generate a link trace from a stochastic model.

    The cellular model describes the LTE link of a moving phone. docs/guide/traces.md compares it
    with measured links.
    """
    from tidegate._ask.seed import choose
    from tidegate.traces import _files as link_traces

    chosen = choose(seed, None)
    replaced = _replaces(target)
    link_traces.synth(target, model=model, seed=chosen, **parameters)
    if as_json:
        say_json({"target": target, "model": model, "seed": chosen})
    else:
        say(f"Trace: {target} (model {model}, seed {chosen}){replaced}")


@traces.command(
    "from", epilog=epilog("traces from download.pcap -o link.csv --window '100 ms'", page="captures")
)
@click.argument("captures", metavar="CAPTURE...", nargs=-1, required=True, type=FILES)
@click.option(
    "--connection",
    "connections",
    type=Whole("connections", 1),
    metavar="N",
    multiple=True,
    help="Number of a connection; repeatable, if several shared the link. Default: the one with most data.",
)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    type=OUTPUT,
    help="Write the trace there; default: only report.",
)
@click.option("--to", metavar="NAME", help="mahimahi, drp, csv or seconds-mbps; default: by FILE's suffix.")
@click.option(
    "--window",
    metavar="SPAN",
    default="100 ms",
    show_default=True,
    help="Interval over which rates are averaged.",
)
@click.option(
    "--at",
    type=click.Choice(["sender", "receiver"]),
    help="Where the capture was taken; default: found in the packets.",
)
@click.option(
    "--unsaturated",
    type=click.Choice(["mean", "seen", "cut"]),
    default="mean",
    show_default=True,
    help="What stands where it was not saturated: the mean of the other windows, what was seen, nothing.",
)
@JSON
def traces_from(
    captures: tuple[str, ...],
    connections: tuple[int, ...],
    target: str | None,
    to: str | None,
    window: str,
    at: str | None,
    unsaturated: str,
    as_json: bool,
) -> None:
    """Find in a capture what a link could carry.

    A transfer must have saturated it: a window of the trace counts if packets waited at the link during 90%
    of it. The report, and the column "saturated" of a CSV trace, say which do not: there the capture does not
    show the capacity. Of a capture with more than 1,200,000 packets of TCP the first are looked at.
    """
    from tidegate._base.limits import MOST_PACKETS
    from tidegate._base.progress import Progress
    from tidegate._capture.start import read_capture
    from tidegate.traces._captured import from_capture

    with Progress("reading") as progress:
        capture = read_capture(captures, progress, MOST_PACKETS)
    found = from_capture(capture, connections=connections or None, at=at, window=window)
    replaced = _replaces(target)
    if target is not None:
        found.write(target, to=to, fill=unsaturated)
    if as_json:
        say_json({**found.to_dict(), "target": target})
    else:
        from tidegate.traces._captured_text import captured_report

        say(captured_report(found))
        if target is not None:
            say(f"Trace: {target}{replaced}")


def _replaces(target: str | None) -> str:
    """Return what is said of a file that will be written in place of one that is there."""
    return ", in place of the file that was there" if target is not None and Path(target).exists() else ""
