"""The tick of a capture's clock, where it is coarse: all times are whole multiples of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
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


class Ticks:
    """The tick of each file's clock: the finest that its connections show."""

    def __init__(self) -> None:
        self._of_file: dict[str, int] = {}

    def note(self, connection: Any) -> None:
        """Take the times of a connection into account."""
        tick = tick_ns(connection.packets.time_ns)
        if tick is not None:
            known = self._of_file.get(connection.file, tick)
            self._of_file[connection.file] = min(known, tick)

    def of(self, files: Iterable[str]) -> int:
        """Return the coarsest tick of some files, in nanoseconds; 0 where all are fine."""
        return max((self._of_file.get(file, 0) for file in files), default=0)

    def words(self, files: Iterable[str]) -> list[str]:
        """Return what is said of the files with coarse clocks, a sentence each."""
        return [
            f"{Path(file).name}: the capture's clock has a tick of {number(tick / 1e6)} ms; numbers are no "
            "more exact than that allows, and gaps between packets tell no rate."
            for file in dict.fromkeys(files)
            if (tick := self._of_file.get(file, 0))
        ]


def tick_ns(time_ns: Any) -> int | None:
    """Return the tick of the clock, in nanoseconds; 0 where it is finer than 0.1 ms. None: too few times."""
    since = np.unique(time_ns - time_ns.min()) if len(time_ns) else time_ns
    if len(since) < _FEWEST:
        return None
    for tick in sorted((*_TENS, *_TWOS), reverse=True):
        # The first times tell most ticks wrong, at little cost.
        if _fits(since[:_FIRST], tick) and _fits(since, tick):
            return round(float(tick))
    return 0


def _fits(since: Any, tick: float) -> bool:
    return bool(np.all(np.abs(since - np.round(since / tick) * tick) <= (1 if tick in _TWOS else 0)))


def with_tick(stream: Sent, tick: int) -> Sent:
    """Return the packets of a direction whose times have this tick."""
    return replace(stream, coarse_ns=max(stream.coarse_ns, tick // 2), tick_ns=tick)
