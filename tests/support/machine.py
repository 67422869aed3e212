"""Whether this machine kept time while a live test ran; a test that failed may be tried again only if not."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

#: A machine that woke an idle program this many seconds too late may have spoilt a test.
TOO_LATE_S = 0.02
#: In a process of its own: a thread would wait for Python's lock, and that is not the machine's doing.
PROGRAM = """
import select, sys, time
worst = 0.0
before = time.monotonic()
print("watching", flush=True)
asked_to_stop = False
while not asked_to_stop:
    asked_to_stop = bool(select.select([sys.stdin], [], [], 0.001)[0])
    now = time.monotonic()
    worst = max(worst, now - before - 0.001)
    before = now
print(worst)
"""


class MachineWasLateError(AssertionError):
    """A live test failed while the machine did not keep time: the failure says nothing about the engine."""


class Watch:
    """Measures how late the machine wakes a sleeping program."""

    def __enter__(self) -> Self:
        """Start; returns once the program measures."""
        self._work = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._work.stdout is not None
        self._work.stdout.readline()
        return self

    @property
    def process(self) -> int:
        """The number of the process that measures."""
        return self._work.pid

    def worst_s(self) -> float:
        """End the measurement; return by how many seconds the latest wake-up was late."""
        told, _ = self._work.communicate("stop\n")
        return float(told)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave no program behind."""
        if self._work.poll() is None:
            self._work.kill()
            self._work.communicate()
