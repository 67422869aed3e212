"""What a link with a varying capacity lets one send: EFFCAP.

Source: S. Shakkottai, A. Kumar, A. Karnik and A. Anvekar, "TCP Performance over End-to-End
Rate Control and Stochastic Available Capacity". ``estimate`` is the very estimator that gates with
``rate.follow.effcap`` use; no scenario, network or TCP is needed.

>>> import tidegate as tg
>>> tg.effcap.estimate([100, 100, 50, 100, 100, 100, 100], m=2, n=3).tolist()
[100.0, 100.0, 75.0, 75.0, 75.0, 75.0, 100.0]

``effective_capacity`` is the limit that the estimator stands for, of a capacity that follows a Markov
chain; ``estimate_delta`` the estimator before its delta is taken as infinite.

>>> round(tg.effcap.effective_capacity([40, 20], [[0.9, 0.1], [0.1, 0.9]], delta=0.1), 3)
21.034
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._base.arguments import whole
from tidegate._base.calls import shown
from tidegate._base.lazy import Lazy
from tidegate.effcap._effective import MOST, effective_capacity, estimate_delta
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Lazy("numpy")
    npt = Lazy("numpy.typing")

__all__ = ["effective_capacity", "estimate", "estimate_delta"]


def estimate(capacity: Iterable[float], m: int, n: int) -> npt.NDArray[np.float64]:
    """Estimate, after each sample of a capacity, what to feed back.

    The estimate is the least of ``n`` means, each over ``m`` samples: block j holds the samples
    k-j-m+1 ... k-j, for j = 0 ... n-1, k being the last one. While history is short it is the
    least over the full blocks that there are; before ``m`` samples the mean of what there is.
    ``m = n = 1`` gives the samples back: INSTCAP. (Paper, Section VI.)

    Args:
        capacity: one sample for each measuring interval, in any unit, finite and not below
            zero; a sequence or an array of one dimension, of length k.
        m: samples in a block, at least 1.
        n: blocks, at least 1.

    Returns:
        The estimate after each sample, in the unit of ``capacity``, of length k.

    Raises:
        ArgumentError: a value is out of its range, or m or n is not whole.
    """
    import numpy as np

    samples, blocks = whole("m", m, 1, MOST), whole("n", n, 1, MOST)
    values = _samples(capacity)
    packed = _core.effcap_estimate(values.astype("<f8").tobytes(), samples, blocks)
    return np.frombuffer(packed, dtype="<f8").astype(np.float64)


def _samples(capacity: Any) -> npt.NDArray[np.float64]:
    """Return samples as an array of one dimension, each of them possible."""
    import numpy as np

    if isinstance(capacity, str | bytes):
        raise ArgumentError(f"capacity: {shown(capacity)} is text, not a sequence of numbers")
    if not hasattr(capacity, "__len__") and hasattr(capacity, "__iter__"):
        capacity = list(capacity)
    try:
        values = np.asarray(capacity, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"capacity: {shown(capacity)} is not a sequence of numbers") from None
    if values.ndim != 1:
        raise ArgumentError(f"capacity: one dimension, not {values.ndim}")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if wrong.size:
        first = int(wrong[0])
        raise ArgumentError(
            f"capacity[{first}]: {values[first]} is no capacity; write a finite number, 0 or more"
        )
    return values
