"""A process that works for the laboratory: one line of JSON in, one out.

It has a bound on its memory, stops a run when it is told to, and ends when the server does. A run that would
take the machine along takes this process only.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
from dataclasses import replace
from typing import Any

from tidegate._lab.limits import Limits
from tidegate._lab.work import answer


def main() -> None:
    """Answer until the server is gone."""
    # Results go where standard output was; what a library prints must not stand between them.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    limits = replace(Limits(), **json.loads(sys.argv[1]))
    _warm(limits)
    _bound(limits.memory)
    jobs: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    stopped: set[int] = set()
    threading.Thread(target=_work, args=(jobs, stopped, limits, out), daemon=True).start()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "stop" in message:
            stopped.add(message["stop"])
        else:
            jobs.put(message)
    os._exit(0)


def _work(jobs: queue.SimpleQueue[dict[str, Any]], stopped: set[int], limits: Limits, out: Any) -> None:
    while True:
        job = jobs.get()
        number = job["number"]

        def tick(_share: float, number: int = number) -> bool:
            return number not in stopped

        try:
            text = json.dumps({"number": number, **answer(job, limits, tick)}, allow_nan=False)
        except MemoryError:
            os._exit(MEMORY)
        except Exception as error:
            message = f"this is a bug in tidegate: {type(error).__name__}: {error}"
            text = json.dumps({"number": number, "status": 500, "body": {"error": message}})
        out.write(text.encode() + b"\n")
        out.flush()
        stopped.discard(number)


#: The exit status of a process whose memory was not enough.
MEMORY = 71


def _warm(limits: Limits) -> None:
    """Do once, on a network of no interest, what the first run would have to load."""
    import tidegate._compare.view  # noqa: F401

    answer({"do": "run", "text": _FIRST, "folder": "."}, limits, lambda _: True)


_FIRST = """\
duration = "1 s"
[gate.a]
rate = "1 Mbit/s"
queue = "10 packets"
[flow.a]
path = ["a"]
"""


def _bound(memory: int) -> None:
    """Let the process have so many bytes beside those that it has; not every system can."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource
        from pathlib import Path

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    main()
