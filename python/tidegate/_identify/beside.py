"""ACKs of other connections on the way of the data: an upload shares its link with the ACKs of a download.

Where the capture was taken at one side of a slow link, as on a host with both, they leave it as the data do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._identify.bucket import point
from tidegate._identify.delay import waiting
from tidegate._identify.sent import Sent, sent
from tidegate._identify.share import crossings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._identify.crossings import Crossings

#: ACKs count where they leave so much less of the round trips unexplained, or where the drops are so much
#: likelier with them (the logarithm).
_LESS, _LIKELIER = 0.5, 40.0
#: A queue that explains less of the spread of round trips is none.
_QUEUE = 0.5


def answers(packets: Any, *, from_client: bool) -> Sent:
    """Return the ACKs of the data of the client, or the server, as they left the receiver."""
    found = sent(packets, from_client=not from_client)
    none = np.zeros(len(found.time_ns), dtype=np.int32)
    return replace(found, payload=none, round_trip_ns=none - 1)


def on_the_way(streams: Sequence[Sent], others: Sequence[Sent]) -> bool:
    """Tell whether packets of `others` cross the limit of these streams: it explains more if they do."""
    others = [each for each in others if len(each.time_ns)]
    if not others:
        return False
    (alone, trip), (whole, with_all) = crossings(streams), crossings([*streams, *others])
    one, all_ = waiting(alone, trip), waiting(whole, with_all)
    if all_ is not None and all_.explained > _QUEUE and (one is None or all_.noise_s < _LESS * one.noise_s):
        return True
    return _likelihood(whole) > _likelihood(alone) + _LIKELIER


def _likelihood(packets: Crossings) -> float:
    found = point(packets) if packets.drops else None
    return -np.inf if found is None else found.likelihood
