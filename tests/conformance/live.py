"""Conversations with the kernel, several at a time, in processes that hold nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from dataclasses import asdict
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from conformance.judge import Record, Said
from conformance.script import MSS, WINDOW

if TYPE_CHECKING:
    from conformance.script import Conversation

PROGRAM = Path(__file__).with_name("kernel.py")
#: So many conversations are held at once: they mostly wait.
AT_ONCE = 6


def settings(talk: Conversation) -> dict[str, Any]:
    """Return a conversation as the program reads it."""
    sysctls = {}
    if talk.tcp.get("loss") == "sack":
        sysctls |= {"tcp_recovery": 0, "tcp_early_retrans": 0}
    if not talk.tcp.get("idle_restart", True):
        sysctls["tcp_slow_start_after_idle"] = 0
    sysctls["tcp_ecn"] = {"off": 0, "classic": 1, "accurate": 3}[talk.tcp.get("ecn", "off")]
    return asdict(talk) | {"end_ms": talk.end_ms, "window": WINDOW, "mss": MSS, "sysctls": sysctls}


def record(told: dict[str, Any]) -> Record:
    """Return what the program tells of a conversation."""
    said = [
        Said(
            each["at_ms"], each["seq"], each["ack"], each["payload"], tuple(each["flags"]),
            tuple((left, right) for left, right in each["sack"]), each["window"], each["ecn"], each["echo"],
        )
        for each in told["said"]
    ]  # fmt: skip
    return Record(said, told["states"], told["late_ms"])


def hold(talks: list[Conversation]) -> dict[str, Record | str]:
    """Hold conversations; return the records by name, or why there is none."""
    waiting = deque(talks)
    found: dict[str, Record | str] = {}
    lock = Lock()

    def work() -> None:
        with subprocess.Popen(
            [sys.executable, "-E", "-s", str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as program:
            assert program.stdin is not None
            assert program.stdout is not None
            while True:
                with lock:
                    if not waiting:
                        break
                    talk = waiting.popleft()
                program.stdin.write(json.dumps(settings(talk)) + "\n")
                program.stdin.flush()
                line = program.stdout.readline()
                told = json.loads(line) if line else {"error": "the program ended"}
                found[talk.name] = told["error"] if "error" in told else record(told)
            program.stdin.close()

    threads = [Thread(target=work) for _ in range(min(AT_ONCE, len(talks)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
