"""The help of the command line: whole first sentences, choices with their defaults, examples."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner
from support.common import ROOT, tidegate
from tidegate._cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Iterator


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


ALL = sorted(commands(cli))


def help_of(*words: str, width: int = 78) -> str:
    """Return the help as a terminal of 80 columns shows it: Click leaves two of them free."""
    done = CliRunner().invoke(cli, [*words, "--help"], prog_name="tidegate", terminal_width=width)
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("words", [(), ("live",), ("traces",)], ids=" ".join)
def test_a_list_of_commands_is_not_cut(words: tuple[str, ...]) -> None:
    text = help_of(*words)
    rows = text[text.index("Commands:") :].split("\n\n")[0].splitlines()[1:]
    assert rows
    assert all(row.endswith(".") and not row.endswith("...") for row in rows), rows


@pytest.mark.parametrize(
    "words", [each for each in ALL if each not in {("live",), ("traces",)}], ids=" ".join
)
def test_a_command_shows_examples_and_where_to_read_on(words: tuple[str, ...]) -> None:
    text = help_of(*words)
    assert f"  tidegate {' '.join(words)}" in text[text.index("Examples:") :]
    page = re.search(r"Guide: (docs/guide/\S+\.md) ", text)
    assert page, text
    told = (ROOT / page[1]).read_text(encoding="utf-8")
    assert f"tidegate {' '.join(words)}" in told, f"{page[1]} does not show this command"


@pytest.mark.parametrize("words", [(), *ALL], ids=" ".join)
def test_help_fits_80_columns(words: tuple[str, ...]) -> None:
    assert [line for line in help_of(*words).splitlines() if len(line) > 80] == []


def test_engines_are_listed_with_the_default() -> None:
    for words, names in ((("run",), "[sim|live|theory]"), (("study",), "[sim|live]")):
        text = " ".join(help_of(*words).split())
        assert f"--engine {names} " in text
        assert "formulas. [default: sim]" in text or "real time. [default: sim]" in text


@pytest.mark.parametrize("words", [(), ("live",), ("traces",)], ids=" ".join)
def test_without_a_command_the_help_is_no_error(words: tuple[str, ...]) -> None:
    done = tidegate(*words)
    said = done.stdout + done.stderr
    assert said.startswith("Usage: tidegate")
    assert "Commands:" in said
    assert "error" not in said
