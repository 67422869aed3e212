"""The plain values that a user's modules and classes have now, which their source does not show."""

from __future__ import annotations

import inspect
import sys
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from tidegate._ask.own_code import is_users_module

if TYPE_CHECKING:
    from collections.abc import Callable


def set_values(value: Any, is_plain: Callable[[Any], bool]) -> dict[str, Any]:
    """Return the plain values of a module, of a class, or of what another value is of, by name.

    The modules and classes that these hold are among them. Only those of the user's count, and names such as
    ``__file__`` do not.
    """
    found: dict[str, Any] = {}
    seen: set[str] = set()
    left = [value]
    while left:
        holder = _holder(left.pop())
        if holder is None or _place(holder) in seen:
            continue
        seen.add(_place(holder))
        if isinstance(holder, type):
            # Its methods use the values of the module that it stands in.
            left += [*holder.__mro__[1:], sys.modules.get(holder.__module__)]
        for name, each in list(vars(holder).items()):
            if name.startswith("__") and name.endswith("__"):
                continue
            if _ends(each, is_plain):
                found[f"{_place(holder)}.{name}"] = each
            else:
                left.append(each)
    return found


def _holder(value: Any) -> ModuleType | type | None:
    """Return the user's module or class whose values those are that a value's code can use."""
    if isinstance(value, ModuleType):
        return value if is_users_module(value.__name__) else None
    if callable(value) and not isinstance(value, type):
        with suppress(ValueError):  # what answers to every name is no wrapper
            value = inspect.unwrap(value)
    if isinstance(value, FunctionType):
        # Those of the program that is run are told by the names that its functions use.
        return _holder(sys.modules.get(value.__module__))
    kind = value if isinstance(value, type) else type(value)
    return kind if kind.__module__ == "__main__" or is_users_module(kind.__module__) else None


def _place(holder: ModuleType | type) -> str:
    if isinstance(holder, ModuleType):
        return holder.__name__
    return f"{holder.__module__}:{holder.__qualname__}"


def _ends(value: Any, is_plain: Callable[[Any], bool]) -> bool:
    """Tell whether a value is plain; one that holds itself is not."""
    try:
        return is_plain(value)
    except RecursionError:
        return False
