"""A Python that has the command line imported and waits: each command is a copy of it, a process of its own.

To start Python and to import what every command needs takes longer than most commands. A copy (``fork``) has
its own folder, environment, outputs and exit status, and imports what that command alone needs. What a
command imports, and what it does about signals, is asked of processes that are really started.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, Any

#: Python reads variables with this beginning once, before the first import.
ONLY_AT_THE_START = "PYTHON"
#: What many commands need; none of it starts a thread, which a copy would lack.
IMPORTED = ("jinja2", "tidegate._core", "tidegate._cli.check", "tidegate._cli.run")


class Waiting:
    """The process that waits; started with the first command."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None

    def run(
        self,
        arguments: list[str],
        *,
        cwd: Path | None,
        seconds: float,
        environment: dict[str, str],
        together: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command, for so many seconds at most; return its status and its outputs, or both as one."""
        with self._lock, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            line = self._connected()
            request = {"arguments": arguments, "cwd": str(cwd or Path.cwd()), "environment": environment}
            told = json.dumps(request).encode()
            line.sendall(len(told).to_bytes(4, "big") + told)
            socket.send_fds(line, [b"f"], [out.fileno(), (out if together else err).fileno()])
            child = int.from_bytes(_exactly(line, 4), "big")
            line.settimeout(seconds)
            try:
                status = int.from_bytes(_exactly(line, 4), "big", signed=True)
            except TimeoutError:
                os.kill(child, signal.SIGKILL)
                line.settimeout(None)
                _exactly(line, 4)
                raise subprocess.TimeoutExpired(arguments, seconds, _text(out), _text(err)) from None
            finally:
                line.settimeout(None)
            return subprocess.CompletedProcess(arguments, status, _text(out), _text(err))

    def _connected(self) -> socket.socket:
        if self._line is None:
            self._line, theirs = socket.socketpair()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "support.started", str(theirs.fileno())],
                cwd=Path(__file__).resolve().parents[1],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            )
            theirs.close()
            atexit.register(self._end)
        return self._line

    def _end(self) -> None:
        assert self._line is not None
        assert self._process is not None
        self._line.close()
        self._process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8").replace("\r\n", "\n")


def _exactly(line: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        more = line.recv(count - len(found))
        if not more:
            raise EOFError
        found += more
    return found


def serve(line: socket.socket) -> None:
    """Answer requests until the other end closes; in a copy, return with its command as ``sys.argv``."""
    while True:
        try:
            request = json.loads(_exactly(line, int.from_bytes(_exactly(line, 4), "big")))
        except EOFError:
            os._exit(0)
        _, (out, err), _, _ = socket.recv_fds(line, 1, 2)
        child = os.fork()
        if child == 0:
            line.close()
            _become(request, out, err)
            return
        os.close(out)
        os.close(err)
        line.sendall(child.to_bytes(4, "big"))
        _, status = os.waitpid(child, 0)
        line.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))


def _become(request: dict[str, Any], out: int, err: int) -> None:
    """Take the folder, the environment and the outputs of a command."""
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.close(out)
    os.close(err)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["tidegate", *request["arguments"]]


if __name__ == "__main__":
    from importlib import import_module

    from tidegate._cli.main import main

    for name in IMPORTED:
        import_module(name)

    # A copy that counted references of the modules, or took them apart at its end, would copy their memory.
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        main()
    except SystemExit as end:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code or 0)
