"""Super-segments of a capture taken apart into the segments that crossed the link."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

#: Of Ethernet, where no maximum was announced (RFC 6691 §2).
_DEFAULT_MSS = 1460


def apart(packets: Any, mss: tuple[int | None, int | None]) -> Any:
    """Return packets in which each super-segment is several of the usual size, at the same instant.

    ``mss``: the maximum segment sizes for the client's data and the server's; the usual size of data is found
    from the packets, as options take a part of it.
    """
    payload = packets.payload.astype(np.int64)
    limit = np.where(packets.from_client, *(each or _DEFAULT_MSS for each in mss))
    size = np.where(
        packets.from_client,
        *(
            _size(payload[packets.from_client == side], each or _DEFAULT_MSS)
            for side, each in zip((True, False), mss, strict=True)
        ),
    )
    count = np.where(payload > limit, -(-payload // size), 1)
    rows = np.repeat(np.arange(len(payload)), count)
    part = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    several = count[rows] > 1
    header = (packets.ip_bytes.astype(np.int64) - payload)[rows]
    size = size[rows]
    data = np.where(several, np.minimum(size, payload[rows] - part * size), payload[rows])
    made = {name: getattr(packets, name)[rows] for name in _PLAIN}
    made["seq"] = packets.seq[rows].astype(np.int64) + np.where(several, part * size, 0)
    made["payload"] = data
    made["ip_bytes"] = data + header
    sack_count = np.diff(packets.sack_first)
    kept = np.where(part == 0, sack_count[rows], 0)
    made["sack_first"] = np.concatenate([[0], np.cumsum(kept)])
    made["sack_left"], made["sack_right"] = packets.sack_left, packets.sack_right
    return SimpleNamespace(**made)


def _size(payload: Any, limit: int) -> int:
    """Return the most usual size of data among full segments."""
    full = payload[(payload > limit // 2) & (payload <= limit)]
    return int(np.bincount(full).argmax()) if len(full) else limit


_PLAIN = (
    "ip_id",
    "time_ns",
    "from_client",
    "ack",
    "has_ack",
    "ecn",
    "flags",
    "window",
    "has_ts",
    "ts_value",
    "ts_echo",
)
