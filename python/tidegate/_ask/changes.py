"""Changes to a scenario's keys, and values of Python as a scenario can hold them."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tidegate._base.calls import shown
from tidegate.errors import ArgumentError

#: Changes to a scenario, as a mapping or as on the command line.
Sets = Mapping[str, Any] | Iterable[str] | None

#: A whole number of more bits is not even written in a message.
_MOST_BITS = 256


def as_sets(changes: Sets) -> list[str]:
    """Return changes in the one spelling that the checker reads: ``key=value``.

    A string value is taken as on the command line, so ``{"flow.a.tcp.cc": "reno"}`` and
    ``["flow.a.tcp.cc=reno"]`` are the same change.

    Raises:
        ArgumentError: a value cannot be written in a scenario, a key is changed twice, or the changes are one
            string.
    """
    if changes is None:
        return []
    if isinstance(changes, str):
        raise ArgumentError('changes: takes a dict or a list, such as ["flow.bulk.tcp.cc=reno"]')
    if isinstance(changes, Mapping):
        pairs = ((plain(key, key), plain(key, value, null=False)) for key, value in changes.items())
        sets = [f"{key}={_literal(value)}" for key, value in pairs]
    else:
        sets = [plain(item.partition("=")[0], item) for item in map(str, changes)]
    _check_once(sets)
    return sets


def changed(sets: Iterable[str]) -> dict[str, str]:
    """Return the keys that changes name, each in one spelling, and what they become."""
    parts = (each.partition("=") for each in sets)
    return {spelled_key(key): value.strip() for key, equals, value in parts if equals}


def spelled_key(key: str) -> str:
    """Return a dotted key without the spaces and quotes that it may have around its names."""
    return ".".join(part.strip().strip("\"'") for part in key.split("."))


def check_once(sets: Iterable[str], given: Mapping[str, Any], how: str) -> None:
    """Refuse a change of a key that is given otherwise too, unless both say the same; one would be lost.

    Args:
        sets: changes as :func:`as_sets` returns them.
        given: keys with what they are given as; None: not at all.
        how: the other way, in words: "given", "varied".

    Raises:
        ArgumentError: a key is in both, or what is given takes the place of a key that is changed.
    """
    to = changed(sets)
    for name, value in given.items():
        key = spelled_key(name)
        if value is None:
            continue
        if to.get(key, str(value)) != str(value):
            raise ArgumentError(f"{key}: changed to {to[key]} and {how} too; keep one of the two")
        for other, read in to.items():
            if lost(other, [read], key):
                raise ArgumentError(f"{other}: changed to {read}, and {key} is {how}; keep one of the two")


def lost(key: str, values: Iterable[str], later: str) -> bool:
    """Return whether a later key, which is another one, takes the place of a key's values.

    It does where it holds the key, and where it lies within the key and a value there is no table:
    ``gate.link.queue`` and ``gate.link.queue.limit``. Both are as :func:`spelled_key` returns them.
    """
    if later.startswith(f"{key}."):
        return not all(value.lstrip().startswith("{") for value in values)
    return key.startswith(f"{later}.")


def _check_once(sets: list[str]) -> None:
    to: dict[str, str] = {}
    for each in sets:
        for key, value in changed([each]).items():
            if key in to:
                raise ArgumentError(f"{key}: changed twice, to {to[key]} and to {value}; keep one of the two")
            to[key] = value


def plain(key: str, value: Any, *, null: bool = True) -> Any:
    """Return a value of text, numbers, lists and dicts; numbers and paths of other libraries become such.

    Raises:
        ArgumentError: a scenario has no way to write it; the message names the key.
    """
    value = _of_others(value)
    if isinstance(value, str):
        if re.search("[\ud800-\udfff]", value):
            raise ArgumentError(f"{ascii(key)[1:-1]}: read {value!a}, which is not UTF-8")
        return value
    if isinstance(value, Mapping):
        items = ((plain(key, str(name)), inner) for name, inner in value.items())
        return {name: plain(f"{key}.{name}", inner, null=null) for name, inner in items}
    if isinstance(value, list | tuple):
        return [plain(key, inner, null=null) for inner in value]
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ArgumentError(f"{key}: read a whole number of {value.bit_length()} bits; no key takes one")
    if isinstance(value, bool | int | float) or (value is None and null):
        return value
    raise ArgumentError(
        f"{key}: a scenario has no way to write {shown(value)}; give text with a unit, a number, "
        "a list or a dict"
    )


def _of_others(value: Any) -> Any:
    """Return what a path, or a number or an array of another library, holds."""
    if isinstance(value, str | Mapping | list | tuple):
        return value
    try:
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        return value.tolist() if hasattr(value, "tolist") else value
    except Exception:
        # Its own code may fail; then it is refused as it is.
        return value


def document_text(document: Mapping[str, Any]) -> str:
    """Return a dict of a scenario's keys as JSON, one key a line.

    Raises:
        ArgumentError: a value cannot be written in a scenario.
    """
    written = {str(key): plain(str(key), value) for key, value in document.items()}
    try:
        return json.dumps(written, ensure_ascii=False, indent=2, allow_nan=False)
    except ValueError:
        # JSON has no infinity; as text it is refused like any other, with its key and what would be right.
        return json.dumps(_infinite_as_text(written), ensure_ascii=False, indent=2)


def _infinite_as_text(value: Any) -> Any:
    """Return the value with numbers that are not finite as text."""
    if isinstance(value, dict):
        return {key: _infinite_as_text(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_infinite_as_text(inner) for inner in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _literal(value: Any, *, outside: bool = True) -> str:
    """Write a plain value in the language of scenario files; text alone is as on the command line."""
    if isinstance(value, str):
        return value if outside else json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        inside = ", ".join(
            f"{_key(name)} = {_literal(inner, outside=False)}" for name, inner in value.items()
        )
        return "{ " + inside + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_literal(inner, outside=False) for inner in value) + "]"
    return repr(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
