"""Conversations with the kernel, several at a time, in processes that hold nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Self

from conformance.judge import Record, Said
from conformance.script import MSS, Conversation, Step

PROGRAM = Path(__file__).with_name("kernel.py")
#: So many conversations are held at once: they mostly wait.
AT_ONCE = 6


def settings(talk: Conversation) -> dict[str, Any]:
    """Return a conversation as the program reads it."""
    mss = int(talk.tcp["mss"].removesuffix(" B")) if "mss" in talk.tcp else MSS
    by_sack = talk.tcp.get("loss") == "sack"
    sysctls = {
        "tcp_recovery": 0 if by_sack else 1,
        "tcp_early_retrans": 0 if by_sack else 3,
        "tcp_slow_start_after_idle": int(talk.tcp.get("idle_restart", True)),
        "tcp_ecn": {"off": 0, "classic": 1, "accurate": 3}[talk.tcp.get("ecn", "off")],
    }
    return asdict(talk) | {"end_ms": talk.end_ms, "mss": mss, "sysctls": sysctls}


def record(told: dict[str, Any]) -> Record:
    """Return what the program tells of a conversation."""
    said = [
        Said(
            each["at_ms"], each["seq"], each["ack"], each["payload"], tuple(each["flags"]),
            tuple((left, right) for left, right in each["sack"]), each["window"], each["ecn"], each["echo"],
        )
        for each in told["said"]
    ]  # fmt: skip
    afters = [(each["after"], each.get("prompt", False)) for each in told["said"]]
    return Record(said, told["states"], told["late_ms"], told["rtt_ms"], told["times_ms"], afters)


class Programs:
    """Programs that hold conversations with the kernel, each in a process that waits for the next."""

    def __init__(self, count: int = AT_ONCE) -> None:
        command = [sys.executable, "-E", "-s", str(PROGRAM)]
        self.all = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(count)
        ]
        self.idle: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
        for program in self.all:
            self.idle.put(program)
        self.workers = ThreadPoolExecutor(count)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.workers.shutdown()
        for program in self.all:
            program.communicate()

    def refusal(self) -> str | None:
        """Why no conversation can be held; None: it can."""
        empty = Conversation("nothing", "kernel", steps=[Step(0, 0, "quiet", {}, "")])
        (told,) = self.hold([empty])
        return told if isinstance(told, str) else None

    def hold(self, talks: list[Conversation], *, watched: bool = False) -> list[Record | str]:
        """Hold conversations; return the records, or why there is none.

        With ``watched`` the state is asked for after every line.
        """
        return list(self.workers.map(lambda talk: self._one(talk, watched=watched), talks))

    def _one(self, talk: Conversation, *, watched: bool) -> Record | str:
        program = self.idle.get()
        try:
            assert program.stdin is not None
            assert program.stdout is not None
            program.stdin.write(json.dumps(settings(talk) | {"watched": watched}) + "\n")
            program.stdin.flush()
            line = program.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            self.idle.put(program)
        told = json.loads(line) if line else {"error": "the program ended"}
        return told["error"] if "error" in told else record(told)


def hold(talks: list[Conversation]) -> dict[str, Record | str]:
    """Hold conversations; return the records by name, or why there is none."""
    with Programs(min(AT_ONCE, len(talks))) as programs:
        return dict(zip([talk.name for talk in talks], programs.hold(talks), strict=True))
