"""What Python code of a user's does, as a digest: results that hang on the code are kept under it.

The digest is of the user's source files: the one that is named, and those that it imports, and so on.
Python's own modules and installed packages are left out: what they do changes with their versions alone.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import sysconfig
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: What a process that has imported a module from a file goes on doing, whatever the file has now.
_imported: dict[str, bytes] = {}


def file_digest(path: Path) -> str:
    """Return the digest of a file that is run anew each time, and of the user's modules that it imports."""
    content = path.read_bytes()
    return _of([("", content), *_modules(_imports(content, ""))])


def module_digest(name: str) -> str:
    """Return the digest of a module and of those that it imports, as far as they are the user's."""
    return _of(_modules([name]))


def is_users_module(name: str) -> bool:
    """Tell whether a module that was imported is a source file of the user's."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return spec is not None and _is_users(spec)


def _of(files: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for name, content in files:
        digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    return digest.hexdigest()


def _modules(names: Iterable[str]) -> list[tuple[str, bytes]]:
    """Return the user's modules among these and those that they import, by name, each with its source."""
    found: dict[str, bytes] = {}
    left = list(names)
    while left:
        name = left.pop()
        for each in _with_parents(name):
            spec = None if each in found else _spec(each)
            if spec is None or not _is_users(spec):
                continue
            content = Path(str(spec.origin)).read_bytes()
            if each in sys.modules:
                content = _imported.setdefault(each, content)
            found[each] = content
            package = each if spec.submodule_search_locations else each.rpartition(".")[0]
            left += _imports(content, package)
    return sorted(found.items())


def _with_parents(name: str) -> Iterator[str]:
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        yield ".".join(parts[:count])


def _imports(source: bytes, package: str) -> list[str]:
    """Return the modules that a source may import; of what it takes out of a package some may be none."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        # The run says what is wrong with it.
        return []
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            base = _base(node, package)
            names += [] if base is None else [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return names


def _base(node: ast.ImportFrom, package: str) -> str | None:
    if not node.level:
        return node.module
    try:
        return resolve_name("." * node.level + (node.module or ""), package)
    except ImportError:
        return None


def _spec(name: str) -> ModuleSpec | None:
    """Return where a module is found, without importing it or the packages that it is in."""
    parent, _, _ = name.rpartition(".")
    path: Sequence[str] | None = None
    if parent:
        above = _spec(parent)
        if above is None or above.submodule_search_locations is None:
            return None
        path = above.submodule_search_locations
    try:
        return PathFinder.find_spec(name, path)
    except (ImportError, ValueError):
        return None


def _is_users(spec: ModuleSpec) -> bool:
    """Tell whether a module is a source file that belongs neither to Python nor to an installed package."""
    if not spec.has_location or spec.origin is None or not spec.origin.endswith(".py"):
        return False
    places = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    origin = Path(spec.origin).resolve()
    own = Path(__file__).parents[1]
    return not any(origin.is_relative_to(place.resolve()) for place in (*map(Path, places), own))
