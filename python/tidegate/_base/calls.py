"""Calls from outside: each argument is held against its annotation, so an error says which one is wrong."""

from __future__ import annotations

import ast
import functools
import inspect
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any, SupportsIndex, TypeVar, cast

from tidegate._base.limits import bounds, takes
from tidegate.errors import ArgumentError

_Function = TypeVar("_Function", bound="Callable[..., Any]")
_Class = TypeVar("_Class", bound=type)

#: Annotations with names of their own.
_PATH = "str | os.PathLike[str]"
_ALIASES = {
    "Source": f"{_PATH} | Mapping[str, Any] | Scenario",
    "Sets": "Mapping[str, Any] | Iterable[str] | None",
    "Paths": f"{_PATH} | Sequence[{_PATH}]",
    "Measure": "Callable[..., Any]",
    "Where": "Mapping[str, Any] | int | None",
}
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "True or False",
    "None": "None",
    "PathLike": "a path",
    "Mapping": "a dict",
    "Sequence": "a list",
    "Iterable": "a list",
    "Callable": "a function",
}
#: A scenario has four levels; what has more holds itself.
_DEEPEST = 32


def checked(function: _Function) -> _Function:
    """Return the function with every argument held against its annotation before it is called.

    Classes that are not named here, as in ``Until | str``, are looked up by their name.

    Raises (when called):
        ArgumentError: an argument is of another kind, not finite, out of its range, or holds itself.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        # Names of arguments that do not exist are Python's own to refuse.
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            asked = signature.parameters[name]
            if not isinstance(asked.annotation, str) or value is asked.default:
                continue
            for label, each in _each(asked, value):
                _check(label, each, asked.annotation)
        try:
            return function(*args, **kwargs)
        except UnicodeEncodeError as error:
            for name, value in bound.arguments.items():
                text = os.fspath(value) if isinstance(value, str | os.PathLike) else ""
                # The name may have become part of a longer one.
                if re.search("[\ud800-\udfff]", text) and Path(text).name in error.object:
                    raise ArgumentError(f"{name}: read {text!a}, which is not UTF-8") from None
            raise

    return cast("_Function", call)


def checked_methods(cls: _Class) -> _Class:
    """Return the class, of which each public method checks its arguments as `checked` functions do."""
    for name, method in list(vars(cls).items()):
        if not name.startswith("_") and inspect.isfunction(method):
            setattr(cls, name, checked(method))
    return cls


def _each(asked: inspect.Parameter, value: Any) -> list[tuple[str, Any]]:
    """Return names and values of one parameter: several of ``*names`` and ``**more``."""
    if asked.kind is asked.VAR_POSITIONAL:
        return [(f"{asked.name}[{number}]", each) for number, each in enumerate(value)]
    return list(value.items()) if asked.kind is asked.VAR_KEYWORD else [(asked.name, value)]


def _check(name: str, value: Any, annotation: str) -> None:
    kinds = _kinds(annotation)
    path = any(kind == "PathLike" for kind, _ in kinds)
    # A path as text is no other text.
    fitting = [(kind, inner) for kind, inner in kinds if not (path and kind == "str")]
    if not any(_fits(name, value, kind, inner) for kind, inner in fitting):
        takes = " or ".join(dict.fromkeys(_WORDS.get(kind, f"a {kind}") for kind, _ in kinds))
        raise ArgumentError(f"{name}: read {shown(value)}; takes {takes}")
    if isinstance(value, str) and not value and path:
        raise ArgumentError(f"{name}: read an empty text; takes the name of a file or a folder")
    _check_depth(name, value, 0)


@functools.cache
def _kinds(annotation: str) -> tuple[tuple[str, str | None], ...]:
    """Return the alternatives of an annotation: the name of each, and the annotation of what it holds."""
    found: list[tuple[str, str | None]] = []
    for each in _alternatives(ast.parse(annotation, mode="eval").body):
        of = each.slice if isinstance(each, ast.Subscript) else None
        base = each.value if isinstance(each, ast.Subscript) else each
        name = base.attr if isinstance(base, ast.Attribute) else ast.unparse(base)
        if name in _ALIASES:
            found += _kinds(_ALIASES[name])
        else:
            found.append((name, None if of is None else ast.unparse(of)))
    return tuple(found)


def _alternatives(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [*_alternatives(node.left), *_alternatives(node.right)]
    return [node]


def _fits(name: str, value: Any, kind: str, inner: str | None) -> bool:
    """Tell whether a value is of this kind; one that is, and yet cannot be used, is refused."""
    if kind in ("Any", "object"):
        return True
    if kind == "None":
        return value is None
    if kind == "int":
        return _is_whole(name, value)
    if kind == "float":
        return _is_number(name, value)
    if kind in ("str", "Literal", "PathLike"):
        return _is_text(name, value, path=kind == "PathLike")
    if kind == "bool":
        return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")
    if kind == "Callable":
        return callable(value)
    if kind == "Mapping":
        return _is_table(name, value, inner)
    if kind in ("Sequence", "Iterable"):
        return _is_list(name, value, inner, once=kind == "Iterable")
    return any(base.__name__ == kind for base in type(value).__mro__)


def _is_whole(name: str, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return False
    try:
        number = value.__index__()
    except TypeError:
        # An array has it, and no number.
        return False
    least, greatest = bounds(name)
    if not least <= number <= greatest:
        raise ArgumentError(f"{name}: read {shown(number)}; {takes(least, greatest)}")
    return True


def _is_number(name: str, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        raise ArgumentError(f"{name}: read {shown(value)}; takes a finite number")
    return True


def _is_text(name: str, value: Any, *, path: bool) -> bool:
    if isinstance(value, str):
        if "\0" in value:
            raise ArgumentError(f"{name}: read {shown(value)}; no name or text has a zero byte")
        # A name of a file may be bytes that are no text; Python has them as these marks (PEP 383).
        wrong = re.search("[\ud800-\udc7f\udd00-\udfff]" if path else "[\ud800-\udfff]", value)
        if wrong:
            # The text may be a whole scenario.
            part = value[max(0, wrong.start() - 60) : wrong.end() + 20]
            raise ArgumentError(f"{name}: read {part!a}, which is not UTF-8")
        return True
    if not path or not hasattr(type(value), "__fspath__"):
        return False
    try:
        # A path of bytes, or whose own code fails, is no path for us.
        found = os.fspath(value)
    except Exception as error:
        raise ArgumentError(f"{name}: this path cannot be read ({type(error).__name__}: {error})") from None
    return isinstance(found, str) and "\0" not in found


def _is_table(name: str, value: Any, inner: str | None) -> bool:
    if not isinstance(value, Mapping):
        return False
    of = (inner or "").strip("()").partition(", ")[2]
    for key, each in value.items():
        if not isinstance(key, str):
            raise ArgumentError(f"{name}: read the key {shown(key)}; the keys of a dict are text")
        if of and of != "Any":
            _check(f"{name}[{shown(key)}]", each, of)
    return True


def _is_list(name: str, value: Any, inner: str | None, *, once: bool) -> bool:
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        return False
    if not once and not (hasattr(value, "__len__") and hasattr(value, "__getitem__")):
        return False
    # What can be read only once is left for the call itself.
    if inner is not None and inner != "Any" and hasattr(value, "__len__") and hasattr(value, "__getitem__"):
        for number, each in enumerate(value):
            _check(f"{name}[{number}]", each, inner)
    return isinstance(value, Iterable)


def _check_depth(name: str, value: Any, depth: int) -> None:
    if not isinstance(value, dict | list | tuple):
        return
    if depth > _DEEPEST:
        raise ArgumentError(f"{name}: this is nested more than {_DEEPEST} deep, or holds itself")
    for each in value.values() if isinstance(value, dict) else value:
        _check_depth(name, each, depth + 1)


def shown(value: Any) -> str:
    """Return a value in a few letters; its own code may fail."""
    try:
        text = repr(value)
    except Exception:
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:59]}…"
