"""Loss systems with calls of several sizes: one pool (Kaufman and Roberts), several (the product form)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._base.arguments import above_zero
from tidegate._base.calls import shown
from tidegate._base.lazy import Lazy
from tidegate.errors import ArgumentError
from tidegate.theory._arguments import listed, load_of, whole

if TYPE_CHECKING:
    import numpy.typing as npt
else:
    npt = Lazy("numpy.typing")

#: Most units of a pool for the recursion, and most combinations of units in use for the product form.
MOST_UNITS = 500_000
MOST_COMBINATIONS = 8_000_000
#: Most additions of the product form: combinations times numbers of calls.
MOST_WORK = 500_000_000
#: Numbers are scaled down before they overflow.
_LARGE = 1e200
#: The largest load of the recursion, Erlang: with it, one step does not overflow.
_MOST_LOAD = 1e90


@dataclass(frozen=True)
class LossSystem:
    """Calls of several classes for one or several pools; blocked calls are lost.

    Attributes:
        blocked: for each class, the share of its calls that are lost.
        carried: for each class, the mean number of its calls under way.
        used: for each pool, the mean of its units in use.
    """

    blocked: tuple[float, ...]
    carried: tuple[float, ...]
    used: tuple[float, ...]


def kaufman_roberts(capacity: int, loads: Sequence[float], sizes: Sequence[int]) -> LossSystem:
    """Return the share of calls that are lost where calls of several sizes share one pool, exact.

    J. S. Kaufman, "Blocking in a shared resource environment", IEEE Transactions on Communications
    29(10), 1981; J. W. Roberts, "A service system with heterogeneous user requirements", 1981. Calls of
    class k come as a Poisson process and take b_k units for a time of any distribution:
    c q(c) = sum over k of a_k b_k q(c - b_k); a call of class k is lost where fewer than b_k units are
    free.

    Args:
        capacity: units of the pool, a whole number up to 500 000.
        loads: offered load of each class in Erlang (calls, not units).
        sizes: units that a call of each class takes, whole numbers above 0.

    Raises:
        ArgumentError: an argument is out of range, or the lists differ in length.
    """
    units = whole("capacity", capacity, most=MOST_UNITS)
    offered = [_load(load, f"loads[{n}]") for n, load in enumerate(listed("loads", loads))]
    widths = [whole(f"sizes[{n}]", size, least=1) for n, size in enumerate(listed("sizes", sizes))]
    if len(offered) != len(widths):
        raise ArgumentError(f"sizes: {len(widths)} of them for {len(offered)} loads; one for each class")
    weights = [1.0]
    for busy in range(1, units + 1):
        value = sum(
            load * width * weights[busy - width]
            for load, width in zip(offered, widths, strict=True)
            if width <= busy
        )
        weights.append(value / busy)
        if weights[-1] > _LARGE:
            # Only ratios matter; what is rounded to 0 by this is a share below 1e-300.
            weights = [weight / _LARGE for weight in weights]
    shares = np.array(weights)
    shares /= shares.sum()
    blocked = tuple(float(shares[max(0, units - width + 1) :].sum()) for width in widths)
    carried = tuple(load * (1 - share) for load, share in zip(offered, blocked, strict=True))
    return LossSystem(blocked, carried, (float(shares @ np.arange(units + 1)),))


def _load(given: Any, name: str) -> float:
    value = load_of(given, name)
    if value > _MOST_LOAD:
        raise ArgumentError(f"{name}: {shown(given)} is out of range; at most {_MOST_LOAD:g} Erlang")
    return value


@dataclass(frozen=True)
class CallClass:
    """Calls of one kind, for :func:`product_form`.

    Attributes:
        units: for each pool, the units that a call takes of it, whole numbers from 0; at least one
            above 0.
        load: with ``sources`` None, the offered load in Erlang; with sources, mean holding time over
            mean idle time of one source.
        sources: how many callers there are, each with one call at a time; None: calls come as a Poisson
            process.
    """

    units: tuple[int, ...]
    load: float
    sources: int | None = None


def product_form(capacities: Sequence[int], classes: Sequence[CallClass]) -> LossSystem:
    """Return the share of calls that are lost in a loss network with fixed routing, exact.

    F. P. Kelly, "Loss networks", Annals of Applied Probability 1(3), 1991, section 1: the numbers n_k of
    calls of each class have the probability of independent classes (Poisson; binomial for a number of
    sources), conditioned on what fits into all pools. A call of class k is lost with probability
    1 - G(C - A_k)/G(C), where G is the normalisation constant; for a number of sources that of the
    network with one source less (the call sees the others). Holding times may have any distribution.

    The distribution of the units in use is computed for all combinations of the pools. Work grows
    with their product; what is too large is refused.

    Args:
        capacities: units of each pool, whole numbers.
        classes: the kinds of calls, each with as many units as there are pools.

    Raises:
        ArgumentError: an argument is out of range, or the network is too large for an exact answer.
    """
    rooms = [whole(f"capacities[{n}]", room) for n, room in enumerate(listed("capacities", capacities))]
    kinds = [_class(n, kind, len(rooms)) for n, kind in enumerate(listed("classes", classes))]
    _affordable(rooms, kinds)
    together = _distribution(rooms, [_weights(rooms, kind) for kind in kinds])
    total = float(together.sum())
    blocked, carried = [], []
    for number, kind in enumerate(kinds):
        lost = _lost(rooms, kinds, number, together)
        blocked.append(lost)
        if kind.sources is None:
            carried.append(kind.load * (1 - lost))
        else:
            taken = (1 - lost) * kind.load
            carried.append(kind.sources * taken / (1 + taken))
    used = []
    for pool, room in enumerate(rooms):
        others = tuple(axis for axis in range(len(rooms)) if axis != pool)
        used.append(float(together.sum(axis=others) @ np.arange(room + 1)) / total)
    return LossSystem(tuple(blocked), tuple(carried), tuple(used))


def _class(number: int, given: Any, pools: int) -> CallClass:
    name = f"classes[{number}]"
    if not isinstance(given, CallClass):
        raise ArgumentError(f"{name}: {shown(given)} is no tidegate.theory.CallClass")
    units = tuple(whole(f"{name}.units", each) for each in listed(f"{name}.units", given.units))
    if len(units) != pools:
        raise ArgumentError(f"{name}.units: {len(units)} of them for {pools} pools; one for each pool")
    if not any(units):
        raise ArgumentError(f"{name}.units: a call takes something of at least one pool")
    if given.sources is None:
        return CallClass(units, load_of(given.load, f"{name}.load"))
    ratio = above_zero(f"{name}.load", given.load)
    return CallClass(units, ratio, whole(f"{name}.sources", given.sources, least=1))


def _most(rooms: Sequence[int], kind: CallClass) -> int:
    """Return how many calls of a class fit at once."""
    fit = min(room // units for room, units in zip(rooms, kind.units, strict=True) if units)
    return fit if kind.sources is None else min(fit, kind.sources)


def _affordable(rooms: Sequence[int], kinds: Sequence[CallClass]) -> None:
    combinations = math.prod(room + 1 for room in rooms)
    finite = sum(1 for kind in kinds if kind.sources is not None)
    work = combinations * sum(_most(rooms, kind) + 1 for kind in kinds) * (1 + finite)
    if combinations > MOST_COMBINATIONS or work > MOST_WORK:
        raise ArgumentError(
            f"the pools can be in use in {combinations} combinations with {work} additions to make, and "
            f"{MOST_COMBINATIONS} and {MOST_WORK} is the most: the network is too large for an exact answer; "
            "simulate it"
        )


def _weights(
    rooms: Sequence[int], kind: CallClass, fewer: int = 0
) -> tuple[CallClass, npt.NDArray[np.float64]]:
    """Return a class and the weight of each number of its calls, the largest 1."""
    count = np.arange(_most(rooms, kind) + 1)
    if kind.load == 0:
        return kind, (count == 0).astype(float)
    from scipy.special import gammaln

    logs = count * math.log(kind.load) - gammaln(count + 1)
    if kind.sources is not None:
        sources = kind.sources - fewer
        count = np.minimum(count, sources)
        some = gammaln(sources + 1) - gammaln(sources - count + 1) - gammaln(count + 1)
        logs = count * math.log(kind.load) + some
        logs = logs[: sources + 1]
    return kind, np.exp(logs - logs.max())


def _distribution(
    rooms: Sequence[int], classes: Sequence[tuple[CallClass, npt.NDArray[np.float64]]]
) -> npt.NDArray[np.float64]:
    """Return the weight of each combination of units in use."""
    found = np.zeros([room + 1 for room in rooms])
    found[(0,) * len(rooms)] = 1.0
    for kind, weights in classes:
        more = np.zeros_like(found)
        for calls, weight in enumerate(weights):
            to = tuple(slice(calls * units, None) for units in kind.units)
            of = tuple(
                slice(None, room + 1 - calls * units) for room, units in zip(rooms, kind.units, strict=True)
            )
            more[to] += weight * found[of]
        # Only ratios matter.
        found = more / more.max()
    return found


def _lost(
    rooms: Sequence[int], kinds: Sequence[CallClass], number: int, together: npt.NDArray[np.float64]
) -> float:
    """Return the share of a class's calls that are lost."""
    kind = kinds[number]
    seen = together
    if kind.sources is not None:
        seen = _distribution(
            rooms, [_weights(rooms, other, fewer=int(n == number)) for n, other in enumerate(kinds)]
        )
    # Summed over the combinations in which it does not fit: no difference of two large numbers.
    fits = np.zeros(seen.shape, dtype=bool)
    fits[
        tuple(slice(None, max(0, room + 1 - units)) for room, units in zip(rooms, kind.units, strict=True))
    ] = True
    return float(seen[~fits].sum() / seen.sum())
