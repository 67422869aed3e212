"""What the files and folders of each Rust crate need of each other: no circle anywhere."""

from __future__ import annotations

import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import pytest
from support.common import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CRATES = sorted(path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml"))
#: A module as the names on the way to it: ``("gate", "rate", "profile")``; the crate itself has none.
Module = tuple[str, ...]

_USE = re.compile(r"\b(pub(?:\([\w ]+\))? )?use ([\w:]+(?:::\{.*?\})?(?:::\*)?(?: as \w+)?);", re.S)
_PATH = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")
#: Here the unit tests of a file begin.
_TESTS = "#[cfg(test)]\nmod tests {"


@pytest.mark.parametrize("crate", CRATES)
def test_no_circle_of_files(crate: str) -> None:
    # The file that declares a folder's modules is left out: it needs its parts and they need it.
    # Who uses a name that such a file re-exports needs the file where the name is defined.
    modules = modules_of(crate)
    needs = {
        module: {needed for needed in needed_by(crate, module) if needed != module[: len(needed)]}
        for module in modules
        if not any(inner[:-1] == module for inner in modules)
    }
    refuse_circles(needs)


@pytest.mark.parametrize("crate", CRATES)
def test_no_circle_of_folders(crate: str) -> None:
    needs: dict[str, set[str]] = {}
    for module in modules_of(crate):
        if module:
            above = {needed[0] for needed in needed_by(crate, module) if needed} - {module[0]}
            needs.setdefault(module[0], set()).update(above)
    refuse_circles(needs)


def test_it_sees_what_there_is() -> None:
    assert ("gate", "rate", "profile") in modules_of("tidegate-core")
    assert ("serial",) in needed_by("tidegate-core", ("gate", "rate", "profile"))
    # Through the face of the folder `plan`.
    assert ("plan", "rate") in needed_by("tidegate-core", ("gate", "rate", "profile"))


def refuse_circles(needs: dict[Module, set[Module]] | dict[str, set[str]]) -> None:
    """Fail with the circle, if there is one."""
    try:
        list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        pytest.fail(f"a circle: {' needs '.join(map(str, reversed(error.args[1])))}")


@cache
def modules_of(crate: str) -> dict[Module, Path]:
    """Return the modules of a crate that are files, without those that only tests need."""
    found: dict[Module, Path] = {}

    def visit(path: Path, module: Module, folder: Path) -> None:
        found[module] = path
        text = path.read_text(encoding="utf-8")
        for test, name in re.findall(r"(#\[cfg\(test\)\]\n)?^(?:pub(?:\(\w+\))? )?mod (\w+);", text, re.M):
            inner = folder / name
            for file in (inner.with_suffix(".rs"), inner / "mod.rs"):
                if not test and file.exists():
                    visit(file, (*module, name), inner)

    source = ROOT / "crates" / crate / "src"
    visit(source / "lib.rs", (), source)
    return found


@cache
def needed_by(crate: str, module: Module) -> set[Module]:
    """Return the modules whose names a module uses, wherever in the file it does."""
    found = set()
    text = code(crate, module)
    for _, tree in _USE.findall(text):
        for path in branches(tree):
            found |= meant(crate, module, path)
    for path in _PATH.findall(_USE.sub("", text)):
        found |= meant(crate, module, path.split("::"))
    return found - {module}


@cache
def code(crate: str, module: Module) -> str:
    """Return a file without its comments and without its tests."""
    text = modules_of(crate)[module].read_text(encoding="utf-8").partition(_TESTS)[0]
    return re.sub(r"//.*", "", text)


def branches(tree: str) -> list[list[str]]:
    """Take `a::{b, c::d}` apart: each path of a use."""
    stem, brace, rest = tree.partition("::{")
    if not brace:
        return [[part for part in re.sub(r" as \w+", "", tree).split("::") if part != "*"]]
    parts, depth, start = [], 0, 0
    inner = rest.rstrip()[:-1]
    for place, sign in enumerate(f"{inner},"):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            parts.append(inner[start:place].strip())
            start = place + 1
    return [stem.split("::") + path for part in parts if part for path in branches(part)]


def meant(crate: str, module: Module, path: list[str]) -> set[Module]:
    """Return the module that a path leads to: that of the file where the name is written down."""
    modules = modules_of(crate)
    if path[0] == "crate":
        at: Module = ()
    elif path[0] in ("super", "self"):
        at = module
    elif (*module, path[0]) in modules:
        at, path = module, ["self", *path]
    else:
        return set()
    names = list(path)
    while names and names[0] in ("crate", "super", "self"):
        at = at[:-1] if names.pop(0) == "super" else at
    while names and (*at, names[0]) in modules:
        at = (*at, names.pop(0))
    if names and (further := handed_on(crate, at).get(names[0])):
        return further
    return {at}


@cache
def handed_on(crate: str, module: Module) -> dict[str, set[Module]]:
    """Return the names that a module re-exports, and where they come from."""
    found = {}
    for public, tree in _USE.findall(code(crate, module)):
        for path in branches(tree) if public else []:
            if module_of := meant(crate, module, path):
                found[path[-1]] = module_of
    return found
