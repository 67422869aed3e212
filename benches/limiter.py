"""Cells per CPU second through the GCRA objects, without a simulation."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import tables

if TYPE_CHECKING:
    from collections.abc import Callable

#: Cells of one measurement.
CELLS = 10_000_000


def measure(*, rounds: int) -> None:
    """Print the median and the range over ``rounds`` of each operation."""
    import numpy as np
    import tidegate as tg
    from tidegate import _core

    # A mixed load: bursts that break the limit and pauses that heal it.
    gaps = np.random.default_rng(1).choice(np.array([1, 1, 1, 2, 30]), CELLS)
    arrivals = np.cumsum(gaps)
    raw = (arrivals - arrivals[0]).astype("<i8").tobytes()
    cells = {"tolerance": 20, "burst": None}
    judge = {**cells, "leaky_bucket": False}
    real = (30, 7)
    work: dict[str, Callable[[], object]] = {
        "police, virtual scheduling": lambda: _core.gcra_police(raw, b"", increment=(7, 1), **judge),
        "police, leaky bucket": lambda: _core.gcra_police(
            raw, b"", increment=(7, 1), **cells, leaky_bucket=True
        ),
        "police, T = 30/7": lambda: _core.gcra_police(raw, b"", increment=real, **judge),
        "shape": lambda: _core.gcra_shape(raw, b"", increment=(7, 1), **cells, spacing=(1, 1), release="tat"),
        "tidegate.gcra.police": lambda: tg.gcra.police(arrivals, 7, 20),
        "tidegate.gcra.shape": lambda: tg.gcra.shape(arrivals, 7, 20, 1),
    }
    rows = []
    for name, run in work.items():
        run()
        speeds = []
        for _ in range(rounds):
            begin = time.process_time()
            run()
            speeds.append(CELLS / (time.process_time() - begin) / 1e6)
        low, high = min(speeds), max(speeds)
        rows.append([name, f"{statistics.median(speeds):.0f}", f"{low:.0f} to {high:.0f}"])
    title = f"GCRA: million cells per CPU second ({CELLS // 1_000_000} million cells, {rounds} rounds)"
    tables.table(title, ["operation", "median", "range"], rows)
