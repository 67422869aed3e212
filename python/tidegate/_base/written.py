"""Files that a command will write: none of them may be one that it reads."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The outputs of the command that runs; empty in a program.
TO_WRITE: ContextVar[tuple[str, ...]] = ContextVar("TO_WRITE", default=())


def same_file(one: str, other: str) -> bool:
    """Tell whether two names are one file, or would be; devices and pipes are written as often as named."""
    first, second = Path(one), Path(other)
    try:
        if first.exists() and second.exists():
            return first.is_file() and first.samefile(second)
        return first.resolve() == second.resolve()
    except (OSError, RuntimeError, ValueError):
        # Whoever opens it says what is wrong with the name.
        return False


def told_apart(read: Iterable[str], written: Iterable[str]) -> None:
    """Refuse an output that is an input.

    Raises:
        ArgumentError: it is; the message names both.
    """
    names = list(written)
    for source in read:
        for name in names:
            if source != "-" and same_file(source, name):
                other = "" if source == name else f" ({source})"
                raise ArgumentError(f"{name} is the input{other}; choose another name")
