"""Ctrl-C before a command has begun: its imports take a moment, and a traceback tells nobody anything.

Nothing is imported here that Python has not imported itself.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types

#: The exit status of a command that Ctrl-C ended.
STOPPED = 130


def is_command() -> bool:
    """Tell whether this process was started as the command, and not by a program that imports the package."""
    words = sys.orig_argv[1:3]
    return words == ["-m", "tidegate"] or os.path.basename("".join(words[:1])) == "tidegate"  # noqa: PTH119


def be_quiet() -> None:
    """Let a Ctrl-C that nobody handles end a command without a word; other errors are told as always."""
    if not is_command():
        return
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, where: types.TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            os._exit(STOPPED)
        previous(kind, error, where)

    sys.excepthook = hook
