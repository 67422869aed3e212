"""Commands that another distribution brings: it names them as entry points."""

from __future__ import annotations

from importlib.metadata import entry_points

import click

GROUP = "tidegate.commands"


def extra_command(name: str, extra: str) -> click.Command:
    """Return the command of this name; where nothing brings it, one that says what to install.

    Args:
        name: the entry point's name, in the group ``tidegate.commands``.
        extra: what brings it, as pip takes it: ``[papers]``.
    """
    for entry in entry_points(group=GROUP, name=name):
        found: click.Command = entry.load()
        return found

    @click.command(
        name,
        help=f"Comes with tidegate{extra}.",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    def missing() -> None:
        raise click.ClickException(f'install what "tidegate {name}" needs: pip install "tidegate{extra}"')

    return missing
