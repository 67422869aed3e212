"""The command of the laboratory in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from tidegate._cli.command import Command, typed
from tidegate._cli.names import FILES, OUT_DIR, Whole
from tidegate._cli.options import epilog, note, say


@click.command(
    cls=Command,
    epilog=epilog(
        "lab", "lab scenario.toml", "lab --example policer", "lab scenario.toml --static page", page="lab"
    ),
)
@click.argument("file", metavar="[FILE]", required=False, type=FILES)
@click.option(
    "--port",
    metavar="N",
    type=Whole("port"),
    default=0,
    help="Port to listen at; default: one that is free.",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen at; another one lets others in the network in.",
)
@click.option("--no-browser", is_flag=True, help="Print the address only, do not open it.")
@click.option(
    "--example", metavar="NAME", help="Begin with an example or a template, such as policer or household."
)
@click.option(
    "--static",
    metavar="DIR",
    type=OUT_DIR,
    help="Write the page as a folder of files instead, with the simulator in it, for any web server.",
)
def lab(
    file: str | None, port: int, host: str, no_browser: bool, example: str | None, static: str | None
) -> None:
    """Open a page in the browser where a change shows its effect.

    FILE is a scenario, or a folder of scenarios and traces; without it, the working folder. Ends with Ctrl-C.
    """
    from tidegate._lab.start import example_place, open_laboratory, place_of

    source = None if file is None else Path(file)
    behind = "" if example is None else example_place(example)
    if static is not None:
        for option in ("port", "host", "no_browser", "example"):
            if typed(option):
                word = option.replace("_", "-")
                raise click.UsageError(f"--{word} is for a page that is opened, not for --static")
        from tidegate._lab.static import size_of, write_static

        folder, name = place_of(source)
        size = size_of(write_static(Path(static), folder if source else None, name))
        say(f"{static}: {size / 1e6:.1f} MB. Any web server gives it out: python3 -m http.server -d {static}")
        return
    opened = open_laboratory(source, host=host, port=port)
    if opened.public:
        note(
            f"warning: the laboratory listens at {host}, not for this machine alone: whoever learns the "
            "address can run scenarios here, and the connection is not encrypted"
        )
    say(f"Laboratory: {opened.address}{behind}")
    say("Whoever has this address can use it. It ends with Ctrl-C.")
    if not no_browser:
        import webbrowser

        webbrowser.open(opened.address + behind)
    opened.serve()
