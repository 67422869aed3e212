"""``tidegate live …``: any program across the gates, and removing what dead runs left."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from pathlib import Path
from typing import Any

import click

from tidegate._base.files import file_beside
from tidegate._base.written import check_target
from tidegate._cli.command import Group
from tidegate._cli.names import OUT_DIR, OUTPUT
from tidegate._cli.options import (
    FILE,
    FORCE,
    JSON,
    SET_ONLY,
    command_line,
    count,
    epilog,
    folder_for,
    needs,
    note,
    say,
    say_json,
    warn,
)
from tidegate._programs.welcome import RECEIVER, SENDER, banner, with_tag


@click.group(cls=Group)
def live() -> None:
    """Run any program over the gates of a scenario, in real time."""


@live.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=epilog(
        "live shell scenario.toml",
        "live shell scenario.toml -- ping -c 3 10.77.0.1",
        "live shell --plot x.png --nat x.toml -- curl http://example.org/",
        page="shell",
    ),
)
@FILE
@click.argument("command", metavar="[-- COMMAND…]", nargs=-1, type=click.UNPROCESSED)
@click.option("--peer", metavar="COMMAND", help="Run this command at the other end, in a network of its own.")
@click.option("--upload", is_flag=True, help="Send the program's outgoing traffic over the flow's path.")
@click.option(
    "--nat", is_flag=True, help="Connect the program to this machine's network, under its address (root)."
)
@click.option(
    "--out",
    metavar="DIR",
    type=OUT_DIR,
    help="Write a folder with every packet's time, size, delay and drop.",
)
@FORCE
@click.option(
    "picture",
    "--plot",
    metavar="FILE",
    type=OUTPUT,
    help="Draw throughput, delays and drops; the name ends in .png, .svg or .pdf.",
)
@click.option(
    "--pcap",
    metavar="FILE",
    type=OUTPUT,
    help="Write the headers of every packet, as the program's end saw it.",
)
@SET_ONLY
def shell(
    file: str,
    command: tuple[str, ...],
    peer: str | None,
    upload: bool,
    nat: bool,
    out: str | None,
    force: bool,
    picture: str | None,
    pcap: str | None,
    sets: tuple[str, ...],
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
    from tidegate._ask.swept import sweep_warnings

    if file.startswith("-") and file != "-":
        raise click.NoSuchOption(file, ctx=click.get_current_context())
    is_root = os.geteuid() == 0 if hasattr(os, "geteuid") else False
    # Before anything that starts threads.
    _core.live_enter()
    scenario = as_scenario(file, sets)
    words = list(command[1:] if command[:1] == ("--",) else command)
    is_shell = not words
    words = words or [os.environ.get("SHELL", "/bin/sh")]
    if shutil.which(words[0]) is None:
        raise click.UsageError(f"{words[0]}: there is no such program")
    if nat and peer is not None:
        raise click.UsageError(
            "--nat cannot be used with --peer: the other end is either the real network or the peer"
        )
    needs(out, "--out DIR", {"--force": force})
    check_target(picture, "picture")
    check_target(pcap)
    if nat and (server := _own_name_server()) is not None:
        note(
            f"name lookups will fail: /etc/resolv.conf names {server}, this machine itself, which the "
            "program cannot reach; use addresses"
        )
    recorded = out is not None or picture is not None
    with contextlib.ExitStack() as stack:
        fill = stack.enter_context(folder_for(out, force=force))
        program = " ".join(words)
        if is_shell and scenario.flow_names:
            own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tidegate-shell-")))
            words, environment = with_tag(words[0], f"tidegate {Path(file).name}", own)
            os.environ.update(environment)
            note(banner(scenario, peer=peer, uploads=upload, nat=nat, root=is_root))
        written = None if pcap is None else str(stack.enter_context(file_beside(pcap)))
        # Ctrl-C is the program's; a handler of ours is not handed down to it, ignoring would be.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            summary, packets = compiled.live_shell(
                scenario, command=words, peer=peer, uploads=upload, nat=nat, recorded=recorded, pcap=written
            )
        finally:
            signal.signal(signal.SIGINT, before)
        status, took_s, dropped, passed, late, astray, warnings = summary
        warnings = [*warnings, *sweep_warnings(scenario)]
        lateness = "" if late is None else f"; 99% were at most {late:.0f} us late"
        note(f"{count(passed, 'packet')} passed the gates, {dropped} dropped by them{lateness}")
        if recorded:
            from tidegate._programs.shell import ShellRecord

            how = {
                "program": program,
                "status": status,
                "duration_s": took_s,
                "lateness_p99_us": late,
                "nowhere_packets": astray,
                "warnings": warnings,
            }
            record = ShellRecord.of(scenario, how, packets, uploads=upload, command=command_line())
            if record.report():
                note(record.report())
            fill(record)
            if picture is not None:
                record.plot(picture)
    for what, place in (("Folder", out), ("Picture", picture), ("Packets", pcap)):
        if place is not None:
            note(f"{what}: {place}")
    if astray:
        other = SENDER if not upload else RECEIVER
        note(
            f"hint: packets for hosts other than {other} went nowhere ({astray} of them); --nat"
            f"{'' if is_root else ', as root,'} connects the program to this machine's network"
        )
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


@live.command(epilog=epilog("live clean", page="live"))
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
