"""``tidegate live …``: any program across the gates, and removing what dead runs left."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import click

from tidegate._cli_options import FILE, JSON, SET, count, note, say, say_json, warn


@click.group()
def live() -> None:
    """Any program across the gates of a scenario, in real time."""


@live.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@FILE
@click.argument("command", metavar="[-- COMMAND…]", nargs=-1, type=click.UNPROCESSED)
@click.option("--peer", metavar="COMMAND", help="Run this at the other end, in a network of its own.")
@click.option("--upload", is_flag=True, help="The program is the sender: what it sends passes the path.")
@click.option("--nat", is_flag=True, help="Send its packets on into the world, under this machine's address.")
@SET
def shell(
    file: str, command: tuple[str, ...], peer: str | None, upload: bool, nat: bool, sets: tuple[str, ...]
) -> int:
    """Run a program whose whole network traffic passes the gates of FILE's first flow.

    What it receives passes the flow's path, what it sends the way back (--upload: the
    other way round). Without COMMAND it is your shell. The other end is this machine, as
    10.77.0.1 (10.77.0.2 with --upload), or what --peer starts. With --nat the program
    reaches what this machine reaches (root). Options go before FILE. The exit status is the
    program's.
    """
    from tidegate import _core
    from tidegate._source import as_scenario

    # Before anything that starts threads.
    _core.live_enter()
    scenario = as_scenario(file, sets)
    words = list(command[1:] if command[:1] == ("--",) else command)
    words = words or [os.environ.get("SHELL", "/bin/sh")]
    if shutil.which(words[0]) is None:
        raise click.UsageError(f"{words[0]}: there is no such program")
    if nat and peer is not None:
        raise click.UsageError("--nat: with --peer there is no world at the other end")
    if nat and (server := _own_name_server()) is not None:
        note(
            f"names: /etc/resolv.conf asks {server}, which is this machine itself; the program cannot "
            "ask there, so give it addresses"
        )
    # Ctrl-C is the program's; a handler of ours is not handed down to it, ignoring would be.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        status, dropped, packets, late, warnings = scenario._inner.live_shell(
            command=words, peer=peer, uploads=upload, nat=nat, seed=scenario.seed or 1
        )
    finally:
        signal.signal(signal.SIGINT, before)
    lateness = "" if late is None else f", 99% of them at most {late:.0f} us late"
    note(f"{count(packets, 'packet')} passed, {dropped} dropped by gates{lateness}")
    warn(warnings)
    return status


def _own_name_server() -> str | None:
    """Return the name server, where all that are named are this machine's own."""
    try:
        words = [line.split() for line in Path("/etc/resolv.conf").read_text().splitlines()]
    except OSError:
        return None
    servers = [line[1] for line in words if len(line) > 1 and line[0] == "nameserver"]
    own = [server for server in servers if server.startswith("127.") or server == "::1"]
    return own[0] if own and len(own) == len(servers) else None


@live.command()
@JSON
def clean(as_json: bool) -> None:
    """Remove what live runs left whose process was killed.

    Every live run does so at its start; namespaces and devices go with their process anyway.
    """
    from tidegate import _core

    runs, processes = _core.live_clean()
    result: dict[str, Any] = {"runs": runs, "processes": processes}
    if as_json:
        say_json(result)
    else:
        say(f"{count(len(runs), 'dead run')}, {count(len(processes), 'program')} of theirs ended")
