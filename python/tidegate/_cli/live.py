"""``tidegate live …``: any program across the gates, and removing what dead runs left."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import click

from tidegate._cli.options import FILE, JSON, SET, count, epilog, note, say, say_json, warn


@click.group()
def live() -> None:
    """Run any program over the gates of a scenario, in real time."""


@live.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=epilog(
        "live shell scenario.toml",
        "live shell scenario.toml -- ping -c 3 10.77.0.1",
        "live shell --nat scenario.toml -- curl -O http://example.org/file",
    ),
)
@FILE
@click.argument("command", metavar="[-- COMMAND…]", nargs=-1, type=click.UNPROCESSED)
@click.option("--peer", metavar="COMMAND", help="Run this command at the other end, in a network of its own.")
@click.option("--upload", is_flag=True, help="Send the program's outgoing traffic over the flow's path.")
@click.option(
    "--nat", is_flag=True, help="Connect the program to this machine's network, under its address (root)."
)
@SET
def shell(
    file: str, command: tuple[str, ...], peer: str | None, upload: bool, nat: bool, sets: tuple[str, ...]
) -> int:
    """Run a program whose network traffic passes the gates of FILE.

    Traffic that the program receives passes the path of the first flow in FILE; traffic that it
    sends passes the way back. With --upload it is the other way round. Without COMMAND the
    program is your shell. The other end is this machine, with the address 10.77.0.1 (10.77.0.2
    with --upload), or the command given by --peer. With --nat the program can reach every host
    that this machine can reach; this needs root. Write options before FILE. The exit status is
    that of the program.
    """
    from tidegate import _core
    from tidegate._ask import compiled
    from tidegate._ask.source import as_scenario

    # Before anything that starts threads.
    _core.live_enter()
    scenario = as_scenario(file, sets)
    words = list(command[1:] if command[:1] == ("--",) else command)
    words = words or [os.environ.get("SHELL", "/bin/sh")]
    if shutil.which(words[0]) is None:
        raise click.UsageError(f"{words[0]}: there is no such program")
    if nat and peer is not None:
        raise click.UsageError(
            "--nat cannot be used with --peer: the other end is either the real network or the peer"
        )
    if nat and (server := _own_name_server()) is not None:
        note(
            f"name lookups will fail: /etc/resolv.conf names {server}, this machine itself, which the "
            "program cannot reach; use addresses"
        )
    # Ctrl-C is the program's; a handler of ours is not handed down to it, ignoring would be.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        status, dropped, packets, late, warnings = compiled.live_shell(
            scenario, command=words, peer=peer, uploads=upload, nat=nat
        )
    finally:
        signal.signal(signal.SIGINT, before)
    lateness = "" if late is None else f"; 99% were at most {late:.0f} us late"
    note(f"{count(packets, 'packet')} passed the gates, {dropped} dropped by them{lateness}")
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


@live.command(epilog=epilog("live clean"))
@JSON
def clean(as_json: bool) -> None:
    """Clean up after live runs whose process was killed.

    Every live run does this when it starts. Network namespaces and devices disappear with their
    process.
    """
    from tidegate import _core

    runs, processes = _core.live_clean()
    result: dict[str, Any] = {"runs": runs, "processes": processes}
    if as_json:
        say_json(result)
    else:
        say(f"removed {count(len(runs), 'dead run')}, ended {count(len(processes), 'program')} of theirs")
