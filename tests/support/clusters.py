"""A Dask cluster of processes on this machine, for tests that kill some of them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: How long the machine may take for anything here, seconds.
PATIENCE_S = 90.0


class Processes:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.all: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start_scheduler()

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        """Start a scheduler at the address, and wait until it listens."""
        started = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")
        until(lambda: listens(self.port))
        return started

    def start_worker(self, path: Path | None = None) -> subprocess.Popen[bytes]:
        """Start a worker of one thread; ``path``: where it finds its modules first."""
        options = ["--nthreads", "1", "--no-dashboard", "--no-nanny", "--death-timeout", "60"]
        return self._start("worker", self.address, *options, path=path)

    def _start(self, what: str, *options: str, path: Path | None = None) -> subprocess.Popen[bytes]:
        environment = dict(os.environ)
        if path is not None:
            environment["PYTHONPATH"] = str(path)
        with (self._folder / f"{what}-{len(self.all)}.log").open("wb") as log:
            started = subprocess.Popen(
                [sys.executable, "-m", "dask", what, *options],
                stdout=log, stderr=log, env=environment, cwd=self._folder,
            )  # fmt: skip
        self.all.append(started)
        return started

    def close(self) -> None:
        """End every process."""
        for each in self.all:
            with contextlib.suppress(ProcessLookupError):
                each.send_signal(signal.SIGKILL)
            each.wait()


@contextlib.contextmanager
def processes(folder: Path, workers: int = 2) -> Iterator[Processes]:
    """Give a scheduler with workers that work already."""
    cluster = Processes(folder)
    try:
        for _ in range(workers):
            cluster.start_worker()
        yield cluster
    finally:
        cluster.close()


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as there:
        there.bind(("127.0.0.1", 0))
        port: int = there.getsockname()[1]
        return port


def listens(port: int) -> bool:
    """Tell whether somebody listens at a port of this machine."""
    with socket.socket() as there:
        return there.connect_ex(("127.0.0.1", port)) == 0


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "this takes too long"
        time.sleep(0.05)


def rows(store: Path) -> list[tuple[str, bytes]]:
    """Return everything that a store keeps, by key."""
    try:
        with contextlib.closing(
            sqlite3.connect(f"file:{store / 'runs.sqlite'}?mode=ro", uri=True, timeout=10)
        ) as base:
            return base.execute("SELECT key, result FROM runs ORDER BY key").fetchall()
    except sqlite3.OperationalError:
        return []
