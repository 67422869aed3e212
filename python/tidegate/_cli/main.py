"""The command line. Nothing heavy is imported before a command needs it.

Exit status: 0 fine; 1 a check did not hold; 2 the input was wrong; 3 a check is undecided; 4 nothing came
of it (a full disk, no memory left, a run that failed); 130 stopped by Ctrl-C. With ``--json`` standard output
is one JSON object and nothing else; what people should know goes to standard error.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING

import click

from tidegate import __version__
from tidegate._cli.errors import guarded
from tidegate._cli.options import epilog

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Where each command is: its module, and its name there where that is another; or the extra that brings it.
_PLACES = {
    "init": "begin",
    "run": "run",
    "check": "check",
    "check-run": "expect:check_run",
    "plot": "compare",
    "compare": "compare",
    "study": "study",
    "study plan": "shards:plan",
    "study merge": "shards:merge",
    "regress": "regress",
    "reproduce": "[papers]",
    "size": "studies",
    "tune": "studies",
    "live": "live",
    "traces": "traces",
    "export": "export",
    "identify": "identify",
    "lab": "lab",
    "schema": "language",
    "reference": "language",
    "completion": "completion",
    "clean": "clean",
}


#: So many new objects before Python looks for cycles of dead ones; its own number is 700.
_YOUNG_OBJECTS = 50_000


class _Commands(MutableMapping[str, click.Command]):
    """The commands by name, each imported when it is asked for: one command needs none of the others."""

    def __init__(self) -> None:
        self._added: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._added:
            self._added[name] = _found(name, _PLACES[name])
            assert self._added[name].name == name
        return self._added[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._added[name] = command

    def __delitem__(self, name: str) -> None:
        del self._added[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**_PLACES, **self._added})

    def __len__(self) -> int:
        return len({**_PLACES, **self._added})

    def __contains__(self, name: object) -> bool:
        return name in _PLACES or name in self._added


def _found(name: str, place: str) -> click.Command:
    """Import a command."""
    if place.startswith("["):
        from tidegate._cli.brought import extra_command

        return extra_command(name, place)
    module, _, there = place.partition(":")
    command: click.Command = getattr(import_module(f"tidegate._cli.{module}"), there or name)
    return command


class _Words(click.Group):
    """Commands, some of whose names are two words: "study plan" beside "study"."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        both = " ".join(args[:2])
        if len(args) > 1 and both in self.commands:
            return both, self.commands[both], args[2:]
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Words,
    commands=_Commands(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=epilog(
        "init policer > policer.toml",
        "check scenario.toml --explain",
        "run scenario.toml --plot run.png",
        "COMMAND --help",
        page="README",
    ),
)
@click.version_option(__version__, message="tidegate %(version)s")
def cli() -> None:
    """Predict what TCP does over a link whose rate is controlled.

    A scenario file describes gates (queue, rate, loss, delay) and the flows that pass them.
    Tidegate simulates it, computes it or runs it with the kernel's TCP, and reports the results.
    """


def main() -> None:
    """Run the command line and leave with its exit status."""
    # Imports make thousands of objects that stay: to look through them again takes a tenth of a short run.
    gc.set_threshold(_YOUNG_OBJECTS)
    atexit.register(gc.freeze)
    # A process that is asked to end, or whose terminal is closed, removes what it has begun to write.
    for number in (signal.SIGTERM, signal.SIGHUP):
        # nohup lets a command outlive its terminal.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    if sys.argv[1:2] != ["live"]:
        # Pictures go to files; only the program of a live shell may have a use for it.
        os.environ.pop("MPLBACKEND", None)
        # numpy's threads for large matrices spin while they wait, for longer than a picture takes.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    status = guarded(lambda: cli.main(sys.argv[1:], prog_name="tidegate", standalone_mode=False))
    # The answer is out; Ctrl-C has nothing to stop any more.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


def _end(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)
