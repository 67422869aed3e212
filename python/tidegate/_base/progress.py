"""A progress bar on standard error, for anything that takes longer than a second."""

from __future__ import annotations

import sys
from typing import Any

_AFTER_S = 1.0
_EVERY_S = 0.1
_FORMAT = "{desc} {bar:30} {percentage:3.0f}%, {remaining} left"


class Progress:
    """Drawn only on a terminal, from one second on; leaves no trace when it is done."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._bar: Any = None
        self._on = sys.stderr.isatty()

    def __call__(self, share: float) -> None:
        """Say how much is done, from 0 to 1."""
        if not self._on:
            return
        if self._bar is None:
            from tqdm import tqdm

            from tidegate._base.text import width

            self._bar = tqdm(
                total=1.0,
                desc=self._what,
                bar_format=_FORMAT,
                delay=_AFTER_S,
                mininterval=_EVERY_S,
                miniters=0,
                ncols=width() - 1,
                leave=False,
                file=sys.stderr,
            )
        # A study that goes on until an interval is narrow finds more work on its way.
        self._bar.update(min(max(share, 0.0), 1.0) - self._bar.n)

    def tick(self, share: float) -> bool:
        """Say how much is done, and go on."""
        self(share)
        return True

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
