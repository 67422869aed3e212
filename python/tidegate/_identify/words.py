"""Words for numbers that several laws say."""

from __future__ import annotations

from tidegate._base.text import number


def in_bytes(count: float) -> str:
    """Return a number of bytes with its unit."""
    return f"{number(count / 1e3)} kB" if count < 1e6 else f"{number(count / 1e6)} MB"
