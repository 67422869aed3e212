"""What ``--help`` prints of the commands, and manual pages of it; ``docs/generate.py`` writes them.

``man tidegate`` and ``man tidegate-run`` show them where the wheel is installed: they are in
``share/man/man1`` below the environment, where man looks for a program that is on the search path.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

import click
from tidegate._cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What each command's status says; one sentence for all of them.
STATUS = (
    ("0", "Fine."),
    (
        "1",
        "The answer of a check is no: a difference, a bound that does not hold, nothing that meets a goal.",
    ),
    ("2", "The input was wrong."),
    ("3", "A check is undecided."),
    ("4", "Nothing came of it: a full disk, no memory left, a run that failed."),
    ("130", "Stopped by Ctrl-C."),
)


def pages(version: str) -> dict[str, str]:
    """Return every page by its file name."""
    return {f"{name.replace(' ', '-')}.1": _page(name, command, version) for name, command in commands()}


def commands(name: str = "tidegate", command: click.Command = cli) -> Iterator[tuple[str, click.Command]]:
    """Yield a command by its name and, of a group, every command below it."""
    yield name, command
    if isinstance(command, click.Group):
        for below, inner in command.commands.items():
            yield from commands(f"{name} {below}", inner)


def facts(name: str, command: click.Command) -> tuple[str, list[tuple[str, str]]]:
    """Return a command's usage, and the names and meaning of each option, as ``--help`` has them."""
    context = click.Context(command, info_name=name, **cli.context_settings)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    options = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    records = [option.get_help_record(context) for option in options]
    return usage, [(names, _joined(about)) for names, about in filter(None, records)]


def _page(name: str, command: click.Command, version: str) -> str:
    usage, options = facts(name, command)
    title = name.replace(" ", "-")
    text = inspect.cleandoc(command.help or "")
    head, _, rest = text.partition("\n\n")
    first = " ".join(head.split())
    examples, told = _end(command.epilog or "")
    lines = [
        '.\\" Made by docs/generate.py (make docs); do not edit.',
        f'.TH "{title.upper()}" "1" "" "Tidegate {version}" "Tidegate"',
        ".SH NAME",
        f"{_roff(title)} \\- {_roff(first[0].lower() + first[1:].rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_roff(name)}",
        _roff(usage.removeprefix(f"{name} ")),
        ".SH DESCRIPTION",
        *_paragraphs(f"{first}\n\n{rest}"),
    ]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for below, inner in sorted(command.commands.items()):
            about = inspect.cleandoc(inner.help or "").partition("\n\n")[0]
            lines += [".TP", f".BR {_roff(f'{name} {below}'.replace(' ', '-'))} (1)", _roff(_joined(about))]
    lines.append(".SH OPTIONS")
    for names, about in options:
        lines += [".TP", f"\\fB{_roff(names)}\\fR", _roff(about)]
    lines += [".SH EXIT STATUS", *(f".TP\n{status}\n{meaning}" for status, meaning in STATUS)]
    if examples:
        lines += [".SH EXAMPLES", ".nf", *map(_roff, examples), ".fi"]
    lines += [".SH SEE ALSO", *_paragraphs(told or _end(cli.epilog or "")[1])]
    return "\n".join(lines) + "\n"


def _end(epilog: str) -> tuple[list[str], str]:
    """Return the examples of a command's help, and what it says behind them."""
    examples, _, told = epilog.replace("\b\n", "").partition("\n\n")
    return [line.strip() for line in examples.splitlines()[1:]], told


def _paragraphs(text: str) -> list[str]:
    r"""Return roff lines; a paragraph under ``\b`` keeps its lines."""
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines.append(".PP")
        if paragraph.startswith("\b"):
            kept = paragraph.removeprefix("\b").strip("\n").splitlines()
            lines += [".nf", *map(_roff, kept), ".fi"]
        else:
            lines.append(_roff(_joined(paragraph)))
    return lines


def _joined(text: str) -> str:
    return " ".join(text.split())


def _roff(text: str) -> str:
    """Return text as roff shows it literally."""
    shown = text.replace("\\", "\\e").replace("-", "\\-")
    shown = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in shown)
    return f"\\&{shown}" if shown.startswith((".", "'")) else shown
