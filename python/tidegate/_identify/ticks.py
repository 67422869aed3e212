"""The tick of a capture's clock, where it is coarse: all times are whole multiples of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.text import number

if TYPE_CHECKING:
    from tidegate._identify.sent import Sent

#: Ticks that clocks have, in nanoseconds: 1, 2, 4 and 5 times a power of ten, and powers of two of a second
#: (draft-ietf-opsawg-pcapng §4.2, `if_tsresol`), which files round to nanoseconds. Finer ones do not matter.
_TENS = tuple(digit * 10**power for power in range(5, 9) for digit in (1, 2, 4, 5))
_TWOS = tuple(1e9 / (1 << power) for power in range(1, 14))
#: So many different times are needed, and so many are looked at first.
_FEWEST, _FIRST = 10, 1000


def tick_ns(time_ns: Any) -> int:
    """Return the tick of the clock, in nanoseconds; 0 where it is finer than 0.1 ms or not known."""
    since = np.unique(time_ns - time_ns.min()) if len(time_ns) else time_ns
    if len(since) < _FEWEST:
        return 0
    for tick in sorted((*_TENS, *_TWOS), reverse=True):
        # The first times tell most ticks wrong, at little cost.
        if _fits(since[:_FIRST], tick) and _fits(since, tick):
            return round(float(tick))
    return 0


def _fits(since: Any, tick: float) -> bool:
    return bool(np.all(np.abs(since - np.round(since / tick) * tick) <= (1 if tick in _TWOS else 0)))


def with_tick(stream: Sent, tick: int) -> Sent:
    """Return the packets of a direction whose times have this tick; 0 where it is fine."""
    return replace(stream, coarse_ns=max(stream.coarse_ns, tick // 2), tick_ns=tick)


def tick_words(name: str, tick: int) -> str:
    """Return what is said of a connection by a coarse clock."""
    return (
        f"Connection {name}: the capture's clock has a tick of {number(tick / 1e6)} ms; numbers are no more "
        "exact than that allows, and gaps between packets tell no rate."
    )
