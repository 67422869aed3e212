"""A network namespace with a TUN device, for ``kernel.py``; it needs nothing but Python."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from contextlib import suppress
from pathlib import Path

from wire import HERE

CLONE_NEWNET, CLONE_NEWUSER = 0x4000_0000, 0x1000_0000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


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


def limit(mtu: int) -> None:
    """Let no packet of the device be longer, so that the kernel announces the script's MSS too."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, 0x8922, struct.pack("16si20x", b"talk", mtu))  # SIOCSIFMTU


def sysctl(name: str, value: int, family: str = "ipv4") -> None:
    """Set one of the namespace's; a kernel without it goes on."""
    with suppress(FileNotFoundError):
        Path(f"/proc/sys/net/{family}/{name}").write_text(str(value), encoding="ascii")
