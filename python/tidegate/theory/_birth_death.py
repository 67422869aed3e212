"""Calls for equal servers as a birth-and-death process: the long run of who waits and who leaves.

The state is the number of calls in the system. Calls come at a rate that may depend on the state, each
busy server ends its call at the rate 1/hold, each waiting call leaves the line at the rate
1/patience. Blocked calls wait in the order of asking. L. Kleinrock, Queueing Systems I, 1975,
chapter 3; waits of those that are served: C. Palm, "Research on telephone traffic carried by full
availability groups", Tele 1, 1957.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.arguments import number
from tidegate._base.lazy import Lazy
from tidegate.errors import ArgumentError
from tidegate.theory._arguments import share as share_of

if TYPE_CHECKING:
    import numpy.typing as npt
else:
    npt = Lazy("numpy.typing")

#: States that are looked at, at most.
MOST_STATES = 4_000_000
#: What lies beyond the last state is a smaller share than this.
_TAIL = 1e-17
#: Bisection of a quantile ends here, relatively.
_CLOSE = 1e-13


@dataclass(frozen=True)
class Waiting:
    """A system of equal servers in which blocked calls wait, in the long run.

    Times are in the unit in which ``hold`` was given. Shares are of the calls that are made.

    Attributes:
        load: what the calls would hold in the mean with servers without end, in Erlang.
        servers: how many calls fit at once.
        hold: mean holding time, exponential.
        patience: mean patience of a call that waits, exponential; None: it waits for as long as it takes.
        sources: how many callers there are, each with one call at a time; None: no end of them.
        waiting: share of the calls that find all servers taken.
        abandoned: share of the calls that leave the line without having been served.
        mean: mean wait of the calls that are served; those served at once count with 0.
        mean_of_all: mean time in the line of all calls, those that leave it included.
        queue: mean number of calls in the line.
        busy: mean number of busy servers.
    """

    load: float
    servers: int
    hold: float
    patience: float | None
    sources: int | None
    waiting: float
    abandoned: float
    mean: float
    mean_of_all: float
    queue: float
    busy: float
    #: Of the calls that are served, the share that found so many waiting, by that number; the rest were
    #: served at once.
    _served_behind: npt.NDArray[np.float64] = field(repr=False)

    def beyond(self, wait: float) -> float:
        """Return the share of the served calls that waited longer than ``wait``.

        Behind j waiting calls a served call has waited j + 1 exponential times with the rates a, a + θ, ...,
        a + jθ (a = servers/hold + θ, θ = 1/patience): without patience's end a gamma law, with it
        -ln(B)/θ for B of a beta law.
        """
        after = number("wait", wait)
        if after < 0:
            return 1.0
        from scipy.special import betainc, gammaincc

        behind = np.arange(len(self._served_behind))
        rate = self.servers / self.hold
        if self.patience is None:
            tails = gammaincc(behind + 1, rate * after)
        else:
            theta = 1 / self.patience
            tails = betainc((rate + theta) / theta, behind + 1, math.exp(-theta * after))
        return float(self._served_behind @ tails)

    def quantile(self, share: float) -> float:
        """Return the wait that this share of the served calls does not exceed; 0 where so many do not wait.

        Raises:
            ArgumentError: the share is not in [0, 1).
        """
        rest = 1 - share_of("share", share, zero=True)
        if rest >= float(self._served_behind.sum()):
            return 0.0
        high = self.hold / self.servers
        while self.beyond(high) > rest:
            high *= 2
        low = 0.0
        while high - low > _CLOSE * high:
            middle = (low + high) / 2
            low, high = (middle, high) if self.beyond(middle) > rest else (low, middle)
        return high


def solve(
    *,
    load: float,
    servers: int,
    hold: float,
    patience: float | None,
    sources: int | None,
    arrival: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.float64]],
) -> Waiting:
    """Return the long run of a system whose calls come at the rate ``arrival(state)``.

    Raises:
        ArgumentError: more states matter than can be looked at.
    """
    theta = 0.0 if patience is None else 1 / patience
    weights = _states(servers, 1 / hold, theta, arrival, sources)
    states = np.arange(len(weights))
    shares = weights / weights.sum()
    coming = shares * arrival(states)
    total = float(coming.sum())
    if total == 0.0:
        return Waiting(load, servers, hold, patience, sources, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, np.zeros(0))
    coming /= total
    queue = float(shares @ np.maximum(states - servers, 0))
    found_waiting = np.arange(max(0, len(coming) - servers))
    rate = servers / hold
    # A call behind j others is served unless its patience ends first: a product that telescopes.
    served = coming[servers:] * (rate / (rate + (found_waiting + 1) * theta) if servers else 0.0)
    all_served = float(coming[:servers].sum() + served.sum())
    steps = np.cumsum(1 / (rate + (found_waiting + 1) * theta)) if rate + theta > 0 else found_waiting * 0.0
    return Waiting(
        load=load,
        servers=servers,
        hold=hold,
        patience=patience,
        sources=sources,
        waiting=min(1.0, float(coming[servers:].sum())),
        abandoned=theta * queue / total,
        mean=float(served @ steps) / all_served if all_served > 0 else math.inf,
        mean_of_all=queue / total,
        queue=queue,
        busy=float(shares @ np.minimum(states, servers)),
        _served_behind=served / all_served if all_served > 0 else served,
    )


def _states(
    servers: int,
    end: float,
    theta: float,
    arrival: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.float64]],
    sources: int | None,
) -> Any:
    """Return the weight of each state, the largest 1."""
    logs = [np.zeros(1)]
    known, top = 1, 0.0
    while sources is None or known <= sources:
        more = max(1024, known)
        if sources is not None:
            more = min(more, sources + 1 - known)
        if known + more > MOST_STATES:
            raise ArgumentError(
                f"more than {MOST_STATES} numbers of calls in the system matter: the line is too long for an "
                "exact answer; simulate it"
            )
        states = np.arange(known, known + more)
        ends = np.minimum(states, servers) * end + np.maximum(states - servers, 0) * theta
        with np.errstate(divide="ignore"):
            steps = np.log(arrival(states - 1)) - np.log(ends)
        logs.append(logs[-1][-1] + np.cumsum(steps))
        known += more
        top = max(top, float(logs[-1].max()))
        falls = float(steps[-1])
        # From here on the weights fall at least as fast as a geometric series.
        if sources is None and falls < 0:
            rest = float(logs[-1][-1]) - math.log(-math.expm1(falls))
            if rest < top + math.log(_TAIL):
                break
    return np.exp(np.concatenate(logs) - top)
