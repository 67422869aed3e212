"""The blocks of code in README.md and docs/guide, and how to run them.

Pages hold fenced blocks; this is what they mean here:

- ``bash``: every line that starts with ``tidegate`` or ``.venv/bin/tidegate`` is run, in order, and
  has to end with status 0. Other lines (``git clone``, ``make``) are not run.
- ``python``: run; all blocks of a page share their names.
- ``toml``: checked as a scenario. What a fragment lacks (a duration, a gate, a flow) is added.

An HTML comment just before a block changes that:

- ``<!-- not run -->``: the block is only shown.
- ``<!-- status 2 -->``: the commands end with this status.
- ``<!-- file NAME -->``: the block is also written to NAME, for the blocks that follow. The text above
  the block has to name the file, so that a reader can save it too; a test checks that.
- ``<!-- output -->``: before a ``text`` block: what the block before it printed. ``generate.py``
  writes it; a test compares.
- ``<!-- output lines 1-12, 40-43 -->``: the same, but only these lines of it, counted from 1. A line
  with ``…`` takes the place of each part that is left out. No range begins or ends with an empty line: an
  output that has become a line longer is noticed.

No comment runs a command that the page does not show: a reader could not follow such a page.

A page runs in a folder of its own that has ``examples`` in it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]

_MARKDOWN = MarkdownIt("commonmark")
_COMMENT = re.compile(r"<!-- (.*) -->")
_CHOICE = re.compile(r"lines \d+-\d+(, \d+-\d+)*")
_COMMANDS = ("tidegate ", ".venv/bin/tidegate ")


def pages() -> list[Path]:
    """Return the pages whose blocks are run."""
    return [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]


@dataclass
class Block:
    """A fenced block."""

    kind: str
    line: int
    text: str
    notes: list[str] = field(default_factory=list)
    #: Lines of the page that hold the text, from and to.
    span: tuple[int, int] = (0, 0)

    def note(self, name: str) -> str | None:
        """Return what a comment before the block says after ``name``; None without one."""
        for note in self.notes:
            if note == name:
                return ""
            if note.startswith(name + " "):
                return note.removeprefix(name + " ")
        return None


def blocks(text: str) -> list[Block]:
    """Find the blocks of a page."""
    found: list[Block] = []
    notes: list[str] = []
    for token in _MARKDOWN.parse(text):
        if token.type == "html_block":
            notes += _COMMENT.findall(token.content)
            continue
        if token.type == "fence" and token.map:
            first, end = token.map
            found.append(Block(token.info, first + 1, token.content, notes, (first + 1, end - 1)))
        notes = []
    return found


def commands(text: str) -> list[str]:
    """Return the commands of a bash block that can be run here, each in one line."""
    joined = text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.startswith(_COMMANDS)]


def shown(said: str, choice: str) -> list[str]:
    """Return the lines of an output that a page shows; ``choice`` follows ``output`` in the comment."""
    lines = [line.rstrip() for line in said.rstrip("\n").splitlines()]
    if not choice:
        return lines
    if not _CHOICE.fullmatch(choice):
        raise PageError(f"cannot read 'output {choice}'; write 'output lines 1-12, 40-43'")
    kept: list[str] = []
    after = 0
    for first, last in re.findall(r"(\d+)-(\d+)", choice):
        start, end = int(first), int(last)
        if not after < start <= end <= len(lines):
            raise PageError(f"'output {choice}': the output has {len(lines)} lines; ranges go up, from 1")
        if not (lines[start - 1] and lines[end - 1]):
            raise PageError(f"'output {choice}': lines {first}-{last} begin or end with an empty line")
        if start > after + 1:
            kept.append("…")
        kept += lines[start - 1 : end]
        after = end
    return [*kept, "…"] if after < len(lines) else kept


def complete(fragment: str) -> str:
    """Make a whole scenario of a fragment: the least that it lacks is added."""
    keys = tomllib.loads(fragment)
    head = "" if "duration" in keys else 'duration = "2 s"\n'
    gates = list(keys.get("gate", {}))
    tail = ""
    if not gates:
        gates = ["link"]
        tail += '\n[gate.link]\nrate = "10 Mbit/s"\n'
    if "flow" not in keys:
        tail += f"\n[flow.added]\npath = {gates!r}\n".replace("'", '"')
    return head + fragment + tail


#: How long a line may take, in seconds: the longest takes 20 on two processors, and a machine may be busy.
LIMIT = 600
#: Runs a line in a folder with an environment; both outputs are in ``stdout``.
Run = Callable[[str, Path, dict[str, str]], subprocess.CompletedProcess[str]]


def by_bash(line: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a line as a reader does."""
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=LIMIT,
        check=False,
        env=environment,
    )


