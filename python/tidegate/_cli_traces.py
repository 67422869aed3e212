"""``tidegate traces …``: describing, converting and making link traces."""

from __future__ import annotations

from typing import Any

import click

from tidegate._cli_options import JSON, SEED, say, say_json


@click.group()
def traces() -> None:
    """Describe, convert and make link traces."""


_FORMAT = click.option(
    "format_", "--format", metavar="NAME", help="mahimahi, drp or csv; default: by name and content."
)
_OPPORTUNITY = click.option(
    "--opportunity-bytes",
    type=click.IntRange(1),
    default=1500,
    show_default=True,
    help="Bytes of one Mahimahi line (1504: as Mahimahi's own code charges).",
)


@traces.command("info")
@click.argument("file", metavar="FILE")
@_FORMAT
@_OPPORTUNITY
@JSON
def traces_info(file: str, format_: str | None, opportunity_bytes: int, as_json: bool) -> None:
    """Say how long a trace is, how fast, and where it stalls."""
    from tidegate._traces import trace_info

    info = trace_info(file, format=format_, opportunity_bytes=opportunity_bytes)
    if as_json:
        say_json(info)
    else:
        from tidegate._traces_text import trace_report

        say(trace_report(file, info))


@traces.command("convert")
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option("--to", metavar="NAME", help="mahimahi, drp or csv; default: by TARGET's suffix.")
@_FORMAT
@_OPPORTUNITY
@click.option("--window", metavar="SPAN", help='Rates are means over this long, such as "100 ms".')
@JSON
def traces_convert(
    source: str,
    target: str,
    to: str | None,
    format_: str | None,
    opportunity_bytes: int,
    window: str | None,
    as_json: bool,
) -> None:
    """Write a trace in another format, keeping its capacity."""
    from tidegate._traces import trace_convert

    trace_convert(source, target, to=to, format=format_, opportunity_bytes=opportunity_bytes, window=window)
    if as_json:
        say_json({"source": source, "target": target})
    else:
        say(f"Trace: {target}")


@traces.command("synth")
@click.argument("target", metavar="TARGET")
@click.option("--model", default="cellular", show_default=True, help="The stochastic model.")
@SEED
@click.option("--to", metavar="NAME", help="mahimahi, drp or csv; default: by TARGET's suffix.")
@click.option("--mean", metavar="RATE", help='Mean rate; default "5 Mbit/s".')
@click.option("--duration", metavar="SPAN", help='Length; default "120 s".')
@click.option("--step", metavar="SPAN", help='The rate is constant inside a step; default "1 ms".')
@click.option(
    "--variability", type=float, help="0: constant between outages; 1, the default: a moving phone."
)
@click.option("--outage-share", type=float, help="Share of the time without service; default 0.05.")
@click.option("--opportunity-bytes", type=click.IntRange(1), help="Bytes of one Mahimahi line; default 1500.")
@click.option("--window", metavar="SPAN", help="drp and csv: rates are means over this long.")
@JSON
def traces_synth(target: str, model: str, seed: int | None, as_json: bool, **parameters: Any) -> None:
    """Make a link trace from a stochastic model.

    The cellular model is a moving phone's LTE link; its documentation says how close it
    comes to measured ones.
    """
    from tidegate._seed import choose
    from tidegate._traces import trace_synth

    chosen = choose(seed, None)
    trace_synth(target, model=model, seed=chosen, **parameters)
    if as_json:
        say_json({"target": target, "model": model, "seed": chosen})
    else:
        say(f"Trace: {target} (model {model}, seed {chosen})")
