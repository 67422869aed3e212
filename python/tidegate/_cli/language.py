"""The commands that print the scenario language: ``schema`` and ``reference``."""

from __future__ import annotations

import click

from tidegate._cli.command import Command
from tidegate._cli.options import JSON, epilog, plain, say, say_json


@click.command(cls=Command, epilog=epilog("schema > scenario.schema.json", page="start"))
@JSON
def schema(as_json: bool) -> None:  # noqa: ARG001
    """Print the JSON Schema of scenario files."""
    from tidegate._ask.scenario import schema as get_schema

    say_json(get_schema())


@click.command(cls=Command, epilog=epilog("reference > reference.md", page="start"))
@JSON
def reference(as_json: bool) -> None:
    """Print every key of the scenario language, as Markdown."""
    from tidegate._ask.scenario import reference as get_reference

    text = get_reference()
    if as_json:
        say_json({"reference": text})
    else:
        say(plain(text.rstrip("\n")))
