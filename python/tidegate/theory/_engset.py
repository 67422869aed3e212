"""Engset: calls from a fixed number of sources, each with one call at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate._base.arguments import above_zero
from tidegate._base.lazy import Lazy
from tidegate.theory._arguments import whole
from tidegate.theory._birth_death import Waiting, solve

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Lazy("numpy")
    npt = Lazy("numpy.typing")


@dataclass(frozen=True)
class Engset:
    """A fixed number of sources for a number of servers; blocked calls are lost.

    Attributes:
        sources: how many callers there are.
        servers: how many calls fit at once.
        idle: mean time that a source is idle before a call, in the unit of ``hold``.
        hold: mean holding time.
        blocked: share of the calls that find all servers taken (call congestion).
        full: share of the time in which all servers are taken (time congestion); more than ``blocked``,
            because fewer sources are idle then.
        busy: mean number of busy servers.
    """

    sources: int
    servers: int
    idle: float
    hold: float
    blocked: float
    full: float
    busy: float


def engset(sources: int, servers: int, idle: float, hold: float = 1.0) -> Engset:
    """Return the share of calls that are lost where a fixed number of sources make them.

    T. O. Engset, "Die Wahrscheinlichkeitsrechnung zur Bestimmung der Wählerzahl in automatischen
    Fernsprechämtern", Elektrotechnische Zeitschrift 39, 1918. A source is idle for an exponential
    time, then calls; a lost call ends at once, and its source is idle again. Holding times may have any
    distribution. With a = hold/idle the share of time in which all n servers are taken is
    E(0) = 1, E(n) = a (N-n+1) E(n-1) / (n + a (N-n+1) E(n-1)), a recursion of positive numbers; a
    call sees the system of the N - 1 other sources.

    Args:
        sources: how many callers there are, 1 or more.
        servers: how many calls fit at once, 0 or more.
        idle: mean idle time before a call, above 0.
        hold: mean holding time in the same unit, above 0.

    Raises:
        ArgumentError: an argument is out of range.
    """
    callers, count = whole("sources", sources, least=1), whole("servers", servers)
    pause, held = above_zero("idle", idle), above_zero("hold", hold)
    blocked, full = _full(callers - 1, count, held / pause), _full(callers, count, held / pause)
    # In a cycle a source is idle, then calls; a lost call ends the cycle at once.
    taken = (1 - blocked) * held
    return Engset(callers, count, pause, held, blocked, full, callers * taken / (pause + taken))


def _full(sources: int, servers: int, ratio: float) -> float:
    full = 1.0
    for server in range(1, servers + 1):
        coming = ratio * max(0, sources - server + 1) * full
        full = coming / (server + coming)
    return full


def engset_waiting(
    sources: int, servers: int, idle: float, hold: float = 1.0, patience: float | None = None
) -> Waiting:
    """Return waits where a fixed number of sources call and blocked calls wait: M/M/n//N, exact.

    Known as machine repair: L. Kleinrock, Queueing Systems I, 1975, section 3.8. Idle times, holding
    times and patience are exponential; a call that loses patience ends, and its source is idle again.

    Args:
        sources: how many callers there are, 1 or more.
        servers: how many calls fit at once, 1 or more.
        idle: mean idle time before a call, above 0.
        hold: mean holding time in the same unit, above 0; waits come in it.
        patience: mean patience of a call that waits, above 0; None: it waits for as long as it takes.

    Raises:
        ArgumentError: an argument is out of range, or there are too many sources for an exact answer.
    """
    callers, count = whole("sources", sources, least=1), whole("servers", servers, least=1)
    pause, held = above_zero("idle", idle), above_zero("hold", hold)
    patient = None if patience is None else above_zero("patience", patience)

    def arrival(states: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        idle_sources: npt.NDArray[np.float64] = (callers - states) / pause
        return idle_sources

    load = callers * held / (pause + held)
    return solve(load=load, servers=count, hold=held, patience=patient, sources=callers, arrival=arrival)
