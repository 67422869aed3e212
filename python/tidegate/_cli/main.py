"""The command line. Nothing heavy is imported before a command needs it.

Exit status: 0 fine; 1 a run failed or a check did not hold; 2 the input was wrong; 3 a check is undecided;
130 stopped by Ctrl-C. With ``--json`` standard output is one JSON object and nothing else;
what people should know goes to standard error.
"""

from __future__ import annotations

import signal
import sys

import click

from tidegate._cli.begin import init
from tidegate._cli.check import check
from tidegate._cli.compare import compare, plot
from tidegate._cli.completion import completion
from tidegate._cli.errors import guarded
from tidegate._cli.expect import check_run
from tidegate._cli.export import export
from tidegate._cli.identify import identify
from tidegate._cli.lab import lab
from tidegate._cli.language import reference, schema
from tidegate._cli.live import live
from tidegate._cli.options import epilog
from tidegate._cli.regress import regress
from tidegate._cli.run import run
from tidegate._cli.shards import merge, plan
from tidegate._cli.studies import reproduce, size, tune
from tidegate._cli.study import study
from tidegate._cli.traces import traces


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
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=epilog(
        "init policer > policer.toml",
        "check scenario.toml --explain",
        "run scenario.toml --plot run.png",
        "COMMAND --help",
        page="README",
    ),
)
@click.version_option(package_name="tidegate", message="tidegate %(version)s")
def cli() -> None:
    """Predict what TCP does over a link whose rate is controlled.

    A scenario file describes gates (queue, rate, loss, delay) and the flows that pass them.
    Tidegate simulates it, computes it or runs it with the kernel's TCP, and reports the results.
    """


for _command in (
    init,
    run,
    check,
    check_run,
    plot,
    compare,
    study,
    plan,
    merge,
    regress,
    reproduce,
    size,
    tune,
    live,
    traces,
    export,
    identify,
    lab,
    schema,
    reference,
    completion,
):
    cli.add_command(_command)


def main() -> None:
    """Run the command line and leave with its exit status."""
    # A process that is asked to end removes what it has begun to write.
    signal.signal(signal.SIGTERM, _end)
    sys.exit(guarded(lambda: cli.main(sys.argv[1:], prog_name="tidegate", standalone_mode=False)))


def _end(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)
