"""Kinds of names on the command line, so that a shell can complete them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Name(click.ParamType):  # type: ignore[type-arg]
    """A word that is taken as it is; the shell completes files (``file``) or folders (``dir``)."""

    name = "text"

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Leave it to the shell."""
        del ctx, param
        return [CompletionItem(incomplete, type=self._kind)]


FILES = Name("file")
FOLDERS = Name("dir")


def one_of(names: Callable[[], Iterable[str]]) -> Any:
    """Return a completion of these names, which are asked for when Tab is pressed."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete
