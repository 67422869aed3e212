"""Conversations with this machine's kernel: a socket of its own, and raw packets through a TUN device.

A program of its own, which needs nothing but Python: it reads conversations as JSON lines and writes
a record of each. It has a network namespace of its own; the machine's network is not touched.
"""

from __future__ import annotations

import errno
import json
import os
import select
import socket
import struct
import sys
import time
from contextlib import suppress
from typing import Any

import info
from namespace import device, enter, limit, sysctl
from wire import HERE, THERE, Wire

PORT, OUR_PORT = 5001, 40_001
SYSCTLS = {"tcp_no_metrics_save": 1, "tcp_autocorking": 0}


class Talk:
    """Holds one conversation."""

    def __init__(self, talk: dict[str, Any], tun: int, number: int) -> None:
        self.talk = talk
        # Each connection of the namespace has ports of its own.
        self.port, self.our_port = PORT + number, OUR_PORT + number
        active = talk["role"] == "active"
        self.wire = Wire(tun, (self.port, self.our_port) if active else (self.our_port, self.port))
        self.tcp = talk["tcp"]
        self.stamps = self.tcp.get("timestamps", False)
        self.said: list[dict[str, Any]] = []
        self.states: list[dict[str, Any]] = []
        self.late_ms = 0.0
        self.start = 0.0
        #: The round trip of the handshake, and when each line was said, as it came to be.
        self.rtt_ms = 0.0
        self.did_ms = 0.0
        self.times_ms: list[float] = []
        #: The newest timestamp, and all of the script.
        self.newest = 0
        self.echoes: list[int] = []
        self.taken = 0
        #: The script's own stream: the next number, and what it has sent ahead of that.
        self.next = 1
        self.ahead: list[tuple[int, int]] = []
        self.socket: socket.socket | None = None
        self.listener: socket.socket | None = None
        #: The script has closed the socket.
        self.closed = False

    def hold(self) -> dict[str, Any]:
        for name, value in {**SYSCTLS, **self.talk["sysctls"]}.items():
            sysctl(name, value)
        limit(self.talk["mss"] + 40 + (12 if self.stamps else 0))
        try:
            self.open()
            for step in self.talk["steps"]:
                if step["what"] in ("write", "read", "shutdown", "close", "abort", "<", "="):
                    self.wait(step["at_ms"])
                    self.do(step)
                    if self.talk.get("watched"):
                        self.watch()
            self.wait(self.talk["end_ms"], last=True)
        finally:
            for each in (self.socket, self.listener):
                if each is not None:
                    # At once, with a RST: nothing of it is sent in the next conversation.
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    each.close()
        while self.wire.receive() is not None:
            pass
        return {
            "said": self.said, "states": self.states, "late_ms": self.late_ms,
            "rtt_ms": self.rtt_ms, "times_ms": self.times_ms,
        }  # fmt: skip

    def watch(self) -> None:
        """What a line brings about at once is taken before the next, and so is the state."""
        self.times_ms.append(self.did_ms)
        before = len(self.said)
        self.take()
        for segment in self.said[before:]:
            segment["prompt"] = True
        # Nothing can be asked of a socket that is closed.
        self.states.append({} if self.socket is None else info.of(self.socket))

    def open(self) -> None:
        """The handshake, unless it is in the script."""
        own = socket.socket()
        own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        with suppress(PermissionError):
            own.setsockopt(socket.SOL_SOCKET, 32, 4 << 20)  # SO_SNDBUFFORCE
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.tcp.get("cc", "reno").encode())
        own.setblocking(False)
        rtt = self.talk["rtt_ms"] / 1000
        ecn = self.tcp.get("ecn") == "classic"
        self.start = time.monotonic()
        if self.talk["role"] == "active":
            own.bind((HERE, self.our_port))
            self.socket = own
            with suppress(BlockingIOError):
                own.connect((THERE, self.port))
            if self.talk["scripted"]:
                return
            self.hear(self.start + rtt)
            began = time.monotonic()
            self.say({"flags": ["SYN", "ACK", *(["ECE"] if ecn else [])], "ack": 1}, 0)
            self.until_ack()
            # The window of a SYN is not scaled: now the usual one, so that no later ACK changes it.
            self.say({"flags": ["ACK"], "ack": 1}, 0)
        else:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            own.bind((HERE, self.port))
            own.listen(1)
            self.listener = own
            if self.talk["scripted"]:
                return
            self.say({"flags": ["SYN", *(["ECE", "CWR"] if ecn else [])]}, 0)
            self.hear(self.start + rtt)
            began = time.monotonic()
            self.say({"flags": ["ACK"], "ack": 1}, 0)
        self.rtt_ms = (began - self.start) * 1000
        self.start = began
        self.said = []
        self.echoes = []

    def until_ack(self) -> None:
        """The ACK that ends the handshake does not belong to the script."""
        count = len(self.said)
        for _ in range(100):
            if len(self.said) > count:
                return
            self.hear(time.monotonic() + 0.0002)

    def wait(self, at_ms: float, *, last: bool = False) -> None:
        """Wait until it is time for the next line."""
        at = self.start + at_ms / 1000
        # What is expected at the last instant may come a little later.
        self.hear(at + (0.014 if last else 0))
        self.late_ms = max(self.late_ms, (time.monotonic() - at) * 1000 - (14 if last else 0))

    def hear(self, until: float) -> None:
        """Take what the kernel sends until then, and let its application read."""
        while True:
            self.take()
            self.read()
            left = until - time.monotonic()
            if left <= 0:
                return
            select.select([self.wire.tun], [], [], left)

    def take(self) -> None:
        """Take what the kernel has sent, and note after how many lines it did."""
        while (segment := self.wire.receive()) is not None:
            segment["at_ms"] = (time.monotonic() - self.start) * 1000
            segment["after"] = len(self.times_ms)
            stamp = segment.pop("stamp")
            if stamp is not None:
                self.newest = stamp
                self.echoes.append(stamp)
            self.said.append(segment)

    def read(self) -> None:
        """The application reads at once."""
        if self.socket is None and self.listener is not None and not self.closed:
            with suppress(BlockingIOError):
                self.socket, _ = self.listener.accept()
                self.socket.setblocking(False)
        if self.socket is not None and not self.talk["reads"]:
            with suppress(BlockingIOError, OSError):
                while self.socket.recv(1 << 20):
                    pass

    def do(self, step: dict[str, Any]) -> None:
        self.did_ms = (time.monotonic() - self.start) * 1000
        if step["what"] == "write":
            self.read()
            assert self.socket is not None
            sent = self.socket.send(bytes(step["of"]["bytes"]))
            if sent != step["of"]["bytes"]:
                raise OSError(errno.ENOBUFS, f"the socket took {sent} of {step['of']['bytes']} B")
        elif step["what"] == "read":
            assert self.socket is not None
            with suppress(BlockingIOError):
                self.socket.recv(step["of"]["bytes"])
        elif step["what"] == "<":
            self.say(step["of"], step["at_ms"])
        elif step["what"] != "=":
            self.finish(step["what"])
        else:
            assert self.socket is not None
            self.states.append(info.of(self.socket))

    def finish(self, how: str) -> None:
        """The application ends its stream, or the connection."""
        self.read()
        assert self.socket is not None
        if how == "shutdown":
            # A connection that was reset has no stream to end.
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
            return
        if how == "abort":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()
        self.socket, self.closed = None, True

    def say(self, of: dict[str, Any], at_ms: float) -> None:
        start, end = of.get("data", (self.next, self.next))
        flags = list(of.get("flags", []))
        if ("ack" in of or "data" in of) and "ACK" not in flags:
            flags.append("ACK")
        syn = "SYN" in flags
        segment = {
            "seq": 0 if syn else start,
            "ack": of.get("ack", self.acknowledged()),
            "payload": end - start,
            "flags": flags,
            "window": of.get("win", self.talk["window"]),
            "sack": [[edge + self.wire.isn for edge in block] for block in of.get("sack", [])],
            "ecn": of.get("ecn", "Not-ECT"),
        }
        if "RST" in flags:
            segment["window"] = 0
        if syn:
            segment |= {
                "mss": self.talk["mss"] + (12 if self.stamps else 0),
                "sack_ok": self.tcp.get("sack", True),
            }
            segment["window"] = min(65_535, self.talk["window"])
        if self.stamps:
            # A segment that was not sent cannot be echoed.
            sent = 0 < of.get("echo", 0) <= len(self.echoes)
            echo = self.echoes[of["echo"] - 1] if sent else self.newest
            segment["stamps"] = (of.get("stamp", int(at_ms) + 2), echo if "ACK" in flags else 0)
        self.ahead.append((start, end + ("FIN" in flags)))
        for left, right in sorted(self.ahead):
            self.next = right if left <= self.next < right else self.next
        self.wire.send(segment)
        self.read()

    def acknowledged(self) -> int:
        """A segment of the script that acknowledges nothing new."""
        return 1


def main() -> None:
    """Hold the conversations that standard input brings, one a line."""
    tun, wrong = -1, ""
    try:
        enter()
        tun = device()
    except OSError as error:
        wrong = str(error)
    # Not before: a device waits for threads of the kernel, which a real-time class would hold up.
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    for number, line in enumerate(sys.stdin):
        try:
            told = {"error": wrong} if wrong else Talk(json.loads(line), tun, number % 20_000).hold()
        except OSError as error:
            told = {"error": str(error)}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
