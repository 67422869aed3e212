"""Whether a notebook is there to show things."""

from __future__ import annotations

import sys
from typing import Any


def shell() -> Any:
    """Return IPython's shell where this is a session of IPython, else None."""
    ipython: Any = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def in_notebook() -> bool:
    """Tell whether cells are shown by a notebook, and not by a terminal."""
    found = shell()
    return found is not None and getattr(found, "kernel", None) is not None


def display(shown: Any) -> None:
    """Show something in the cell that is running."""
    ipython: Any = sys.modules["IPython"]
    ipython.display.display(shown)
