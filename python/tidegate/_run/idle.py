"""The round trips of paths while nothing waits there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._base.text import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def idle_paths(of_flows: Mapping[str, float], names: Sequence[str]) -> list[tuple[float, list[str]]]:
    """Return the round trips of these flows' idle paths, ms, each with the flows that have it.

    ``of_flows``: by flow; one that it lacks has none. Paths are one where they are told in the same digits.
    """
    found: dict[str, tuple[float, list[str]]] = {}
    for name in names:
        if name in of_flows:
            found.setdefault(number(of_flows[name]), (of_flows[name], []))[1].append(name)
    return list(found.values())
