"""Erlang's formulas: calls that come at random to a number of servers.

A. K. Erlang, "Solution of some problems in the theory of probabilities of significance in
automatic telephone exchanges", 1917. Calls come as a Poisson process; each takes one of ``servers``
equal servers (circuits that fit into a pool). The load, in Erlang, is the rate of calls times the
mean holding time: the servers that would be busy in the mean if there were no end of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tidegate._base.arguments import above_zero, number
from tidegate._base.calls import shown
from tidegate.errors import ArgumentError
from tidegate.theory._arguments import MOST_SERVERS, flag, load_of, whole
from tidegate.theory._arguments import share as share_of


def erlang_b(load: float, servers: int) -> float:
    """Return the share of calls that are lost: Erlang's first formula.

    B(0) = 1 and B(n) = A B(n-1) / (n + A B(n-1)), a recursion of positive numbers that stays stable
    for any number of servers. Blocked calls are lost; holding times may have any distribution.

    Args:
        load: offered load in Erlang, 0 or more.
        servers: how many calls fit at once.

    Raises:
        ArgumentError: an argument is out of range.
    """
    offered, blocked = load_of(load), 1.0
    for server in range(1, whole("servers", servers) + 1):
        blocked = offered * blocked / (server + offered * blocked)
    return blocked


@dataclass(frozen=True)
class ErlangC:
    """A system in which blocked calls wait in the order of asking: Erlang's second formula.

    Attributes:
        load: offered load in Erlang.
        servers: how many calls fit at once.
        hold: mean holding time, exponential, in the unit in which waits are told.
        waiting: share of calls that have to wait; 1 where the load is no less than the servers.
    """

    load: float
    servers: int
    hold: float
    waiting: float

    @property
    def mean(self) -> float:
        """Mean wait, of all calls; infinite where the load is no less than the servers."""
        spare = self.servers - self.load
        return self.waiting * self.hold / spare if spare > 0 else math.inf

    def beyond(self, wait: float) -> float:
        """Return the share of calls that wait longer than ``wait``: C exp(-(n - A) wait / hold)."""
        after = number("wait", wait)
        if after < 0:
            return 1.0
        spare = self.servers - self.load
        return self.waiting * math.exp(-spare * after / self.hold) if spare > 0 else 1.0

    def quantile(self, share: float) -> float:
        """Return the wait that this share of calls does not exceed; 0 where so many do not wait.

        Raises:
            ArgumentError: the share is not in [0, 1).
        """
        part = share_of("share", share, zero=True)
        if 1 - part >= self.waiting:
            return 0.0
        spare = self.servers - self.load
        return self.hold / spare * math.log(self.waiting / (1 - part)) if spare > 0 else math.inf


def erlang_c(load: float, servers: int, hold: float = 1.0) -> ErlangC:
    """Return waiting times where blocked calls wait: Erlang's second formula.

    C = n B / (n - A (1 - B)) with B of :func:`erlang_b`; waits have mean C hold / (n - A) and the
    distribution of :meth:`ErlangC.beyond`. Holding times are exponential; calls are served in
    the order of asking.

    Args:
        load: offered load in Erlang.
        servers: how many calls fit at once.
        hold: mean holding time; waits come in its unit.

    Raises:
        ArgumentError: an argument is out of range.
    """
    offered, count, held = load_of(load), whole("servers", servers), above_zero("hold", hold)
    waiting = 1.0
    if offered < count:
        blocked = erlang_b(offered, count)
        waiting = count * blocked / (count - offered * (1 - blocked))
    return ErlangC(offered, count, held, waiting)


def erlang_servers(load: float, blocking: float, *, waits: bool = False) -> int:
    """Return the fewest servers at which no larger share of calls is blocked.

    Args:
        load: offered load in Erlang.
        blocking: the share that may be lost, or with ``waits`` may have to wait; above 0.
        waits: blocked calls wait (Erlang C) instead of being lost (Erlang B).

    Raises:
        ArgumentError: an argument is out of range.
    """
    offered, goal = load_of(load), number("blocking", blocking)
    if not 0 < goal <= 1:
        raise ArgumentError(f"blocking: {shown(blocking)} is out of range; above 0, at most 1")
    waits, blocked = flag("waits", waits), 1.0
    for servers in range(MOST_SERVERS + 1):
        if servers:
            blocked = offered * blocked / (servers + offered * blocked)
        share = blocked
        if waits:
            share = servers * blocked / (servers - offered * (1 - blocked)) if offered < servers else 1.0
        if share <= goal:
            return servers
    raise ArgumentError(f"load: {shown(load)} Erlang need more than {MOST_SERVERS} servers")
