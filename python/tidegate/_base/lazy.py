"""Modules that are imported when something of them is first named.

Public annotations name data frames, arrays and figures, and ``typing.get_type_hints`` resolves them,
but importing the package must not load the libraries that these come from.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Lazy:
    """Stands for a module until one of its names is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
