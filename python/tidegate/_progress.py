"""A progress line on standard error, for anything that takes longer than a second."""

from __future__ import annotations

import sys
import time

_AFTER_S = 1.0
_EVERY_S = 0.1
_CELLS = 30


class Progress:
    """Drawn only on a terminal, from one second on; leaves no trace when it is done."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begin = time.monotonic()
        self._drawn = 0.0
        self._on = sys.stderr.isatty()

    def __call__(self, share: float) -> None:
        """Say how much is done, from 0 to 1."""
        now = time.monotonic()
        if not self._on or now - self._begin < _AFTER_S or now - self._drawn < _EVERY_S:
            return
        self._drawn = now
        share = min(max(share, 0.0), 1.0)
        full = round(share * _CELLS)
        spent = now - self._begin
        left = f", {spent * (1 - share) / share:.0f} s left" if share > 0.02 else ""
        bar = "#" * full + "." * (_CELLS - full)
        sys.stderr.write(f"\r{self._what} [{bar}] {100 * share:3.0f}%{left}\033[K")
        sys.stderr.flush()

    def tick(self, share: float) -> bool:
        """Say how much is done, and go on."""
        self(share)
        return True

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
