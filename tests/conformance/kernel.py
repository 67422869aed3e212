"""Conversations with this machine's kernel: a socket of its own, and raw packets through a TUN device.

A program of its own, which needs nothing but Python: it reads conversations as JSON lines and writes
a record of each. Each has a network namespace of its own; the machine's network is not touched.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import select
import socket
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from wire import HERE, THERE, Wire

CLONE_NEWNET, CLONE_NEWUSER = 0x4000_0000, 0x1000_0000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
PORT, OUR_PORT = 5001, 40_001
PHASES = {3: "recovery", 4: "loss"}
SYSCTLS = {"tcp_no_metrics_save": 1, "tcp_autocorking": 0}
#: Where things are in struct tcp_info.
INFO = struct.Struct("=8B24I")


def enter() -> None:
    """Enter a network namespace of its own; OSError where the machine does not allow it."""
    libc = ctypes.CDLL(None, use_errno=True)
    flags = CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWNET | CLONE_NEWUSER
    if libc.unshare(flags) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"a network namespace: {os.strerror(code)}")


def device() -> int:
    """Make the TUN device and give it an address; return its file."""
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"talk", IFF_TUN | IFF_NO_PI))
    sysctl("conf/talk/disable_ipv6", 1, family="ipv6")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:

        def ask(number: int, address: str) -> None:
            told = struct.pack("16sH2x4s8x", b"talk", socket.AF_INET, socket.inet_aton(address))
            fcntl.ioctl(control, number, told)

        ask(0x8916, HERE)  # SIOCSIFADDR
        ask(0x891C, "255.255.255.0")  # SIOCSIFNETMASK
        fcntl.ioctl(control, 0x8914, struct.pack("16sh22x", b"talk", 0x41))  # SIOCSIFFLAGS: up, running
    return tun


def sysctl(name: str, value: int, family: str = "ipv4") -> None:
    """Set one of the namespace's; a kernel without it goes on."""
    with suppress(FileNotFoundError):
        Path(f"/proc/sys/net/{family}/{name}").write_text(str(value), encoding="ascii")


class Talk:
    """Holds one conversation."""

    def __init__(self, talk: dict[str, Any]) -> None:
        self.talk = talk
        self.tcp = talk["tcp"]
        self.stamps = self.tcp.get("timestamps", False)
        self.said: list[dict[str, Any]] = []
        self.states: list[dict[str, Any]] = []
        self.late_ms = 0.0
        self.start = 0.0
        #: The newest timestamp, and all of the script.
        self.newest = 0
        self.echoes: list[int] = []
        self.taken = 0
        self.next = 1
        self.socket: socket.socket | None = None
        self.listener: socket.socket | None = None

    def hold(self) -> dict[str, Any]:
        enter()
        for name, value in {**SYSCTLS, **self.talk["sysctls"]}.items():
            sysctl(name, value)
        tun = device()
        ports = (PORT, OUR_PORT) if self.talk["role"] == "active" else (OUR_PORT, PORT)
        self.wire = Wire(tun, ports)
        try:
            self.open()
            for step in self.talk["steps"]:
                if step["what"] in ("write", "<", "="):
                    self.wait(step["at_ms"])
                    self.do(step)
            self.wait(self.talk["end_ms"], last=True)
        finally:
            for each in (self.socket, self.listener):
                if each is not None:
                    each.close()
            os.close(tun)
        return {"said": self.said, "states": self.states, "late_ms": self.late_ms}

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
            own.bind((HERE, OUR_PORT))
            self.socket = own
            with suppress(BlockingIOError):
                own.connect((THERE, PORT))
            if self.talk["scripted"]:
                return
            self.hear(self.start + rtt)
            self.say({"flags": ["SYN", "ACK", *(["ECE"] if ecn else [])], "ack": 1}, 0)
            self.until_ack()
            # The window of a SYN is not scaled: now the usual one, so that no later ACK changes it.
            self.say({"flags": ["ACK"], "ack": 1}, 0)
        else:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            own.bind((HERE, PORT))
            own.listen(1)
            self.listener = own
            if self.talk["scripted"]:
                return
            self.say({"flags": ["SYN", *(["ECE", "CWR"] if ecn else [])]}, 0)
            self.hear(self.start + rtt)
            self.say({"flags": ["ACK"], "ack": 1}, 0)
        self.start = self.start + rtt
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
            while (segment := self.wire.receive()) is not None:
                segment["at_ms"] = (time.monotonic() - self.start) * 1000
                stamp = segment.pop("stamp")
                if stamp is not None:
                    self.newest = stamp
                    self.echoes.append(stamp)
                self.said.append(segment)
            self.read()
            left = until - time.monotonic()
            if left <= 0:
                return
            select.select([self.wire.tun], [], [], left)

    def read(self) -> None:
        """The application reads at once."""
        if self.socket is None and self.listener is not None:
            with suppress(BlockingIOError):
                self.socket, _ = self.listener.accept()
                self.socket.setblocking(False)
        if self.socket is not None:
            with suppress(BlockingIOError, OSError):
                while self.socket.recv(1 << 20):
                    pass

    def do(self, step: dict[str, Any]) -> None:
        if step["what"] == "write":
            self.read()
            assert self.socket is not None
            sent = self.socket.send(bytes(step["of"]["bytes"]))
            if sent != step["of"]["bytes"]:
                raise OSError(errno.ENOBUFS, f"the socket took {sent} of {step['of']['bytes']} B")
        elif step["what"] == "<":
            self.say(step["of"], step["at_ms"])
        else:
            self.states.append(self.state())

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
        if syn:
            segment |= {
                "mss": self.talk["mss"] + (12 if self.stamps else 0),
                "sack_ok": self.tcp.get("sack", True),
            }
            segment["window"] = 65_535
        if self.stamps:
            echo = self.echoes[of["echo"] - 1] if "echo" in of else self.newest
            segment["stamps"] = (of.get("stamp", int(at_ms) + 2), echo if "ACK" in flags else 0)
        if start == self.next:
            self.next = end
        self.wire.send(segment)
        self.read()

    def acknowledged(self) -> int:
        """A segment of the script that acknowledges nothing new."""
        return 1

    def state(self) -> dict[str, Any]:
        assert self.socket is not None
        told = INFO.unpack(self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO.size))
        numbers = told[8:]
        rto, unacked, sacked, lost, retrans, rtt = (numbers[i] for i in (0, 4, 5, 6, 7, 15))
        ssthresh, cwnd = numbers[17], numbers[18]
        growing = "slow start" if cwnd < ssthresh else "congestion avoidance"
        return {
            "cwnd": cwnd,
            "ssthresh": None if ssthresh >= 0x7FFFFFFF else ssthresh,
            "phase": PHASES.get(told[1], growing),
            "rto": rto / 1000,
            "srtt": rtt / 1000 or None,
            "lost": lost,
            "sacked": sacked,
            "retrans": retrans,
            "out": unacked,
        }


def main() -> None:
    """Hold the conversations that standard input brings, one a line."""
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    for line in sys.stdin:
        try:
            told = Talk(json.loads(line)).hold()
        except OSError as error:
            told = {"error": str(error)}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