class PageError(AssertionError):
    """A block did not do what the page says."""


class Player:
    """Runs the blocks of one page, in order, in a folder of its own."""

    def __init__(self, page: Path, folder: Path, run: Run = by_bash) -> None:
        self.page = page
        self.folder = folder
        self.run = run
        self.names: dict[str, Any] = {"__name__": "__page__"}
        self.said = ""
        # A page's studies find what the page has computed, and nothing else.
        self.store = folder / ".store"
        shutil.copytree(ROOT / "examples", folder / "examples")

    def fail(self, block: Block, why: str) -> PageError:
        """Say which block of which page it was."""
        return PageError(f"{self.page.relative_to(ROOT)}:{block.line}: {why}")

    def play(self, block: Block) -> None:
        """Run one block; what it printed is in ``said``."""
        name = block.note("file")
        if name:
            (self.folder / name).write_text(block.text)
        if block.note("not run") is not None:
            return
        if block.kind == "bash":
            self.said = self.shell(block, commands(block.text), int(block.note("status") or 0))
        elif block.kind == "python":
            self.said = self.python(block)
        elif block.kind == "toml":
            place = self.folder / ".fragment.toml"
            place.write_text(complete(block.text))
            self.shell(block, [f"tidegate check {place.name}"], int(block.note("status") or 0))

    def shell(self, block: Block, lines: list[str], status: int) -> str:
        """Run commands, and return what they printed on both outputs."""
        bin_folder = str(Path(sys.executable).parent)
        said = []
        for line in lines:
            environment = {
                **os.environ,
                "PATH": bin_folder + os.pathsep + os.environ["PATH"],
                "PYTHONIOENCODING": "utf-8",
                "MPLBACKEND": "Agg",
                "COLUMNS": "80",
                "TIDEGATE_STORE": str(self.store),
            }
            done = self.run(line.removeprefix(".venv/bin/"), self.folder, environment)
            if done.returncode != status:
                raise self.fail(block, f"status {done.returncode}, not {status}: {line}\n{done.stdout}")
            said.append(done.stdout)
        return "".join(said)

    def python(self, block: Block) -> str:
        """Run Python in the page's folder, and return what it printed."""
        code = compile("\n" * block.line + block.text, str(self.page), "exec")
        out = io.StringIO()
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(out),
            mock.patch.dict(os.environ, {"TIDEGATE_STORE": str(self.store)}),
        ):
            exec(code, self.names)
        return out.getvalue()


def refreshed(page: Path, folder: Path, run: Run = by_bash) -> str:
    """Run a page; return its text with every ``<!-- output -->`` block as it should be."""
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    player = Player(page, folder, run)
    changes: list[tuple[tuple[int, int], list[str]]] = []
    for block in blocks(text):
        choice = block.note("output")
        if block.kind == "text" and choice is not None:
            changes.append((block.span, shown(player.said, choice)))
        else:
            player.play(block)
    for (start, end), new in reversed(changes):
        lines[start:end] = new
    return "\n".join(lines) + "\n"
