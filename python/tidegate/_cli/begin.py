"""Where a user begins: ``tidegate init``, and the options that stand for a file."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from tidegate._cli.command import Command
from tidegate._cli.names import FILES, OUT_DIR
from tidegate._cli.options import JSON, epilog, note, say, say_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate._ask.link import Link

_LINK = (
    click.option("--link", metavar="RATE", help='Instead of FILE: one link, such as "50 Mbit/s".'),
    click.option("--rtt", metavar="SPAN", help="With --link or a trace: round-trip time; default: 40 ms."),
    click.option("--queue", metavar="SIZE", help='With --link or a trace: the queue; default: "1 BDP".'),
    click.option("--cc", metavar="NAME", help="With --link or a trace: congestion control; default: cubic."),
)


def SCENARIO(command: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N802
    """Add FILE and the options of a link; the command gets a file or the keys of a scenario as ``file``."""

    @functools.wraps(command)
    def with_link(
        *,
        file: str | None,
        link: str | None,
        rtt: str | None,
        queue: str | None,
        cc: str | None,
        **others: Any,
    ) -> Any:
        return command(file=_source(file, link, rtt=rtt, queue=queue, cc=cc), **others)

    for option in reversed(_LINK):
        with_link = option(with_link)
    return click.argument("file", metavar="[FILE]", required=False, type=FILES)(with_link)


def SCENARIOS(command: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N802
    """As :func:`SCENARIO`, with several files; the command gets a list of them as ``files``."""

    @functools.wraps(command)
    def with_link(
        *,
        files: tuple[str, ...],
        link: str | None,
        rtt: str | None,
        queue: str | None,
        cc: str | None,
        **others: Any,
    ) -> Any:
        found = [_source(file, link, rtt=rtt, queue=queue, cc=cc) for file in files or (None,)]
        return command(files=found, **others)

    for option in reversed(_LINK):
        with_link = option(with_link)
    return click.argument("files", metavar="[FILE]...", nargs=-1, type=FILES)(with_link)


def _source(file: str | None, link: str | None, **chosen: str | None) -> Any:
    """Return the file or, for a link or a trace with options, the keys of a scenario.

    Raises:
        click.UsageError: neither a file nor a link is given, or options that need a link.
        ArgumentError: an option is no text.
    """
    from tidegate._ask.link import Link, is_trace

    given = [f"--{name}" for name, value in chosen.items() if value is not None]
    if file is not None and link is not None:
        raise click.UsageError("give FILE or --link RATE, not both")
    if file is None and link is None:
        raise click.UsageError(
            "give FILE, a scenario or a link trace, or --link RATE; tidegate init makes a scenario"
        )
    if file is not None and not is_trace(file):
        if given:
            raise click.UsageError(
                f"{given[0]} is for --link and for traces; in a scenario use --set KEY=VALUE"
            )
        return file
    if file is not None:
        note(f"{file} is a link trace; 'tidegate init {file}' prints the scenario that is run over it")
        if not given:
            return file
    import tomllib

    return tomllib.loads(_scenario_of(Link(rate=link, trace=file, **chosen)))


#: The options that stand for keys of a scenario that nobody has written.
_KEYS = {
    "gate.link.rate": "--link",
    "flow.download.rtt": "--rtt",
    "gate.link.queue": "--queue",
    "flow.download.tcp.cc": "--cc",
}


def _scenario_of(link: Link) -> str:
    """Return the scenario that the options stand for; what is wrong in it is said of the option.

    Raises:
        click.UsageError: an option has a value that its key does not take.
        ScenarioError, TraceError, OSError: something else is wrong.
    """
    from tidegate._ask.scenario import Scenario
    from tidegate._base.arguments import text as check_text
    from tidegate.errors import ScenarioError

    for option, value in (
        ("--link", link.rate),
        ("--rtt", link.rtt),
        ("--queue", link.queue),
        ("--cc", link.cc),
    ):
        if value is not None:
            check_text(option, value)
    text = link.toml()
    try:
        Scenario.from_toml(text)
    except ScenarioError as error:
        named = [name for key, name in _KEYS.items() if (error.key or "").startswith(key)]
        if not named:
            raise
        message = f"{error.problem}; {error.help}" if error.help else error.problem
        raise click.UsageError(f"{named[0]}: {message}") from None
    return text


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete templates and, where none begins so, files."""
    from tidegate._ask.begin import templates

    found = [CompletionItem(name) for name in templates() if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


@click.command(
    cls=Command,
    epilog=epilog(
        "init policer > policer.toml",
        "init trace.down > mine.toml",
        "init --link '50 Mbit/s' --rtt '40 ms' > link.toml",
        "init --examples examples",
        page="start",
    ),
)
@click.argument("name", metavar="[NAME]", required=False, shell_complete=_names)
@click.option("--link", metavar="RATE", help="A scenario of one download over a link of this rate.")
@click.option("--rtt", metavar="SPAN", help="With --link or a trace: round-trip time; default: 40 ms.")
@click.option("--queue", metavar="SIZE", help='With --link or a trace: the queue; default: "1 BDP".')
@click.option("--cc", metavar="NAME", help="With --link or a trace: congestion control; default: cubic.")
@click.option(
    "folder", "--examples", metavar="DIR", type=OUT_DIR, help="Copy every example into a new folder."
)
@click.option("as_list", "--list", is_flag=True, help="List templates and examples.")
@JSON
def init(
    name: str | None,
    link: str | None,
    rtt: str | None,
    queue: str | None,
    cc: str | None,
    folder: str | None,
    as_list: bool,
    as_json: bool,
) -> None:
    """Print a commented scenario to begin with.

    NAME is household, lte, policer, satellite or datacentre, or a link trace. Without a NAME it lists them.
    """
    from tidegate._ask.begin import copy_examples, examples, template, templates, with_schema
    from tidegate._ask.link import Link, is_trace

    asked = {"NAME": name, "--link": link, "--list": as_list, "--examples": folder}
    given = [what for what, value in asked.items() if value]
    if len(given) > 1:
        raise click.UsageError(f"give {given[0]} or {given[1]}, not both")
    shape = [option for option, value in (("--rtt", rtt), ("--queue", queue), ("--cc", cc)) if value]
    if shape and link is None and (name is None or not is_trace(name)):
        raise click.UsageError(f"{shape[0]} is for --link and for traces")
    if folder is not None:
        names = copy_examples(Path(folder))
        if as_json:
            say_json({"folder": folder, "files": names})
        else:
            say(f"{len(names)} files in {folder}; begin with: tidegate run {folder}/lte.toml")
        return
    if as_list or (name is None and link is None):
        if as_json:
            say_json({"templates": templates(), "examples": examples()})
            return
        say("Templates (tidegate init NAME prints one):")
        _list(templates())
        say("\nExamples (tidegate init --examples DIR copies them):")
        _list(examples())
        return
    if name is not None and not is_trace(name):
        text = template(name)
    else:
        text = with_schema(_scenario_of(Link(rate=link, trace=name, rtt=rtt, queue=queue, cc=cc)))
    if as_json:
        say_json({"name": name, "scenario": text})
    else:
        say(text.rstrip("\n"))


def _list(entries: dict[str, str]) -> None:
    from tidegate._base.text import shorten, width

    left = max(map(len, entries))
    for name, first in entries.items():
        say(f"  {name.ljust(left)}  {shorten(first, width() - left - 4)}")
