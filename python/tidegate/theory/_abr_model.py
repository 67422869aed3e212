"""The renewal process of TCP over a rate-controlled link: its states, steps and rewards.

A state is (a, b, d, q): packets waiting in the host, in the link's queue and in propagation,
and the pair of rates (of the link, of the source) as 2 × link + source, 0 the faster. Numbers are
whole: rates are packets' times over a common denominator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tidegate.errors import InternalError

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray
    from scipy import sparse

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

#: Growth of the window in a round trip beyond this is counted as this: its probability is
#: below 1/19!, about 1e-17.
_MOST_GROWTH = 18
#: Pairs of rates.
_PAIRS = 4


@dataclass(frozen=True)
class Rules:
    """The model's numbers and its choices; see :func:`tidegate.theory.abr`."""

    stay: tuple[float, float]
    """Probability that the link keeps its rate for the next round trip, in state 0 and 1."""
    delta: Fraction
    buffer: int
    wmax: int
    slow: tuple[Fraction, Fraction]
    """Time of a packet at the link in state 0 and 1."""
    scheme: str
    spacing: str
    loss_window: str
    recovery: int
    source: Fraction | None
    """Time of a packet at a source of constant rate; None where it follows the link."""


@dataclass(frozen=True)
class Steps:
    """What happens in one round trip: one row for each state and growth of the window."""

    state: Ints
    """Row of the state that it starts from."""
    probability: Floats
    lost: NDArray[np.bool_]
    rounds: Ints
    optimistic: Floats
    conservative: Floats
    a: Ints
    b: Ints
    d: Ints


