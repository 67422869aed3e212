"""Every error that a call may raise.

Missing files are the builtin ``FileNotFoundError``, and so on for other ``OSError``.

>>> import tidegate as tg
>>> try:
...     tg.Scenario.from_dict({"duration": "1 s", "gate": {"link": {"rate": "12 mb"}}})
... except tg.errors.ScenarioError as error:
...     print(error.key)
gate.link.rate
"""

from __future__ import annotations

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
    "StoreFullError",
    "StudyStoppedError",
    "TooFewRunsError",
    "TraceError",
    "UnknownNameError",
]


class ClusterError(RuntimeError):
    """Workers elsewhere cannot go on with a study; the message says why, and what is kept."""


class NotRecordedError(LookupError):
    """The run did not keep what was asked for; the message says how to record it."""


class RunFolderError(ValueError):
    """A folder is not a run folder, is damaged, or must not be overwritten."""


class StoreError(ValueError):
    """The file that keeps results of studies is damaged, or cannot be written."""


class StoreFullError(StoreError):
    """There is no room for more results; those that are kept stay."""


class StudyStoppedError(KeyboardInterrupt):
    """Ctrl-C ended a study; the message says what is kept."""


class TooFewRunsError(ValueError):
    """A claim on chaotic TCP would be judged on fewer than 16 replications."""


class UnknownNameError(KeyError):
    """No flow, gate or series has this name; the message offers the nearest."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""
