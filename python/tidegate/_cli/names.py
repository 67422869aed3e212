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


class _Read(Name):
    """A file that a command reads: none that it writes has its name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Remember the name, and compare it with those that will be written."""
        from tidegate._base.written import check_outputs

        del param
        if ctx is not None and isinstance(value, str):
            ctx.meta.setdefault(_READ, []).append(value)
            check_outputs([value], ctx.meta.get(_WRITTEN, {}).values())
        return value


class _Written(Name):
    """A file that a command writes: neither its input nor another output has its name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Remember the name, and compare it with the others; a scenario compares it with its traces."""
        from tidegate._base.written import TO_WRITE, check_outputs, holds, same_file

        if ctx is not None and param is not None and isinstance(value, str):
            check_outputs(ctx.meta.get(_READ, []), [value])
            written = ctx.meta.setdefault(_WRITTEN, {})
            for option, other in written.items():
                if option == param.name:
                    continue
                if same_file(value, other):
                    raise click.UsageError(f"two outputs have the name {value}; give each its own")
                if holds(value, other) or holds(other, value):
                    raise click.UsageError(
                        f"{value} and {other}: one output holds the other; take them apart"
                    )
            written[param.name] = value
            TO_WRITE.set(tuple(written.values()))
            ctx.call_on_close(lambda: TO_WRITE.set(()))
        return value


class Whole(click.IntRange):
    """A whole number in the range of an argument of a call, by its name; ``least``: from a larger one on."""

    def __init__(self, name: str, least: int | None = None) -> None:
        from tidegate._base.limits import bounds

        first, last = bounds(name)
        super().__init__(first if least is None else least, last)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; another, and what is none, is refused in the words of a call."""
        from tidegate._base.limits import takes

        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"read {value}; {takes(int(self.min or 0), int(self.max or 0))}", param, ctx)


_READ, _WRITTEN = "tidegate.read", "tidegate.written"
FILES = _Read("file")
OUTPUT = _Written("file")
#: Folders: of results that a command reads, and of those that it writes.
FOLDERS = _Read("dir")
OUT_DIR = _Written("dir")


def one_of(names: Callable[[], Iterable[str]]) -> Any:
    """Return a completion of these names, which are asked for when Tab is pressed."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete
