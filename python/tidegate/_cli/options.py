"""Options that several commands share, and how commands speak."""

from __future__ import annotations

import contextlib
import functools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tidegate._base.text import harmless
from tidegate._cli.colour import coloured, wanted, with_verdicts
from tidegate._cli.names import FILES, FOLDERS, OUTPUT, Whole

_Command = TypeVar("_Command", bound="Callable[..., Any] | click.Command")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tidegate._run.kept import Kept

JSON = click.option("as_json", "--json", is_flag=True, help="Print one JSON object instead of text.")


def _from_here(_context: click.Context, _option: click.Parameter, sets: tuple[str, ...]) -> tuple[str, ...]:
    """Look for a trace in the working folder before that of the scenario."""
    return tuple(_path_from_here(change) for change in sets)


def _path_from_here(change: str) -> str:
    key, equals, value = change.partition("=")
    path = value.strip().strip("\"'")
    if equals and key.strip().endswith((".trace", ".trace.file")) and path and Path(path).is_file():
        return f"{key}={json.dumps(str(Path(path).resolve()))}"
    return change


_SETS = click.option(
    "sets",
    "--set",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_from_here,
    help="Change a key of the scenario; repeatable. A trace is looked for in this folder first.",
)


def _remember_outside(_context: click.Context, _option: click.Parameter, allowed: bool) -> None:
    from tidegate._ask.scenario import OUTSIDE

    OUTSIDE.set(allowed)


_ALLOW_OUTSIDE = click.option(
    "--allow-outside",
    is_flag=True,
    expose_value=False,
    callback=_remember_outside,
    help="Let errors quote trace files outside the scenario's folder.",
)


def _remember_python(_context: click.Context, _option: click.Parameter, allowed: bool) -> None:
    from tidegate._ask.scenario import OWN_CODE

    OWN_CODE.set("runs" if allowed else "edits")


_ALLOW_PYTHON = click.option(
    "--allow-python",
    is_flag=True,
    expose_value=False,
    callback=_remember_python,
    help="Run the Python files that the scenario names (controllers, rules of video), with your rights.",
)


def SET(command: Any) -> Any:  # noqa: N802
    """Add the options of every command that runs a scenario."""
    return _SETS(_ALLOW_OUTSIDE(_ALLOW_PYTHON(command)))


def SET_ONLY(command: Any) -> Any:  # noqa: N802
    """Add the options of every command that reads a scenario and does not run it."""

    @functools.wraps(command)
    def wrapper(**given: Any) -> Any:
        from tidegate._ask.scenario import OWN_CODE

        OWN_CODE.set("told")
        return command(**given)

    return _SETS(_ALLOW_OUTSIDE(wrapper))


SEED = click.option(
    "--seed",
    type=Whole("seed"),
    metavar="N",
    help="Seed of all random numbers; default: the file's seed, or a random one.",
)


PERTURB = click.option(
    "--perturb",
    type=Whole("perturb"),
    metavar="N",
    help="Also make N runs with small changes that nobody can know, and report the range: starts "
    "within one round trip, delays ±1%, 100 µs of jitter.",
)


class _Engine(click.Choice):  # type: ignore[type-arg]
    """Names of engines, for help and completion; the commands check them and say more of a wrong one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        return value


def engine_option(*names: str) -> Callable[[_Command], _Command]:
    """Return the option that chooses one of these engines."""
    words = {
        "sim": "sim: simulation in virtual time",
        "live": "live: the kernel's TCP in real time",
        "theory": "theory: formulas",
    }
    return click.option(
        "--engine",
        type=_Engine(names),
        default="sim",
        show_default=True,
        help="; ".join(words[name] for name in names) + ".",
    )


ENGINE = engine_option("sim", "live")
RECORD = click.option(
    "--record",
    metavar="WHAT",
    help='Time series: "summary" for none, "events" for every change, or an interval such as "10 ms".',
)
FORCE = click.option("--force", is_flag=True, help="Replace the results that DIR already holds.")
FILE = click.argument("file", metavar="FILE", type=FILES)
_STORE = click.option(
    "--store",
    metavar="DIR",
    type=FOLDERS,
    help="Folder in which results are kept and found again; default: TIDEGATE_STORE, else the user's cache.",
)
_NO_STORE = click.option("--no-store", is_flag=True, help="Do not keep results, and do not use kept ones.")


def STORE(command: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N802
    """Add ``--store`` and ``--no-store``; a command gets both as one argument ``store``."""

    @functools.wraps(command)
    def with_store(*, store: str | None, no_store: bool, **others: Any) -> Any:
        if store is not None and no_store:
            raise click.UsageError("--store DIR and --no-store exclude each other; keep one of the two")
        return command(store=False if no_store else store or True, **others)

    return _STORE(_NO_STORE(with_store))


REPORT = click.option(
    "page",
    "--report",
    metavar="FILE.html",
    type=OUTPUT,
    help="Write one HTML page: tables, pictures, the scenario, the command.",
)
CSV = click.option(
    "csv", "--csv", metavar="FILE", type=OUTPUT, help="Write the table as CSV, in the units of --json."
)
WORKERS = click.option(
    "--workers",
    type=Whole("workers"),
    metavar="N",
    help="Threads; default: one per processor.",
)


def epilog(*examples: str, page: str) -> str:
    """Return the end of a command's help: examples, and the page of the guide."""
    lines = "\n".join(f"  tidegate {example}" for example in examples)
    return (
        f"\b\nExamples:\n{lines}\n\n"
        f"Guide: docs/guide/{page}.md in Tidegate's source. 'tidegate reference' prints every key."
    )


