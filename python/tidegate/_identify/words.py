"""Words for numbers that several laws say."""

from __future__ import annotations

from math import isfinite

from tidegate._base.text import number, rate


def in_bytes(count: float) -> str:
    """Return a number of bytes with its unit."""
    return f"{number(count / 1e3)} kB" if count < 1e6 else f"{number(count / 1e6)} MB"


def between(low: float, high: float) -> str:
    """Return two rates in bit/s as a range, which may have no upper end."""
    return f"{rate(low)} to {rate(high)}" if isfinite(high) else f"at least {rate(low)}"


def residual(seconds: float) -> str:
    """Return how far round trips are from those of a law; a capture counts microseconds."""
    return f"{number(1e3 * seconds)} ms" if seconds >= 1e-6 else "less than 0.001 ms"
