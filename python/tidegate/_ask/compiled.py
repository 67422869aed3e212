"""What the compiled part does with a checked scenario: runs, live shells, digests.

Only this folder reaches into a :class:`Scenario`; other folders call these functions.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate import _core
    from tidegate._ask.scenario import Scenario


def simulate(
    scenario: Scenario,
    *,
    seed: int,
    replication: int = 0,
    record: str | None = None,
    pcap: tuple[str, str] | None = None,
    qlog: str | None = None,
    exact: bool = False,
    threads: int | None = None,
    tick: Callable[[float], bool] | None = None,
    perturbation: int = 0,
) -> _core.RunData:
    """Run a scenario in the simulator; ``tick`` is called with the share that is done, and False stops it.

    ``threads``: how many are used at most; None: one for each processor. ``perturbation``: the number of a
    small change; 0: none but the scenario's own. ``qlog``: an empty folder for the logs of QUIC.
    """
    return scenario._inner.run(
        seed=seed,
        replication=replication,
        record=record,
        pcap=pcap,
        qlog=qlog,
        exact=exact,
        threads=threads,
        tick=tick,
        perturbation=perturbation,
    )


def run_live(
    scenario: Scenario,
    *,
    seed: int,
    replication: int,
    record: str | None,
    pcap: tuple[str | None, str | None] | None,
    tick: Callable[[float], bool] | None,
    heard: Callable[[float, dict[str, dict[str, tuple[str, bytes]]]], None] | None = None,
) -> _core.RunData:
    """Run a scenario with the kernel's TCP. ``pcap``: files for what the sender and the receiver see.

    ``heard`` is called while the run lasts, with the share that is done and the rows of flows and gates that
    came since the last call, as :attr:`RunData.tables` has them.
    """
    return scenario._inner.run_live(
        seed=seed, replication=replication, record=record, pcap=pcap, tick=tick, heard=heard
    )


def live_shell(
    scenario: Scenario,
    *,
    command: list[str],
    peer: str | None,
    uploads: bool,
    nat: bool,
    recorded: bool,
    pcap: str | None,
) -> tuple[
    tuple[int, float, int, int, float | None, int, list[str]],
    tuple[list[float], list[int], list[int], list[float | None], list[str | None]],
]:
    """Run a program whose traffic passes the gates.

    Returns how it went: its exit status, how long it took in seconds, the packets dropped and passed, the
    99th percentile of lateness in microseconds, the packets that went nowhere, and warnings. Then, if
    ``recorded``, of every packet when it came in seconds, its way (0: the flow's path), bytes, delay in
    milliseconds, and the gate that dropped it.
    """
    return scenario._inner.live_shell(
        command=command,
        peer=peer,
        uploads=uploads,
        nat=nat,
        recorded=recorded,
        pcap=pcap,
        seed=scenario.seed or 1,
    )


def submit(
    pool: _core.Pool, number: int, scenario: Scenario, *, seed: int, replication: int, record: str | None
) -> None:
    """Give a run to a pool of threads, under a number by which its result is known."""
    pool.submit(number, scenario._inner, seed=seed, replication=replication, record=record)


def recorded_gates(scenario: Scenario) -> list[str]:
    """Return the gates, as written, that a run records where it records anything."""
    return scenario._inner.recorded_gates


def digest(scenario: Scenario, record: str | None) -> str:
    """Return what a stored result of this scenario is named after, beside seed and replication.

    Raises:
        OSError: a file with code of the user's cannot be read any more.
    """
    found, files, modules = scenario._inner.digest(record)
    if not files and not modules:
        return found
    from tidegate._ask.own_code import file_digest, module_digest

    code = [*map(file_digest, map(Path, files)), *map(module_digest, modules)]
    return hashlib.sha256(" ".join([found, *code]).encode()).hexdigest()
