"""``tidegate completion``: what a shell needs to complete commands, options and files."""

from __future__ import annotations

import click

from tidegate._cli.command import Command
from tidegate._cli.options import epilog, say


@click.command(
    cls=Command,
    epilog=epilog("completion bash > tidegate-completion", "completion fish > tidegate.fish", page="start"),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    Write it to ~/.local/share/bash-completion/completions/tidegate for bash, to a file _tidegate in
    a folder of $fpath for zsh, or to ~/.config/fish/completions/tidegate.fish for fish. Commands,
    options, choices and file names are completed then.
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    root = click.get_current_context().find_root().command
    say(found(root, {}, "tidegate", "_TIDEGATE_COMPLETE").source())
