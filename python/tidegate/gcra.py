"""GCRA(T, τ), the rate limiter of ATM and of today's clouds, by itself: times in, verdicts out.

A cell at t does not conform if and only if t < TAT - τ; it then changes nothing. A conforming
one sets TAT = max(t, TAT) + T; the first always conforms. Source: ITU-T I.371 Annex A, ATM
Forum TM 4.0. The very objects that gates use; no scenario is needed.

Times are whole numbers in any unit, and never decrease. T need not be whole: its remainder is
carried, and TAT is rounded down where it meets a time.

>>> import tidegate as tg
>>> tg.gcra.police([0, 7, 14, 21], T=10, tau=3).tolist()
[1, 1, 0, 1]
>>> tg.gcra.shape([0, 0, 0, 50], T=10, tau=3).tolist()
[0, 10, 20, 50]
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._base.arguments import whole
from tidegate._base.errors import ArgumentError
from tidegate._base.lazy import Lazy

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Lazy("numpy")
    npt = Lazy("numpy.typing")

__all__ = [
    "burst_tolerance",
    "dual",
    "max_burst_size",
    "police",
    "police_bytes",
    "shape",
    "shape_bytes",
]

#: The longest T and tau.
_LONGEST = 2**62
_COUNTED = 2**63

_Length = int | float | str | Decimal | Fraction


def police(
    arrivals: npt.ArrayLike,
    T: _Length,  # noqa: N803
    tau: int,
    *,
    algorithm: str = "virtual scheduling",
) -> npt.NDArray[np.int64]:
    """Judge cells by GCRA(T, tau): 1 for a conforming cell, 0 otherwise.

    Args:
        arrivals: times of n cells, whole numbers that never decrease.
        T: the time of one cell at the contracted rate: a whole number, or exactly a
            ``Fraction``; other numbers and texts are read as they are printed.
        tau: how early a cell may come, a whole number.
        algorithm: ``"virtual scheduling"`` or ``"leaky bucket"``; the verdicts are equal.

    Returns:
        n integers, 1 or 0.

    Raises:
        ArgumentError: a value is out of its range, or not whole where it must be.
    """
    times, _ = _times(arrivals)
    if algorithm not in ("virtual scheduling", "leaky bucket"):
        raise ArgumentError(
            f'algorithm: {algorithm!r} is not known; one of "virtual scheduling", "leaky bucket"'
        )
    told = _core.gcra_police(
        times,
        b"",
        increment=_length("T", T),
        tolerance=whole("tau", tau, 0, _LONGEST),
        burst=None,
        leaky_bucket=algorithm == "leaky bucket",
    )
    return _integers(told)


def shape(
    arrivals: npt.ArrayLike,
    T: _Length,  # noqa: N803
    tau: int,
    spacing: _Length = 0,
    release: str = "tat",
) -> npt.NDArray[np.int64]:
    """Delay cells until they conform to GCRA(T, tau), first in, first out.

    Args:
        arrivals: times of n cells, whole numbers that never decrease.
        T: the time of one cell at the contracted rate; as in :func:`police`.
        tau: how early a cell may come, a whole number.
        spacing: the least time between two departures, the link's time for one cell.
        release: when a cell that is too early leaves: ``"tat"``, at TAT (rule 3 of I.
            Koçyiğit, "TCP Traffic Shaping in ATM Networks"), or ``"earliest"``, at TAT - tau.

    Returns:
        n times, whole numbers; :func:`police` with the same T and tau passes them all.

    Raises:
        ArgumentError: a value is out of its range, or a departure beyond 64 bits.
    """
    times, first = _times(arrivals)
    told = _core.gcra_shape(
        times,
        b"",
        increment=_length("T", T),
        tolerance=whole("tau", tau, 0, _LONGEST),
        burst=None,
        spacing=_length("spacing", spacing),
        release=release,
    )
    return _departures(told, first)


def police_bytes(
    arrivals: npt.ArrayLike, sizes: npt.ArrayLike, *, per_byte: _Length, burst: int
) -> npt.NDArray[np.int64]:
    """Judge packets by a token bucket, which is GCRA counted in bytes.

    Args:
        arrivals: times of n packets, whole numbers that never decrease.
        sizes: bytes of each, n whole numbers of at least 1.
        per_byte: the time in which one byte comes back: 8 for 1 Mbit/s and microseconds.
        burst: bytes of the full bucket.

    Returns:
        n integers, 1 for a packet that finds its bytes in the bucket, 0 otherwise.

    Raises:
        ArgumentError: a value is out of its range, or not whole where it must be.
    """
    times, _ = _times(arrivals)
    told = _core.gcra_police(
        times,
        _sizes(sizes, len(times) // 8),
        increment=_length("per_byte", per_byte),
        tolerance=0,
        burst=whole("burst", burst, 1, _LONGEST),
        leaky_bucket=False,
    )
    return _integers(told)


def shape_bytes(
    arrivals: npt.ArrayLike,
    sizes: npt.ArrayLike,
    *,
    per_byte: _Length,
    burst: int,
    spacing: _Length = 0,
    release: str = "earliest",
) -> npt.NDArray[np.int64]:
    """Delay packets until their bytes are in a token bucket, first in, first out.

    Args:
        arrivals: times of n packets, whole numbers that never decrease.
        sizes: bytes of each, n whole numbers from 1 to ``burst``.
        per_byte: the time in which one byte comes back: 8 for 1 Mbit/s and microseconds.
        burst: bytes of the full bucket.
        spacing: the least time between two departures.
        release: ``"earliest"``, as soon as the bytes are there, or ``"tat"``, when the
            bucket is full.

    Returns:
        n times, whole numbers; :func:`police_bytes` with the same bucket passes them all.

    Raises:
        ArgumentError: a value is out of its range, or a departure beyond 64 bits.
    """
    times, first = _times(arrivals)
    most = whole("burst", burst, 1, _LONGEST)
    told = _core.gcra_shape(
        times,
        _sizes(sizes, len(times) // 8, most),
        increment=_length("per_byte", per_byte),
        tolerance=0,
        burst=most,
        spacing=_length("spacing", spacing),
        release=release,
    )
    return _departures(told, first)


def dual(
    arrivals: npt.ArrayLike,
    clp: npt.ArrayLike,
    *,
    T_pcr: _Length,  # noqa: N803
    tau_pcr: int,
    T_scr: _Length,  # noqa: N803
    tau_scr: int | None = None,
    mbs: int | None = None,
    cdvt_scr: int | None = None,
    conformance: str = "VBR.3",
) -> npt.NDArray[np.int64]:
    """Judge cells by a peak and a sustained rate, as ATM Forum TM 4.0 defines VBR.

    How early a cell may come for the sustained rate is given by ``tau_scr``, or by the contract's maximum
    burst size ``mbs``: the burst tolerance (:func:`burst_tolerance`) and the cell delay variation tolerance
    together, GCRA(1/SCR, BT + CDVT).

    The peak rate counts all cells; those above it are discarded. ``"VBR.1"``: the sustained
    rate counts all cells too. ``"VBR.2"``: it counts those with CLP = 0. ``"VBR.3"``: as VBR.2,
    but those above it are tagged (CLP becomes 1). A tagged cell is counted by the peak rate
    only, a discarded one by neither.

    Args:
        arrivals: times of n cells, whole numbers that never decrease.
        clp: cell loss priority of each, n times 0 or 1.
        T_pcr: the time of one cell at the peak rate; as in :func:`police`.
        tau_pcr: cell delay variation tolerance, a whole number.
        T_scr: the time of one cell at the sustained rate.
        tau_scr: how early a cell may come for it, a whole number.
        mbs: instead of ``tau_scr``: cells of the longest burst at the peak rate.
        cdvt_scr: with ``mbs``: the cell delay variation tolerance of the sustained rate;
            None: that of the peak rate, ``tau_pcr``.
        conformance: ``"VBR.1"``, ``"VBR.2"`` or ``"VBR.3"``.

    Returns:
        n integers: 0 discarded, 1 passed, 2 tagged.

    Raises:
        ArgumentError: a value is out of its range, or not whole where it must be.
    """
    times, _ = _times(arrivals)
    variation = whole("tau_pcr", tau_pcr, 0, _LONGEST)
    if (tau_scr is None) == (mbs is None):
        raise ArgumentError(
            "tau_scr, mbs: give one of the two, how early a cell may come or the longest burst"
        )
    if mbs is not None:
        more = variation if cdvt_scr is None else whole("cdvt_scr", cdvt_scr, 0, _LONGEST)
        tau_scr = burst_tolerance(mbs, T_scr=T_scr, T_pcr=T_pcr) + more
        if tau_scr > _LONGEST:
            raise ArgumentError(
                f"mbs, cdvt_scr: together they let a cell come {tau_scr} early; at most {_LONGEST}"
            )
    elif cdvt_scr is not None:
        raise ArgumentError("cdvt_scr: it is added to the tolerance of mbs, and tau_scr is given")
    told = _core.gcra_dual(
        times,
        _numbers("clp", clp, 0, 1, len(times) // 8).tobytes(),
        peak=_length("T_pcr", T_pcr),
        peak_tolerance=variation,
        sustained=_length("T_scr", T_scr),
        sustained_tolerance=whole("tau_scr", tau_scr, 0, _LONGEST),
        conformance=conformance,
    )
    return _integers(told)


def burst_tolerance(mbs: int, *, T_scr: _Length, T_pcr: _Length) -> int:  # noqa: N803
    """Return the tolerance for bursts of ``mbs`` cells at the peak rate.

    (MBS - 1)·(T_scr - T_pcr), rounded up to whole units of time (I.371 §5.4.2).

    Raises:
        ArgumentError: a value is out of its range, or the sustained rate is not the slower.
    """
    cells = whole("mbs", mbs, 1, _COUNTED)
    return _core.gcra_burst_tolerance(cells, _length("T_scr", T_scr), _length("T_pcr", T_pcr))


def max_burst_size(tau: int, *, T_scr: _Length, T_pcr: _Length) -> int:  # noqa: N803
    """Return the longest burst at the peak rate that conforms: ⌊1 + tau/(T_scr - T_pcr)⌋ cells.

    Raises:
        ArgumentError: a value is out of its range, or the sustained rate is not the slower.
    """
    tolerance = whole("tau", tau, 0, _LONGEST)
    return _core.gcra_max_burst_size(tolerance, _length("T_scr", T_scr), _length("T_pcr", T_pcr))


def _length(name: str, value: Any) -> tuple[int, int]:
    """Return a length of time as numerator and denominator."""
    value = value.item() if hasattr(value, "item") else value
    try:
        if isinstance(value, bool):
            raise ValueError
        length = Fraction(value) if isinstance(value, Rational) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ArgumentError(f"{name}: {value!r} is not a length of time") from None
    if not 0 <= length < _LONGEST:
        raise ArgumentError(f"{name}: {value!r} is out of range; from 0 to {_LONGEST}")
    if max(length.numerator, length.denominator) >= _COUNTED:
        raise ArgumentError(f"{name}: {value!r} has too many digits; round it")
    return length.numerator, length.denominator


def _numbers(
    name: str, values: Any, least: int, most: int, count: int | None = None
) -> npt.NDArray[np.signedinteger[Any]]:
    """Return whole numbers in their range as little-endian 64-bit integers."""
    import numpy as np

    if isinstance(values, str | bytes):
        raise ArgumentError(f"{name}: {values!r} is text, not a sequence of numbers")
    try:
        given = values if hasattr(values, "__array__") else list(values)
        array = np.asarray(given)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: not a sequence of whole numbers") from None
    if array.ndim != 1:
        raise ArgumentError(f"{name}: has {array.ndim} dimensions; give one")
    if count is not None and len(array) != count:
        raise ArgumentError(f"{name}: {len(array)} values for {count} arrivals; give one for each")
    if len(array) and array.dtype.kind not in "iu":
        # Floats, or numbers that fit no integer of numpy's: one by one, as they were given.
        listed = [whole(f"{name}[{n}]", value, least, most) for n, value in enumerate(given)]
        array = np.array(listed, dtype=np.int64)
    if len(array) and not (array.min() >= least and array.max() <= most):
        at = int(np.flatnonzero((array < least) | (array > most))[0])
        raise ArgumentError(f"{name}[{at}]: {array[at]} is out of range; from {least} to {most}")
    return array.astype("<i8")


def _times(arrivals: Any) -> tuple[bytes, int]:
    """Return times from the first on, and the first."""
    import numpy as np

    times = _numbers("arrivals", arrivals, -_COUNTED, _COUNTED - 1)
    back = np.flatnonzero(times[1:] < times[:-1])
    if len(back):
        at = int(back[0]) + 1
        raise ArgumentError(
            f"arrivals[{at}]: {times[at]} is before the arrival before it, {times[at - 1]}; sort them"
        )
    if not len(times):
        return b"", 0
    first, last = int(times[0]), int(times[-1])
    if last - first >= _COUNTED:
        raise ArgumentError(f"arrivals: from {first} to {last} is too long; less than {_COUNTED}")
    return (times - first).tobytes(), first


def _sizes(sizes: Any, count: int, most: int = _LONGEST) -> bytes:
    return _numbers("sizes", sizes, 1, most, count).tobytes()


def _integers(told: bytes) -> npt.NDArray[np.int64]:
    import numpy as np

    return np.frombuffer(told, dtype="<i8").astype(np.int64)


def _departures(told: bytes, first: int) -> npt.NDArray[np.int64]:
    """Return times that count from the first arrival as they are on the caller's clock."""
    import numpy as np

    left = np.frombuffer(told, dtype="<u8")
    beyond = np.flatnonzero(left > min(_COUNTED - 1 - first, 2 * _COUNTED - 2))
    if len(beyond):
        raise ArgumentError(
            f"arrivals[{int(beyond[0])}]: leaves at a time beyond 64 bits; choose a smaller T"
        )
    # Modulo 2⁶⁴, in which the sum is right as it fits 64 bits with a sign.
    return (left + np.uint64(first % 2**64)).astype(np.int64)
