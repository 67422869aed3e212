"""Every error a caller may see: Rust's, re-exported, and those that arise in Python.

Missing files are the builtin ``FileNotFoundError``, and so on for other ``OSError``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._core import (
    ArgumentError,
    CaptureError,
    ControllerError,
    EngineError,
    InternalError,
    RunError,
    ScenarioError,
    TraceError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ArgumentError",
    "CaptureError",
    "ClusterError",
    "ControllerError",
    "EngineError",
    "InternalError",
    "NotRecordedError",
    "RunError",
    "RunFolderError",
    "ScenarioError",
    "StoreError",
    "StudyStoppedError",
    "TooFewRunsError",
    "TraceError",
    "UnknownNameError",
    "nearest",
]


class ClusterError(RuntimeError):
    """Workers elsewhere cannot go on with a study; the message says why, and what is kept."""


class NotRecordedError(LookupError):
    """The run did not keep what was asked for; the message says how to record it."""


class RunFolderError(ValueError):
    """A folder is not a run folder, is damaged, or must not be overwritten."""


class StoreError(ValueError):
    """The file that keeps results of studies is damaged, or cannot be written."""


class StudyStoppedError(KeyboardInterrupt):
    """Ctrl-C ended a study; the message says what is kept."""


class TooFewRunsError(ValueError):
    """A claim on chaotic TCP would be judged on fewer than 16 replications."""


class UnknownNameError(KeyError):
    """No flow, gate or series has this name; the message offers the nearest."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


def nearest(what: str, name: object, known: Iterable[str]) -> str:
    """Return a sentence that says ``name`` is not known and what may have been meant."""
    import difflib

    names = list(known)
    if not isinstance(name, str):
        return f"a {what} is named by a text, not by {type(name).__name__}; known: {', '.join(names[:8])}"
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f'no {what} is called "{name}"; did you mean "{close[0]}"?'
    if not names:
        return f'no {what} is called "{name}"; there are none'
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return f'no {what} is called "{name}"; known: {shown}'
