"""The kernel's ``struct tcp_info``: what a socket tells of itself."""

from __future__ import annotations

import socket
import struct
from typing import Any

#: Where things are in struct tcp_info: bytes, words of 32 and of 64 bits, and what came later.
BYTES, WORDS, LONGS, NEWER = (
    struct.Struct("=8B"),
    struct.Struct("=24I"),
    struct.Struct("=4Q"),
    struct.Struct("=6I4Q2I2Q4I"),
)
SIZE = BYTES.size + WORDS.size + LONGS.size + NEWER.size
#: Congestion states (``tcpi_ca_state``).
CONNECTION = (
    "", "ESTABLISHED", "SYN-SENT", "SYN-RECEIVED", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSED",
    "CLOSE-WAIT", "LAST-ACK", "LISTEN", "CLOSING",
)  # fmt: skip
CA_STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
PHASES = {3: "recovery", 4: "loss"}
_INFINITE = 0x7FFF_FFFF


def of(told: socket.socket) -> dict[str, Any]:
    """Return the state of a socket; times in ms, windows in segments."""
    data = told.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, SIZE)
    state = BYTES.unpack_from(data)
    words = WORDS.unpack_from(data, BYTES.size)
    pacing = LONGS.unpack_from(data, BYTES.size + WORDS.size)[0]
    newer = NEWER.unpack_from(data, SIZE - NEWER.size)
    ssthresh, cwnd = words[17], words[18]
    growing = "slow start" if cwnd < ssthresh else "congestion avoidance"
    return {
        "cwnd": cwnd,
        "ssthresh": None if ssthresh >= _INFINITE else ssthresh,
        "phase": PHASES.get(state[1], growing),
        "connection": CONNECTION[state[0]],
        "rto": words[0] / 1000,
        "srtt": words[15] / 1000 or None,
        "lost": words[6],
        "sacked": words[5],
        "retrans": words[7],
        "out": words[4],
        "ca": CA_STATES[state[1]],
        "rttvar": words[16] / 1000,
        "reordering": words[20],
        "backoff": state[4],
        "pacing": pacing * 8,
        "min_rtt": newer[3] / 1000,
        "busy": newer[7] / 1000,
        "receiver_limited": newer[8] / 1000,
        "delivered": newer[10],
        "delivered_ce": newer[11],
        "dsacks": newer[14],
        "reordered": newer[15],
    }
