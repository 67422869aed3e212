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
from typing import TYPE_CHECKING

from tidegate import _core
from tidegate._base.arguments import text, whole
from tidegate._base.calls import shown
from tidegate._base.lazy import Lazy
from tidegate.errors import ArgumentError
from tidegate.gcra._arrays import (
    COUNTED,
    LONGEST,
    departures_of,
    integers_of,
    read_length,
    read_numbers,
    read_sizes,
    read_times,
)

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
    times, _ = read_times(arrivals)
    if text("algorithm", algorithm) not in ("virtual scheduling", "leaky bucket"):
        raise ArgumentError(
            f'algorithm: {shown(algorithm)} is not known; one of "virtual scheduling", "leaky bucket"'
        )
    packed = _core.gcra_police(
        times,
        b"",
        increment=read_length("T", T),
        tolerance=whole("tau", tau, 0, LONGEST),
        burst=None,
        leaky_bucket=algorithm == "leaky bucket",
    )
    return integers_of(packed)


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
    text("release", release)
    times, first = read_times(arrivals)
    packed = _core.gcra_shape(
        times,
        b"",
        increment=read_length("T", T),
        tolerance=whole("tau", tau, 0, LONGEST),
        burst=None,
        spacing=read_length("spacing", spacing),
        release=release,
    )
    return departures_of(packed, first)


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
    times, _ = read_times(arrivals)
    packed = _core.gcra_police(
        times,
        read_sizes(sizes, len(times) // 8),
        increment=read_length("per_byte", per_byte),
        tolerance=0,
        burst=whole("burst", burst, 1, LONGEST),
        leaky_bucket=False,
    )
    return integers_of(packed)


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
    times, first = read_times(arrivals)
    most = whole("burst", burst, 1, LONGEST)
    packed = _core.gcra_shape(
        times,
        read_sizes(sizes, len(times) // 8, most),
        increment=read_length("per_byte", per_byte),
        tolerance=0,
        burst=most,
        spacing=read_length("spacing", spacing),
        release=release,
    )
    return departures_of(packed, first)


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
    times, _ = read_times(arrivals)
    variation = whole("tau_pcr", tau_pcr, 0, LONGEST)
    if (tau_scr is None) == (mbs is None):
        raise ArgumentError(
            "tau_scr, mbs: give one of the two, how early a cell may come or the longest burst"
        )
    if mbs is not None:
        more = variation if cdvt_scr is None else whole("cdvt_scr", cdvt_scr, 0, LONGEST)
        tau_scr = burst_tolerance(mbs, T_scr=T_scr, T_pcr=T_pcr) + more
        if tau_scr > LONGEST:
            raise ArgumentError(
                f"mbs, cdvt_scr: together they let a cell come {tau_scr} early; at most {LONGEST}"
            )
    elif cdvt_scr is not None:
        raise ArgumentError("cdvt_scr: it is added to the tolerance of mbs, and tau_scr is given")
    packed = _core.gcra_dual(
        times,
        read_numbers("clp", clp, 0, 1, len(times) // 8).tobytes(),
        peak=read_length("T_pcr", T_pcr),
        peak_tolerance=variation,
        sustained=read_length("T_scr", T_scr),
        sustained_tolerance=whole("tau_scr", tau_scr, 0, LONGEST),
        conformance=conformance,
    )
    return integers_of(packed)


def burst_tolerance(mbs: int, *, T_scr: _Length, T_pcr: _Length) -> int:  # noqa: N803
    """Return the tolerance for bursts of ``mbs`` cells at the peak rate.

    (MBS - 1)·(T_scr - T_pcr), rounded up to whole units of time (I.371 §5.4.2).

    Raises:
        ArgumentError: a value is out of its range, or the sustained rate is not the slower.
    """
    cells = whole("mbs", mbs, 1, COUNTED)
    return _core.gcra_burst_tolerance(cells, read_length("T_scr", T_scr), read_length("T_pcr", T_pcr))


def max_burst_size(tau: int, *, T_scr: _Length, T_pcr: _Length) -> int:  # noqa: N803
    """Return the longest burst at the peak rate that conforms: ⌊1 + tau/(T_scr - T_pcr)⌋ cells.

    Raises:
        ArgumentError: a value is out of its range, or the sustained rate is not the slower.
    """
    tolerance = whole("tau", tau, 0, LONGEST)
    return _core.gcra_max_burst_size(tolerance, read_length("T_scr", T_scr), read_length("T_pcr", T_pcr))