class Model:
    """The embedded Markov chain of Section III, with all states that the first one leads to."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        scale = math.lcm(*(each.denominator for each in (*rules.slow, rules.source or rules.slow[0])))
        self._service = np.array([int(each * scale) for each in rules.slow], dtype=np.int64)
        self._carried = np.array([int(rules.delta // each) for each in rules.slow], dtype=np.int64)
        if rules.source is None:
            self._source, self._sent = self._service, self._carried
        else:
            self._source = np.full(2, int(rules.source * scale), dtype=np.int64)
            self._sent = np.full(2, int(rules.delta // rules.source), dtype=np.int64)
        self._build()

    def _build(self) -> None:
        """Follow every step from the first state on until no state is new."""
        # Loaded where it is used: every check of a scenario asks whether this model applies.
        from scipy import sparse

        rates = self._rates
        first = self._first()
        fresh = self._key(*(np.array([part], dtype=np.int64) for part in (*first, 0)))
        known = np.empty(0, dtype=np.int64)
        parts: list[tuple[Ints, Ints, Floats, Floats, Floats, Floats, Floats]] = []
        while len(fresh):
            known = np.sort(np.concatenate([known, fresh]))
            parts.append(self._expand(fresh, rates))
            ends = _distinct(parts[-1][1])
            fresh = ends[known[np.minimum(np.searchsorted(known, ends), len(known) - 1)] != ends]
        keys = np.concatenate([part[0][: len(part[3])] for part in parts])
        order = np.argsort(keys)
        size = len(known)
        rows = np.searchsorted(known, np.concatenate([part[0][len(part[3]) :] for part in parts]))
        columns = np.searchsorted(known, np.concatenate([part[1] for part in parts]))
        weights = np.concatenate([part[2] for part in parts])
        chain = sparse.coo_array((weights, (rows, columns)), shape=(size, size)).tocsr()
        rounds, lost, optimistic, conservative = (
            np.concatenate([part[n] for part in parts])[order] for n in (3, 4, 5, 6)
        )
        kept = _recurrent(chain)
        self.chain = chain[kept][:, kept]
        self.rounds, self.lost = rounds[kept], lost[kept]
        self.optimistic, self.conservative = optimistic[kept], conservative[kept]
        a, b, d, self.rates = self._parts(known[kept])
        self.window = a + b + d

    def _first(self) -> tuple[int, int, int]:
        """Return a state that the model's own first one, (1, 0, 0), may lead to.

        With a source that is never faster than a fast link the window may grow to its end before
        anything is lost; from there on fewer states are passed that never come again.
        """
        if self.rules.scheme == "tcp":
            return 0, 0, 1
        flying = min(self.rules.wmax, int(self._sent[0]))
        return self.rules.wmax - flying, 0, flying

    @cached_property
    def _rates(self) -> Floats:
        """Q of (13): the pair of rates one round trip on. The source follows the link by one."""
        matrix = np.zeros((_PAIRS, _PAIRS))
        for link in (0, 1):
            for source in (0, 1):
                stay = self.rules.stay[link]
                matrix[2 * link + source, 2 * link + link] += stay
                matrix[2 * link + source, 2 * (1 - link) + link] += 1 - stay
        return matrix

    @cached_property
    def _sizes(self) -> tuple[int, int, int]:
        return self.rules.wmax + 1, self.rules.wmax + 1, self.rules.wmax + 1

    def _key(self, a: Ints, b: Ints, d: Ints, q: Ints) -> Ints:
        _, in_b, in_d = self._sizes
        return ((a * in_b + b) * in_d + d) * _PAIRS + q

    def _parts(self, key: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        _, in_b, in_d = self._sizes
        rest, q = np.divmod(key, _PAIRS)
        rest, d = np.divmod(rest, in_d)
        a, b = np.divmod(rest, in_b)
        return a, b, d, q

    def _expand(self, key: Ints, rates: Floats) -> tuple[Ints, Ints, Floats, Floats, Floats, Floats, Floats]:
        """Return (states and starts of edges, ends, weights), and each state's expectations."""
        a, b, d, q = self._parts(key)
        steps = self._steps(a, b, d, q)
        count = len(key)

        def expected(values: Floats) -> Floats:
            sums = np.bincount(steps.state, weights=steps.probability * values, minlength=count)
            return sums.astype(np.float64)

        starts, ends, weights = [key], [], []
        powers = {int(n): np.linalg.matrix_power(rates, int(n)) for n in np.unique(steps.rounds)}
        table = np.array([powers.get(n, np.zeros_like(rates)) for n in range(max(powers) + 1)])
        for pair in range(_PAIRS):
            weight = steps.probability * table[steps.rounds, q[steps.state], pair]
            there = np.flatnonzero(weight > 0)
            starts.append(key[steps.state[there]])
            ends.append(self._key(steps.a[there], steps.b[there], steps.d[there], np.full(len(there), pair)))
            weights.append(weight[there])
        return (
            np.concatenate(starts),
            np.concatenate(ends),
            np.concatenate(weights),
            expected(steps.rounds.astype(np.float64)),
            expected(steps.lost.astype(np.float64)),
            expected(steps.optimistic),
            expected(steps.conservative),
        )

    def _steps(self, a: Ints, b: Ints, d: Ints, q: Ints) -> Steps:
        """Apply the recursions to every state and every growth N that it may see."""
        rules = self.rules
        state, grown, probability = _growth(d, a + b + d, rules.wmax)
        a, b, d, q = a[state], b[state], d[state], q[state]
        link, source = q // 2, q % 2
        window = a + b + d
        ready = a + d + grown
        carried = self._carried[link]
        sent = ready if rules.scheme == "tcp" else np.minimum(ready, self._sent[source])
        arrives = np.minimum(b + sent, carried)
        room = rules.buffer - b
        r, s = self._service[link], self._source[source]
        if rules.scheme == "tcp" and rules.spacing != "link":
            s = np.zeros_like(r) if rules.spacing == "burst" else r
        # Where the link is slower than what comes: the queue gains 1 - s/r of a packet with each.
        rises = s < r
        lost = rises & (sent * (r - s) > room * r)
        before = np.where(rises, room * r // np.maximum(r - s, 1), 0)
        if rules.scheme == "tcp":
            # Or more comes in the whole round trip than leaves and fits.
            late = ~lost & (b + sent - carried > rules.buffer)
            before = np.where(late, room + carried, before)
            lost |= late
        # "We assume that the window grows by 1" (before (17)), whatever N is; never beyond Wmax.
        more = np.minimum(rules.wmax - window, 1) if rules.loss_window == "one more" else grown
        at_loss = np.maximum(window + more, 2)
        threshold = (at_loss + 1) // 2
        slow_start = np.ceil(np.log2(threshold)).astype(np.int64)
        reward = d + b + before + window + 1 + at_loss / 2 - 1
        return Steps(
            state=state,
            probability=probability,
            lost=lost,
            rounds=np.where(lost, rules.recovery + slow_start, 1),
            optimistic=np.where(lost, reward, d),
            conservative=d.astype(np.float64),
            a=np.where(lost, 0, ready - sent),
            b=np.where(lost, 0, b + sent - arrives),
            d=np.where(lost, threshold, arrives),
        )

    @cached_property
    def stationary(self) -> Floats:
        """The stationary distribution of the embedded chain, by elimination."""
        from scipy import sparse
        from scipy.sparse.linalg import spsolve

        size = self.chain.shape[0]
        if size == 1:
            return np.ones(1)
        system = (self.chain.T - sparse.eye_array(size)).tocsc()
        # The first state's share is set to 1: all are recurrent, so the rest is determined.
        rest = spsolve(system[1:, 1:], -system[1:, [0]].toarray().ravel())
        shares = np.concatenate([[1.0], rest])
        return np.asarray(shares / shares.sum(), dtype=np.float64)


def _growth(d: Ints, window: Ints, wmax: int) -> tuple[Ints, Ints, Floats]:
    """Return (state, N, probability) of min(Binomial(d, 1/W), wmax - W), impossible ones left out."""
    most = np.minimum(np.minimum(d, wmax - window), _MOST_GROWTH)
    columns = int(most.max()) + 1
    chance = 1.0 / window
    table = np.zeros((len(d), columns))
    # A window of 1 grows with its one acknowledgement.
    sure = window == 1
    stays = np.where(sure, 0.0, 1 - chance)
    table[:, 0] = np.where(sure & (d > 0), 0.0, np.power(stays, d, where=~sure, out=np.ones(len(d))))
    odds = np.divide(chance, stays, where=~sure, out=np.zeros(len(d)))
    for n in range(1, columns):
        table[:, n] = table[:, n - 1] * (d - n + 1) / n * odds
    if columns > 1:
        table[sure & (d == 1), 1] = 1.0
    place = np.arange(columns)
    table[place > most[:, None]] = 0.0
    # What is beyond the last column is counted there.
    rows = np.arange(len(d))
    below = table.sum(axis=1) - table[rows, most]
    table[rows, most] = np.maximum(1 - below, 0.0)
    state, grown = np.nonzero(table > _NEVER)
    return state.astype(np.int64), grown.astype(np.int64), table[state, grown]


def _distinct(keys: Ints) -> Ints:
    """Return keys in order, each once. numpy's own hashes, and such keys collide: a thousand times slower."""
    ordered = np.sort(keys)
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return np.asarray(ordered[first], dtype=np.int64)


#: A step of a smaller probability is none: the rounding of the others is larger.
_NEVER = 1e-16


def _recurrent(chain: sparse.csr_array) -> NDArray[np.intp]:
    """Return the states that come again and again.

    Raises:
        InternalError: there are several classes of them.
    """
    from scipy.sparse import csgraph

    count, label = csgraph.connected_components(chain, connection="strong")
    edges = chain.tocoo()
    left = np.zeros(count, dtype=bool)
    start, end = label[edges.coords[0]], label[edges.coords[1]]
    left[start[start != end]] = True
    closed = np.flatnonzero(~left)
    if len(closed) != 1:
        raise InternalError(f"the renewal process has {len(closed)} classes of recurrent states, not one")
    return np.flatnonzero(label == closed[0])
