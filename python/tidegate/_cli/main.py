"""The command line. Nothing heavy is imported before a command needs it.

Exit status: 0 fine; 1 a run failed or a check did not hold; 2 the input was wrong;
130 stopped by Ctrl-C. With ``--json`` standard output is one JSON object and nothing else;
what people should know goes to standard error.
"""

from __future__ import annotations

import signal
import sys

import click

from tidegate._cli.compare import compare, plot
from tidegate._cli.errors import guarded
from tidegate._cli.identify import identify
from tidegate._cli.language import reference, schema
from tidegate._cli.live import live
from tidegate._cli.options import epilog
from tidegate._cli.regress import regress
from tidegate._cli.run import check, run
from tidegate._cli.studies import reproduce, size, tune
from tidegate._cli.study import study
from tidegate._cli.traces import traces


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=epilog("check scenario.toml --explain", "run scenario.toml --plot run.png", "COMMAND --help"),
)
@click.version_option(package_name="tidegate", message="tidegate %(version)s")
def cli() -> None:
    """Predict what TCP does over a link whose rate is controlled.

    A scenario file describes gates (queue, rate, loss, delay) and the flows that pass them.
    Tidegate simulates it, computes it or runs it with the kernel's TCP, and reports the results.
    """


for _command in (
    run,
    check,
    plot,
    compare,
    study,
    regress,
    reproduce,
    size,
    tune,
    live,
    traces,
    identify,
    schema,
    reference,
):
    cli.add_command(_command)


def main() -> None:
    """Run the command line and leave with its exit status."""
    # A process that is asked to end removes what it has begun to write.
    signal.signal(signal.SIGTERM, _end)
    sys.exit(guarded(lambda: cli.main(sys.argv[1:], prog_name="tidegate", standalone_mode=False)))


def _end(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)
