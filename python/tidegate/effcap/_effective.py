"""Effective capacity of a link of random rate: the limit, and its estimate from samples.

Source: S. Shakkottai, A. Kumar, A. Karnik and A. Anvekar, "TCP Performance Over End-to-End Rate
Control and Stochastic Available Capacity", Section IV.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tidegate._base.arguments import whole
from tidegate._base.calls import shown
from tidegate._base.lazy import Lazy
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Lazy("numpy")
    npt = Lazy("numpy.typing")

#: More samples or blocks than any history has.
MOST = 2**32 - 1
#: A row of transition probabilities may miss 1 by this much.
_ROW_ERROR = 1e-9
#: Below this delta times the largest capacity the logarithm is taken of 1 plus something small.
_SMALL = 1.0


def effective_capacity(C: Sequence[float], P: Sequence[Sequence[float]], delta: float) -> float:  # noqa: N803
    """Return the effective capacity of a server whose capacity a Markov chain modulates, (23).

    The largest constant rate for which a queue exceeds x with a probability that falls like
    exp(-delta x) or faster: -1/delta times the logarithm of the spectral radius of
    diag(exp(-delta C)) P.

    Args:
        C: what is served in an interval in each state, n numbers of 0 or more (packets).
        P: transition probabilities from interval to interval, n rows of n. Where some states
            are left for ever, the others count.
        delta: how fast the probability falls, 1 per packet; 0 gives the mean capacity, and
            ``math.inf`` the smallest mean capacity of any cycle of states. That is the least
            capacity where its state can follow itself.

    Returns:
        Packets per interval.

    Raises:
        ArgumentError: a value is out of its range, or the chain falls apart into several.
    """
    import numpy as np

    capacity = _vector("C", C)
    chain = _chain(P, len(capacity))
    delta = _decay(delta)
    kept = _closed_class(chain)
    capacity, chain = capacity[kept], chain[np.ix_(kept, kept)]
    if delta == 0:
        return float(_stationary(chain) @ capacity)
    slowest, potential = _slowest_cycle(capacity, chain > 0)
    if math.isinf(delta):
        return slowest
    if delta * float(capacity.max()) < _SMALL:
        return _of_small_delta(capacity, chain, delta)
    # Similar to diag(exp(-delta (C - slowest))) P, but no power is above 0 and those of the
    # slowest cycle are 0: nothing overflows, and the radius cannot vanish.
    power = capacity[:, None] - slowest + potential[:, None] - potential[None, :]
    with np.errstate(over="ignore"):
        scaled = np.where(chain > 0, chain * np.exp(-delta * np.maximum(power, 0.0)), 0.0)
    radius = float(np.abs(np.linalg.eigvals(scaled)).max())
    # With a large delta, a power that is 1e-17 in place of 0 lets the radius vanish; its logarithm is then
    # less than rounding.
    return slowest - math.log(radius) / delta if radius > 0 else slowest


def estimate_delta(capacity: Iterable[float], m: int, n: int, delta: float) -> npt.NDArray[np.float64]:
    """Return the estimate of the effective capacity with a finite delta, (25), after each sample.

    Of the last n blocks of m samples each, one sample apart: -1/(m delta) times the logarithm of
    the mean of exp(-delta times a block's sum). While history is short, of the full blocks
    that there are; before m samples, the mean of what there is. ``math.inf`` gives the least of
    the block means (28), which is EFFCAP, and 0 their mean.

    Args:
        capacity: samples, each the capacity of one measurement interval; of length k.
        m: samples in a block, at least 1.
        n: blocks, at least 1.
        delta: 1 over the unit of the samples, 0 or more.

    Returns:
        k numbers in the unit of the samples.

    Raises:
        ArgumentError: a value is out of its range.
    """
    import numpy as np

    samples = _vector("capacity", capacity, empty=True)
    m, n = whole("m", m, 1, MOST), whole("n", n, 1, MOST)
    delta = _decay(delta)
    estimates = np.empty(len(samples))
    before = min(m - 1, len(samples))
    estimates[:before] = np.cumsum(samples[:before]) / np.arange(1, before + 1)
    if len(samples) < m:
        return estimates
    blocks = np.lib.stride_tricks.sliding_window_view(samples, m).mean(axis=1)
    for place in range(len(blocks)):
        estimates[before + place] = _soft_least(blocks[max(0, place + 1 - n) : place + 1], m, delta)
    return estimates


def _soft_least(blocks: npt.NDArray[np.float64], m: int, delta: float) -> float:
    import numpy as np

    least = float(blocks.min())
    if math.isinf(delta):
        return least
    if delta == 0:
        return float(blocks.mean())
    # expm1 and log1p: right for small deltas, and the least block never vanishes.
    gone = float(np.expm1(-delta * m * (blocks - least)).mean())
    return least - math.log1p(gone) / (m * delta)


def _decay(delta: Any) -> float:
    try:
        value = math.nan if isinstance(delta, bool | str) else float(delta)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not value >= 0:
        raise ArgumentError(f"delta: {shown(delta)} is out of range; 0 or more, or math.inf")
    return value


def _vector(name: str, values: Any, *, empty: bool = False) -> npt.NDArray[np.float64]:
    import numpy as np

    if not hasattr(values, "__len__") and hasattr(values, "__iter__"):
        values = list(values)
    try:
        if isinstance(values, str | bytes):
            raise ValueError
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name}: {shown(values)} is not a sequence of numbers") from None
    if vector.ndim != 1 or (not empty and not len(vector)):
        raise ArgumentError(f"{name}: read an array of shape {vector.shape}; a list of numbers")
    wrong = np.flatnonzero(~(np.isfinite(vector) & (vector >= 0)))
    if len(wrong):
        raise ArgumentError(f"{name}[{wrong[0]}]: {vector[wrong[0]]:g} is out of range; 0 or more")
    return vector


def _chain(values: Any, states: int) -> npt.NDArray[np.float64]:
    import numpy as np

    try:
        chain = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"P: {shown(values)} is not a table of numbers") from None
    if chain.shape != (states, states):
        raise ArgumentError(f"P: read an array of shape {chain.shape}; {states} rows of {states}, as C has")
    if not np.isfinite(chain).all() or (chain < 0).any():
        raise ArgumentError("P: a transition probability is below 0 or no number")
    for row, total in enumerate(chain.sum(axis=1)):
        if abs(total - 1) > _ROW_ERROR:
            raise ArgumentError(f"P[{row}]: the probabilities add up to {total:.9g}, not to 1")
    return chain


def _closed_class(chain: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Return the states that are never left; there is one such class, or the mean is not one number."""
    import numpy as np

    reach = (chain > 0) | np.eye(len(chain), dtype=bool)
    for _ in range(max(1, math.ceil(math.log2(len(chain))))):
        reach = (reach.astype(np.uint8) @ reach.astype(np.uint8)) > 0
    # A state is of a closed class if all that it reaches reach it.
    back = np.array([bool(reach[reach[i], i].all()) for i in range(len(chain))])
    kept = np.flatnonzero(back)
    if not reach[np.ix_(kept, kept)].all():
        raise ArgumentError("P: the chain falls apart into several that never meet; give one of them")
    return kept


def _stationary(chain: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    import numpy as np

    states = len(chain)
    system = np.vstack([chain.T - np.eye(states), np.ones(states)])
    shares = np.linalg.lstsq(system, np.append(np.zeros(states), 1.0), rcond=None)[0]
    return np.asarray(shares, dtype=np.float64)


def _of_small_delta(capacity: npt.NDArray[np.float64], chain: npt.NDArray[np.float64], delta: float) -> float:
    """Return the effective capacity where the radius is nearly 1, without its cancellation.

    With v the right eigenvector and pi the stationary distribution, radius - 1 is
    sum of pi (exp(-delta C) - 1) P v, over pi v.
    """
    import numpy as np

    values, vectors = np.linalg.eig(np.exp(-delta * capacity)[:, None] * chain)
    # The Perron root: a periodic chain has others of the same modulus, and none with so large a real part.
    vector = np.abs(vectors[:, int(np.argmax(values.real))].real)
    stationary = _stationary(chain)
    less = float((stationary * np.expm1(-delta * capacity)) @ (chain @ vector))
    return -math.log1p(less / float(stationary @ vector)) / delta


def _slowest_cycle(
    capacity: npt.NDArray[np.float64], follows: npt.NDArray[np.bool_]
) -> tuple[float, npt.NDArray[np.float64]]:
    """Return the smallest mean capacity of a cycle (Karp 1978), and potentials that prove it."""
    import numpy as np

    states = len(capacity)
    cost = np.where(follows, capacity[:, None], np.inf)
    walks = np.full((states + 1, states), np.inf)
    walks[0, 0] = 0.0
    for step in range(states):
        walks[step + 1] = (walks[step][:, None] + cost).min(axis=0)
    lengths = np.arange(states)[:, None]
    with np.errstate(invalid="ignore"):
        means = (walks[states] - walks[:states]) / (states - lengths)
    means[np.isinf(walks[:states])] = -np.inf
    means[:, np.isinf(walks[states])] = np.inf
    slowest = float(means.max(axis=0).min())
    # Shortest ways with each capacity less the smallest mean: no cycle is below 0 then.
    potential = np.zeros(states)
    for _ in range(states):
        potential = np.minimum(potential, (potential[:, None] + cost - slowest).min(axis=0))
    return slowest, potential
