"""Keys of a gate that the commands of another tool leave out.

A target lists the keys that it says. Whatever else a file sets is named, also a key that is new tomorrow.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tidegate._ask.plan_objects import Gate


def unsaid(
    gate: Gate, file: dict[str, Any], tool: str, expressed: Collection[str], defaults: Mapping[str, Any]
) -> list[str]:
    """Return a sentence for each key of a gate that no command says.

    ``file``: the gate in the scenario's file. ``expressed``: keys, and tables with all that is in them.
    ``defaults``: what the tool has for keys that it has no word for.
    """
    found = []
    for key, value in _leaves(file, ""):
        parts = key.split(".")
        if any(".".join(parts[:n]) in expressed for n in range(1, len(parts) + 1)):
            continue
        theirs = defaults.get(key, False)
        if _same(value, theirs):
            continue
        sentence = f"gate {gate['name']} has {key} = {_toml(value)}; {tool} has no word for it"
        found.append(sentence if key not in defaults else f"{sentence}, and has {_toml(theirs)}")
    return found


def _leaves(table: dict[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        key = above + name
        if isinstance(value, dict):
            yield from _leaves(value, f"{key}.")
        elif key == "queue":
            yield "queue.limit", value
        elif key != "queue.aqm":
            # A discipline by its name alone sets no key of it.
            yield key, value


def _same(value: Any, theirs: Any) -> bool:
    """Whether a value is what the tool has: spaces do not count."""
    return str(value).replace(" ", "") == str(theirs).replace(" ", "")


def _toml(value: Any) -> str:
    """Return a value as a file has it."""
    return json.dumps(value, ensure_ascii=False)
