"""A progress bar on standard error or in a notebook, for anything that takes longer than a second."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from tidegate._base.notebook import in_notebook
from tidegate._base.text import harmless, width

_AFTER_S = 1.0
_EVERY_S = 0.1
_ROWS = 24
_FORMAT = "{desc} {bar:30} {percentage:3.0f}%, {remaining} left"
_IN_NOTEBOOK = "{desc} {percentage:3.0f}%|{bar}| {remaining} left"


def tell(text: str) -> None:
    """Write a line to standard error while something goes on, above the bar if one is drawn there."""
    from tqdm import tqdm

    # That nobody reads it is no reason to end the work.
    with contextlib.suppress(OSError, ValueError):
        tqdm.write(harmless(text), file=sys.stderr)
        sys.stderr.flush()


class Progress:
    """Drawn only on a terminal or in a notebook, from one second on; leaves no trace when it is done."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._bar: Any = None
        self._notebook = in_notebook()
        self._on = self._notebook or sys.stderr.isatty()

    def __call__(self, share: float) -> None:
        """Say how much is done, from 0 to 1."""
        if not self._on:
            return
        if self._bar is None:
            self._bar = self._begin()
        # A study that goes on until an interval is narrow finds more work on its way.
        self._bar.update(min(max(share, 0.0), 1.0) - self._bar.n)

    def _begin(self) -> Any:
        known: dict[str, Any] = {
            "total": 1.0,
            "desc": harmless(self._what),
            "delay": _AFTER_S,
            "mininterval": _EVERY_S,
            "miniters": 0,
            "leave": False,
        }
        if self._notebook:
            import warnings

            from tqdm import TqdmWarning

            with warnings.catch_warnings():
                # Without ipywidgets it draws with letters, which is as good.
                warnings.simplefilter("ignore", TqdmWarning)
                from tqdm.auto import tqdm as shown

                return shown(bar_format=_IN_NOTEBOOK, **known)
        from tqdm import tqdm

        # A terminal may say that it has no rows (script(1), some of continuous integration).
        return tqdm(bar_format=_FORMAT, ncols=width() - 1, nrows=_ROWS, file=sys.stderr, **known)

    def tick(self, share: float) -> bool:
        """Say how much is done, and go on."""
        self(share)
        return True

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
