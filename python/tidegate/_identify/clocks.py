"""How two captures' clocks differ, from packets that both of them saw.

A packet that leaves `a` at t by the clock of `a` comes to `b` at t + way + offset by the clock of `b`. Least
values in both directions give the offset, if the two ways are equally long (as NTP takes it, RFC 5905 §8);
half the round trip is how wrong that can be. How fast the offset grows is the slope of the line that lies
under all the delays of one direction (Moon, Skelly and Towsley, INFOCOM 1999): waiting only adds to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: Parts of the time whose least delay is taken.
_PARTS = 200
#: Clocks that differ by more than this share are not a computer's.
_MOST = 5e-4


@dataclass(frozen=True)
class Clocks:
    """The second capture's clock beside the first's.

    Args:
        offset_s: how much it is ahead at the beginning.
        unsure_s: how wrong that can be, as the two ways may differ.
        drift: how much faster it runs, as a share.
        begin_ns: the time, by the first clock, at which the offset is told.
    """

    offset_s: float
    unsure_s: float
    drift: float
    begin_ns: int

    def to_first(self, time_ns: Any) -> Any:
        """Return times of the second clock by the first one."""
        behind = time_ns - round(1e9 * self.offset_s)
        return behind - np.round(self.drift * (behind - self.begin_ns)).astype(np.int64)

    def to_dict(self) -> dict[str, float]:
        """Return the numbers by name."""
        return {"offset_s": self.offset_s, "unsure_s": self.unsure_s, "drift": self.drift}


def clocks(there_ns: Any, arrived_ns: Any, back_ns: Any, returned_ns: Any) -> Clocks | None:
    """Compare two clocks; None without packets in both directions.

    Args:
        there_ns: when packets left the first capture, by its clock.
        arrived_ns: when they came to the second, by its own.
        back_ns: when packets left the second.
        returned_ns: when they came to the first.
    """
    if not len(there_ns) or not len(back_ns):
        return None
    begin = int(min(there_ns.min(), returned_ns.min()))
    there, back = (arrived_ns - there_ns).astype(float), (returned_ns - back_ns).astype(float)
    up, rest_up = _under((there_ns - begin).astype(float), there)
    down, rest_down = _under((returned_ns - begin).astype(float), back)
    # The direction that waits less tells the drift.
    drift = up if rest_up <= rest_down else -down
    if abs(drift) > _MOST:
        drift = 0.0
    least_up = float((there - drift * (there_ns - begin)).min())
    least_down = float((back + drift * (returned_ns - begin)).min())
    return Clocks((least_up - least_down) / 2e9, (least_up + least_down) / 2e9, drift, begin)


def _under(time: Any, delay: Any) -> tuple[float, float]:
    """Return the slope of the line under all delays, and how far they lie above it on average."""
    width = max(float(time.max()), 1.0) / _PARTS
    part = np.minimum((time / width).astype(int), _PARTS - 1)
    order = np.lexsort((delay, part))
    first = order[np.flatnonzero(np.diff(part[order], prepend=-1) > 0)]
    hull: list[int] = []
    for each in first[np.argsort(time[first])]:
        while len(hull) > 1 and _turns_down(time, delay, hull[-2], hull[-1], each):
            hull.pop()
        hull.append(int(each))
    if len(hull) < 2:
        return 0.0, float((delay - delay.min()).mean())
    # The edge over the middle of the times is the line with the least sum of distances.
    at = int(np.clip(np.searchsorted(time[hull], float(time.mean())), 1, len(hull) - 1))
    one, two = hull[at - 1], hull[at]
    slope = float((delay[two] - delay[one]) / (time[two] - time[one]))
    return slope, float((delay - delay[one] - slope * (time - time[one])).mean())


def _turns_down(time: Any, delay: Any, one: int, two: int, three: int) -> bool:
    return bool(
        (delay[two] - delay[one]) * (time[three] - time[one])
        >= (delay[three] - delay[one]) * (time[two] - time[one])
    )
