"""Packed columns of pages, read by their description and not by the code that packs."""

from __future__ import annotations

import math
from base64 import b64decode
from typing import Any


def unpacked(column: dict[str, Any]) -> list[float]:
    """Return the numbers of a packed column; what is missing is not a number."""
    found, value, step, rest, bits = [], 0, 0, 0, 0
    for byte in b64decode(column["data"]):
        rest |= (byte & 127) << bits
        bits += 7
        if byte < 128:
            signed = rest >> 1 if rest % 2 == 0 else -((rest + 1) >> 1)
            step = step + signed if column["order"] == 2 else signed
            value += step
            found.append(value * 10.0 ** column["exponent"])
            rest = bits = 0
    for begin, length in column["gaps"]:
        found[begin : begin + length] = [math.nan] * length
    assert len(found) == column["n"]
    return found
