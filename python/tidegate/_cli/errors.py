"""Every error as a message and an exit status, never a traceback."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidegate._cli.options import note, say_json
from tidegate._early import STOPPED

if TYPE_CHECKING:
    from collections.abc import Callable

#: Exit statuses: the answer of a check is no; the input was wrong; nothing came of it, as on a full disk.
#: The first is never the last: who asks whether two things differ must not take a full disk for a yes.
NO, WRONG_INPUT, FAILED = 1, 2, 4
#: Letters that are shown before and behind one that is no text.
_BESIDE = 60


def guarded(work: Callable[[], Any]) -> int:
    """Do the work; turn every error into a message and an exit status, never a traceback."""
    try:
        _check_open()
        result = work()
        sys.stdout.flush()
    except BaseException as error:
        status = 0 if _reader_has_left(error) else _explain(error)
        _leave_nothing()
        return status
    return result if isinstance(result, int) else 0


def _reader_has_left(error: BaseException) -> bool:
    """Tell whether click has met a closed pipe: it ends the program itself, and wraps the streams."""
    return isinstance(error, SystemExit) and type(sys.stdout).__name__.endswith("PacifyFlushWrapper")


def _leave_nothing() -> None:
    """Forget what standard output holds and cannot write: else Python would try again at its very end."""
    try:
        sys.stdout.flush()
    except OSError:
        _mute(sys.stdout)


def _check_open() -> None:
    """Refuse to work where nothing can be written to standard output: it is closed (``>&-``).

    Python has no stream then, and the first file that is opened would be taken for it.
    """
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        raise click.UsageError("standard output is closed; write > /dev/null where it is not wanted")


def _explain(error: BaseException) -> int:
    if isinstance(error, BrokenPipeError):
        # Whoever read has seen enough.
        _mute(sys.stdout)
        return 0
    if isinstance(error, SystemExit | click.exceptions.Exit):
        code = error.code if isinstance(error, SystemExit) else error.exit_code
        return code if isinstance(code, int) else FAILED
    if isinstance(error, KeyboardInterrupt | click.Abort):
        # click makes an Abort of every KeyboardInterrupt; what was said is in its cause.
        cause = error.__cause__ if isinstance(error, click.Abort) else error
        note(str(cause or "") or "stopped")
        return STOPPED
    status, message = _judge(error)
    if status == FAILED and os.environ.get("TIDEGATE_TRACEBACK"):
        raise error
    _report_json(error, message)
    try:
        note(message)
    except OSError:
        _mute(sys.stderr)
    return status


def _judge(error: BaseException) -> tuple[int, str]:
    from tidegate._base.files import WRITING
    from tidegate.errors import (
        ArgumentError,
        CaptureError,
        ClusterError,
        ControllerError,
        EngineError,
        InternalError,
        NotRecordedError,
        RunError,
        RunFolderError,
        ScenarioError,
        StoreError,
        StoreFullError,
        TraceError,
        UnknownNameError,
    )

    if isinstance(error, click.UsageError) and type(error).__name__ == "NoArgsIsHelpError":
        return WRONG_INPUT, error.format_message()
    if isinstance(error, click.UsageError):
        # Who asks for JSON reads no help.
        context = f"\n{error.ctx.get_usage()}" if error.ctx is not None and "--json" not in sys.argv else ""
        return WRONG_INPUT, f"error: {error.format_message()}{context}"
    if isinstance(error, click.ClickException):
        return WRONG_INPUT, f"error: {error.format_message()}"
    if isinstance(error, ScenarioError):
        text = str(error)
        return WRONG_INPUT, text if text.startswith("error") else f"error: {text}"
    if isinstance(error, OSError):
        status = FAILED if error.errno in WRITING else WRONG_INPUT
        what = (error.strerror or str(error)).lower()
        names = [str(name) for name in (error.filename, error.filename2) if name is not None]
        return status, f"error: {': '.join([*names[-1:], what])}"
    if isinstance(error, ImportError):
        return FAILED, f"error: the installation of tidegate is incomplete ({error})"
    if isinstance(error, RunError | ClusterError | StoreFullError):
        return FAILED, f"error: {error}"
    if isinstance(error, InternalError):
        return FAILED, f"error: {error}"
    if isinstance(error, EngineError | UnknownNameError | NotRecordedError):
        return WRONG_INPUT, f"error: {error}"
    if isinstance(
        error, ArgumentError | CaptureError | ControllerError | TraceError | RunFolderError | StoreError
    ):
        return WRONG_INPUT, f"error: {error}"
    if isinstance(error, UnicodeEncodeError) and re.search("[\ud800-\udfff]", error.object):
        return WRONG_INPUT, f"error: this name or text is not UTF-8: {_around(error)}"
    if isinstance(error, MemoryError):
        return FAILED, "error: out of memory; record less (--record summary) or run a shorter scenario"
    return FAILED, (
        f"error: this is a bug in tidegate: {type(error).__name__}: {error}\n"
        "please report it with the scenario and the seed (TIDEGATE_TRACEBACK=1 prints the traceback)"
    )


def _around(error: UnicodeEncodeError) -> str:
    """Return the part of a text about what is no text: the text may be a whole picture."""
    begin, end = max(0, error.start - _BESIDE), error.start + _BESIDE
    part = " ".join(error.object[begin:end].split())
    return ("…" if begin else "") + part + ("…" if end < len(error.object) else "")


def _report_json(error: BaseException, message: str) -> None:
    """With ``--json``, say on standard output what went wrong, as one object too."""
    if "--json" not in sys.argv:
        return
    problem = {"kind": type(error).__name__, **_parts(error, message)}
    others = [_parts(other, str(other)) for other in getattr(error, "others", None) or []]
    try:
        say_json({"error": {**problem, **({"others": others} if others else {})}})
        sys.stdout.flush()
    except OSError:
        _mute(sys.stdout)


def _parts(error: BaseException, message: str) -> dict[str, Any]:
    """Return one sentence, and where it belongs."""
    sentence = getattr(error, "problem", None) or message.removeprefix("error: ")
    names = ("file", "line", "column", "key", "read", "help")
    there = {name: getattr(error, name, None) for name in names}
    return {
        "message": sentence,
        **{name: value for name, value in there.items() if value not in (None, "")},
    }


def _mute(stream: Any) -> None:
    """Let nothing more be written to a stream that is closed at the other end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
