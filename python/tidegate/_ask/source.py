"""What a run is asked for: which scenario, through which engine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tidegate._ask.changes import Sets, as_sets, check_once
from tidegate._ask.scenario import Scenario
from tidegate.errors import ArgumentError, EngineError

#: What stands for a scenario in calls: a path, a dict of the file's keys, or a checked one.
Source = str | os.PathLike[str] | Mapping[str, Any] | Scenario

ENGINES = ("sim", "theory", "live")


def as_scenario(source: Source, changes: Sets = None, **given: Any) -> Scenario:
    """Return the checked scenario that ``source`` stands for.

    ``given``: keys that the caller takes as arguments too, such as ``seed``; what is not given is None.

    Raises:
        ArgumentError: a key is changed and given too, or a checked scenario is to be changed.
        ScenarioError, TraceError, OSError: as :meth:`Scenario.load`.
    """
    if isinstance(source, Scenario):
        if changes:
            raise ArgumentError("changes: give them to tidegate.load; a checked scenario is not changed")
        return source
    changes = as_sets(changes)
    check_once(changes, given, "given")
    if isinstance(source, Mapping):
        return Scenario.from_dict(source, changes=changes)
    return Scenario.load(source, changes=changes)


def check_engine(engine: str, usable: tuple[str, ...] = ("sim",)) -> None:
    """Refuse every engine but those that can be used here.

    Raises:
        EngineError: the engine does not exist, or not yet, or not here.
    """
    there = " or ".join(f'"{name}"' for name in usable)
    if engine not in ENGINES:
        raise EngineError(f'there is no engine "{engine}"; use {there}')
    if engine not in usable:
        raise EngineError(f'the engine "{engine}" cannot be used here; use {there}')


#: What an engine has no use for, and why.
_USELESS = {
    "live": (("exact", "threads", "qlog"), "it is for the simulator"),
    "theory": (
        (
            *("seed", "replication", "record", "pcap", "qlog", "exact", "threads"),
            *("plot", "gate", "show", "flent"),
        ),
        "a theory has no packets, no time series and nothing random",
    ),
}


def check_useful(engine: str, given: Mapping[str, Any], *, option: bool = False) -> None:
    """Refuse arguments that an engine would ignore.

    Args:
        engine: its name.
        given: arguments by name; None, False and 0 are not given.
        option: say it in the words of the command line.

    Raises:
        ArgumentError: one would be ignored; the message says why.
    """
    names, why = _USELESS.get(engine, ((), ""))
    dashes = "--" if option else ""
    for name in names:
        if given.get(name):
            raise ArgumentError(f"{dashes}{name} is not for {dashes}engine {engine}: {why}")
