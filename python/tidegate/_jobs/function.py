"""What a function of a user's does, as a digest: what it measured is kept under it.

Two functions may have one name and stand in one file, and what a function uses may change between two calls.
So the digest is of the function's code, of the values of the global names that it uses, of the source files
that these stand in, and of the plain values in the user's modules and classes among them.
"""

from __future__ import annotations

import dis
import hashlib
import inspect
import pickle
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path, PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from tidegate._ask.own_code import file_digest, module_digest
from tidegate._jobs.set_values import set_values
from tidegate.errors import ArgumentError

_PLAIN = (bool, int, float, complex, str, bytes, type(None), PurePath)


def identity(function: Callable[..., Any], name: str) -> str:
    """Return the digest of a function.

    Raises:
        ArgumentError: it is another callable, or has values that cannot be told.
    """
    parts: dict[str, str] = {}
    _tell(checked_plain(function, name), name, parts)
    return _digest(repr(sorted(parts.items())))


def checked_plain(function: Callable[..., Any], name: str) -> FunctionType:
    """Return a function whose source says all that it does, beside what the global names stand for.

    Raises:
        ArgumentError: it is another callable, or carries values of its own.
    """
    if not isinstance(function, FunctionType):
        raise ArgumentError(f"measure: {name} is not a plain function; give measure_version too")
    if function.__closure__ or function.__defaults__ or function.__kwdefaults__:
        raise _carries(name)
    return function


def _tell(function: FunctionType, name: str, parts: dict[str, str]) -> None:
    """Add what a function does, and what those do that it uses."""
    if function.__closure__:
        raise _carries(name)
    place = f"{function.__qualname__}:{function.__code__.co_firstlineno}"
    if place in parts:
        return
    parts[place] = _text(function.__code__)
    parts[f"{place} defaults"] = _value(
        (function.__defaults__, function.__kwdefaults__), name, parts, "its defaults"
    )
    file = inspect.getsourcefile(function)
    if file is not None and file not in parts and Path(file).is_file():
        parts[file] = file_digest(Path(file))
    for used in sorted(_globals(function.__code__)):
        if used in function.__globals__:
            value = function.__globals__[used]
            parts[f"{place} {used}"] = _value(value, name, parts, used, function)
            if not _is_own(value, function):
                parts.update((at, _text(each)) for at, each in set_values(value, _is_plain).items())


def _carries(name: str) -> ArgumentError:
    return ArgumentError(
        f"measure: {name} carries values of its own (a closure or defaults), which its source does not show; "
        "give measure_version too"
    )


def _globals(code: CodeType) -> set[str]:
    """Return the global names that code uses."""
    found = {
        str(step.argval) for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    return found.union(*(_globals(each) for each in code.co_consts if isinstance(each, CodeType)))


def _value(value: Any, name: str, parts: dict[str, str], used: str, user: FunctionType | None = None) -> str:
    """Return what a name stands for that a function uses.

    Raises:
        ArgumentError: it cannot be told.
    """
    if isinstance(value, ModuleType):
        return f"{value.__name__} {module_digest(value.__name__)}"
    value = inspect.unwrap(value) if callable(value) else value
    if isinstance(value, FunctionType | BuiltinFunctionType | type):
        if isinstance(value, FunctionType) and _is_own(value, user):
            _tell(value, f"{name}, by {used},", parts)
        return f"{value.__module__}.{value.__qualname__} {_of_module(value)}"
    if _is_plain(value):
        return _text(value)
    try:
        return _digest(pickle.dumps(value))
    except Exception:  # whatever the user's class raises
        raise ArgumentError(
            f"measure: {name} uses {used}, of type {type(value).__qualname__}, whose value its source does "
            "not show; give measure_version too"
        ) from None


def _is_own(value: Any, user: FunctionType | None) -> bool:
    """Tell whether a value is a function that shares its global names with the one that uses it."""
    value = inspect.unwrap(value) if callable(value) else value
    return isinstance(value, FunctionType) and user is not None and value.__globals__ is user.__globals__


def _of_module(value: Any) -> str:
    """Return the digest of what a function or class stands in."""
    if value.__module__ not in (None, "__main__"):
        return module_digest(value.__module__)
    try:
        return _digest(inspect.getsource(value))
    except (OSError, TypeError):
        return ""


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_is_plain(key) and _is_plain(each) for key, each in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


def _text(value: Any) -> str:
    """Return a plain value, or code whatever line it stands in, as text that is the same in each process."""
    if isinstance(value, CodeType):
        return _text((value.co_code, value.co_consts, value.co_names, value.co_varnames))
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_text(key)}: {_text(each)}' for key, each in value.items())}}}"
    if isinstance(value, Set):
        return f"{{{', '.join(sorted(map(_text, value)))}}}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return f"({', '.join(map(_text, value))})"
    return repr(value)


def _digest(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
