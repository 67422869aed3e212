"""A JSON object as text in pieces: a large result is never one list of millions of small strings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def pieces(value: Mapping[str, Any]) -> Iterator[str]:
    """Give the text of an object with an indent of two, a piece for each row of a list or a table in it.

    Together they are what ``json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)`` gives.
    """
    if not value:
        yield "{}"
        return
    before = "{\n"
    for key, item in value.items():
        head = f"{before}  {_text(key)}: "
        if isinstance(item, list) and item:
            for place, row in enumerate(item):
                yield f"{',' if place else head + '['}\n    {_text(row, '    ')}"
            yield "\n  ]"
        elif isinstance(item, dict) and item:
            for place, (name, row) in enumerate(item.items()):
                yield f"{',' if place else head + '{'}\n    {_text(name)}: {_text(row, '    ')}"
            yield "\n  }"
        else:
            yield head + _text(item, "  ")
        before = ",\n"
    yield "\n}"


def _text(value: Any, lead: str = "") -> str:
    """Return a value as text; lines after the first begin with ``lead``."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    # A line break inside a string is written as two characters.
    return text.replace("\n", f"\n{lead}") if lead else text
