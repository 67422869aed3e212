"""The DTM bandwidth estimator by itself: measured rates in, allocations out.

Source: H. Abrahamsson, O. Hagsand and I. Marsh, "TCP over High Speed Variable Capacity
Links: A Simulation Study for Bandwidth Allocation", Fig. 1. The very estimator that gates
with ``rate.dtm`` use; no scenario, network or TCP is needed.

>>> import tidegate as tg
>>> told = tg.dtm.allocate([5_000_000] * 20)
>>> told["allocation_bps"][[9, 19]].tolist()
[4580620, 5549954]
>>> told["change_ticks"].tolist()
[10, 20]
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._base.arguments import text, whole
from tidegate._base.calls import shown
from tidegate._base.lazy import Lazy
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Lazy("numpy")
    npt = Lazy("numpy.typing")

__all__ = ["allocate"]

_NANOS = 10**9
_FASTEST_BPS = 10**15
_MOST_SLOTS = 10**9


def allocate(
    rates_bps: Iterable[float],
    *,
    slot_bps: int = 512_000,
    shift_inc: int = 3,
    shift_dec: int = 3,
    margin_slots: float | str | Decimal | Fraction = 0.75,
    corridor_slots: float | str | Decimal | Fraction = 2,
    rounding: str = "exact",
    initial_current: int = 0,
    initial_bps: int = 10_000_000,
    losses: Iterable[float] | None = None,
    on_loss: str = "nothing",
    min_slots: int = 1,
    max_slots: int | None = None,
    update_every: int = 10,
) -> dict[str, npt.NDArray[np.int64]]:
    """Follow measured rates with an estimate, and give the slots that it asks for.

    Args:
        rates_bps: one measured rate for each interval (100 ms in the paper), whole bit/s;
            a sequence or an array of one dimension, of length n.
        slot_bps: bit rate of one slot.
        shift_inc: the estimate rises by the difference shifted right by this, 0 to 63.
        shift_dec: the same when it falls.
        margin_slots: allocated above the estimate, at most nine decimals.
        corridor_slots: how far the estimate may move before the allocation changes.
        rounding: ``"exact"``, the allocation is not rounded to slots, or ``"up"``.
        initial_current: the estimate before the first measurement, bit/s.
        initial_bps: the rate in force before the first decision.
        losses: packets dropped in each interval, or whether there were any; length n.
        on_loss: what drops do: ``"nothing"``; ``"hold tick"``, such an interval does not
            lower the estimate; ``"hold second"``, nor do the later ones until the next
            update; ``"hold link"``, the update after it does not lower the allocation.
        min_slots: the least allocation, at least 1.
        max_slots: the largest; None, no limit.
        update_every: intervals from one decision to the next (10: every second).

    Returns:
        ``current``: the estimate in bit/s after each measurement, n integers;
        ``allocation_bps``: the rate in force after each, n integers; an ``"exact"``
        allocation that is no whole bit/s is rounded down (its bounds are not);
        ``change_ticks``: the measurements, counted from 1, at which a decision was taken
        because a bound was passed, even if the value stayed.

    Raises:
        ArgumentError: a value is out of its range, or not whole where it must be.
    """
    import numpy as np

    min_slots = whole("min_slots", min_slots, 1, _MOST_SLOTS)
    if max_slots is not None:
        max_slots = whole("max_slots", max_slots, 1, _MOST_SLOTS)
        if min_slots > max_slots:
            raise ArgumentError(f"min_slots: {min_slots} is more than max_slots, {max_slots}")
    rates = _rates(rates_bps)
    lost = _losses(losses, len(rates))
    current, allocation, ticks = _core.dtm_allocate(
        rates,
        lost,
        slot_bps=whole("slot_bps", slot_bps, 1, _FASTEST_BPS),
        shift_inc=whole("shift_inc", shift_inc, 0, 63),
        shift_dec=whole("shift_dec", shift_dec, 0, 63),
        margin_nanos=_nanos("margin_slots", margin_slots),
        corridor_nanos=_nanos("corridor_slots", corridor_slots),
        rounding=text("rounding", rounding),
        on_loss=text("on_loss", on_loss),
        min_slots=min_slots,
        max_slots=max_slots,
        initial_current=whole("initial_current", initial_current, 0, _FASTEST_BPS),
        initial_bps=whole("initial_bps", initial_bps, 1, _FASTEST_BPS),
        update_every=whole("update_every", update_every, 1, 10**9),
    )
    return {
        "current": np.array(current, dtype=np.int64),
        "allocation_bps": np.array(allocation, dtype=np.int64),
        "change_ticks": np.array(ticks, dtype=np.int64),
    }


def _nanos(name: str, value: Any) -> int:
    """Return a number of slots in billionths; floats are read as they are printed."""
    try:
        if isinstance(value, bool):
            raise ValueError
        slots = Fraction(value) if isinstance(value, Rational) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ArgumentError(f"{name}: {shown(value)} is not a number of slots") from None
    if not 0 <= slots <= _MOST_SLOTS:
        raise ArgumentError(f"{name}: {shown(value)} is out of range; from 0 to {_MOST_SLOTS} slots")
    nanos = slots * _NANOS
    if nanos.denominator != 1:
        raise ArgumentError(f"{name}: {shown(value)} has more than nine decimals; round it")
    return nanos.numerator


def _list(name: str, values: Any) -> list[Any]:
    if isinstance(values, str | bytes):
        raise ArgumentError(f"{name}: {shown(values)} is text, not a sequence of numbers")
    # Arrays of numpy, polars and the like: Python's own numbers, without importing any of them.
    listed = values.tolist() if hasattr(values, "tolist") else values
    try:
        return list(listed)
    except TypeError:
        raise ArgumentError(f"{name}: {shown(values)} is not a sequence of numbers") from None


def _rates(values: Any) -> list[int]:
    listed = _list("rates_bps", values)
    return [whole(f"rates_bps[{n}]", value, 0, _FASTEST_BPS) for n, value in enumerate(listed)]


def _losses(values: Any, count: int) -> list[bool]:
    if values is None:
        return []
    listed = _list("losses", values)
    if len(listed) != count:
        raise ArgumentError(f"losses: {len(listed)} values for {count} rates; give one for each")
    lost = []
    for n, value in enumerate(listed):
        # Counts, or whether there were any.
        number = value if isinstance(value, bool) else whole(f"losses[{n}]", value, 0, 10**18)
        lost.append(bool(number))
    return lost
