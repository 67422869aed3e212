"""What came back to a sender: its ACKs, in order of the capture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: TCP's flag FIN (RFC 9293 §3.1).
_FIN = 1


@dataclass(frozen=True)
class Acks:
    """The ACKs of one direction's data.

    Args:
        time_ns: when each was captured.
        ack: highest byte acknowledged until then.
        window: the receive window that it announced, in bytes.
        scaled: whether these are bytes: the capture shows the scale of the windows (RFC 7323 §2.2).
        closed: whether the sender of the data closed the connection within the capture.
    """

    time_ns: Any
    ack: Any
    window: Any
    scaled: bool
    closed: bool


def acks_of(packets: Any, *, from_client: bool, scaled: bool) -> Acks:
    """Return the ACKs of what the client, or the server, sent."""
    at = np.flatnonzero((packets.from_client != from_client) & packets.has_ack)
    mine = packets.from_client == from_client
    return Acks(
        time_ns=packets.time_ns[at],
        ack=np.maximum.accumulate(packets.ack[at].astype(np.int64)),
        window=packets.window[at].astype(np.int64),
        scaled=scaled,
        closed=bool((((packets.flags & _FIN) > 0) & mine).any()),
    )
