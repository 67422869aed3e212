"""``tidegate export tc|mahimahi SCENARIO``."""

from __future__ import annotations

from pathlib import Path

import click

from tidegate._base.written import check_outputs
from tidegate._cli.command import Command, typed
from tidegate._cli.errors import NO
from tidegate._cli.options import FILE, JSON, SET_ONLY, epilog, note, say, say_json, warn


@click.command(
    "export",
    cls=Command,
    epilog=epilog(
        "export tc examples/policer.toml --device eth1 --back-device eth0",
        "export mahimahi examples/lte.toml -o link",
        page="elsewhere",
    ),
)
@click.argument("to", metavar="tc|mahimahi", type=click.Choice(["tc", "mahimahi"]))
@FILE
@click.option("--flow", metavar="NAME", help="The flow whose way there and back it is; default: the first.")
@click.option(
    "--device", default="eth0", show_default=True, metavar="DEV", help="tc: the device towards the receiver."
)
@click.option(
    "--back-device",
    default="eth1",
    show_default=True,
    metavar="DEV",
    help="tc: the device towards the sender.",
)
@click.option("-o", "--output", "folder", metavar="DIR", help="Write link.sh, and traces, into this folder.")
@SET_ONLY
@JSON
def export(
    to: str,
    file: str,
    flow: str | None,
    device: str,
    back_device: str,
    folder: str | None,
    sets: tuple[str, ...],
    as_json: bool,
) -> int:
    """Print the commands that make a scenario's link elsewhere.

    With tc of Linux or with Mahimahi; comments say what differs there, and what cannot be done. See
    docs/guide/elsewhere.md. Exit status: 0 the link is whole, 1 something is missing, 2 the input was wrong.
    """
    from tidegate._ask.source import as_scenario
    from tidegate._ask.swept import sweep_warnings
    from tidegate._programs.export import export as compute

    for option in ("device", "back_device"):
        if to != "tc" and typed(option):
            raise click.UsageError(f"--{option.replace('_', '-')} is for tc")
    scenario = as_scenario(file, sets)
    found = compute(scenario, to, flow=flow, device=device, back_device=back_device)  # type: ignore[arg-type]
    if found.files and folder is None:
        names = " and ".join(sorted(found.files))
        raise click.UsageError(f"the commands read {names}: give a folder for them, such as -o link")
    if folder is not None:
        read = [file, *(each["path"] for each in scenario.inputs)]
        check_outputs(read, [str(Path(folder) / name) for name in ("link.sh", *found.files)])
        found.write(folder)
    if as_json:
        say_json({**found.to_dict(), "folder": folder})
    else:
        say(found.script().rstrip("\n"))
        if folder is not None:
            note(f"Folder: {folder}")
    warn([*scenario.warnings, *sweep_warnings(scenario)])
    return 0 if found.complete else NO
