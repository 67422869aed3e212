"""Arguments and results of this package: times and sizes as the compiled part takes and gives them."""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

from tidegate._base.arguments import bare, whole
from tidegate._base.calls import shown
from tidegate._base.lazy import Lazy
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Lazy("numpy")
    npt = Lazy("numpy.typing")

#: The longest T and tau.
LONGEST = 2**62

COUNTED = 2**63


def read_length(name: str, value: Any) -> tuple[int, int]:
    """Return a length of time as numerator and denominator."""
    value = bare(value)
    try:
        if isinstance(value, bool):
            raise ValueError
        length = Fraction(value) if isinstance(value, Rational) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ArgumentError(f"{name}: {shown(value)} is not a length of time") from None
    if not 0 <= length < LONGEST:
        raise ArgumentError(f"{name}: {shown(value)} is out of range; from 0 to {LONGEST}")
    if max(length.numerator, length.denominator) >= COUNTED:
        raise ArgumentError(f"{name}: {shown(value)} has too many digits; round it")
    return length.numerator, length.denominator


def read_numbers(
    name: str, values: Any, least: int, most: int, count: int | None = None
) -> npt.NDArray[np.signedinteger[Any]]:
    """Return whole numbers in their range as little-endian 64-bit integers."""
    import numpy as np

    if isinstance(values, str | bytes):
        raise ArgumentError(f"{name}: {shown(values)} is text, not a sequence of numbers")
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


def read_times(arrivals: Any) -> tuple[bytes, int]:
    """Return times from the first on, and the first."""
    import numpy as np

    times = read_numbers("arrivals", arrivals, -COUNTED, COUNTED - 1)
    back = np.flatnonzero(times[1:] < times[:-1])
    if len(back):
        at = int(back[0]) + 1
        raise ArgumentError(
            f"arrivals[{at}]: {times[at]} is before the arrival before it, {times[at - 1]}; sort them"
        )
    if not len(times):
        return b"", 0
    first, last = int(times[0]), int(times[-1])
    if last - first >= COUNTED:
        raise ArgumentError(f"arrivals: from {first} to {last} is too long; less than {COUNTED}")
    return (times - first).tobytes(), first


def read_sizes(sizes: Any, count: int, most: int = LONGEST) -> bytes:
    return read_numbers("sizes", sizes, 1, most, count).tobytes()


def integers_of(packed: bytes) -> npt.NDArray[np.int64]:
    import numpy as np

    return np.frombuffer(packed, dtype="<i8").astype(np.int64)


def departures_of(packed: bytes, first: int) -> npt.NDArray[np.int64]:
    """Return times that count from the first arrival as they are on the caller's clock."""
    import numpy as np

    left = np.frombuffer(packed, dtype="<u8")
    beyond = np.flatnonzero(left > min(COUNTED - 1 - first, 2 * COUNTED - 2))
    if len(beyond):
        raise ArgumentError(
            f"arrivals[{int(beyond[0])}]: leaves at a time beyond 64 bits; choose a smaller T"
        )
    # Modulo 2⁶⁴, in which the sum is right as it fits 64 bits with a sign.
    return (left + np.uint64(first % 2**64)).astype(np.int64)
