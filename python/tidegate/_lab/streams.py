"""Live runs of the laboratory, one at a time, each in a process of its own."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import asdict
from typing import Any

from tidegate._lab.limits import Limits, RefusedError

#: Seconds that a process may take to stop, and to begin and to end beside its run.
_GRACE_S = 3.0
_AROUND_S = 60.0
#: Seconds after which something is said, be it nothing: only so is it noticed that nobody listens.
_PULSE_S = 1.0

Event = tuple[str, Any]


class LiveRuns:
    """The live run of a laboratory, if one is under way."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._one = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        """Whether a run is under way."""
        return self._one.locked()

    def run(self, job: dict[str, Any], gone: Callable[[], bool]) -> Generator[Event | None, None, None]:
        """Make a run and yield its events, and None now and then; ``gone`` tells whether nobody listens.

        Raises:
            RefusedError: another run is under way.
        """
        if not self._one.acquire(blocking=False):
            raise RefusedError(
                503, "a live run of this laboratory is under way; wait for its end, or stop it"
            )
        try:
            yield from self._events(job, gone)
        finally:
            self._end()
            self._one.release()

    def _events(self, job: dict[str, Any], gone: Callable[[], bool]) -> Generator[Event | None, None, None]:
        process = subprocess.Popen(
            [sys.executable, "-m", "tidegate._lab.live"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._process = process
        assert process.stdin is not None
        lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=_read, args=(process, lines), daemon=True).start()
        with contextlib.suppress(OSError):
            process.stdin.write(json.dumps({**job, "limits": asdict(self._limits)}).encode() + b"\n")
            process.stdin.flush()
        end = time.monotonic() + self._limits.live_s + _AROUND_S
        while not gone():
            try:
                line = lines.get(timeout=_PULSE_S)
            except queue.Empty:
                yield None
            else:
                if line is None:
                    yield "refused", {"status": 500, "error": "the live run ended without a result"}
                    return
                message = json.loads(line)
                yield message["event"], message["data"]
                if message["event"] in ("end", "refused"):
                    return
            if time.monotonic() > end:
                yield (
                    "refused",
                    {"status": 413, "error": "the live run did not come to its end; it was stopped"},
                )
                return

    def _end(self) -> None:
        """End the process: by asking, so that it leaves nothing behind, else by force."""
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def close(self) -> None:
        """End the run that is under way."""
        process = self._process
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                process.stdin.close()


def _read(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        for line in process.stdout:
            lines.put(line)
    lines.put(None)
