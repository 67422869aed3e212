"""The command ``clean``."""

from __future__ import annotations

from pathlib import Path

import click

from tidegate._cli.command import Command
from tidegate._cli.names import FOLDERS
from tidegate._cli.options import JSON, count, epilog, say, say_json


@click.command(cls=Command, epilog=epilog("clean", "clean results", page="start"))
@click.argument("folder", metavar="[DIR]", default=".", type=FOLDERS)
@JSON
def clean(folder: str, as_json: bool) -> None:
    """Remove what killed commands left half-written in DIR.

    Hidden files and folders beside the results that were asked for. Writing the same result again removes
    them too. What a living command still writes stays. 'tidegate live clean' is for networks of live runs.
    """
    from tidegate._base.files import clean as do

    removed = do(Path(folder))
    if as_json:
        say_json({"folder": folder, "removed": [path.name for path in removed]})
    else:
        say(f"removed {count(len(removed), 'half-written result')}")
        for path in removed:
            say(f"  {path}")
