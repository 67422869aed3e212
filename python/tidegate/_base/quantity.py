"""Values of varied keys as numbers of one unit, for the axis of a picture."""

from __future__ import annotations

import itertools
import re
from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER = re.compile(r"([-+]?[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)\s*(.*)")

#: Units that measure the same thing, each with its size in the first one.
_DIMENSIONS: tuple[dict[str, float], ...] = (
    {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
    | {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40}
    | {"bit": 1 / 8, "kbit": 125, "Mbit": 125e3, "Gbit": 125e6},
    {"ps": 1, "ns": 1e3, "us": 1e6, "µs": 1e6, "ms": 1e9, "s": 1e12, "min": 6e13, "h": 3.6e15},
    {"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12}
    | {"bps": 1, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12}
    | {"Kibit/s": 2.0**10, "Mibit/s": 2.0**20, "Gibit/s": 2.0**30}
    | {"B/s": 8, "kB/s": 8e3, "MB/s": 8e6, "GB/s": 8e9},
    {"packet": 1, "packets": 1},
    {"cell": 1, "cells": 1},
    {"segment": 1, "segments": 1},
)


def quantities(values: Sequence[str]) -> tuple[list[float], str] | None:
    """Return the values as numbers of one unit; None where some are words or measure something else.

    Units that differ are brought to the one that the smallest value is written in:
    "25 kB" and "1 MB" are 25 and 1000 kB.
    """
    found = [_NUMBER.fullmatch(value.strip()) for value in values]
    parts = [(float(m[1].replace("_", "")), _spelled(m[2].strip())) for m in found if m]
    units = {unit for _, unit in parts}
    if not parts or len(parts) != len(values):
        return None
    if len(units) == 1:
        return [number for number, _ in parts], units.pop()
    # A bare 0 is as good with a unit as without.
    units -= {unit for number, unit in parts if number == 0 and not unit}
    sizes = next((known for known in _DIMENSIONS if units <= known.keys()), None)
    if sizes is None:
        return None
    absolute = [number * sizes.get(unit, 1) for number, unit in parts]
    least = min((size, unit) for size, (_, unit) in zip(absolute, parts, strict=True) if unit)[1]
    return [round(size / sizes[least], 12) for size in absolute], least


def _spelled(unit: str) -> str:
    """Return a unit in its own letters: "bdp" is "BDP"."""
    return "BDP" if unit.upper() == "BDP" else unit


def is_geometric(numbers: Sequence[float]) -> bool:
    """Tell whether an axis through these numbers reads better in powers than in equal steps.

    They are positive, reach over more than one power of ten, and lie more evenly by their ratios
    than by their differences.
    """
    ordered = sorted({*numbers})
    if len(ordered) < 3 or ordered[0] <= 0 or ordered[-1] < 10 * ordered[0]:
        return False
    steps = [b - a for a, b in itertools.pairwise(ordered)]
    ratios = [b / a for a, b in itertools.pairwise(ordered)]
    logs = [log(ratio) for ratio in ratios]
    return max(logs) / min(logs) < max(steps) / min(steps)
