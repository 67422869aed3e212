"""The command of the laboratory in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from tidegate._cli.names import FILES
from tidegate._cli.options import epilog, note, say


@click.command(
    epilog=epilog("lab", "lab scenario.toml", "lab scenario.toml --port 8765 --no-browser", page="lab")
)
@click.argument("file", metavar="[FILE]", required=False, type=FILES)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port to listen at; default: one that is free."
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen at; another one lets others in the network in.",
)
@click.option("--no-browser", is_flag=True, help="Print the address only, do not open it.")
def lab(file: str | None, port: int, host: str, no_browser: bool) -> None:
    """Open a page in the browser where a change shows its effect.

    FILE is a scenario, or a folder of scenarios and traces; without it, the working folder. Ends with Ctrl-C.
    """
    from tidegate._lab.start import open_laboratory

    opened = open_laboratory(None if file is None else Path(file), host=host, port=port)
    if opened.public:
        note(
            f"warning: the laboratory listens at {host}, not for this machine alone: whoever learns the "
            "address can run scenarios here, and the connection is not encrypted"
        )
    say(f"Laboratory: {opened.address}")
    say("Whoever has this address can use it. It ends with Ctrl-C.")
    if not no_browser:
        import webbrowser

        webbrowser.open(opened.address)
    opened.serve()
