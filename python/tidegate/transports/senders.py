"""The transports that Tidegate has, as senders on a link of the suite."""

from __future__ import annotations

from typing import Any

#: Senders in words, with the keys of their flows.
SENDERS: dict[str, dict[str, Any]] = {
    "QUIC, CUBIC": {"transport": "quic", "quic.cc": "cubic"},
    "QUIC, NewReno": {"transport": "quic", "quic.cc": "newreno"},
    "QUIC, BBR": {"transport": "quic", "quic.cc": "bbr"},
    "QUIC, CUBIC of TCP": {"transport": "quic", "quic.cc": "tcp", "tcp.cc": "cubic"},
    "TCP, CUBIC": {"tcp.cc": "cubic"},
    "TCP, NewReno": {"tcp.cc": "newreno"},
    "TCP, BBR": {"tcp.cc": "bbr"},
    "TCP, BBRv3": {"tcp.cc": "bbr3"},
}