def say(text: str = "", *, end: str = "\n", err: bool = False) -> None:
    """Write a line to standard output, or to standard error, without what a terminal would obey.

    Every command writes here, because titles and names come from files of others.
    """
    click.echo(harmless(text) + end, nl=False, err=err)


def say_report(text: str) -> None:
    """Write a report to standard output, its verdicts in colour where that is a terminal."""
    text = harmless(text)
    click.echo(with_verdicts(text) if wanted(sys.stdout) else text)


def note(text: str) -> None:
    """Write a line to standard error, in colour where that is a terminal."""
    text = harmless(text)
    click.echo(coloured(text) if wanted() else text, err=True)


def warn(warnings: Sequence[str]) -> None:
    """Write warnings to standard error."""
    for text in warnings:
        note(f"warning: {text}")


def say_json(value: Any) -> None:
    """Write one JSON object to standard output."""
    say(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def plain(text: str) -> str:
    """Return the text as standard output can show it."""
    from tidegate._base.text import plain as do

    return do(text)


def count(number: int, what: str) -> str:
    """Return "1 flow", "2 flows"."""
    from tidegate._base.text import counted

    return counted(number, what)


def command_line() -> list[str]:
    """Return the command as it was typed."""
    return ["tidegate", *sys.argv[1:]]


def needs(other: str | None, what: str, given: Mapping[str, Any]) -> None:
    """Refuse options that would be ignored, because another one is not given.

    Args:
        other: the value of the other one.
        what: how it is written, such as "--plot FILE".
        given: the options with their values; None, False and () are not given.

    Raises:
        click.UsageError: one is given without the other.
    """
    for option, value in given.items():
        if other is None and value not in (None, False, ()):
            raise click.UsageError(f"{option} needs {what}")


@contextlib.contextmanager
def folder_for(out: str | None, *, force: bool) -> Iterator[Callable[[Kept], None]]:
    """Reserve the folder of ``--out``, and give a function that fills it; without ``--out`` it does nothing.

    The folder appears when the block ends well. A place that cannot be written is known before any work.

    Raises:
        RunFolderError: the folder is there already.
        OSError: it cannot be written.
    """
    needs(out, "--out DIR", {"--force": force})
    if out is None:
        yield lambda _: None
        return
    from tidegate._run.folder import staged

    with staged(Path(out), force=force) as work:
        yield lambda result: result.fill(work)


def parse_vary(options: Sequence[str]) -> dict[str, list[str]]:
    """Read ``KEY=a,b,c``; commas inside quotes, brackets or braces do not separate.

    Raises:
        click.UsageError: an option has no key or no values, or a key comes twice.
    """
    varied: dict[str, list[str]] = {}
    for option in options:
        key, equals, text = option.partition("=")
        key = key.strip()
        values = split_values(text)
        if not equals or not key or not all(values):
            raise click.UsageError(
                f'--vary {option}: read "{option}"; write a key and its values, such as '
                "flow.bulk.tcp.cc=reno,newreno,cubic"
            )
        if key in varied:
            raise click.UsageError(
                f"--vary {option}: {key} is varied twice; write all its values in one --vary"
            )
        varied[key] = values
    return varied


def split_values(text: str) -> list[str]:
    """Split at commas that stand outside quotes, brackets and braces."""
    values = [""]
    depth = 0
    quote = ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        elif letter == "," and depth == 0:
            values.append("")
            continue
        values[-1] += letter
    return [value.strip() for value in values]


def tell(
    result: Any,
    *,
    as_json: bool,
    folder: str | None,
    picture: str | None,
    page: str | None = None,
    report: str | None = None,
) -> None:
    """End a command: print a result with ``to_json``, ``report`` and ``warnings``, and where it lies.

    ``report``: the text for people, where it is not the usual one.
    """
    if as_json:
        say(result.to_json())
    else:
        say_report(result.report() if report is None else report)
        if folder is not None:
            say(f"Folder: {folder}")
        if picture is not None:
            say(f"Picture: {picture}")
        if page is not None:
            say(f"Report: {page}")
    warn(result.warnings)
